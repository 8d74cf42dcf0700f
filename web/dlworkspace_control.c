/* web/dlworkspace_control.c - what DLWorkspace's clients change, by POST */
#include "web/dlworkspace_control.h"

#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "web/dlworkspace_arguments.h"
#include "web/jobs_api.h"
#include "web/requests_api.h"
#include "web/posted_job.h"

/* ---- jobs ---- */

static void tell_job(struct exchange *exchange, const struct job_view *view)
{
    struct value *tree = value_object(exchange->arena);
    if (view) {
        value_put(exchange->arena, tree, "jobId", value_string(exchange->arena, view->place.id));
        exchange_reply_json(exchange, HTTP_OK, tree);
        return;
    }
    dlworkspace_arguments_refuse(exchange, HTTP_ACCEPTED,
                                 "The job file is in incoming/, and nobody has taken it yet: does "
                                 "dlspool run? It need not be posted again.");
}

/* PostJob with the job file as the body, and SubmitJob with its members as parameters. */
static void post_job(struct exchange *exchange)
{
    struct value *arguments = dlworkspace_arguments_read(exchange);
    struct error error;
    if (!arguments || !dlworkspace_arguments_is_own(exchange, arguments))
        return;
    struct text bytes = json_text(exchange->arena, arguments);
    if (posted_job_begin(exchange, bytes, ".json", tell_job, &error))
        return;
    error_prefix(&error, "Cannot create job!");
    dlworkspace_arguments_refuse(exchange, HTTP_BAD_REQUEST, error.text);
}

/* ---- what is asked of jobs ---- */

enum { MOST_ASKED = 1000 }; /* jobs in one request */

struct wish {
    const char *verb; /* as requests_api_ask() takes it; "approve" */
    const char *word, *past;
    const char *done, *failed; /* DLWorkspace's sentences; its clients look for "Success" */
};

static const struct wish kill_wish = {"kill", "kill", "killed",
                                      "Success, the job is scheduled to be terminated.",
                                      "Cannot Kill the job. Job ID:"};
static const struct wish pause_wish = {"hold", "pause", "paused",
                                       "Success, the job is scheduled to be paused.",
                                       "Cannot pause the job. Job ID:"};
static const struct wish resume_wish = {"release", "resume", "resumed",
                                        "Success, the job is scheduled to be resumed.",
                                        "Cannot resume the job. Job ID:"};
static const struct wish approve_wish = {"approve", "approve", "approved",
                                         "Success, the job has been approved.",
                                         "Cannot approve the job. Job ID:"};

/* Ask for it.  HTTP_OK, or another status and a sentence. */
static int ask(struct exchange *exchange, const struct wish *wish, struct text id,
               struct error *error)
{
    struct job_view view;
    exchange->parts[0] = id;
    int status = jobs_api_look(exchange, &view, error);
    if (status != HTTP_OK)
        return status;
    if (strcmp(wish->verb, "approve") == 0)
        return requests_api_decide(exchange, &view, NULL, error);
    if (requests_api_ask(exchange, &view, wish->verb, error))
        return HTTP_OK;
    return view.readable && view.record.uid == getuid() ? HTTP_CONFLICT : HTTP_FORBIDDEN;
}

/* Ask for one job: {"result": ...}, and beside it why not. */
static void ask_one(struct exchange *exchange, const struct wish *wish)
{
    struct arena *arena = exchange->arena;
    struct value *arguments = dlworkspace_arguments_read(exchange), *tree = value_object(arena);
    struct text id;
    struct error error;
    if (!arguments || !dlworkspace_arguments_is_own(exchange, arguments) ||
        !dlworkspace_arguments_get(exchange, arguments, "jobId", &id))
        return;
    int status = ask(exchange, wish, id, &error);
    if (status == HTTP_OK) {
        value_put(arena, tree, "result", value_string(arena, wish->done));
    } else {
        struct error_quote_buffer buffer;
        const char *name = error_quote(&buffer, id.data, id.length);
        value_put(arena, tree, "result",
                  value_text(arena, arena_printf(arena, "%s%s", wish->failed, name)));
        value_put(arena, tree, "error", value_string(arena, error.text));
    }
    exchange_reply_json(exchange, status, tree);
}

static const char *outcome(struct arena *arena, const struct wish *wish, int status)
{
    if (status == HTTP_OK)
        return arena_printf(arena, "successfully %s", wish->past).data;
    if (status == HTTP_FORBIDDEN)
        return arena_printf(arena, "unauthorized to %s", wish->word).data;
    return arena_printf(arena, "failed to %s", wish->word).data;
}

/* Ask for several, with commas between them: {"result": {ID: ...}}. */
static void ask_many(struct exchange *exchange, const struct wish *wish)
{
    struct arena *arena = exchange->arena;
    struct value *arguments = dlworkspace_arguments_read(exchange), *tree = value_object(arena);
    struct value *results = value_object(arena);
    struct text ids, id;
    struct error error;
    if (!arguments || !dlworkspace_arguments_is_own(exchange, arguments) ||
        !dlworkspace_arguments_get(exchange, arguments, "jobIds", &ids))
        return;
    for (int i = 0; i < MOST_ASKED && ids.length && text_next(&ids, ',', &id); i++) {
        id = text_trim(id);
        if (id.length)
            value_set(arena, results, id,
                      value_string(arena, outcome(arena, wish, ask(exchange, wish, id, &error))));
    }
    value_put(arena, tree, "result", results);
    exchange_reply_json(exchange, HTTP_OK, tree);
}

static void kill_job(struct exchange *exchange)
{
    ask_one(exchange, &kill_wish);
}

static void pause_job(struct exchange *exchange)
{
    ask_one(exchange, &pause_wish);
}

static void resume_job(struct exchange *exchange)
{
    ask_one(exchange, &resume_wish);
}

static void approve_job(struct exchange *exchange)
{
    ask_one(exchange, &approve_wish);
}

static void kill_jobs(struct exchange *exchange)
{
    ask_many(exchange, &kill_wish);
}

static void pause_jobs(struct exchange *exchange)
{
    ask_many(exchange, &pause_wish);
}

static void resume_jobs(struct exchange *exchange)
{
    ask_many(exchange, &resume_wish);
}

static void approve_jobs(struct exchange *exchange)
{
    ask_many(exchange, &approve_wish);
}

const struct route dlworkspace_control_routes[] = {{"POST", "/dlws/PostJob", post_job},
                                                   {"POST", "/dlws/SubmitJob", post_job},
                                                   {"POST", "/dlws/KillJob", kill_job},
                                                   {"POST", "/dlws/PauseJob", pause_job},
                                                   {"POST", "/dlws/ResumeJob", resume_job},
                                                   {"POST", "/dlws/ApproveJob", approve_job},
                                                   {"POST", "/dlws/KillJobs", kill_jobs},
                                                   {"POST", "/dlws/PauseJobs", pause_jobs},
                                                   {"POST", "/dlws/ResumeJobs", resume_jobs},
                                                   {"POST", "/dlws/ApproveJobs", approve_jobs},
                                                   {.pattern = NULL}};
