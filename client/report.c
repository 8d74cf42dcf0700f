/* client/report.c - a report of the accounts: the sums of a period, and what the executor has */
#include "client/report.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/nearest.h"

static const double hour = 3600000; /* milliseconds */

int report_read_kind(struct text word, enum report_kind *kind, struct error *error)
{
    struct nearest_hint hint;
    struct error_quote_buffer quote;
    for (int i = 0; i < REPORT_KINDS; i++)
        if (text_is(word, report_sums_words[i])) {
            *kind = (enum report_kind)i;
            return 0;
        }
    return error_set(
        error, "found \"%s\", expected utilization, users, groups, queues, sizes or deadlines%s",
        error_quote(&quote, word.data, word.length), nearest_hint(&hint, word, report_sums_words));
}

static int take_attempt(void *context, const struct usage *usage)
{
    report_sums_add(context, usage);
    return 0;
}

int report_make(struct report *report, const struct spool *spool, struct error *error)
{
    int64_t noted;
    report->now = clock_now();
    if (capacity_file_read(spool, &report->capacity, NULL, &noted))
        report->capacity = (struct capacity){0};
    report->sums = report_sums_new(report->kind, &report->filter);
    if (usage_scan(spool, usage_filter_since(&report->filter), take_attempt, report->sums, error))
        return -1;
    report->rows = report_sums_rows(report->sums, &report->count);
    return 0;
}

void report_free(struct report *report)
{
    free(report->rows);
    if (report->sums)
        report_sums_free(report->sums);
}

/* ---- for programs ---- */

static void put_hours(struct arena *arena, struct value *object, const char *key, double time)
{
    value_put(arena, object, key, value_number(arena, time / hour));
}

static struct value *row_tree(struct arena *arena, const struct report_row *row)
{
    struct value *object = value_object(arena);
    value_put(arena, object, "of", value_text(arena, names_text(row)));
    value_put(arena, object, "attempts", value_number(arena, (double)row->attempts));
    value_put(arena, object, "succeeded", value_number(arena, (double)row->succeeded));
    value_put(arena, object, "not_known", value_number(arena, (double)row->unknown));
    put_hours(arena, object, "wait_hours", row->waited);
    put_hours(arena, object, "cpu_held_hours", row->cpu_held);
    put_hours(arena, object, "gpu_held_hours", row->gpu_held);
    put_hours(arena, object, "cpu_used_hours", row->cpu_used);
    put_hours(arena, object, "cpu_held_hours_of_used", row->cpu_held_of_used);
    value_put(arena, object, "deadlines", value_number(arena, (double)row->jobs));
    value_put(arena, object, "met", value_number(arena, (double)row->met));
    value_put(arena, object, "missed", value_number(arena, (double)row->missed));
    return object;
}

struct value *report_tree(struct arena *arena, const struct report *report)
{
    struct value *tree = value_object(arena), *rows = value_list(arena);
    char time[CLOCK_TEXT_SIZE];
    int64_t until = report->filter.until == INT64_MAX ? report->now : report->filter.until;
    for (size_t i = 0; i < report->count; i++)
        value_append(arena, rows, row_tree(arena, report->rows[i]));
    value_put(arena, tree, "report", value_string(arena, report_sums_words[report->kind]));
    value_put(arena, tree, "from", value_string(arena, clock_format(report->filter.from, time)));
    value_put(arena, tree, "until", value_string(arena, clock_format(until, time)));
    value_put(arena, tree, "cpus",
              report->capacity.cpus ? value_number(arena, (double)report->capacity.cpus / 1000)
                                    : value_null(arena));
    value_put(arena, tree, "gpus",
              report->capacity.cpus ? value_number(arena, report->capacity.gpus)
                                    : value_null(arena));
    value_put(arena, tree, "rows", rows);
    return tree;
}
