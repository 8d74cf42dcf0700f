/* web/plan_page.c - the page of the last plan: when jobs are likely to end, and their deadlines */
#include "web/plan_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "job/sizes.h"
#include "spool/plan_file.h"
#include "web/chart.h"
#include "web/html.h"
#include "web/plan_steps.h"

enum { MOST_SPANS = 60 };

static bool is_cpus(const struct planned_pool *pool)
{
    return text_is(pool->name, "cpus");
}

/* A cell; -1: not known. */
static void add_amount(struct buffer *out, const struct planned_pool *pool, int64_t amount)
{
    char text[QUANTITY_TEXT_SIZE];
    int64_t unit = is_cpus(pool) ? 1 : 1000; /* of quantity_format_cpus() */
    html_cell(out, "number", text_of(amount < 0 ? "-" : quantity_format_cpus(amount * unit, text)));
}

static void add_pools(struct buffer *out, const struct plan_file *plan)
{
    static const struct html_column columns[] = {
        {"Pool", ""}, {"Used by the plan", "number"}, {"In all", "number"}, {"Part used", ""}};
    html_heading(out, "Pools");
    html_table_begin(out, "Pools", columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < plan->pool_count; i++) {
        const struct planned_pool *pool = &plan->pools[i];
        buffer_add_string(out, "<tr>");
        html_cell_head(out, pool->name);
        add_amount(out, pool, pool->used);
        add_amount(out, pool, pool->capacity);
        buffer_printf(out,
                      "<td><meter min=\"0\" max=\"%.0f\" value=\"%.0f\" aria-label=\"Part that is "
                      "used\"></meter></td></tr>\n",
                      pool->capacity > 0 ? (double)pool->capacity : 1, (double)pool->used);
    }
    html_table_end(out);
}

static const char *pool_title(struct arena *arena, const struct planned_pool *pool)
{
    if (is_cpus(pool))
        return "CPUs over time";
    if (text_is(pool->name, "gpus"))
        return "GPUs over time";
    return arena_printf(arena, "%.*s over time", (int)pool->name.length, pool->name.data)
        .data; /* gpus:TYPE */
}

/* What the plan gives of a pool over time: a picture, and the same in a table. */
static void add_use(struct exchange *exchange, struct buffer *out, const struct plan_file *plan,
                    const struct planned_pool *pool)
{
    static const struct html_column columns[] = {
        {"From", ""}, {"With a deadline", "number"}, {"Others", "number"}, {"Left", "number"}};
    struct plan_steps steps = plan_steps_of(plan, pool->name, exchange->arena);
    struct chart_step *drawn = arena_allocate(exchange->arena, (steps.count + 1) * sizeof(*drawn));
    const char *name = pool_title(exchange->arena, pool);
    const double unit = is_cpus(pool) ? 1000 : 1;
    if (!steps.count)
        return;
    for (size_t i = 0; i < steps.count; i++)
        drawn[i] = (struct chart_step){steps.items[i].from, (double)steps.items[i].due / unit,
                                       (double)steps.items[i].others / unit};
    html_heading(out, name);
    chart_steps(out, name, drawn, steps.count, steps.until, (double)pool->capacity / unit);
    buffer_add_string(out, "<details><summary>In numbers</summary>\n");
    html_table_begin(out, name, columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < steps.count; i++) {
        const struct plan_step *step = &steps.items[i];
        buffer_add_string(out, "<tr>");
        html_cell_time(out, "time", step->from);
        add_amount(out, pool, step->due);
        add_amount(out, pool, step->others);
        int64_t left = pool->capacity - step->due - step->others;
        add_amount(out, pool, pool->capacity < 0 ? -1 : left > 0 ? left : 0);
        buffer_add_string(out, "</tr>\n");
    }
    html_table_end(out);
    buffer_add_string(out, "</details>\n");
}

static void add_uses(struct exchange *exchange, struct buffer *out, const struct plan_file *plan)
{
    size_t before = out->length;
    for (size_t i = 0; i < plan->pool_count; i++)
        add_use(exchange, out, plan, &plan->pools[i]);
    if (out->length > before)
        buffer_add_string(
            out, "<p class=\"muted\">What the plan gives to jobs until each is likely to end: "
                 "below those with a deadline, above them others; line: all that there is for "
                 "jobs. What becomes free is given by a later plan, so jobs that wait for room are "
                 "not in it.</p>\n");
}

static void add_picture(struct exchange *exchange, struct buffer *out, const struct plan_file *plan)
{
    size_t count = 0;
    struct chart_span *spans = arena_allocate(exchange->arena, MOST_SPANS * sizeof(*spans));
    for (size_t i = 0; i < plan->job_count && count < MOST_SPANS; i++) {
        const struct planned_job *job = &plan->jobs[i];
        if (!job->finish && !job->deadline)
            continue;
        spans[count++] = (struct chart_span){text_of(job->id), plan->time, job->finish, job->late,
                                             job->deadline};
    }
    if (!count)
        return;
    html_heading(out, "Until when");
    chart_spans(out, "When each job is likely to end, and its deadline", plan->time, spans, count);
    buffer_add_string(out,
                      "<p class=\"muted\">Wide: until the job is likely to end; narrow: it may "
                      "take until there, one time in five longer; line: its deadline.</p>\n");
}

/* Those that are to end first before the others; without a prediction, by their deadlines. */
static int compare_ends(const void *a, const void *b)
{
    const struct planned_job *first = a, *second = b;
    int64_t one = first->finish ? first->finish : first->deadline;
    int64_t other = second->finish ? second->finish : second->deadline;
    if (one != other)
        return !one || (other && one > other) ? 1 : -1;
    return strcmp(first->id, second->id);
}

static void add_job(struct buffer *out, const struct planned_job *job)
{
    char now[SIZE_TEXT_SIZE] = "", next[SIZE_TEXT_SIZE] = "";
    if (job->size)
        size_text(job->kind, job->size, now);
    if (job->next)
        size_text(job->kind, job->next, next);
    buffer_add_string(out, "<tr>");
    html_cell_job(out, job->id);
    html_cell(out, "time", job->deadline_status);
    html_cell_time(out, "time", job->deadline);
    html_cell_time(out, "time optional", job->finish);
    html_cell_time(out, "time optional", job->late);
    html_cell(out, "optional", job->pool);
    html_cell(out, "optional", text_of(job->size ? now : "-"));
    html_cell(out, "optional", text_of(job->next ? next : "-"));
    html_cell(out, "why", job->reason);
    buffer_add_string(out, "</tr>\n");
}

static void add_jobs(struct buffer *out, const struct plan_file *plan)
{
    static const struct html_column columns[] = {{"Id", ""},
                                                 {"Status", ""},
                                                 {"Deadline", ""},
                                                 {"Likely end", "optional"},
                                                 {"4 times of 5 by", "optional"},
                                                 {"Pool", "optional"},
                                                 {"Size", "optional"},
                                                 {"Is to have", "optional"},
                                                 {"Why", ""}};
    html_heading(out, "Jobs");
    html_table_begin(out, "Jobs of the plan", columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < plan->job_count; i++)
        add_job(out, &plan->jobs[i]);
    html_table_end(out);
}

static void show_plan(struct exchange *exchange)
{
    struct buffer out = {0};
    struct plan_file plan;
    struct error error;
    char time[CLOCK_TEXT_SIZE];
    int result = plan_file_read(exchange->spool, exchange->arena, &plan, &error);
    if (result < 0) {
        html_reply_sentence(exchange, HTTP_INTERNAL_ERROR, error.text);
        return;
    }
    html_begin(&out, "Plan", "/plan");
    if (result > 0 || !plan.job_count) {
        html_say(&out, "note",
                 TEXT("There is no plan: no job that waits or runs has a deadline or sizes."));
    } else {
        buffer_printf(&out, "<p class=\"muted\">Made %s.</p>\n", clock_local(plan.time, time));
        qsort(plan.jobs, plan.job_count, sizeof(*plan.jobs), compare_ends);
        add_picture(exchange, &out, &plan);
        add_uses(exchange, &out, &plan);
        add_jobs(&out, &plan);
        add_pools(&out, &plan);
    }
    html_reply(exchange, HTTP_OK, &out);
}

const struct route plan_page_routes[] = {{"GET", "/plan", show_plan}, {.pattern = NULL}};
