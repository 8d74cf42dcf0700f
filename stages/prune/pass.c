/* stages/prune/pass.c - a whole pass: which jobs are to go, by which rule
 *
 * Rules are applied in their order: what is old enough goes first, then output, then the oldest days
 * until all is small enough.  Jobs of done/ go by the day in whose directory they are, which is over for as long as
 * `keep` says; those of failed/ by when they failed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/log.h"
#include "base/quantity.h"
#include "spool/record.h"
#include "stages/prune/inside.h"

/* So much longer a job stays when only other users' jobs wait for it. */
static const int64_t spared_for = 7 * CLOCK_DAY;

/* What jobs of a day take, and may free. */
struct day_total {
    int64_t bytes;
};

struct looking {
    struct pruner *pruner;
    enum prune_rule rule;
    int64_t keep;       /* milliseconds */
    const char *day;    /* PRUNE_SIZE, of failed/: only those of this day */
    int64_t too_many;   /* PRUNE_SIZE: bytes that are still to go */
    size_t flushes;     /* slices that went while this directory was walked */
    struct names *days; /* while totals are made: YYYY-MM-DD -> struct day_total */
    int64_t total;      /* ... bytes of all jobs */
};

/* ---- time ---- */

/* Midnight (UTC) at which the day is over. */
static int64_t end_of_day(const char *day)
{
    char text[CLOCK_TEXT_SIZE];
    int64_t time;
    snprintf(text, sizeof(text), "%.10sT00:00:00Z", day);
    return clock_parse(text_of(text), &time) ? INT64_MAX - CLOCK_DAY : time + CLOCK_DAY;
}

static bool is_over_for(const struct pruner *pruner, const char *day, int64_t keep)
{
    return end_of_day(day) <= pruner->now - keep;
}

/* ---- one job ---- */

/* Has a job of failed/ ended for good? */
static bool failed_for_good(const struct job_record *record, int job)
{
    return record->failed && record->failure.when == RETRY_NEVER && record->failure.failed &&
           !record->array_held.length && !prune_remove_must_wait(job);
}

/* When the job ended, as far as that decides: 0 when it does not go by itself.  `day` is that of its archive. */
static int64_t when_ended(struct pruner *pruner, const struct job_place *place, int job,
                          char day[static 11])
{
    char date[CLOCK_TEXT_SIZE];
    struct job_record record;
    int64_t ended = 0;
    if (place->state == STATE_DONE) {
        memcpy(day, place->date, 11);
        return end_of_day(day);
    }
    if (record_read(job, pruner->arena, &record, NULL) == 0 && failed_for_good(&record, job)) {
        ended = record.failure.failed;
        memcpy(day, clock_date(ended, date), 11);
    }
    arena_reset(pruner->arena);
    return ended;
}

static bool has_directories(int job)
{
    struct stat status;
    return sys.fstat(job, &status) || status.st_nlink != 2;
}

/* Count the job, or have it go.  False when the pass is to end. */
static bool take(struct looking *looking, struct ending *ending)
{
    struct pruner *pruner = looking->pruner;
    size_t before = pruner->count;
    if (prune_slice_is_waited_for(pruner, ending)) {
        pruner->report.waited_for++;
        return true;
    }
    looking->too_many -= ending->bytes;
    if (pruner->dry) {
        pruner->report.rules[ending->rule].jobs++;
        pruner->report.rules[ending->rule].bytes += ending->bytes;
        return prune_slice_goes_on(pruner);
    }
    bool on = prune_slice_add(pruner, ending);
    looking->flushes += pruner->count <= before;
    return on;
}

/* By age, or by size after that. */
static bool is_due(const struct looking *looking, const struct job_place *place, const char *day,
                   int64_t ended)
{
    const struct pruner *pruner = looking->pruner;
    const struct keep_rules *keep = &pruner->stage.settings.keep;
    if (looking->rule != PRUNE_SIZE)
        return ended <= pruner->now - looking->keep;
    int64_t own = place->state == STATE_DONE ? keep->done : keep->failed;
    if (own && ended <= pruner->now - own)
        return false; /* it has gone already, or stays */
    return !looking->day || strcmp(day, looking->day) == 0;
}

static int look_at_job(void *context, const struct job_place *place)
{
    struct looking *looking = context;
    struct pruner *pruner = looking->pruner;
    struct ending ending = {.place = *place, .rule = looking->rule};
    bool output = looking->rule == PRUNE_OUTPUT;
    if (looking->rule == PRUNE_SIZE && looking->too_many <= 0)
        return 1;
    int job = job_open(&pruner->stage.spool, place);
    if (job < 0)
        return prune_slice_goes_on(pruner) ? 0 : 1;
    int64_t ended = when_ended(pruner, place, job, ending.day);
    bool due =
        ended && is_due(looking, place, ending.day, ended) && (!output || has_directories(job));
    ending.spared = ended + looking->keep + spared_for;
    if (due)
        ending.bytes = prune_measure_job(job, output);
    sys.close(job);
    if (!due || (output && !ending.bytes))
        return prune_slice_goes_on(pruner) ? 0 : 1;
    return take(looking, &ending) ? 0 : 1;
}

/* ---- directories ---- */

/* Walk a day of done/, or failed/ when it is NULL.  A directory from which jobs were taken while it was walked
 * may have shown not all: it is walked again while that brings anything. */
static int walk_directory(struct looking *looking, const char *day)
{
    struct pruner *pruner = looking->pruner;
    const struct spool *spool = &pruner->stage.spool;
    const struct prune_count *count = &pruner->report.rules[looking->rule];
    int64_t gone, waited_for = pruner->report.waited_for;
    int result;
    do {
        gone = count->jobs;
        looking->flushes = 0;
        pruner->report.waited_for = waited_for;
        result = day ? jobs_walk_day(spool, day, look_at_job, looking)
                     : jobs_walk(spool, STATE_FAILED, look_at_job, looking);
        if (!result && looking->flushes && !prune_slice_flush(pruner))
            result = 1;
    } while (!result && looking->flushes && count->jobs > gone);
    return result;
}

/* The days of done/ that are over for so long, oldest first. */
static int walk_done(struct looking *looking)
{
    day_name *days;
    size_t count;
    int result = 0;
    if (jobs_list_days(&looking->pruner->stage.spool, &days, &count))
        return -1;
    while (count-- && !result && is_over_for(looking->pruner, days[count], looking->keep))
        result = walk_directory(looking, days[count]);
    free(days);
    return result;
}

/* 0 or 1; -1 with errno when a directory cannot be read. */
static int apply_age(struct pruner *pruner, enum prune_rule rule, enum state state, int64_t keep)
{
    struct looking looking = {.pruner = pruner, .rule = rule, .keep = keep};
    if (!keep || !prune_slice_goes_on(pruner))
        return 0;
    return state == STATE_DONE ? walk_done(&looking) : walk_directory(&looking, NULL);
}

/* What ended on one day goes to one archive, whatever became of it. */
static int apply_ages(struct pruner *pruner)
{
    const struct keep_rules *keep = &pruner->stage.settings.keep;
    if (apply_age(pruner, PRUNE_DONE, STATE_DONE, keep->done) < 0 ||
        apply_age(pruner, PRUNE_FAILED, STATE_FAILED, keep->failed) < 0)
        return -1;
    prune_slice_flush(pruner);
    if (apply_age(pruner, PRUNE_OUTPUT, STATE_DONE, keep->output) < 0 ||
        apply_age(pruner, PRUNE_OUTPUT, STATE_FAILED, keep->output) < 0)
        return -1;
    prune_slice_flush(pruner);
    return 0;
}

/* ---- size ---- */

static int add_total(void *context, const struct job_place *place)
{
    struct looking *looking = context;
    struct pruner *pruner = looking->pruner;
    char day[11];
    int job = job_open(&pruner->stage.spool, place);
    if (job < 0)
        return 0;
    int64_t bytes = prune_measure_job(job, false);
    bool ended = (place->state == STATE_DONE || place->state == STATE_FAILED) &&
                 when_ended(pruner, place, job, day);
    sys.close(job);
    looking->total += bytes;
    if (ended) {
        struct day_total *total = names_find(looking->days, text_of(day));
        if (!total)
            total = names_add(looking->days, text_of(day));
        if (total)
            total->bytes += bytes;
    }
    return prune_slice_goes_on(pruner) ? 0 : 1;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The days on which jobs ended that may go, oldest first; not the last hours. */
static day_name *list_days(struct looking *looking, size_t *count)
{
    const int64_t rest = (int64_t)3600 * 1000;
    day_name *days = memory_allocate((names_count(looking->days) + 1) * sizeof(*days));
    *count = 0;
    for (struct day_total *total = names_first(looking->days); total; total = names_after(total))
        if (is_over_for(looking->pruner, names_text(total).data, rest))
            snprintf(days[(*count)++], sizeof(*days), "%s", names_text(total).data);
    if (*count)
        qsort(days, *count, sizeof(*days), by_name);
    return days;
}

/* Have the oldest days go, and of the last of them as many jobs as must. */
static int remove_oldest(struct looking *looking)
{
    struct pruner *pruner = looking->pruner;
    size_t count;
    int result = 0;
    day_name *days = list_days(looking, &count);
    for (size_t i = 0; i < count && result == 0 && looking->too_many > 0; i++) {
        int64_t archived = pruner->report.archived_bytes;
        looking->day = days[i];
        result = walk_directory(looking, days[i]);
        if (result == 0)
            result = walk_directory(looking, NULL);
        if (result >= 0 && !prune_slice_flush(pruner))
            break;
        looking->too_many += pruner->report.archived_bytes - archived;
        result = result > 0 && looking->too_many > 0 ? 0 : result;
    }
    free(days);
    return result;
}

/* Is the whole file system smaller than that?  Then nothing has to be counted. */
static bool is_small(const struct pruner *pruner, int64_t size)
{
    struct statvfs status;
    return !sys.fstatvfs(pruner->stage.spool.root, &status) &&
           (double)(status.f_blocks - status.f_bfree) * (double)status.f_frsize < (double)size;
}

/* Have the oldest jobs go while all take more than `keep.size`, and say what is left of that. */
static int apply_size(struct pruner *pruner)
{
    enum { MOST_DAYS = 100000 };
    int64_t size = pruner->stage.settings.keep.size;
    struct looking looking = {.pruner = pruner, .rule = PRUNE_SIZE};
    int result = 0;
    if (!size || is_small(pruner, size))
        return 0;
    looking.days = names_new(MOST_DAYS, sizeof(struct day_total));
    for (int i = 0; i < STATE_COUNT && !result; i++)
        result = jobs_walk(&pruner->stage.spool, (enum state)i, add_total, &looking);
    int64_t archives = pruner->archive < 0 ? 0 : parts_measure(pruner->archive);
    looking.too_many = looking.total + (archives > 0 ? archives : 0) - size;
    if (pruner->dry)
        looking.too_many -= pruner->report.rules[PRUNE_DONE].bytes +
                            pruner->report.rules[PRUNE_FAILED].bytes +
                            pruner->report.rules[PRUNE_OUTPUT].bytes;
    if (!result && looking.too_many > 0)
        result = remove_oldest(&looking);
    if (result >= 0 && looking.too_many > 0 && prune_slice_goes_on(pruner))
        pruner->report.over_bytes = looking.too_many;
    if (pruner->report.over_bytes && !pruner->dry) {
        char over[QUANTITY_TEXT_SIZE];
        log_warn(
            "jobs and archives take %s more than keep.size, and nothing else of them may go: jobs that "
            "ended today (UTC) stay, those that have not ended or are needed, and archives",
            quantity_format_bytes(looking.too_many, over));
    }
    names_free(looking.days);
    return result;
}

/* ---- the pass ---- */

int prune_pass_make(struct pruner *pruner, struct error *error)
{
    pruner->now = clock_now();
    pruner->report = (struct prune_report){.stopped = false};
    pruner->failed = false;
    pruner->count = 0;
    if (!pruner->dry && prune_remove_leftovers(pruner, error))
        return -1;
    waited_free(pruner->waited);
    pruner->waited = waited_new(&pruner->stage.spool);
    if (waited_read(pruner->waited, true, error))
        return -1;
    if (apply_ages(pruner) || apply_size(pruner) < 0)
        return error_errno(error, "the jobs could not be read");
    if (pruner->failed)
        return error_set(error, "not all that is to go could be archived and removed; the log says "
                                "why");
    return 0;
}
