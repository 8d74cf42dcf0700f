/* stages/shared/use.c - how much users, groups and queues use
 *
 * Each pair of a row and a subject has a tally.  Rows are few and tallies are found by a hash, so a job costs
 * as many steps as there are rows, once when it comes and once when it goes.
 */
#include "stages/shared/use.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/large_sum.h"
#include "base/log.h"
#include "base/names.h"
#include "spool/history.h"
#include "spool/jobs.h"
#include "spool/usage.h"
#include "spool/wants.h"
#include "stages/guard.h"
#include "stages/shared/gpu_time.h"
#include "stages/shared/resize.h"

enum { MOST_COUNTED = 1 << 21, MOST_TALLIES = 1 << 20, MOST_WORDS = 1 << 16 };
static const int64_t UNKNOWN = INT64_MIN;
static const int64_t next_starts = 2000; /* milliseconds until it is looked again who has started */

enum { SPARE = 4096, WORDS_OF_A_JOB = 3 }; /* words and tallies that may be there without a job */

/* How long GPUs are held by what has started: the sum of the GPUs, and of GPUs times the start of each job, so that
 * GPUs times now less that sum is what was held until now. */
struct holding {
    int64_t gpus, since;
};

/* Users may ask for any amounts, of which some would overflow together, and then leave room for all others. */
struct sums {
    int64_t jobs, cpus, gpus;
    struct large_sum memory, gpu_time;
};

struct tally {
    const struct limit_row *row;
    struct text subject;
    struct sums sums[USE_PHASES];
    struct holding all, open; /* of what runs; of those without a time limit */
};

struct counted {
    uid_t uid;
    gid_t gid;
    struct text owner, queue, gpu_type; /* in `words` */
    struct use_amounts amounts;
    int64_t started; /* since the beginning of `use`; UNKNOWN: not yet, or that does not matter */
    bool open;       /* it has no time limit */
    bool sized;      /* it can have another size, which changes the time of its directory ... */
    bool settled;    /* ... to another than this */
    struct timespec changed;
    enum use_phase phase;
    bool held, seen; /* counts although no look finds it; was found by this look */
};

struct use {
    const struct spool *spool;
    const struct limit_row *rows;
    size_t row_count;
    unsigned int states;
    struct names *jobs;    /* id -> struct counted */
    struct names *tallies; /* row and subject -> struct tally */
    struct names *words;
    struct arena *arena;
    struct gpu_time *time;       /* NULL: gpu_hours do not count */
    int64_t begun;               /* time of day */
    int64_t starts_next;         /* of clock_elapsed(): when to look who has started */
    bool seek_starts;            /* in this look */
    struct cohort_queue *queues; /* of use_cohort() */
    const struct limit_row **queue_rows;
    job_visit *see; /* of use_look_together(); or NULL */
    void *see_context;
    enum use_phase phase; /* of the directory that is looked at */
};

struct use *use_new(const struct spool *spool, const struct limit_row *rows, size_t count,
                    unsigned int states)
{
    struct use *use = memory_allocate(sizeof(*use));
    *use = (struct use){.spool = spool,
                        .rows = rows,
                        .row_count = count,
                        .states = states,
                        .jobs = names_new(MOST_COUNTED, sizeof(struct counted)),
                        .tallies = names_new(MOST_TALLIES, sizeof(struct tally)),
                        .words = names_new(MOST_WORDS, 1),
                        .arena = arena_new(),
                        .queues = memory_allocate((count + 1) * sizeof(struct cohort_queue)),
                        .queue_rows = memory_allocate((count + 1) * sizeof(struct limit_row *)),
                        .begun = clock_now()};
    return use;
}

void use_look_together(struct use *use, job_visit *see, void *context)
{
    use->see = see;
    use->see_context = context;
}

void use_count_gpu_time(struct use *use)
{
    use->time = gpu_time_new(use->spool, use->rows, use->row_count);
}

void use_free(struct use *use)
{
    if (!use)
        return;
    names_free(use->jobs);
    names_free(use->tallies);
    names_free(use->words);
    gpu_time_free(use->time);
    free(use->queues);
    free(use->queue_rows);
    arena_free(use->arena);
    free(use);
}

/* ---- tallies ---- */

/* The same word, for as long as `use` lives; empty when there are too many. */
static struct text keep_word(struct use *use, struct text word)
{
    if (!word.length)
        return TEXT("");
    void *kept = names_find(use->words, word);
    if (!kept)
        kept = names_add(use->words, word);
    return kept ? names_text(kept) : TEXT("");
}

/* The tally of that row for a job like this; NULL when the row is not for it, or there are too many. */
static struct tally *find_tally(struct use *use, const struct limit_row *row,
                                const struct counted *job)
{
    char key[LIMIT_ROW_KEY_SIZE];
    if (!limit_row_key(row, (size_t)(row - use->rows), job->uid, job->gid, job->queue,
                       job->gpu_type, key))
        return NULL;
    struct tally *tally = names_find(use->tallies, text_of(key));
    if (tally)
        return tally;
    tally = names_add(use->tallies, text_of(key));
    if (!tally)
        return NULL;
    *tally = (struct tally){.row = row,
                            .subject = row->subject == LIMIT_USER ? job->owner
                                       : row->subject == LIMIT_QUEUE
                                           ? job->queue
                                           : keep_word(use, text_of(strchr(key, ':') + 1))};
    return tally;
}

static void add_amounts(struct sums *sums, const struct use_amounts *amounts, int sign)
{
    sums->jobs += sign * amounts->jobs;
    sums->cpus += sign * amounts->cpus;
    sums->gpus += sign * amounts->gpus;
    large_sum_add(&sums->memory, amounts->memory, sign);
    large_sum_add(&sums->gpu_time, amounts->gpu_time, sign);
}

static struct use_amounts amounts_in(const struct sums *sums)
{
    return (struct use_amounts){.jobs = sums->jobs,
                                .cpus = sums->cpus,
                                .memory = large_sum_value(&sums->memory),
                                .gpus = sums->gpus,
                                .gpu_time = large_sum_value(&sums->gpu_time)};
}

static void add_holding(struct holding *holding, const struct counted *job, int sign)
{
    holding->gpus += sign * job->amounts.gpus;
    holding->since += sign * job->amounts.gpus * job->started;
}

static int64_t held_until(const struct use *use, const struct holding *holding, int64_t now)
{
    int64_t held = holding->gpus * (now - use->begun) - holding->since;
    return held > 0 ? held : 0;
}

/* What counts in a phase; of gpu_time what was used, and what the jobs that run may still use. */
static struct use_amounts amounts_of(const struct use *use, const struct tally *tally,
                                     enum use_phase phase)
{
    struct use_amounts amounts = amounts_in(&tally->sums[phase]);
    if (phase == USE_RUNNING && use->time && tally->row->gpu_time >= 0)
        amounts.gpu_time += gpu_time_used(use->time, tally->row, names_text(tally)) +
                            held_until(use, &tally->open, clock_now());
    return amounts;
}

static void count_job(struct use *use, const struct counted *job, int sign)
{
    for (size_t i = 0; i < use->row_count; i++) {
        struct tally *tally = find_tally(use, &use->rows[i], job);
        if (!tally)
            continue;
        add_amounts(&tally->sums[job->phase], &job->amounts, sign);
        if (job->started != UNKNOWN)
            add_holding(&tally->all, job, sign);
        if (job->started != UNKNOWN && job->open)
            add_holding(&tally->open, job, sign);
    }
}

/* Forget words and tallies of which no job is left: users may name any number of queues. */
static void forget_unused(struct use *use)
{
    size_t jobs = names_count(use->jobs);
    if (names_count(use->words) <= SPARE + WORDS_OF_A_JOB * jobs &&
        names_count(use->tallies) <= SPARE + use->row_count * jobs)
        return;
    struct names *words = use->words;
    names_free(use->tallies);
    use->words = names_new(MOST_WORDS, 1);
    use->tallies = names_new(MOST_TALLIES, sizeof(struct tally));
    for (struct counted *job = names_first(use->jobs); job; job = names_after(job)) {
        job->owner = keep_word(use, job->owner);
        job->queue = keep_word(use, job->queue);
        job->gpu_type = keep_word(use, job->gpu_type);
        count_job(use, job, 1);
    }
    names_free(words);
}

struct use_amounts use_of(const struct job_record *record)
{
    int64_t limit = record->time_limit > 0 ? record->time_limit : 1;
    struct use_amounts amounts = {.jobs = 1, .memory = record->memory};
    history_amounts(record, record->size_now ? record->size_now : record->size, &amounts.cpus,
                    &amounts.gpus);
    if (record->sizes.kind == SIZE_TASKS && record->size > 0 && record->size_now)
        amounts.memory =
            (int64_t)((double)record->memory * (double)record->size_now / (double)record->size);
    const int times = record_at_once(record);
    amounts.cpus *= times;
    amounts.memory *= times;
    amounts.gpus *= times;
    bool fits = amounts.gpus <= 0 || limit < INT64_MAX / 2 / amounts.gpus;
    amounts.gpu_time = fits ? limit * amounts.gpus : INT64_MAX / 2;
    return amounts;
}

static struct counted counted_of(struct use *use, const struct job_record *record)
{
    forget_unused(use);
    return (struct counted){.uid = record->uid,
                            .gid = record->gid,
                            .owner = keep_word(use, record->owner),
                            .queue = keep_word(use, record->queue),
                            .gpu_type = keep_word(use, record->gpu_type),
                            .amounts = use_of(record),
                            .open = !record->time_limit,
                            .sized = record->sizes.kind != SIZE_FIXED,
                            .started = UNKNOWN};
}

/* ---- jobs ---- */

void use_add(struct use *use, const char *id, const struct job_record *record, enum use_phase phase,
             bool held)
{
    const struct counted found = counted_of(use, record); /* which may count all others anew */
    struct counted *job = names_find(use->jobs, text_of(id));
    if (job)
        count_job(use, job, -1);
    else if (!(job = names_add(use->jobs, text_of(id))))
        return;
    *job = found;
    job->phase = phase;
    job->held = held;
    job->seen = true;
    count_job(use, job, 1);
}

/* When a job that is counted has started, by its log. */
static void find_start(struct use *use, struct counted *job, int directory,
                       const struct job_record *record)
{
    struct buffer log = {0};
    struct usage_times times;
    struct text node;
    if (eventlog_read(directory, &log, NULL) == 0) {
        usage_recall(buffer_text(&log), record->attempt, use->arena, &times, &node);
        if (times.started) {
            count_job(use, job, -1);
            job->started = times.started - use->begun;
            count_job(use, job, 1);
        }
    }
    buffer_free(&log);
}

static void forget_job(struct use *use, struct counted *job)
{
    count_job(use, job, -1);
    names_remove(use->jobs, job);
}

void use_drop(struct use *use, const char *id)
{
    struct counted *job = names_find(use->jobs, text_of(id));
    if (job && job->held)
        forget_job(use, job);
}

bool use_has(const struct use *use, const char *id)
{
    return names_find(use->jobs, text_of(id)) != NULL;
}

void use_settle(struct use *use, const char *id)
{
    struct counted *job = names_find(use->jobs, text_of(id));
    if (job)
        job->held = false;
}

/* ---- looks ---- */

/* Is it to be looked whether it has started?  Only that tells how long it has held its GPUs. */
static bool lacks_start(const struct use *use, const struct counted *job)
{
    return use->time && use->seek_starts && job->phase == USE_RUNNING && job->amounts.gpus &&
           job->started == UNKNOWN;
}

/* Has the directory of a job changed that may have got another size? */
static bool is_resized(const struct use *use, const struct counted *job,
                       const struct job_place *place)
{
    struct stat status;
    if (!job->sized || job->phase != USE_RUNNING ||
        sys.fstatat(use->spool->states[place->state], place->id, &status, AT_SYMLINK_NOFOLLOW))
        return false;
    return !job->settled || status.st_mtim.tv_sec != job->changed.tv_sec ||
           status.st_mtim.tv_nsec != job->changed.tv_nsec;
}

static void note_time(int directory, struct counted *job)
{
    struct stat status;
    job->settled = sys.fstat(directory, &status) == 0 && job_is_settled(&status);
    job->changed = status.st_mtim;
}

/* A larger size that was asked for may be granted at any moment. */
static void expect_growth(int directory, struct job_record *record)
{
    struct resize_request request;
    int64_t size = record->size_now ? record->size_now : record->size;
    if (record->sizes.kind != SIZE_FIXED && resize_is_there(directory) &&
        resize_pending(directory, record, &request) == 1 && request.to > size &&
        request.to <= record->sizes.most)
        record->size_now = request.to;
}

/* What is known, and was where it is seen now, is only noted; of the rest the record is read.  So it is of what counts
 * although no look had found it, which may have been a guess: from now on the looks tell. */
static int see_job(void *context, const struct job_place *place)
{
    struct use *use = context;
    struct counted *job = names_find(use->jobs, text_of(place->id));
    struct guard_before before;
    struct job_record record;
    if (use->see && place->state == STATE_SUBMITTED)
        use->see(use->see_context, place);
    if (job && job->phase == use->phase && !job->held) {
        job->seen = true;
        if (!lacks_start(use, job) && !is_resized(use, job, place))
            return 0;
    }
    if (job && job->held && job->phase != use->phase)
        return 0; /* it is on its way from there */
    int directory = job_open(use->spool, place);
    if (directory < 0)
        return 0; /* it has just left */
    if (guard_begin(guard_own(), place->id, &before)) {
        if (record_read(directory, use->arena, &record, NULL) == 0) {
            expect_growth(directory, &record);
            use_add(use, place->id, &record, use->phase, false);
            job = names_find(use->jobs, text_of(place->id));
            if (job && use->time && use->phase == USE_RUNNING && record.gpus)
                find_start(use, job, directory, &record);
            if (job && job->sized)
                note_time(directory, job);
        }
        arena_reset(use->arena);
        guard_return(guard_own(), &before);
    }
    sys.close(directory);
    return 0;
}

static const struct {
    enum state state;
    enum use_phase phase;
} directories[] = {
    {STATE_RENDERED, USE_WAITING}, {STATE_HELD, USE_WAITING}, {STATE_SUBMITTED, USE_RUNNING}};

/* A job that moves against the order of the look, as one of held/ that is approved, is met in neither directory. */
static bool is_there(const struct use *use, const struct counted *job)
{
    struct stat status;
    for (size_t i = 0; i < ARRAY_COUNT(directories); i++)
        if (use->states & 1u << directories[i].state &&
            !sys.fstatat(use->spool->states[directories[i].state], names_text(job).data, &status,
                         AT_SYMLINK_NOFOLLOW))
            return true;
    return false;
}

int use_look(struct use *use, struct error *error)
{
    struct counted *next;
    use->seek_starts = use->time && clock_elapsed() >= use->starts_next;
    if (use->seek_starts)
        use->starts_next = clock_elapsed() + next_starts;
    for (struct counted *job = names_first(use->jobs); job; job = names_after(job))
        job->seen = false;
    for (size_t i = 0; i < ARRAY_COUNT(directories); i++) {
        use->phase = directories[i].phase;
        if (use->states & 1u << directories[i].state &&
            jobs_walk(use->spool, directories[i].state, see_job, use))
            return error_errno(error, "%s/ could not be read",
                               spool_state_name(directories[i].state));
    }
    for (struct counted *job = names_first(use->jobs); job; job = next) {
        next = names_after(job);
        if (!job->seen && !job->held && !is_there(use, job))
            forget_job(use, job);
    }
    /* After the directories: what has left submitted/ has its line by now. */
    return use->time ? gpu_time_look(use->time, error) : 0;
}

/* ---- what is over ---- */

static bool exceeds_amounts(const struct limit_row *row, const struct use_amounts *used,
                            const struct use_amounts *more)
{
    return use_is_exceeded(used->jobs, 1, row->running) ||
           use_is_exceeded(used->cpus, more->cpus, row->cpus) ||
           use_is_exceeded(used->memory, more->memory, row->memory) ||
           use_is_exceeded(used->gpus, more->gpus, limit_row_most_gpus(row)) ||
           use_is_exceeded(used->gpu_time, more->gpu_time, row->gpu_time);
}

/* What runs and waits together. */
static struct use_amounts amounts_in_all(const struct use *use, const struct tally *tally)
{
    const struct use_amounts runs = amounts_of(use, tally, USE_RUNNING);
    const struct use_amounts waits = amounts_in(&tally->sums[USE_WAITING]);
    return (struct use_amounts){.jobs = runs.jobs + waits.jobs,
                                .cpus = runs.cpus + waits.cpus,
                                .memory = runs.memory + waits.memory,
                                .gpus = runs.gpus + waits.gpus,
                                .gpu_time = runs.gpu_time + waits.gpu_time};
}

static int64_t left_of(int64_t used, int64_t limit)
{
    return limit < 0 ? INT64_MAX : limit < used ? 0 : limit - used;
}

struct use_cohort use_cohort(struct use *use, const struct limit_row *row)
{
    struct use_cohort cohort = {.queues = use->queues, .rows = use->queue_rows};
    for (size_t i = 0; i < use->row_count && limit_row_shares(row); i++) {
        const struct limit_row *other = &use->rows[i];
        char key[LIMIT_ROW_KEY_SIZE];
        if (!limit_row_shares(other) || !text_equal(other->gpu_type, row->gpu_type) ||
            !limit_row_key(other, i, 0, 0, other->name, other->gpu_type, key))
            continue;
        const struct tally *tally = names_find(use->tallies, text_of(key));
        if (other == row)
            cohort.which = cohort.count;
        use->queue_rows[cohort.count] = other;
        use->queues[cohort.count++] =
            (struct cohort_queue){.own = other->gpus,
                                  .lend = other->lend_gpus,
                                  .borrow = other->borrow_gpus,
                                  .used = tally ? tally->sums[USE_RUNNING].gpus : 0};
    }
    return cohort;
}

/* How many GPUs the row leaves to its queue, which may share them with others. */
static int64_t gpus_left(struct use *use, const struct limit_row *row, int64_t used)
{
    if (!limit_row_shares(row))
        return left_of(used, row->gpus);
    const struct use_cohort cohort = use_cohort(use, row);
    return cohort_room(cohort.queues, cohort.count, cohort.which);
}

/* Is the job over this row in that phase?  `used` is what counts there. */
static bool is_over(struct use *use, const struct limit_row *row, const struct tally *tally,
                    const struct job_record *record, enum use_phase phase, struct use_amounts *used)
{
    const struct use_amounts more = use_of(record);
    *used = amounts_of(use, tally, phase);
    if (phase == USE_RUNNING)
        return exceeds_amounts(row, used, &more) ||
               (more.gpus && more.gpus > gpus_left(use, row, used->gpus));
    if (use_is_exceeded(used->jobs, 1, row->waiting))
        return true;
    *used = amounts_in_all(use, tally);
    return row->over == LIMIT_REFUSE && exceeds_amounts(row, used, &more);
}

/* Was it approved that the job is over the row? */
static bool is_exempt(const struct limit_row *row, const struct job_record *record)
{
    return row->over == LIMIT_APPROVE && wants_have_row(record->wants, row);
}

bool use_find_row(struct use *use, const struct job_record *record, use_question *asks,
                  void *context, struct use_over *over)
{
    const struct counted job = counted_of(use, record);
    for (size_t i = 0; i < use->row_count; i++) {
        struct tally *tally = find_tally(use, &use->rows[i], &job);
        if (!tally || is_exempt(&use->rows[i], record))
            continue;
        *over = (struct use_over){.row = &use->rows[i], .key = names_text(tally)};
        if (asks(context, over))
            return true;
    }
    return false;
}

/* When will it have fallen below what the row allows? */
static void tell_when(const struct use *use, struct use_over *over, int64_t more)
{
    over->spent = gpu_time_used(use->time, over->row, over->key);
    int64_t most = over->row->gpu_time - (over->used.gpu_time - over->spent) - more;
    over->falls = most >= 0 ? gpu_time_falls(use->time, over->row, over->key, most) : 0;
}

struct asked {
    struct use *use;
    const struct job_record *record;
    enum use_phase phase;
};

static bool is_over_row(void *context, struct use_over *over)
{
    const struct asked *asked = context;
    const struct tally *tally = names_find(asked->use->tallies, over->key);
    if (!is_over(asked->use, over->row, tally, asked->record, asked->phase, &over->used))
        return false;
    if (asked->use->time && over->row->gpu_time >= 0)
        tell_when(asked->use, over, use_of(asked->record).gpu_time);
    return true;
}

bool use_exceeds_running(struct use *use, const struct job_record *record, struct use_over *over)
{
    struct asked asked = {use, record, USE_RUNNING};
    return use_find_row(use, record, is_over_row, &asked, over);
}

bool use_exceeds_instead(struct use *use, const char *id, const struct job_record *record)
{
    struct use_over over;
    const struct counted *job = names_find(use->jobs, text_of(id));
    if (job)
        count_job(use, job, -1);
    bool exceeds = use_exceeds_running(use, record, &over);
    if (job)
        count_job(use, job, 1);
    return exceeds;
}

bool use_exceeds_waiting(struct use *use, const struct job_record *record, struct use_over *over)
{
    struct asked asked = {use, record, USE_WAITING};
    return use_find_row(use, record, is_over_row, &asked, over);
}

bool use_exceeds_in_all(struct use *use, const struct use_over *over,
                        const struct job_record *record)
{
    const struct tally *tally = names_find(use->tallies, over->key);
    const struct use_amounts more = use_of(record);
    const struct use_amounts used = tally ? amounts_in_all(use, tally) : (struct use_amounts){0};
    return exceeds_amounts(over->row, &used, &more);
}

struct use_amounts use_room(struct use *use, const struct use_over *over)
{
    const struct tally *tally = names_find(use->tallies, over->key);
    const struct limit_row *row = over->row;
    struct use_amounts used = {0};
    if (tally)
        used = amounts_of(use, tally, USE_RUNNING);
    else if (use->time && row->gpu_time >= 0)
        used.gpu_time = gpu_time_used(use->time, row, over->key);
    return (struct use_amounts){left_of(used.jobs, row->running), left_of(used.cpus, row->cpus),
                                left_of(used.memory, row->memory), gpus_left(use, row, used.gpus),
                                left_of(used.gpu_time, row->gpu_time)};
}

struct walking {
    struct use *use;
    use_visit *visit;
    void *context;
};

static void visit_pair(const struct walking *walking, struct use_view *view, struct text key)
{
    const struct gpu_time *time = walking->use->time;
    int64_t runs = view->amounts[USE_RUNNING].gpu_time, limit = view->row->gpu_time;
    if (time && limit >= 0) {
        view->amounts[USE_RUNNING].gpu_time += gpu_time_used(time, view->row, key);
        if (view->amounts[USE_RUNNING].gpu_time >= limit)
            view->falls = gpu_time_falls(time, view->row, key, limit - runs - 1);
    }
    const struct use_cohort cohort = use_cohort(walking->use, view->row);
    if (cohort.count) {
        view->borrowed = cohort_borrowed(&cohort.queues[cohort.which]);
        view->lent = cohort_lent(cohort.queues, cohort.count, cohort.which);
    }
    walking->visit(walking->context, view);
}

/* A queue that has no job may have lent its GPUs all the same. */
static void lent_by_idle_queues(const struct walking *walking)
{
    for (size_t i = 0; i < walking->use->row_count; i++) {
        const struct limit_row *row = &walking->use->rows[i];
        char key[LIMIT_ROW_KEY_SIZE];
        struct use_view view = {.row = row, .subject = row->name};
        if (limit_row_shares(row) && limit_row_key(row, i, 0, 0, row->name, row->gpu_type, key) &&
            !names_find(walking->use->tallies, text_of(key)))
            visit_pair(walking, &view, text_of(key));
    }
}

/* Somebody who has used GPUs, and may have no job now. */
static void visit_holder(void *context, const struct limit_row *row, struct text key,
                         struct text name)
{
    const struct walking *walking = context;
    struct use_view view = {.row = row, .subject = name};
    if (!names_find(walking->use->tallies, key) && !limit_row_shares(row))
        visit_pair(walking, &view, key);
}

void use_walk(struct use *use, use_visit *visit, void *context)
{
    struct walking walking = {use, visit, context};
    lent_by_idle_queues(&walking);
    for (struct tally *tally = names_first(use->tallies); tally; tally = names_after(tally)) {
        struct use_view view = {.row = tally->row, .subject = tally->subject};
        for (size_t i = 0; i < USE_PHASES; i++)
            view.amounts[i] = amounts_in(&tally->sums[i]);
        view.amounts[USE_RUNNING].gpu_time = held_until(use, &tally->all, clock_now());
        visit_pair(&walking, &view, names_text(tally));
    }
    if (use->time)
        gpu_time_walk(use->time, visit_holder, &walking);
}
