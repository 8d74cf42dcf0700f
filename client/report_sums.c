/* client/report_sums.c - sums of the accounts by day, user, group, queue, size, or deadline */
#include "client/report_sums.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/acct_fields.h"

enum { MOST_ROWS = 1 << 20, MOST_JOBS = 1 << 24, NAME_SIZE = 128 };

const char *const report_sums_words[REPORT_KINDS + 1] = {
    "utilization", "users", "groups", "queues", "sizes", "deadlines", NULL};

enum standing { STANDING_OPEN, STANDING_MET, STANDING_MISSED };

struct job { /* with a deadline */
    enum standing standing;
    struct report_row *row;
};

struct report_sums {
    enum report_kind kind;
    const struct usage_filter *filter;
    struct names *rows; /* struct report_row */
    struct names *jobs; /* struct job, by id */
};

struct report_sums *report_sums_new(enum report_kind kind, const struct usage_filter *filter)
{
    struct report_sums *sums = memory_allocate(sizeof(*sums));
    *sums = (struct report_sums){.kind = kind, .filter = filter};
    sums->rows = names_new(MOST_ROWS, sizeof(struct report_row));
    sums->jobs = names_new(MOST_JOBS, sizeof(struct job));
    return sums;
}

void report_sums_free(struct report_sums *sums)
{
    names_free(sums->rows);
    names_free(sums->jobs);
    free(sums);
}

/* What is beyond the limits of the tables goes into one row. */
static struct report_row *find_row(struct report_sums *sums, struct text name)
{
    struct report_row *row = names_find(sums->rows, name);
    if (!row)
        row = names_add(sums->rows, name);
    if (!row)
        row = names_first(sums->rows);
    return row;
}

/* ---- sums ---- */

static void add_attempt(struct report_row *row, const struct usage *usage)
{
    int64_t until = usage->started ? usage->started : usage->ended;
    row->attempts++;
    row->succeeded += text_is(usage->outcome, "succeeded");
    if (usage->eligible && until > usage->eligible)
        row->waited += (double)(until - usage->eligible);
    row->unknown += usage->cpu_held < 0 || usage->gpu_held < 0;
    if (usage->cpu_used >= 0) {
        row->cpu_used += (double)usage->cpu_used;
        row->cpu_held_of_used += usage->cpu_held > 0 ? (double)usage->cpu_held : 0;
    }
}

static void add_held(struct report_row *row, const struct usage *usage, double share)
{
    if (usage->cpu_held > 0)
        row->cpu_held += (double)usage->cpu_held * share;
    if (usage->gpu_held > 0)
        row->gpu_held += (double)usage->gpu_held * share;
}

/* Each day has the part of it that lies in the day, as if it had held the same all the time. */
static void add_days(struct report_sums *sums, const struct usage *usage)
{
    const struct usage_filter *filter = sums->filter;
    char date[CLOCK_TEXT_SIZE];
    if (usage_filter_takes(filter, usage))
        add_attempt(find_row(sums, text_of(clock_date(usage->ended, date))), usage);
    if (!usage->started || usage->ended <= usage->started)
        return;
    int64_t from = usage->started > filter->from ? usage->started : filter->from;
    int64_t until = usage->ended < filter->until ? usage->ended : filter->until;
    while (from < until) {
        int64_t midnight = (from / CLOCK_DAY + 1) * CLOCK_DAY;
        int64_t end = midnight < until ? midnight : until;
        add_held(find_row(sums, text_of(clock_date(from, date))), usage,
                 (double)(end - from) / (double)(usage->ended - usage->started));
        from = end;
    }
}

/* "no GPU", "1 GPU", "2 GPUs", "3-4 GPUs", "5-8 GPUs", ... */
static struct text size_of(const struct usage *usage, char name[static NAME_SIZE])
{
    int64_t most = 1;
    while (most < usage->gpus)
        most *= 2;
    if (usage->gpus <= 0)
        snprintf(name, NAME_SIZE, "%s", usage->gpus ? "unknown" : "no GPU");
    else if (most < 3)
        snprintf(name, NAME_SIZE, "%" PRId64 " GPU%s", most, most == 1 ? "" : "s");
    else
        snprintf(name, NAME_SIZE, "%" PRId64 "-%" PRId64 " GPUs", most / 2 + 1, most);
    return text_of(name);
}

static struct text name_of(const struct report_sums *sums, const struct usage *usage,
                           char name[static NAME_SIZE])
{
    struct text text = {NULL, 0};
    switch (sums->kind) {
    case REPORT_USERS:
    case REPORT_DEADLINES:
        text = usage->user;
        if (!text.length && usage->uid >= 0) {
            snprintf(name, NAME_SIZE, "%" PRId64, usage->uid);
            text = text_of(name);
        }
        break;
    case REPORT_GROUPS:
        text = text_of(acct_fields_group(usage->gid));
        break;
    case REPORT_QUEUES:
        text = usage->queue.length ? usage->queue : TEXT("-");
        break;
    case REPORT_SIZES:
    case REPORT_UTILIZATION:
    case REPORT_KINDS:
        text = size_of(usage, name);
    }
    return text.length ? text : TEXT("unknown");
}

/* A job has met its deadline or not: its last attempt says which. */
static void add_deadline(struct report_sums *sums, struct report_row *row,
                         const struct usage *usage)
{
    struct job *job = names_find(sums->jobs, usage->id);
    if (!job && (job = names_add(sums->jobs, usage->id))) {
        job->row = row;
        row->jobs++;
    }
    if (!job)
        return;
    enum standing now = text_is(usage->met, "yes")  ? STANDING_MET
                        : text_is(usage->met, "no") ? STANDING_MISSED
                                                    : job->standing;
    job->row->met += (now == STANDING_MET) - (job->standing == STANDING_MET);
    job->row->missed += (now == STANDING_MISSED) - (job->standing == STANDING_MISSED);
    job->standing = now;
}

void report_sums_add(struct report_sums *sums, const struct usage *usage)
{
    char name[NAME_SIZE];
    if (!usage_filter_takes_at_any_time(sums->filter, usage))
        return;
    if (sums->kind == REPORT_UTILIZATION) {
        add_days(sums, usage);
        return;
    }
    if (!usage_filter_takes(sums->filter, usage) ||
        (sums->kind == REPORT_DEADLINES && !usage->deadline))
        return;
    struct report_row *row = find_row(sums, name_of(sums, usage, name));
    add_attempt(row, usage);
    add_held(row, usage, 1);
    if (usage->deadline)
        add_deadline(sums, row, usage);
}

/* ---- rows ---- */

static int compare_text(const void *a, const void *b)
{
    struct report_row *const *first = a, *const *second = b;
    return strcmp(names_text(*first).data, names_text(*second).data);
}

/* The most GPU time first, then the most CPU time. */
static int compare_held(const void *a, const void *b)
{
    const struct report_row *const *first = a, *const *second = b;
    if ((*first)->gpu_held != (*second)->gpu_held)
        return (*first)->gpu_held > (*second)->gpu_held ? -1 : 1;
    if ((*first)->cpu_held != (*second)->cpu_held)
        return (*first)->cpu_held > (*second)->cpu_held ? -1 : 1;
    return compare_text(a, b);
}

static int compare_size(const void *a, const void *b)
{
    const struct report_row *const *first = a, *const *second = b;
    long one = strtol(names_text(*first).data, NULL, 10);
    long other = strtol(names_text(*second).data, NULL, 10);
    return one != other ? (one < other ? -1 : 1) : compare_text(a, b);
}

struct report_row **report_sums_rows(struct report_sums *sums, size_t *count)
{
    size_t used = 0;
    struct report_row **rows =
        memory_allocate((names_count(sums->rows) + 1) * sizeof(struct report_row *));
    for (struct report_row *row = names_first(sums->rows); row; row = names_after(row))
        rows[used++] = row;
    qsort(rows, used, sizeof(*rows),
          sums->kind == REPORT_UTILIZATION ? compare_text
          : sums->kind == REPORT_SIZES     ? compare_size
                                           : compare_held);
    *count = used;
    return rows;
}
