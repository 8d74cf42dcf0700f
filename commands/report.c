/* commands/report.c - dlspool report: sums of the accounts */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "client/report_sums.h"
#include "commands/usage_options.h"
#include "stages/shared/capacity_file.h"

enum { CELLS = 8, CELL_SIZE = 32 };
static const double hour = 3600000; /* milliseconds */

struct report {
    enum report_kind kind;
    struct usage_filter filter;
    bool parsable;
    struct report_sums *sums;
    struct capacity capacity; /* as it is now; zero: not known */
    int64_t now;
    struct report_row **rows;
    size_t count;
};

/* ---- for people ---- */

static const char *const names_of_rows[REPORT_KINDS] = {"DAY",   "USER", "GROUP",
                                                        "QUEUE", "GPUS", "USER"};

struct cells {
    char text[CELLS][CELL_SIZE];
    int count;
};

static void add_cell(struct cells *cells, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_cell(struct cells *cells, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cells->text[cells->count++], CELL_SIZE, format, arguments);
    va_end(arguments);
}

static void add_percent(struct cells *cells, double part, double whole)
{
    if (whole > 0)
        add_cell(cells, "%.0f%%", 100 * part / whole);
    else
        add_cell(cells, "-");
}

/* How much of a day lies in the period and before now, milliseconds. */
static double time_of_day(const struct report *report, struct text day)
{
    char text[CLOCK_TEXT_SIZE];
    int64_t from, until = report->now < report->filter.until ? report->now : report->filter.until;
    snprintf(text, sizeof(text), "%.10sT00:00:00Z", day.data);
    if (clock_parse(text_of(text), &from))
        return 0;
    until = from + CLOCK_DAY < until ? from + CLOCK_DAY : until;
    from = from > report->filter.from ? from : report->filter.from;
    return until > from ? (double)(until - from) : 0;
}

/* Cells of the heading. */
static void fill_heading(struct cells *cells, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_cell(cells, "%s", names[i]);
}

static void fill_utilization(const struct report *report, const struct report_row *row,
                             struct cells *cells)
{
    static const char *const names[] = {"ATTEMPTS", "CPU-HOURS", "OF-CPUS", "GPU-HOURS", "OF-GPUS"};
    if (!row) {
        fill_heading(cells, names, ARRAY_COUNT(names));
        return;
    }
    double time = time_of_day(report, names_text(row));
    add_cell(cells, "%" PRId64, row->attempts);
    add_cell(cells, "%.1f", row->cpu_held / hour);
    add_percent(cells, row->cpu_held, time * (double)report->capacity.cpus / 1000);
    add_cell(cells, "%.1f", row->gpu_held / hour);
    add_percent(cells, row->gpu_held, time * report->capacity.gpus);
}

static void fill_use(const struct report_row *row, struct cells *cells)
{
    static const char *const names[] = {"ATTEMPTS",  "SUCCEEDED", "WAIT-HOURS",
                                        "CPU-HOURS", "CPU-USED",  "GPU-HOURS"};
    if (!row) {
        fill_heading(cells, names, ARRAY_COUNT(names));
        return;
    }
    add_cell(cells, "%" PRId64, row->attempts);
    add_percent(cells, (double)row->succeeded, (double)row->attempts);
    add_cell(cells, "%.2f", row->waited / (double)row->attempts / hour);
    add_cell(cells, "%.1f", row->cpu_held / hour);
    add_percent(cells, row->cpu_used, row->cpu_held_of_used);
    add_cell(cells, "%.1f", row->gpu_held / hour);
}

static void fill_deadlines(const struct report_row *row, struct cells *cells)
{
    static const char *const names[] = {"JOBS", "MET", "MISSED", "OPEN", "MET-OF-ENDED"};
    if (!row) {
        fill_heading(cells, names, ARRAY_COUNT(names));
        return;
    }
    add_cell(cells, "%" PRId64, row->jobs);
    add_cell(cells, "%" PRId64, row->met);
    add_cell(cells, "%" PRId64, row->missed);
    add_cell(cells, "%" PRId64, row->jobs - row->met - row->missed);
    add_percent(cells, (double)row->met, (double)(row->met + row->missed));
}

/* A row, or with NULL the heading. */
static void print_row(const struct report *report, const struct report_row *row, int width)
{
    struct cells cells = {.count = 0};
    struct text name = row ? names_text(row) : text_of(names_of_rows[report->kind]);
    if (report->kind == REPORT_UTILIZATION)
        fill_utilization(report, row, &cells);
    else if (report->kind == REPORT_DEADLINES)
        fill_deadlines(row, &cells);
    else
        fill_use(row, &cells);
    print_text(name);
    if (!report->parsable)
        printf("%*s", width - (int)name.length, "");
    for (int i = 0; i < cells.count; i++)
        if (report->parsable)
            printf("|%s", cells.text[i]);
        else
            printf(" %*s", i && i + 1 == cells.count ? 12 : 11, cells.text[i]);
    putchar('\n');
}

static void print_report(const struct report *report)
{
    int64_t unknown = 0;
    int width = (int)strlen(names_of_rows[report->kind]);
    for (size_t i = 0; i < report->count; i++) {
        int length = (int)names_text(report->rows[i]).length;
        width = length > width ? length : width;
        unknown += report->rows[i]->unknown;
    }
    print_row(report, NULL, width);
    for (size_t i = 0; i < report->count; i++)
        print_row(report, report->rows[i], width);
    if (unknown)
        remark("what %" PRId64 " attempt%s held is not known, and is not in these hours", unknown,
               quantity_plural(unknown));
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

static void print_tree(const struct report *report)
{
    struct arena *arena = arena_new();
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
    print_json(tree);
    arena_free(arena);
}

/* ---- the command ---- */

static int take_attempt(void *context, const struct usage *usage)
{
    report_sums_add(context, usage);
    return 0;
}

static int make_report(struct report *report, const struct spool *spool, bool json)
{
    struct error error;
    int64_t noted;
    if (capacity_file_read(spool, &report->capacity, &noted))
        report->capacity = (struct capacity){0};
    report->sums = report_sums_new(report->kind, &report->filter);
    int result =
        usage_scan(spool, usage_filter_since(&report->filter), take_attempt, report->sums, &error);
    if (result) {
        complain("%s", error.text);
    } else {
        report->rows = report_sums_rows(report->sums, &report->count);
        json ? print_tree(report) : print_report(report);
        free(report->rows);
    }
    report_sums_free(report->sums);
    return result ? STATUS_FAILED : STATUS_DONE;
}

static bool read_kind(const char *word, enum report_kind *kind)
{
    struct nearest_hint hint;
    for (int i = 0; i < REPORT_KINDS; i++)
        if (strcmp(word, report_sums_words[i]) == 0) {
            *kind = (enum report_kind)i;
            return true;
        }
    complain("found \"%s\", expected utilization, users, groups, queues, sizes or deadlines%s",
             word, nearest_hint(&hint, text_of(word), report_sums_words));
    return false;
}

int command_report(int argument_count, char **arguments)
{
    struct report report = {.now = clock_now()};
    bool json = false;
    const struct option_spec options[] = {
        USAGE_FILTER_OPTIONS(report.filter),
        {"parsable2", 'P', OPTION_FLAG, &report.parsable, NULL, "with | between the fields"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object"},
        {"allusers", 0, OPTION_FLAG, &report.filter.all, NULL, NULL},
        {0}};
    const struct verb_usage usage = {
        "report",
        "utilization|users|groups|queues|sizes|deadlines",
        1,
        1,
        "Show what the attempts of a period came to, by day, user, group, queue, size or deadline.",
        "One's own; of all users for administrators.  An attempt belongs to the period in which it\n"
        "ended; of utilization, each day has what was held on that day.\n",
        options};
    int operands, status;
    struct spool spool;
    struct error error;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (!read_kind(arguments[1], &report.kind))
        return STATUS_USAGE;
    if (open_spool(&spool))
        return STATUS_FAILED;
    if (usage_filter_prepare(&report.filter, &spool, &error)) {
        complain("%s", error.text);
        status = STATUS_USAGE;
    } else {
        status = make_report(&report, &spool, json);
    }
    spool_close(&spool);
    return status;
}
