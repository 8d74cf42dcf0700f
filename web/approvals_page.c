/* web/approvals_page.c - the page on which an approver decides about jobs that wait for that */
#include "web/approvals_page.h"

#include <fcntl.h>
#include <string.h>

#include "base/quantity.h"
#include "base/system.h"
#include "client/decision.h"
#include "spool/jobs.h"
#include "spool/wants.h"
#include "web/approval_form.h"
#include "web/form.h"
#include "web/html.h"
#include "web/job_output.h"
#include "web/jobs_api.h"
#include "web/requests_api.h"

enum { MOST_SHOWN = 20, FILE_SHOWN = 8 * 1024 }; /* jobs with what they are; bytes of a file */

struct waiting {
    struct exchange *exchange;
    struct settings settings;
    struct buffer *out;
    const struct approval_fault *fault;
    size_t count;
};

/* ---- a job ---- */

static void add_facts(struct buffer *out, const struct job_view *view)
{
    const struct job_record *record = &view->record;
    char resources[RESOURCES_TEXT_SIZE];
    struct buffer words = {0};
    wants_describe(record->wants, &words);
    buffer_add_string(out, "<dl>\n");
    html_fact(out, "Owner", record->owner);
    html_fact(out, "Wants", buffer_text(&words));
    html_fact(out, "Why", view_sentence(view));
    html_fact(
        out, "Requests",
        text_of(quantity_format_resources(record->cpus, record->memory, record->gpus, resources)));
    html_fact(out, "GPU type", record->gpu_type);
    html_fact(out, "Queue", record->queue);
    html_fact(out, "Array", record->array);
    html_fact(out, "Image", record->image);
    html_fact_time(out, "Submitted", id_time(text_of(view->place.id)));
    buffer_add_string(out, "</dl>\n");
    buffer_free(&words);
}

/* A file of the job, folded away. */
static void add_file(struct waiting *waiting, const struct job_view *view, int job,
                     const char *name, const char *file, const char *path)
{
    const char *link =
        arena_printf(waiting->exchange->arena, "/dlspool/v1/jobs/%s/%s", view->place.id, path).data;
    buffer_printf(waiting->out, "<details><summary>%s</summary>\n", name);
    job_output_add_file(waiting->out, job, file, link, FILE_SHOWN, NULL);
    buffer_add_string(waiting->out, "</details>\n");
}

static bool is_readable(int directory, const char *name)
{
    int file = sys.openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file >= 0)
        sys.close(file);
    return file >= 0;
}

/* Both files, for who may read them; others are told so by what tells the difference. */
static void add_files(struct waiting *waiting, const struct job_view *view)
{
    struct text name = view->record.request_file;
    const char *request = arena_text(waiting->exchange->arena, name.data, name.length).data;
    int job = job_open(waiting->exchange->spool, &view->place);
    if (job < 0)
        return;
    if (name.length && !strchr(request, '/') && is_readable(job, request)) {
        add_file(waiting, view, job, "Job file", request, "request");
        add_file(waiting, view, job, "Manifest", "manifest.yaml", "manifest");
    }
    sys.close(job);
}

/* Who asks for what, what would be approved, and the buttons. */
static void add_job(struct waiting *waiting, const struct job_view *view)
{
    struct buffer *out = waiting->out;
    buffer_printf(out, "<section class=\"card\"><h2><a href=\"/jobs/%s\">%s</a></h2>\n",
                  view->place.id, view->place.id);
    add_facts(out, view);
    add_files(waiting, view);
    approval_form_add(waiting->exchange, out, view, waiting->fault);
    buffer_add_string(out, "</section>\n");
}

static int take_waiting(void *context, const struct job_place *place)
{
    struct waiting *waiting = context;
    struct job_view view;
    if (view_read(waiting->exchange->spool, place, waiting->exchange->arena, &view) ||
        !decision_is_wanted(waiting->exchange->spool, &waiting->settings, &view))
        return 0;
    if (waiting->count++ < MOST_SHOWN)
        add_job(waiting, &view);
    return 0;
}

/* ---- the page ---- */

static void add_count(struct buffer *out, size_t count)
{
    if (!count)
        buffer_add_string(out, "<p>No job waits for you to approve it.</p>\n");
    if (count > MOST_SHOWN)
        buffer_printf(out, "<p>%zu more jobs wait; they come here when these are decided.</p>\n",
                      count - MOST_SHOWN);
}

static void reply_approvals(struct exchange *exchange, int status,
                            const struct approval_fault *fault)
{
    struct buffer out = {0};
    struct error error;
    struct waiting waiting = {.exchange = exchange, .out = &out, .fault = fault};
    if (settings_read(&waiting.settings, exchange->spool, &error)) {
        html_reply_sentence(exchange, HTTP_INTERNAL_ERROR, error.text);
        return;
    }
    html_begin(&out, "Approvals", "/approvals");
    jobs_walk(exchange->spool, STATE_HELD, take_waiting, &waiting);
    add_count(&out, waiting.count);
    settings_free(&waiting.settings);
    html_reply(exchange, status, &out);
}

static void show_approvals(struct exchange *exchange)
{
    reply_approvals(exchange, HTTP_OK, NULL);
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
        const struct approval_fault fault = {
            .id = view.place.id, .sentence = error.text, .reason = form_get(&form, "reason")};
        reply_approvals(exchange, HTTP_BAD_REQUEST, &fault);
        return;
    }
    if (status == HTTP_OK && !reason && is_another(&form, &view)) {
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
