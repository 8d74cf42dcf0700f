/* commands/history.c - dlspool history: what jobs took, and how well that was predicted */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "planner/quantile.h"
#include "spool/eventlog.h"
#include "spool/history.h"
#include "spool/jobs.h"

/* The first prediction of a job's time, made before it ran. */
struct foretold {
    double seconds, late; /* median and late estimate; 0: not predicted */
};

struct hindsight {
    size_t count;        /* jobs that were predicted and ended at their first size */
    size_t covered;      /* of these: not longer than the late estimate */
    double median, mean; /* error, relative to the time taken */
};

struct report {
    struct arena *arena;
    struct spool spool;
    struct history history;
    struct foretold *foretold; /* one for each run */
    struct hindsight hindsight;
};

/* Read the first prediction from the job's log. */
static struct foretold read_foretold(int job)
{
    struct buffer log = {0};
    struct event event;
    struct foretold foretold = {0};
    struct text rest = {"", 0};
    if (!eventlog_read(job, &log, NULL))
        rest = buffer_text(&log);
    while (eventlog_next(&rest, &event)) {
        if (!text_is(event.name, "predicted"))
            continue;
        foretold.seconds = (double)eventlog_get_number(&event, "seconds", 0);
        foretold.late = (double)eventlog_get_number(&event, "late", 0);
        break;
    }
    buffer_free(&log);
    return foretold;
}

/* Find the prediction for a run.  The job is in done/, under the day of its end or, when it was
 * moved after midnight, a later one. */
static struct foretold find_foretold(struct report *report, const struct past_run *run)
{
    struct job_place place = {.state = STATE_DONE};
    struct foretold foretold = {0};
    char date[CLOCK_TEXT_SIZE];
    if (!run->whole || !id_valid(run->id))
        return foretold;
    snprintf(place.date, sizeof(place.date), "%.10s", clock_date(run->ended, date));
    snprintf(place.id, sizeof(place.id), "%.*s", (int)run->id.length, run->id.data);
    int job = job_open(&report->spool, &place);
    if (job < 0 && jobs_find_done(&report->spool, run->id, &place) > 0)
        job = job_open(&report->spool, &place);
    if (job < 0)
        return foretold;
    foretold = read_foretold(job);
    sys.close(job);
    return foretold;
}

static void look_back(struct report *report)
{
    const struct history *history = &report->history;
    struct hindsight *hindsight = &report->hindsight;
    struct sample *errors = memory_allocate((history->count + 1) * sizeof(*errors));
    double sum = 0;
    report->foretold =
        arena_allocate(report->arena, (history->count + 1) * sizeof(*report->foretold));
    for (size_t i = 0; i < history->count; i++) {
        const struct past_run *run = &history->runs[i];
        struct foretold foretold = find_foretold(report, run);
        report->foretold[i] = foretold;
        if (!(foretold.seconds > 0) || !(run->seconds > 0))
            continue;
        double wrong = fabs(foretold.seconds / run->seconds - 1);
        errors[hindsight->count++] = (struct sample){wrong, 1};
        hindsight->covered += run->seconds <= foretold.late;
        sum += wrong;
    }
    hindsight->median = quantile_median(errors, hindsight->count);
    hindsight->mean = hindsight->count ? sum / (double)hindsight->count : 0;
    free(errors);
}

/* For people */

static void print_share(int64_t part, int64_t whole)
{
    if (part >= 0 && whole > 0)
        printf(" %5.0f%%", 100 * (double)part / (double)whole);
    else
        printf(" %6s", "-");
}

static void print_number(double number, bool known)
{
    if (known)
        printf(" %9.4g", number);
    else
        printf(" %9s", "-");
}

static void print_run(const struct past_run *run, const struct foretold *foretold)
{
    char time[CLOCK_TEXT_SIZE], size[SIZE_TEXT_SIZE];
    printf("%.16s %-*.*s %-9s %-10s", clock_format(run->ended, time), ID_SIZE - 1,
           (int)run->id.length, run->id.data,
           run->kind == SIZE_FIXED ? "-" : size_text(run->kind, run->size, size),
           run->finished ? "finished" : "");
    print_number(run->finished ? run->total : run->units, run->total > 0 || run->units > 0);
    print_number(run->rate, run->rate > 0);
    print_number(run->seconds, true);
    print_number(foretold->seconds, foretold->seconds > 0);
    print_number(foretold->late, foretold->late > 0);
    print_share(run->cpu_used, run->cpu_allocated);
    putchar('\n');
}

static void print_report(const struct report *report)
{
    const struct hindsight *hindsight = &report->hindsight;
    if (report->history.count)
        printf("%-16s %-*s %-9s %-10s %9s %9s %9s %9s %9s %6s\n", "ENDED", ID_SIZE - 1, "ID",
               "SIZE", "END", "UNITS", "UNITS/S", "SECONDS", "PREDICTED", "LATE", "CPU");
    for (size_t i = 0; i < report->history.count; i++)
        print_run(&report->history.runs[i], &report->foretold[i]);
    printf("%zu run%s", report->history.count, quantity_plural((int64_t)report->history.count));
    if (hindsight->count)
        printf(
            "; of %zu predicted: median error %.0f %%, mean error %.0f %%, %.0f %% took no longer "
            "than LATE",
            hindsight->count, 100 * hindsight->median, 100 * hindsight->mean,
            100 * (double)hindsight->covered / (double)hindsight->count);
    putchar('\n');
}

/* For programs */

static void put_number(struct arena *arena, struct value *object, const char *name, double number,
                       bool known)
{
    value_put(arena, object, name, known ? value_number(arena, number) : value_null(arena));
}

/* A run for --json: it has every key; unknown values are null. */
static struct value *run_tree(struct arena *arena, const struct past_run *run,
                              const struct foretold *foretold)
{
    struct value *object = value_object(arena);
    char time[CLOCK_TEXT_SIZE];
    const struct {
        const char *name;
        struct text text;
    } texts[] = {{"id", run->id},
                 {"owner", run->owner},
                 {"template", run->template_path},
                 {"commit", run->commit},
                 {"image", run->image},
                 {"arguments", run->arguments},
                 {"gpu_type", run->gpu_type}};
    value_put(arena, object, "ended", value_string(arena, clock_format(run->ended, time)));
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        value_put(arena, object, texts[i].name,
                  texts[i].text.length ? value_text(arena, texts[i].text) : value_null(arena));
    value_put(arena, object, "attempt", value_number(arena, run->attempt));
    value_put(arena, object, "of", value_string(arena, size_kind_name(run->kind)));
    value_put(arena, object, "size", value_number(arena, (double)run->size));
    value_put(arena, object, "cpus", value_number(arena, (double)run->cpus / 1000));
    value_put(arena, object, "gpus", value_number(arena, (double)run->gpus));
    value_put(arena, object, "finished", value_boolean(arena, run->finished));
    value_put(arena, object, "whole", value_boolean(arena, run->whole));
    put_number(arena, object, "total", run->total, run->total > 0);
    put_number(arena, object, "units", run->units, run->units > 0);
    put_number(arena, object, "rate", run->rate, run->rate > 0);
    put_number(arena, object, "seconds", run->seconds, true);
    put_number(arena, object, "start_up_ms", (double)run->start_up, run->start_up >= 0);
    put_number(arena, object, "restart_ms", (double)run->restart, run->restart >= 0);
    put_number(arena, object, "resize_ms", (double)run->resize, run->resize >= 0);
    put_number(arena, object, "cpu_used_ms", (double)run->cpu_used, run->cpu_used >= 0);
    put_number(arena, object, "cpu_allocated_ms", (double)run->cpu_allocated, true);
    put_number(arena, object, "predicted", foretold->seconds, foretold->seconds > 0);
    put_number(arena, object, "late", foretold->late, foretold->late > 0);
    return object;
}

static struct value *report_tree(const struct report *report)
{
    struct arena *arena = report->arena;
    const struct hindsight *hindsight = &report->hindsight;
    struct value *tree = value_object(arena), *runs = value_list(arena);
    struct value *predictions = value_object(arena);
    double count = (double)hindsight->count;
    for (size_t i = 0; i < report->history.count; i++)
        value_append(arena, runs, run_tree(arena, &report->history.runs[i], &report->foretold[i]));
    value_put(arena, tree, "runs", runs);
    value_put(arena, predictions, "count", value_number(arena, count));
    put_number(arena, predictions, "median_error", hindsight->median, count > 0);
    put_number(arena, predictions, "mean_error", hindsight->mean, count > 0);
    put_number(arena, predictions, "covered", count > 0 ? (double)hindsight->covered / count : 0,
               count > 0);
    value_put(arena, tree, "predictions", predictions);
    return tree;
}

static int rebuild_history(struct report *report, bool json)
{
    struct error error;
    size_t runs;
    if (history_rebuild(&report->spool, &runs, &error)) {
        complain("the history could not be rebuilt: %s", error.text);
        return STATUS_FAILED;
    }
    if (json)
        printf("{\"rebuilt\":%zu}\n", runs);
    else
        printf("%zu run%s from done/\n", runs, quantity_plural((int64_t)runs));
    return STATUS_DONE;
}

static int show_history(struct report *report, bool json)
{
    struct error error;
    if (history_read(&report->spool, report->arena, &report->history, &error)) {
        complain("%s", error.text);
        return STATUS_FAILED;
    }
    look_back(report);
    if (json)
        print_json(report_tree(report));
    else
        print_report(report);
    return STATUS_DONE;
}

int command_history(int argument_count, char **arguments)
{
    bool json = false, rebuilds = false;
    const struct option_spec options[] = {
        {"rebuild", 0, OPTION_FLAG, &rebuilds, NULL, "rebuild it from the jobs of done/"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object"},
        {"rebuild", 'r', OPTION_FLAG, &rebuilds, NULL, NULL},
        {0}};
    const struct verb_usage usage = {
        "history",
        "",
        0,
        0,
        "Show what jobs took, from which later ones are predicted, and how good predictions were.",
        "A line for each size at which a job ran: when that ended, how many units it did and how\n"
        "fast, how long it ran, what was predicted for it, and the share of its CPUs that it\n"
        "used.\n",
        options};
    int operands, status;
    struct report report = {.arena = NULL};
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&report.spool))
        return STATUS_FAILED;
    report.arena = arena_new();
    status = rebuilds ? rebuild_history(&report, json) : show_history(&report, json);
    arena_free(report.arena);
    spool_close(&report.spool);
    return status;
}
