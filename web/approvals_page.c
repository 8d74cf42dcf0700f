/* web/approvals_page.c - the page on which an approver decides about jobs that wait for that */
#include "web/approvals_page.h"

#include "base/array.h"
#include "client/decision.h"
#include "spool/jobs.h"
#include "spool/wants.h"
#include "web/form.h"
#include "web/html.h"
#include "web/jobs_api.h"
#include "web/requests_api.h"

struct waiting {
    struct exchange *exchange;
    struct settings settings;
    struct buffer *out;
    size_t count;
};

/* A row for a job: who asks for what, and the buttons. */
static void add_row(struct waiting *waiting, const struct job_view *view)
{
    struct buffer *out = waiting->out, words = {0};
    wants_describe(view->record.wants, &words);
    buffer_add_string(out, "<tr>");
    html_cell_job(out, view->place.id);
    html_cell(out, "", view->record.owner);
    html_cell(out, "", buffer_text(&words));
    buffer_free(&words);
    buffer_add_string(out, "<td><form class=\"actions\" method=\"post\" action=\"/approvals\">"
                           "<input type=\"hidden\" name=\"id\" value=\"");
    html_string(out, view->place.id);
    buffer_add_string(out, "\"><input type=\"hidden\" name=\"manifest\" value=\"");
    html_text(out, view->record.first_manifest_sha256);
    buffer_add_string(out,
                      "\"><button name=\"verb\" value=\"approve\">approve</button>"
                      "<label>Why not<input name=\"reason\"></label>"
                      "<button name=\"verb\" value=\"refuse\">refuse</button></form></td></tr>\n");
}

static int take_waiting(void *context, const struct job_place *place)
{
    struct waiting *waiting = context;
    struct job_view view;
    if (view_read(waiting->exchange->spool, place, waiting->exchange->arena, &view) ||
        !decision_is_wanted(waiting->exchange->spool, &waiting->settings, &view))
        return 0;
    waiting->count++;
    add_row(waiting, &view);
    return 0;
}

static void show_approvals(struct exchange *exchange)
{
    static const struct html_column columns[] = {
        {"Id", ""}, {"Owner", ""}, {"What wants approval", ""}, {"Decide", ""}};
    struct buffer out = {0};
    struct error error;
    struct waiting waiting = {.exchange = exchange, .out = &out};
    if (settings_read(&waiting.settings, exchange->spool, &error)) {
        html_reply_sentence(exchange, HTTP_INTERNAL_ERROR, error.text);
        return;
    }
    html_begin(&out, "Approvals", "/approvals");
    html_table_begin(&out, "Jobs that wait for approval", columns, ARRAY_COUNT(columns));
    jobs_walk(exchange->spool, STATE_HELD, take_waiting, &waiting);
    html_table_end(&out);
    if (!waiting.count)
        buffer_add_string(&out, "<p>No job waits for you to approve it.</p>\n");
    settings_free(&waiting.settings);
    html_reply(exchange, HTTP_OK, &out);
}

/* Was the job rendered again since the page was made?  Then something else would be approved. */
static bool is_another(const struct form *form, const struct job_view *view)
{
    return !text_equal(form_get(form, "manifest"), view->record.first_manifest_sha256);
}

/* What a form of the page decides; the reply is a page with a sentence. */
static void decide(struct exchange *exchange)
{
    struct form form;
    struct job_view view;
    struct error error;
    const char *reason = NULL;
    if (!form_read(exchange, &form))
        return;
    exchange->parts[0] = form_get(&form, "id");
    int status = jobs_api_look(exchange, &view, &error);
    if (text_is(form_get(&form, "verb"), "refuse"))
        reason = arena_text(exchange->arena, form_get(&form, "reason").data,
                            form_get(&form, "reason").length)
                     .data;
    if (status == HTTP_OK && reason && decision_check_reason(reason, &error)) {
        error_prefix(&error, "Why not");
        status = HTTP_BAD_REQUEST;
    } else if (status == HTTP_OK && !reason && is_another(&form, &view)) {
        error_set(&error,
                  "%s is another job now than the one that the page showed; look at it again",
                  view.place.id);
        status = HTTP_CONFLICT;
    }
    if (status == HTTP_OK)
        status = requests_api_decide(exchange, &view, reason, &error);
    if (status == HTTP_OK)
        error_set(&error, "asked to %s %s", reason ? "refuse" : "approve", view.place.id);
    html_reply_sentence(exchange, status, error.text);
}

const struct route approvals_page_routes[] = {
    {"GET", "/approvals", show_approvals}, {"POST", "/approvals", decide}, {.pattern = NULL}};
