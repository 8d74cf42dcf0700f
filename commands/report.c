/* commands/report.c - dlspool report: sums of the accounts */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "client/report.h"
#include "commands/usage_options.h"

enum { CELLS = 8, CELL_SIZE = 32 };
static const double hour = 3600000; /* milliseconds */

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
static void print_row(const struct report *report, const struct report_row *row, int width,
                      bool parsable)
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
    if (!parsable)
        printf("%*s", width - (int)name.length, "");
    for (int i = 0; i < cells.count; i++)
        if (parsable)
            printf("|%s", cells.text[i]);
        else
            printf(" %*s", i && i + 1 == cells.count ? 12 : 11, cells.text[i]);
    putchar('\n');
}

static void print_report(const struct report *report, bool parsable)
{
    int64_t unknown = 0;
    int width = (int)strlen(names_of_rows[report->kind]);
    for (size_t i = 0; i < report->count; i++) {
        int length = (int)names_text(report->rows[i]).length;
        width = length > width ? length : width;
        unknown += report->rows[i]->unknown;
    }
    print_row(report, NULL, width, parsable);
    for (size_t i = 0; i < report->count; i++)
        print_row(report, report->rows[i], width, parsable);
    if (unknown)
        remark("what %" PRId64 " attempt%s held is not known, and is not in these hours", unknown,
               quantity_plural(unknown));
}

/* ---- the command ---- */

static void print_tree(const struct report *report)
{
    struct arena *arena = arena_new();
    print_json(report_tree(arena, report));
    arena_free(arena);
}

static int show_report(struct report *report, const struct spool *spool, bool json, bool parsable)
{
    struct error error;
    int result = report_make(report, spool, &error);
    if (result)
        complain("%s", error.text);
    else if (json)
        print_tree(report);
    else
        print_report(report, parsable);
    report_free(report);
    return result ? STATUS_FAILED : STATUS_DONE;
}

int command_report(int argument_count, char **arguments)
{
    struct report report = {.kind = REPORT_UTILIZATION};
    bool json = false, parsable = false;
    const struct option_spec options[] = {
        USAGE_FILTER_OPTIONS(report.filter),
        {"parsable2", 'P', OPTION_FLAG, &parsable, NULL, "with | between the fields"},
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
    if (report_read_kind(text_of(arguments[1]), &report.kind, &error)) {
        complain("%s", error.text);
        return STATUS_USAGE;
    }
    if (open_spool(&spool))
        return STATUS_FAILED;
    if (usage_filter_prepare(&report.filter, &spool, &error)) {
        complain("%s", error.text);
        status = STATUS_USAGE;
    } else {
        status = show_report(&report, &spool, json, parsable);
    }
    spool_close(&spool);
    return status;
}
