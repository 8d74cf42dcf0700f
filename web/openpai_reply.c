/* web/openpai_reply.c - replies and errors in the form of OpenPAI's REST server */
#include "web/openpai_reply.h"

#include <string.h>

#include "client/gather.h"
#include "web/own_name.h"

enum { MOST_LOOKS = 3 }; /* a job may move while it is looked for */

void openpai_reply_error(struct exchange *exchange, int status, const char *code,
                         const char *message)
{
    struct value *tree = value_object(exchange->arena);
    value_put(exchange->arena, tree, "code", value_string(exchange->arena, code));
    value_put(exchange->arena, tree, "message", value_string(exchange->arena, message));
    exchange_reply_json(exchange, status, tree);
}

void openpai_reply_message(struct exchange *exchange, int status, const char *message)
{
    struct value *tree = value_object(exchange->arena);
    value_put(exchange->arena, tree, "status", value_number(exchange->arena, status));
    value_put(exchange->arena, tree, "message", value_string(exchange->arena, message));
    exchange_reply_json(exchange, status, tree);
}

bool openpai_reply_is_own(struct exchange *exchange, struct text user)
{
    struct error_quote_buffer buffer;
    struct error error;
    if (own_name_is(user))
        return true;
    error_set(&error, "this connection is %s's, not %s's", own_name().data,
              error_quote(&buffer, user.data, user.length));
    openpai_reply_error(exchange, HTTP_FORBIDDEN, "ForbiddenUserError", error.text);
    return false;
}

/* Look once.  1: found, 0: not there, -1: a job that may be it has moved meanwhile. */
static int look(const struct exchange *exchange, const struct job_filter *filter, struct text user,
                struct text name, struct job_view *view)
{
    struct job_place place;
    struct gathering *gathering = gather_open(exchange->spool, filter);
    int result = 0;
    while (gathering && !result && gather_next(gathering, &place) > 0) {
        if (view_read(exchange->spool, &place, exchange->arena, view))
            result = -1;
        else if (view->readable && text_equal(view->record.owner, user) &&
                 text_equal(view->record.name, name))
            result = 1;
    }
    if (gathering)
        gather_close(gathering);
    return result;
}

bool openpai_reply_find(struct exchange *exchange, struct text user, struct text name,
                        struct job_view *view)
{
    const char *word = arena_text(exchange->arena, name.data, name.length).data;
    bool pattern = strpbrk(word, "*?[") != NULL; /* no job of OpenPAI is called so */
    const struct job_filter filter = {.name = word};
    struct error_quote_buffer buffer;
    struct error error;
    int result = -1;
    for (int i = 0; i < MOST_LOOKS && result < 0 && !pattern; i++)
        result = look(exchange, &filter, user, name, view);
    if (result > 0)
        return true;
    error_set(&error, "Job %s is not found.", error_quote(&buffer, name.data, name.length));
    openpai_reply_error(exchange, HTTP_NOT_FOUND, "NoJobError", error.text);
    return false;
}
