/* stages/shared/use.c - how much users, groups and queues use
 *
 * Each pair of a row and a subject has a tally.  Rows are few and tallies are found by a hash, so a job costs
 * as many steps as there are rows, once when it comes and once when it goes.
 */
#include "stages/shared/use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/names.h"
#include "spool/jobs.h"
#include "stages/guard.h"

enum { MOST_COUNTED = 1 << 21, MOST_TALLIES = 1 << 20, MOST_WORDS = 1 << 16, KEY_SIZE = 128 };
enum { SPARE = 4096, WORDS_OF_A_JOB = 3 }; /* words and tallies that may be there without a job */

struct tally {
    const struct limit_row *row;
    struct text subject;
    struct use_amounts amounts[USE_PHASES];
};

struct counted {
    uid_t uid;
    gid_t gid;
    struct text owner, queue, gpu_type; /* in `words` */
    int64_t cpus, memory;
    int gpus;
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
                        .arena = arena_new()};
    return use;
}

void use_free(struct use *use)
{
    if (!use)
        return;
    names_free(use->jobs);
    names_free(use->tallies);
    names_free(use->words);
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
    char key[KEY_SIZE], number[16];
    if (!limit_row_holds_for(row, job->uid, job->gid, job->queue, job->gpu_type))
        return NULL;
    snprintf(number, sizeof(number), "%u",
             (unsigned int)(row->subject == LIMIT_USER ? job->uid : job->gid));
    struct text id = row->subject == LIMIT_QUEUE ? job->queue : text_of(number);
    snprintf(key, sizeof(key), "%zu:%.*s", (size_t)(row - use->rows), (int)id.length, id.data);
    struct tally *tally = names_find(use->tallies, text_of(key));
    if (tally)
        return tally;
    tally = names_add(use->tallies, text_of(key));
    if (!tally)
        return NULL;
    *tally = (struct tally){.row = row,
                            .subject = row->subject == LIMIT_USER    ? job->owner
                                       : row->subject == LIMIT_QUEUE ? job->queue
                                                                     : keep_word(use, id)};
    return tally;
}

static void count_job(struct use *use, const struct counted *job, int sign)
{
    for (size_t i = 0; i < use->row_count; i++) {
        struct tally *tally = find_tally(use, &use->rows[i], job);
        if (!tally)
            continue;
        struct use_amounts *amounts = &tally->amounts[job->phase];
        amounts->jobs += sign;
        amounts->cpus += sign * job->cpus;
        amounts->memory += sign * job->memory;
        amounts->gpus += sign * job->gpus;
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

static struct counted counted_of(struct use *use, const struct job_record *record)
{
    const int times = record_at_once(record);
    forget_unused(use);
    return (struct counted){.uid = record->uid,
                            .gid = record->gid,
                            .owner = keep_word(use, record->owner),
                            .queue = keep_word(use, record->queue),
                            .gpu_type = keep_word(use, record->gpu_type),
                            .cpus = record->cpus * times,
                            .memory = record->memory * times,
                            .gpus = record->gpus * times};
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

/* What is known, and was where it is seen now, is only noted; of the rest the record is read.  So it is of what counts
 * although no look had found it, which may have been a guess: from now on the looks tell. */
static int see_job(void *context, const struct job_place *place)
{
    struct use *use = context;
    struct counted *job = names_find(use->jobs, text_of(place->id));
    struct guard_before before;
    struct job_record record;
    if (job && job->phase == use->phase && !job->held) {
        job->seen = true;
        return 0;
    }
    if (job && job->held && job->phase != use->phase)
        return 0; /* it is on its way from there */
    int directory = job_open(use->spool, place);
    if (directory < 0)
        return 0; /* it has just left */
    if (guard_begin(guard_own(), place->id, &before)) {
        if (record_read(directory, use->arena, &record, NULL) == 0)
            use_add(use, place->id, &record, use->phase, false);
        arena_reset(use->arena);
        guard_return(guard_own(), &before);
    }
    sys.close(directory);
    return 0;
}

int use_look(struct use *use, struct error *error)
{
    static const struct {
        enum state state;
        enum use_phase phase;
    } directories[] = {
        {STATE_RENDERED, USE_WAITING}, {STATE_HELD, USE_WAITING}, {STATE_SUBMITTED, USE_RUNNING}};
    struct counted *next;
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
        if (!job->seen && !job->held)
            forget_job(use, job);
    }
    return 0;
}

/* ---- what is over ---- */

static bool exceeds_amounts(const struct limit_row *row, const struct use_amounts *used,
                            const struct job_record *record)
{
    return use_is_exceeded(used->jobs, 1, row->running) ||
           use_is_exceeded(used->cpus, record->cpus, row->cpus) ||
           use_is_exceeded(used->memory, record->memory, row->memory) ||
           use_is_exceeded(used->gpus, record->gpus, row->gpus);
}

static struct use_amounts sum_of(const struct use_amounts amounts[USE_PHASES])
{
    const struct use_amounts *a = &amounts[USE_WAITING], *b = &amounts[USE_RUNNING];
    return (struct use_amounts){a->jobs + b->jobs, a->cpus + b->cpus, a->memory + b->memory,
                                a->gpus + b->gpus};
}

/* Is the job over this row in that phase?  `used` is what counts there. */
static bool is_over(const struct limit_row *row, const struct tally *tally,
                    const struct job_record *record, enum use_phase phase, struct use_amounts *used)
{
    *used = tally->amounts[phase];
    if (phase == USE_RUNNING)
        return exceeds_amounts(row, used, record);
    if (use_is_exceeded(used->jobs, 1, row->waiting))
        return true;
    *used = sum_of(tally->amounts);
    return row->over == LIMIT_REFUSE && exceeds_amounts(row, used, record);
}

bool use_find_row(struct use *use, const struct job_record *record, use_question *asks,
                  void *context, struct use_over *over)
{
    const struct counted job = counted_of(use, record);
    for (size_t i = 0; i < use->row_count; i++) {
        struct tally *tally = find_tally(use, &use->rows[i], &job);
        if (!tally)
            continue;
        *over = (struct use_over){.row = &use->rows[i], .key = names_text(tally)};
        if (asks(context, over))
            return true;
    }
    return false;
}

struct asked {
    const struct use *use;
    const struct job_record *record;
    enum use_phase phase;
};

static bool is_over_row(void *context, struct use_over *over)
{
    const struct asked *asked = context;
    const struct tally *tally = names_find(asked->use->tallies, over->key);
    return is_over(over->row, tally, asked->record, asked->phase, &over->used);
}

bool use_exceeds_running(struct use *use, const struct job_record *record, struct use_over *over)
{
    struct asked asked = {use, record, USE_RUNNING};
    return use_find_row(use, record, is_over_row, &asked, over);
}

bool use_exceeds_waiting(struct use *use, const struct job_record *record, struct use_over *over)
{
    struct asked asked = {use, record, USE_WAITING};
    return use_find_row(use, record, is_over_row, &asked, over);
}

static int64_t left_of(int64_t used, int64_t limit)
{
    return limit < 0 ? INT64_MAX : limit < used ? 0 : limit - used;
}

struct use_amounts use_room(struct use *use, const struct use_over *over)
{
    const struct tally *tally = names_find(use->tallies, over->key);
    const struct use_amounts none = {0}, *used = tally ? &tally->amounts[USE_RUNNING] : &none;
    const struct limit_row *row = over->row;
    return (struct use_amounts){left_of(used->jobs, row->running), left_of(used->cpus, row->cpus),
                                left_of(used->memory, row->memory), left_of(used->gpus, row->gpus)};
}

void use_walk(struct use *use, use_visit *visit, void *context)
{
    for (struct tally *tally = names_first(use->tallies); tally; tally = names_after(tally))
        visit(context, tally->row, tally->subject, tally->amounts);
}
