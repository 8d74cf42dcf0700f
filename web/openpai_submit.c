/* web/openpai_submit.c - what OpenPAI's clients change: they post jobs, and stop and start them */
#include "web/openpai_submit.h"

#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "client/drop_file.h"
#include "web/form_tree.h"
#include "web/openpai_reply.h"
#include "web/own_name.h"
#include "web/requests_api.h"
#include "web/posted_job.h"

static const char body_name[] = "body"; /* in sentences */

static struct value *read_form(struct exchange *exchange, struct error *error)
{
    struct form form;
    form_parse(exchange->arena, exchange->body, &form);
    return form_tree_build(exchange->arena, &form, error);
}

struct value *openpai_submit_fields(struct exchange *exchange)
{
    struct error error;
    struct value *tree =
        form_is_sent(exchange)
            ? read_form(exchange, &error)
            : json_read(exchange->arena, exchange->body, body_name, &yaml_request_limits, &error);
    if (!tree)
        openpai_reply_error(exchange, HTTP_BAD_REQUEST, "InvalidParametersError", error.text);
    return tree;
}

/* ---- jobs ---- */

static void tell_taken(struct exchange *exchange, const struct job_view *view)
{
    struct text name = view ? view->record.name : TEXT("");
    struct text sentence =
        view ? arena_printf(exchange->arena, "Update job %.*s for user %s successfully.",
                            (int)name.length, name.length ? name.data : "", own_name().data)
             : TEXT("The job file is in incoming/, and nobody has taken it yet: does dlspool run?");
    openpai_reply_message(exchange, HTTP_ACCEPTED, sentence.data);
}

static void submit(struct exchange *exchange, struct text bytes)
{
    struct error error;
    if (!posted_job_begin(exchange, bytes, drop_file_ending(bytes), tell_taken, &error))
        openpai_reply_error(exchange, HTTP_BAD_REQUEST, "InvalidProtocolError", error.text);
}

void openpai_submit_job(struct exchange *exchange)
{
    if (form_is_sent(exchange))
        openpai_reply_error(exchange, HTTP_BAD_REQUEST, "InvalidProtocolError",
                            "Content-Type: expected text/yaml, and the job file as the body");
    else
        submit(exchange, exchange->body);
}

/* A form could come from a page of another site in a browser that does not say so, but then without the header that
 * clients of OpenPAI send with whatever changes something. */
void openpai_submit_of_user(struct exchange *exchange)
{
    struct error error;
    if (!openpai_reply_is_own(exchange, exchange->parts[0]))
        return;
    if (!form_is_sent(exchange)) {
        submit(exchange, exchange->body);
        return;
    }
    if (!exchange_header(exchange, "Authorization").length) {
        openpai_reply_error(exchange, HTTP_UNAUTHORIZED, "UnauthorizedUserError",
                            "Guest is not allowed to do this operation.");
        return;
    }
    struct value *tree = read_form(exchange, &error);
    if (tree)
        submit(exchange, json_text(exchange->arena, tree));
    else
        openpai_reply_error(exchange, HTTP_BAD_REQUEST, "InvalidParametersError", error.text);
}

/* ---- stop and start ---- */

void openpai_submit_execute(struct exchange *exchange, const struct job_view *view)
{
    struct value *tree = openpai_submit_fields(exchange);
    if (!tree)
        return;
    struct text value = value_get_text(tree, "value");
    bool stop = text_is(value, "STOP"), own = view->readable && view->record.uid == getuid();
    struct error error;
    if (!stop && !text_is(value, "START")) {
        openpai_reply_error(exchange, HTTP_BAD_REQUEST, "InvalidParametersError",
                            "value: expected START or STOP");
    } else if (stop && own && view_has_ended(view)) {
        openpai_reply_message(
            exchange, HTTP_ACCEPTED,
            arena_printf(exchange->arena, "%s has ended already.", view->place.id).data);
    } else if (!requests_api_ask(exchange, view, stop ? "kill" : "retry", &error)) {
        openpai_reply_error(exchange, own ? HTTP_CONFLICT : HTTP_FORBIDDEN,
                            own ? "ConflictJobError" : "ForbiddenUserError", error.text);
    } else {
        openpai_reply_message(exchange, HTTP_ACCEPTED,
                              arena_printf(exchange->arena, "Execute job %.*s successfully.",
                                           (int)exchange->parts[0].length, exchange->parts[0].data)
                                  .data);
    }
}
