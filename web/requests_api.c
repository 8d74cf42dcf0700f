/* web/requests_api.c - what changes something: POST of a job file, and of what is asked of a job */
#include "web/requests_api.h"

#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "client/decision.h"
#include "client/drop_file.h"
#include "request/control.h"
#include "spool/settings.h"
#include "stages/shared/control.h"
#include "web/jobs_api.h"
#include "web/keyed_submission.h"
#include "web/posted_job.h"

/* ---- a job file ---- */

/* The ending of a job file of the type that the request names; NULL: it is none of a job file. */
static const char *ending_of_type(struct text type)
{
    static const char *const endings[][2] = {
        {"application/yaml", ".yaml"},
        {"application/x-yaml", ".yaml"},
        {"text/yaml", ".yaml"},
        {"text/x-yaml", ".yaml"},
        {"application/json", ".json"},
        {"application/x-sh", ".sh"},
        {"application/x-shellscript", ".sh"},
        {"text/x-shellscript", ".sh"},
    };
    struct text word = type;
    text_next(&type, ';', &word);
    word = text_trim(word);
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++)
        if (text_is(word, endings[i][0]))
            return endings[i][1];
    return NULL;
}

static void tell_created(struct exchange *exchange, const struct job_view *view)
{
    if (view)
        posted_job_tell(exchange, HTTP_CREATED, view);
    else
        posted_job_tell_dropped(exchange, posted_job_source(exchange));
}

static void check_only(struct exchange *exchange)
{
    struct error error;
    if (!posted_job_check(exchange, exchange->body, &error)) {
        exchange_reply_fault(exchange, HTTP_BAD_REQUEST, error.text);
        return;
    }
    struct value *tree = value_object(exchange->arena);
    value_put(exchange->arena, tree, "good", value_boolean(exchange->arena, true));
    exchange_reply_json(exchange, HTTP_OK, tree);
}

static void submit_job(struct exchange *exchange)
{
    struct error error;
    struct text key = exchange_header(exchange, "Idempotency-Key");
    const char *ending = ending_of_type(exchange_header(exchange, "Content-Type"));
    if (!ending)
        exchange_reply_problem(exchange, HTTP_WRONG_TYPE,
                               "Content-Type: expected application/yaml, application/json or "
                               "application/x-sh, and the job file as it is as the body");
    else if (text_is(exchange_query(exchange, "check"), "1"))
        check_only(exchange);
    else if (key.length)
        keyed_submission_begin(exchange, key, ending);
    else if (!posted_job_begin(exchange, exchange->body, ending, tell_created, &error))
        exchange_reply_fault(exchange, HTTP_BAD_REQUEST, error.text);
}

/* ---- what is asked of a job ---- */

static enum control_verb verb_of(const char *word)
{
    for (int i = CONTROL_NONE + 1; i < CONTROL_VERBS; i++)
        if (strcmp(request_control_name((enum control_verb)i), word) == 0)
            return (enum control_verb)i;
    return CONTROL_NONE;
}

/* May this user ask something of the job?  If the settings cannot be read, intake will know. */
static bool may_ask(const struct exchange *exchange, const struct job_view *view, const char *verb,
                    struct error *error)
{
    struct settings settings;
    if (!view->readable || view->record.uid == getuid() ||
        settings_read(&settings, exchange->spool, NULL))
        return true;
    bool may = settings_is_administrator(&settings, exchange->spool, getuid());
    settings_free(&settings);
    if (!may)
        error_set(error, "%s belongs to %.*s; only its owner or an administrator may %s%s",
                  view->place.id, (int)view->record.owner.length, view->record.owner.data,
                  strcmp(verb, "top") == 0        ? "put it on "
                  : strcmp(verb, "priority") == 0 ? "change its "
                                                  : verb,
                  strcmp(verb, "top") == 0 || strcmp(verb, "priority") == 0 ? verb : " it");
    return may;
}

bool requests_api_applies(const struct exchange *exchange, const struct job_view *view,
                          const char *verb)
{
    struct control_question question = {.spool = exchange->spool, .verb = verb_of(verb)};
    struct error error;
    return control_applies(&question, &view->place, view->readable ? &view->record : NULL) &&
           may_ask(exchange, view, verb, &error);
}

/* Drop the line, which asks for that, when it can be asked for. */
static bool ask_by(struct exchange *exchange, const struct job_view *view, enum control_verb verb,
                   struct text line, struct error *error)
{
    char name[NAME_MAX + 1];
    const char *word = request_control_name(verb);
    return control_allows(verb, &view->place, view->readable ? &view->record : NULL, error) &&
           may_ask(exchange, view, word, error) &&
           drop_file(exchange->spool, word, ".yaml", line, name, error) == 0;
}

bool requests_api_ask(struct exchange *exchange, const struct job_view *view, const char *verb,
                      struct error *error)
{
    return ask_by(exchange, view, verb_of(verb),
                  arena_printf(exchange->arena, "%s: %s\n", verb, view->place.id), error);
}

/* Reply that it was asked for. */
static void tell_asked(struct exchange *exchange, const char *id, const char *verb)
{
    struct arena *arena = exchange->arena;
    struct value *tree = value_object(arena);
    value_put(arena, tree, "id", value_string(arena, id));
    value_put(arena, tree, "asked", value_string(arena, verb));
    exchange_reply_json(exchange, HTTP_ACCEPTED, tree);
}

static void ask(struct exchange *exchange, const char *verb)
{
    struct job_view view;
    struct error error;
    if (!jobs_api_find(exchange, &view))
        return;
    if (!requests_api_ask(exchange, &view, verb, &error)) {
        bool own = view.readable && view.record.uid == getuid();
        exchange_reply_problem(exchange, own ? HTTP_CONFLICT : HTTP_FORBIDDEN, error.text);
        return;
    }
    tell_asked(exchange, view.place.id, verb);
}

static void ask_kill(struct exchange *exchange)
{
    ask(exchange, "kill");
}

static void ask_retry(struct exchange *exchange)
{
    ask(exchange, "retry");
}

/* Ask for what takes a line of its own. */
static void ask_with(struct exchange *exchange, const struct job_view *view, enum control_verb verb,
                     struct text line)
{
    struct error error;
    if (ask_by(exchange, view, verb, line, &error)) {
        tell_asked(exchange, view->place.id, request_control_name(verb));
        return;
    }
    bool own = view->readable && view->record.uid == getuid();
    exchange_reply_problem(exchange, own ? HTTP_CONFLICT : HTTP_FORBIDDEN, error.text);
}

static void ask_hold(struct exchange *exchange)
{
    struct job_view view;
    if (!text_is(exchange_query(exchange, "keep_memory"), "true"))
        ask(exchange, "hold");
    else if (jobs_api_find(exchange, &view))
        ask_with(
            exchange, &view, CONTROL_SUSPEND,
            arena_printf(exchange->arena, "hold: {job: %s, keep_memory: true}\n", view.place.id));
}

/* Can it be a priority: a whole number, or the name of a class? */
static bool is_priority(struct text word)
{
    struct text digits = word;
    if (text_starts(word, "-"))
        digits = (struct text){word.data + 1, word.length - 1};
    return text_number(digits, 1000000) >= 0 || request_control_is_value(word);
}

static void ask_priority(struct exchange *exchange)
{
    struct job_view view;
    struct text value = exchange_query(exchange, "value");
    if (!is_priority(value))
        exchange_reply_problem(
            exchange, HTTP_BAD_REQUEST,
            "value: expected a whole number, or the name of a class of priority");
    else if (jobs_api_find(exchange, &view))
        ask_with(exchange, &view, CONTROL_PRIORITY,
                 arena_printf(exchange->arena, "priority: {job: %s, value: %.*s}\n", view.place.id,
                              (int)value.length, value.data));
}

static void ask_release(struct exchange *exchange)
{
    ask(exchange, "release");
}

static void ask_top(struct exchange *exchange)
{
    ask(exchange, "top");
}

int requests_api_decide(struct exchange *exchange, const struct job_view *view, const char *reason,
                        struct error *error)
{
    struct settings settings;
    if (!view->readable || settings_read(&settings, exchange->spool, error))
        return HTTP_INTERNAL_ERROR;
    enum control_verb verb = reason ? CONTROL_REFUSE : CONTROL_APPROVE;
    int result = decision_check(&settings, view, verb, error) ||
                         decision_drop(exchange->spool, exchange->arena, view, reason, error)
                     ? HTTP_FORBIDDEN
                     : HTTP_OK;
    settings_free(&settings);
    return result;
}

/* Approve the job, or with a reason refuse to. */
static void decide(struct exchange *exchange, const char *reason)
{
    struct job_view view;
    struct error error;
    if (!jobs_api_find(exchange, &view))
        return;
    int status = requests_api_decide(exchange, &view, reason, &error);
    if (status != HTTP_OK)
        exchange_reply_problem(exchange, status, error.text);
    else
        tell_asked(exchange, view.place.id, reason ? "refuse" : "approve");
}

static void approve(struct exchange *exchange)
{
    decide(exchange, NULL);
}

static void refuse(struct exchange *exchange)
{
    struct error error;
    struct text reason = exchange_query(exchange, "reason");
    const char *words = arena_text(exchange->arena, reason.data, reason.length).data;
    if (!decision_check_reason(words, &error)) {
        decide(exchange, words);
        return;
    }
    error_prefix(&error, "reason");
    exchange_reply_problem(exchange, HTTP_BAD_REQUEST, error.text);
}

const struct route requests_api_routes[] = {
    {"POST", "/dlspool/v1/jobs?check=0|1", submit_job},
    {"POST", "/dlspool/v1/jobs/{}/kill?", ask_kill},
    {"POST", "/dlspool/v1/jobs/{}/retry?", ask_retry},
    {"POST", "/dlspool/v1/jobs/{}/hold?keep_memory=true|false", ask_hold},
    {"POST", "/dlspool/v1/jobs/{}/release?", ask_release},
    {"POST", "/dlspool/v1/jobs/{}/top?", ask_top},
    {"POST", "/dlspool/v1/jobs/{}/priority?value", ask_priority},
    {"POST", "/dlspool/v1/jobs/{}/approve?", approve},
    {"POST", "/dlspool/v1/jobs/{}/refuse?reason", refuse},
    {.pattern = NULL}};
