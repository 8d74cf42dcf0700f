/* web/job_page.c - the page of one job: why, what may be asked of it, what it is, and its files */
#include "web/job_page.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/quantity.h"
#include "base/system.h"
#include "client/outlook.h"
#include "spool/eventlog.h"
#include "web/approval_form.h"
#include "web/html.h"
#include "web/job_output.h"
#include "web/jobs_api.h"
#include "web/jobs_page.h"
#include "web/requests_api.h"

enum { FILE_SHOWN = 64 * 1024 }; /* bytes at the end of a file that the page shows */

/* ---- what it is ---- */

static void add_outlook_fact(void *context, const char *name, struct text text)
{
    char capital[32];
    snprintf(capital, sizeof(capital), "%s", name);
    capital[0] = (char)toupper((unsigned char)capital[0]);
    html_fact(context, capital, text);
}

/* Its deadline, size and progress. */
static void add_outlook(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                        int job)
{
    struct plan_file plan = {.time = 0};
    struct outlook outlook;
    plan_file_read(exchange->spool, exchange->arena, &plan, NULL);
    outlook_read(exchange->spool, view, &plan, clock_now(), &outlook);
    if (job >= 0)
        outlook_measure(job, exchange->arena, &outlook);
    outlook_tell(view, &outlook, add_outlook_fact, out);
    if (outlook.progress && outlook.progress->total > 0)
        buffer_printf(out,
                      "<dt>Done</dt><dd><meter min=\"0\" max=\"%g\" value=\"%g\" "
                      "aria-label=\"Progress\">%.0f %%</meter></dd>\n",
                      outlook.progress->total, outlook.progress->done,
                      100 * outlook.progress->done / outlook.progress->total);
}

static void add_state(struct buffer *out, const struct job_view *view)
{
    struct buffer tasks = {0};
    int code = view_exit_code(view);
    buffer_add_string(out, "<dt>State</dt><dd>");
    jobs_page_add_state(out, view);
    if (code >= 0)
        buffer_printf(out, ", exit code %d", code);
    view_print_tasks(view, &tasks);
    if (tasks.length) {
        buffer_add_string(out, ": ");
        html_text(out, buffer_text(&tasks));
    }
    buffer_free(&tasks);
    buffer_add_string(out, "</dd>\n");
}

static void add_numbers(struct buffer *out, const struct job_record *record)
{
    char resources[RESOURCES_TEXT_SIZE], number[32], span[CLOCK_TEXT_SIZE];
    html_fact(
        out, "Requests",
        text_of(quantity_format_resources(record->cpus, record->memory, record->gpus, resources)));
    html_fact(out, "GPU type", record->gpu_type);
    if (record->time_limit)
        html_fact(out, "Time limit", text_of(duration_format(record->time_limit, span)));
    snprintf(number, sizeof(number), "%d", record->priority);
    if (record->priority)
        html_fact(out, "Priority", text_of(number));
    snprintf(number, sizeof(number), "%d", record->attempt);
    if (record->attempt)
        html_fact(out, "Attempt", text_of(number));
}

/* The facts of the job, those first that change. */
static void add_summary(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                        int job)
{
    const struct job_record *record = &view->record;
    char span[CLOCK_TEXT_SIZE];
    int64_t elapsed = view_elapsed(view);
    buffer_add_string(out, "<dl>\n");
    add_state(out, view);
    html_fact(out, "Name", record->name);
    html_fact(out, "Owner", record->owner);
    html_fact_time(out, "Submitted", id_time(text_of(view->place.id)));
    html_fact_time(out, "Started", view->situation.started);
    html_fact_time(out, "Ended", view->situation.ended);
    if (elapsed >= 0)
        html_fact(out, "Elapsed", text_of(duration_format(elapsed, span)));
    add_outlook(exchange, out, view, job);
    add_numbers(out, record);
    html_fact(out, "Queue", record->queue);
    html_fact(out, "Node", text_of(view->situation.node));
    html_fact(out, "Library", record->library);
    html_fact(out, "Version",
              record->library_version.length ? record->library_version : record->version);
    html_fact(out, "Type", record->type);
    html_fact(out, "Array", record->array);
    html_fact(out, "Image", record->image);
    html_fact(out, "Template", record->template_path);
    html_fact(out, "Commit", record->commit);
    buffer_add_string(out, "</dl>\n");
}

/* What has happened, the last first. */
static void add_log(struct buffer *out, const char *id, int job)
{
    enum { SHOWN = 200 };
    static const struct html_column columns[] = {{"Time", ""}, {"Event", ""}, {"Of it", ""}};
    struct buffer log = {0};
    struct event events[SHOWN];
    size_t count = 0;
    eventlog_read(job, &log, NULL);
    struct text rest = buffer_text(&log);
    for (struct event event; eventlog_next(&rest, &event); count++)
        events[count % SHOWN] = event;
    html_heading(out, "Log");
    html_table_begin(out, "Log", columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const struct event *event = &events[(count - 1 - i) % SHOWN];
        buffer_add_string(out, "<tr>");
        html_cell_time(out, "time", event->time);
        html_cell(out, "", event->name);
        html_cell(out, "why", event->rest);
        buffer_add_string(out, "</tr>\n");
    }
    html_table_end(out);
    buffer_printf(out, "<p><a href=\"/dlspool/v1/jobs/%s/log\">As a file</a></p>\n", id);
    buffer_free(&log);
}

/* ---- what may be asked of it ---- */

static void add_job_actions(struct buffer *out, const struct exchange *exchange,
                            const struct job_view *view)
{
    buffer_add_string(out, "<form class=\"actions\" method=\"post\" action=\"/jobs\">"
                           "<input type=\"hidden\" name=\"id\" value=\"");
    html_string(out, view->place.id);
    buffer_add_string(out, "\">");
    for (size_t i = 0; i < JOBS_PAGE_VERBS; i++)
        if (requests_api_applies(exchange, view, jobs_page_verbs[i]))
            buffer_printf(out, "<button name=\"verb\" value=\"%s\">%s</button>", jobs_page_verbs[i],
                          jobs_page_verbs[i]);
    buffer_printf(out, "<a href=\"/new?from=%s\">Submit one like it</a></form>\n", view->place.id);
}

static void add_named_file(struct exchange *exchange, struct buffer *out, int job, const char *id,
                           const char *file, const char *path)
{
    job_output_add_file(out, job, file,
                        arena_printf(exchange->arena, "/dlspool/v1/jobs/%s/%s", id, path).data,
                        FILE_SHOWN, NULL);
}

/* What was asked for, and what was made of it. */
static void add_files(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                      int job)
{
    const char *id = view->place.id;
    struct text request = view->record.request_file;
    html_heading(out, "Request");
    if (request.length && !memchr(request.data, '/', request.length))
        add_named_file(exchange, out, job, id,
                       arena_text(exchange->arena, request.data, request.length).data, "request");
    html_heading(out, "Manifest");
    buffer_printf(
        out, "<p><a href=\"/jobs/%s/difference\">What today's templates would change</a></p>\n",
        id);
    add_named_file(exchange, out, job, id, "manifest.yaml", "manifest");
}

/* For an approver of a job that waits for that. */
static void add_approval(struct exchange *exchange, struct buffer *out, const struct job_view *view)
{
    if (!approval_form_is_wanted(exchange, view))
        return;
    html_heading(out, "Approval");
    approval_form_add(exchange, out, view, NULL);
}

/* A job that has gone to an archive: what the archive's index tells of it. */
static void show_archived(struct exchange *exchange, const struct job_view *view)
{
    struct buffer out = {0};
    const char *id = view->place.id;
    html_begin(&out, id, "");
    if (view->why.length)
        html_say(&out, view->situation.state == JOB_FAILED ? "alert" : "note",
                 text_trim(view->why));
    html_say(&out, "note",
             arena_printf(exchange->arena,
                          "It is archived, in %.*s. At a terminal, dlspool show %s prints its log "
                          "and its job file, and dlspool logs %s its output.",
                          (int)view->archive.length, view->archive.data, id, id));
    add_summary(exchange, &out, view, -1);
    html_reply(exchange, HTTP_OK, &out);
}

/* One job: why, what may be asked of it, what it is, and its files. */
static void show_job(struct exchange *exchange)
{
    struct job_view view;
    struct error error;
    struct buffer out = {0};
    int status = jobs_api_look_anywhere(exchange, &view, &error);
    if (status != HTTP_OK) {
        html_reply_sentence(exchange, status, error.text);
        return;
    }
    if (view.archive.length) {
        show_archived(exchange, &view);
        return;
    }
    struct waiting_file waiting;
    waiting_read(exchange->spool, &waiting);
    view_take_waiting(&view, &waiting, exchange->arena);
    int job = job_open(exchange->spool, &view.place);
    html_begin(&out, view.place.id, "");
    if (view.why.length)
        html_say(&out, view.situation.state == JOB_FAILED ? "alert" : "note", text_trim(view.why));
    add_job_actions(&out, exchange, &view);
    add_summary(exchange, &out, &view, job);
    add_approval(exchange, &out, &view);
    if (job >= 0) {
        job_output_add(exchange, &out, &view, job);
        add_log(&out, view.place.id, job);
        add_files(exchange, &out, &view, job);
        sys.close(job);
    }
    html_reply(exchange, HTTP_OK, &out);
}

const struct route job_page_routes[] = {{"GET", "/jobs/{}", show_job}, {.pattern = NULL}};
