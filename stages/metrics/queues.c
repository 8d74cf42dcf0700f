/* stages/metrics/queues.c - what rows of limits.rows allow queues, and what those have of it, as series */
#include "stages/metrics/queues.h"

#include <stdlib.h>

#include "base/labels.h"
#include "stages/shared/use.h"

struct queues {
    struct limit_row *rows; /* those for queues; of gpu_hours nothing is read */
    size_t row_count;
    struct use *use;
};

struct queues *queues_new(const struct spool *spool, const struct settings *settings)
{
    const struct job_limits *limits = &settings->limits;
    size_t count = 0;
    struct limit_row *rows = memory_allocate((limits->row_count + 1) * sizeof(*rows));
    for (size_t i = 0; i < limits->row_count; i++)
        if (limits->rows[i].subject == LIMIT_QUEUE)
            rows[count++] = limits->rows[i];
    if (!count) {
        free(rows);
        return NULL;
    }
    struct queues *queues = memory_allocate(sizeof(*queues));
    *queues = (struct queues){.rows = rows,
                              .row_count = count,
                              .use = use_new(spool, rows, count, 1u << STATE_SUBMITTED)};
    return queues;
}

void queues_free(struct queues *queues)
{
    if (!queues)
        return;
    use_free(queues->use);
    free(queues->rows);
    free(queues);
}

static const struct series *find(const struct series_table *table, const char *metric,
                                 const char *labels)
{
    struct buffer name = {0};
    buffer_printf(&name, "%s{%s}", metric, labels);
    const struct series *series = series_find(table, name.data);
    buffer_free(&name);
    return series;
}

/* Of several rows for the same queue the strictest holds; what is used is the same by all. */
static void set(struct series_table *table, const char *labels, double limit, double used)
{
    const struct series *known = find(table, "queue_limit", labels);
    if (!known)
        series_gauge(table, "queue_used", labels, used);
    if (!known || limit < known->sum)
        series_gauge(table, "queue_limit", labels, known ? limit - known->sum : limit);
}

static void add_amount(struct series_table *table, const struct use_view *view,
                       const char *resource, int64_t limit, int64_t used, double unit)
{
    struct buffer labels = {0};
    if (limit < 0)
        return;
    labels_add(&labels, "queue", view->subject);
    labels_add(&labels, "resource", text_of(resource));
    labels_add(&labels, "gpu_type", view->row->gpu_type);
    set(table, labels.data, (double)limit / unit, (double)used / unit);
    buffer_free(&labels);
}

static void add_row(void *context, const struct use_view *view)
{
    struct series_table *table = context;
    const struct limit_row *row = view->row;
    const struct use_amounts *used = &view->amounts[USE_RUNNING];
    add_amount(table, view, "jobs", row->running, used->jobs, 1);
    add_amount(table, view, "cpus", row->cpus, used->cpus, 1000);
    add_amount(table, view, "memory_bytes", row->memory, used->memory, 1);
    add_amount(table, view, "gpus", limit_row_most_gpus(row), used->gpus, 1);
}

/* A queue that has no job has no tally: each row that is for it says what it may have. */
static void add_named(const struct queues *queues, struct text name, struct series_table *table)
{
    for (size_t i = 0; i < queues->row_count; i++) {
        const struct use_view idle = {.row = &queues->rows[i], .subject = name};
        if (limit_row_is_for_each(idle.row) || text_equal(idle.row->name, name))
            add_row(table, &idle);
    }
}

int queues_collect(struct queues *queues, struct series_table *table, struct error *error)
{
    if (!queues)
        return 0;
    if (use_look(queues->use, error))
        return -1;
    use_walk(queues->use, add_row, table);
    for (size_t i = 0; i < queues->row_count; i++)
        if (!limit_row_is_for_each(&queues->rows[i]))
            add_named(queues, queues->rows[i].name, table);
    return 0;
}
