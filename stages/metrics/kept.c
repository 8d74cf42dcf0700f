/* stages/metrics/kept.c - DIR/history/metrics: counts from which metrics go on after a restart */
#include "stages/metrics/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/names.h"
#include "base/tally.h"
#include "base/value.h"
#include "spool/eventlog.h"
#include "spool/file.h"
#include "spool/history.h"
#include "spool/jobs.h"
#include "stages/metrics/attempt.h"

enum { FILE_LIMIT = 64 << 20, FILE_MODE = 0644 };
enum { MISSED_KEPT = 1000, DAYS_KEPT = 10000 };
static const char file_name[] = "metrics";

/* Metrics that processes count. */
static const char *const tallied[] = {"jobs_accepted_total", "jobs_ended_total", "stage_seconds",
                                      "executor_request_seconds", "executor_errors_total"};

struct day {
    int64_t changed, jobs;
};

struct kept {
    struct series_table *series;
    struct usage_mark mark;
    struct names *
        missed; /* jobs that have missed their deadline, so that each counts once: the last MISSED_KEPT */
    struct names *days; /* struct day, by date */
    bool changed;
};

static int count_attempt(void *context, const struct usage *usage)
{
    struct kept *kept = context;
    kept->changed = true;
    attempt_count(kept->series, kept->missed, usage);
    return 0;
}

int kept_read_accounts(struct kept *kept, const struct spool *spool, struct error *error)
{
    /* Prometheus sees an increase only of what was there before. */
    series_add(kept->series, "deadlines_total", "result=\"met\"", 0, 0);
    series_add(kept->series, "deadlines_total", "result=\"missed\"", 0, 0);
    return usage_scan_on(spool, &kept->mark, count_attempt, kept, error);
}

/* ---- what processes have counted ---- */

static bool is_tallied(struct text name)
{
    const char *brace = memchr(name.data, '{', name.length);
    struct text metric = {name.data, brace ? (size_t)(brace - name.data) : name.length};
    for (size_t i = 0; i < ARRAY_COUNT(tallied); i++)
        if (text_is(metric, tallied[i]))
            return true;
    return false;
}

static void give_before(void *context, struct text name, const struct series *series)
{
    (void)context;
    if (is_tallied(name))
        tally_before(name, series->count, series->sum);
}

static void take_count(void *context, struct text name, uint64_t count, double sum)
{
    if (is_tallied(name))
        series_add_named(context, name, count, sum);
}

static void add_total(void *context, struct text name, uint64_t count, double sum)
{
    (void)name, (void)sum;
    *(uint64_t *)context += count;
}

static void add_kept(void *context, struct text name, const struct series *series)
{
    if (is_tallied(name))
        *(uint64_t *)context += series->count;
}

void kept_take_tally(struct kept *kept)
{
    uint64_t counted = 0, known = 0;
    if (tally_wants_before()) {
        series_each(kept->series, give_before, NULL);
        tally_has_before();
    }
    if (tally_is_started())
        series_add(kept->series, "jobs_accepted_total", "", 0, 0); /* as for deadlines */
    tally_each(add_total, &counted);
    series_each(kept->series, add_kept, &known);
    if (counted == known || counted == 0)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(tallied); i++)
        series_remove(kept->series, tallied[i]);
    tally_each(take_count, kept->series);
    series_add(kept->series, "jobs_accepted_total", "", 0, 0);
    kept->changed = true;
}

/* ---- the file ---- */

static void read_mark(struct kept *kept, struct arena *arena, const struct event *event)
{
    struct text file = eventlog_get(arena, event, "file");
    int64_t offset = eventlog_get_number(event, "offset", -1);
    if (file.length >= sizeof(kept->mark.file) || offset < 0)
        return;
    text_copy(kept->mark.file, sizeof(kept->mark.file), file);
    kept->mark.offset = offset;
}

static void read_series(struct kept *kept, struct arena *arena, const struct event *event,
                        struct text name)
{
    char digits[NUMBER_TEXT_SIZE];
    int64_t count = eventlog_get_number(event, "count", -1);
    text_copy(digits, sizeof(digits), eventlog_get(arena, event, "sum"));
    double sum = atof(digits);
    if (count >= 0 && isfinite(sum))
        series_add_named(kept->series, name, (uint64_t)count, sum);
}

static void read_line(struct kept *kept, struct arena *arena, const struct event *event)
{
    struct text name = eventlog_get(arena, event, "of");
    day_name day;
    if (text_is(event->name, "read")) {
        read_mark(kept, arena, event);
    } else if (text_is(event->name, "series") && name.length) {
        read_series(kept, arena, event, name);
    } else if (text_is(event->name, "missed") && name.length && !names_full(kept->missed)) {
        if (!names_find(kept->missed, name))
            names_add(kept->missed, name);
    } else if (text_is(event->name, "day") && name.length) {
        text_copy(day, sizeof(day), name);
        kept_note_day(kept, day, eventlog_get_number(event, "changed", 0),
                      eventlog_get_number(event, "jobs", 0));
    }
}

static void read_lines(struct kept *kept, struct text lines)
{
    struct arena *arena = arena_new();
    struct event event;
    while (eventlog_next(&lines, &event)) {
        read_line(kept, arena, &event);
        arena_reset(arena);
    }
    arena_free(arena);
}

struct kept *kept_read(const struct spool *spool, struct error *error)
{
    struct kept *kept = memory_allocate(sizeof(*kept));
    struct buffer bytes = {0};
    *kept = (struct kept){.series = series_new(),
                          .missed = names_new(MISSED_KEPT, 0),
                          .days = names_new(DAYS_KEPT, sizeof(struct day))};
    int directory = history_open(spool, false, error);
    int result = directory < 0 ? -1 : file_read_at(directory, file_name, FILE_LIMIT, &bytes, error);
    if (result && errno == ENOENT)
        result = 0;
    else if (result)
        error_prefix(error, "history");
    if (directory >= 0)
        sys.close(directory);
    read_lines(kept, buffer_text(&bytes));
    kept->changed = false;
    buffer_free(&bytes);
    if (!result)
        return kept;
    kept_free(kept);
    return NULL;
}

void kept_free(struct kept *kept)
{
    if (!kept)
        return;
    series_free(kept->series);
    names_free(kept->missed);
    names_free(kept->days);
    free(kept);
}

static void write_series(void *context, struct text name, const struct series *series)
{
    char number[NUMBER_TEXT_SIZE];
    struct buffer *out = context;
    eventlog_start(out, clock_now(), "series");
    eventlog_add(out, "of", name);
    eventlog_add_number(out, "count", (int64_t)series->count);
    value_format_number(series->sum, number);
    eventlog_add_string(out, "sum", number);
    eventlog_end(out);
}

static void write_lines(const struct kept *kept, struct buffer *out)
{
    int64_t now = clock_now();
    eventlog_start(out, now, "read");
    eventlog_add_string(out, "file", kept->mark.file);
    eventlog_add_number(out, "offset", kept->mark.offset);
    eventlog_end(out);
    series_each(kept->series, write_series, out);
    for (void *missed = names_first(kept->missed); missed; missed = names_after(missed)) {
        eventlog_start(out, now, "missed");
        eventlog_add(out, "of", names_text(missed));
        eventlog_end(out);
    }
    for (struct day *day = names_first(kept->days); day; day = names_after(day)) {
        eventlog_start(out, now, "day");
        eventlog_add(out, "of", names_text(day));
        eventlog_add_number(out, "changed", day->changed);
        eventlog_add_number(out, "jobs", day->jobs);
        eventlog_end(out);
    }
}

int kept_write(struct kept *kept, const struct spool *spool, struct error *error)
{
    struct buffer out = {0};
    if (!kept->changed)
        return 0;
    int directory = history_open(spool, true, error);
    if (directory < 0)
        return -1;
    write_lines(kept, &out);
    int result = spool_file_replace(directory, file_name, buffer_text(&out), FILE_MODE, error);
    if (result)
        error_prefix(error, "history");
    kept->changed = result != 0;
    buffer_free(&out);
    sys.close(directory);
    return result;
}

const struct series_table *kept_series(const struct kept *kept)
{
    return kept->series;
}

/* ---- days ---- */

int64_t kept_day(const struct kept *kept, const char *name, int64_t changed)
{
    const struct day *day = names_find(kept->days, text_of(name));
    return day && day->changed == changed ? day->jobs : -1;
}

void kept_note_day(struct kept *kept, const char *name, int64_t changed, int64_t jobs)
{
    struct day *day = names_find(kept->days, text_of(name));
    if (!day)
        day = names_add(kept->days, text_of(name));
    if (!day)
        return;
    *day = (struct day){changed, jobs};
    kept->changed = true;
}
