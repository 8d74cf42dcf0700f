/* web/job_facts.c - what is told of a job, and what has happened to it */
#include "web/job_facts.h"

#include <ctype.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/quantity.h"
#include "client/outlook.h"
#include "spool/eventlog.h"
#include "web/html.h"
#include "web/jobs_page.h"

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
void job_facts_add(struct exchange *exchange, struct buffer *out, const struct job_view *view,
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
void job_facts_add_log(struct buffer *out, const char *id, struct text log)
{
    enum { SHOWN = 200 };
    static const struct html_column columns[] = {{"Time", ""}, {"Event", ""}, {"Of it", ""}};
    struct event events[SHOWN];
    size_t count = 0;
    for (struct event event; eventlog_next(&log, &event); count++)
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
}
