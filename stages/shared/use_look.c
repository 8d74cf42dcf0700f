/* stages/shared/use_look.c - the jobs that count, and the looks that find them */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/usage.h"
#include "stages/guard.h"
#include "stages/shared/resize.h"
#include "stages/shared/use_parts.h"

static const int64_t next_starts = 2000; /* milliseconds until it is looked again who has started */

struct use *use_new(const struct spool *spool, const struct limit_row *rows, size_t count,
                    unsigned int states)
{
    struct use *use = memory_allocate(sizeof(*use));
    *use = (struct use){.spool = spool,
                        .rows = rows,
                        .row_count = count,
                        .states = states,
                        .jobs = names_new(USE_MOST_COUNTED, sizeof(struct use_job)),
                        .tallies = names_new(USE_MOST_TALLIES, sizeof(struct use_tally)),
                        .words = names_new(USE_MOST_WORDS, 1),
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

/* ---- jobs ---- */

void use_add(struct use *use, const char *id, const struct job_record *record, enum use_phase phase,
             bool held)
{
    const struct use_job found = use_tally_job(use, record); /* which may count all others anew */
    struct use_job *job = names_find(use->jobs, text_of(id));
    if (job)
        use_tally_count(use, job, -1);
    else if (!(job = names_add(use->jobs, text_of(id))))
        return;
    *job = found;
    job->phase = phase;
    job->held = held;
    job->seen = true;
    use_tally_count(use, job, 1);
}

/* When a job that is counted has started, by its log.  -1 and a sentence when that cannot be read now. */
static int find_start(struct use *use, struct use_job *job, int directory,
                      const struct job_record *record, struct error *error)
{
    struct buffer log = {0};
    struct usage_times times;
    struct text node;
    int result = 0;
    if (eventlog_read(directory, &log, error)) {
        result = file_is_damaged(errno) ? 0 : -1;
    } else {
        usage_recall(buffer_text(&log), record->attempt, use->arena, &times, &node);
        if (times.started) {
            use_tally_count(use, job, -1);
            job->started = times.started - use->begun;
            use_tally_count(use, job, 1);
        }
    }
    buffer_free(&log);
    return result;
}

static void forget_job(struct use *use, struct use_job *job)
{
    use_tally_count(use, job, -1);
    names_remove(use->jobs, job);
}

void use_drop(struct use *use, const char *id)
{
    struct use_job *job = names_find(use->jobs, text_of(id));
    if (job && job->held)
        forget_job(use, job);
}

bool use_has(const struct use *use, const char *id)
{
    return names_find(use->jobs, text_of(id)) != NULL;
}

void use_settle(struct use *use, const char *id)
{
    struct use_job *job = names_find(use->jobs, text_of(id));
    if (job)
        job->held = false;
}

/* ---- looks ---- */

/* Is it to be looked whether it has started?  Only that tells how long it has held its GPUs. */
static bool lacks_start(const struct use *use, const struct use_job *job)
{
    return use->time && use->seek_starts && job->phase == USE_RUNNING && job->amounts.gpus &&
           job->started == USE_UNKNOWN;
}

/* Has the directory of a job changed that may have got another size? */
static bool is_resized(const struct use *use, const struct use_job *job,
                       const struct job_place *place)
{
    struct stat status;
    if (!job->sized || job->phase != USE_RUNNING ||
        sys.fstatat(use->spool->states[place->state], place->id, &status, AT_SYMLINK_NOFOLLOW))
        return false;
    return !job->settled || status.st_mtim.tv_sec != job->changed.tv_sec ||
           status.st_mtim.tv_nsec != job->changed.tv_nsec;
}

static void note_time(int directory, struct use_job *job)
{
    struct stat status;
    job->settled = sys.fstat(directory, &status) == 0 && job_is_settled(&status);
    job->changed = status.st_mtim;
}

/* A larger size that was asked for may be granted at any moment.  -1 and a sentence when it cannot be read now whether
 * one was. */
static int expect_growth(int directory, struct job_record *record, struct error *error)
{
    struct resize_request request;
    int64_t size = record->size_now ? record->size_now : record->size;
    if (record->sizes.kind == SIZE_FIXED || !resize_is_there(directory))
        return 0;
    int pending = resize_pending(directory, record, &request);
    if (pending < 0)
        return error_set(error, "it is unknown whether a resize was requested");
    if (pending && request.to > size && request.to <= record->sizes.most)
        record->size_now = request.to;
    return 0;
}

/* Read a job, and count it.  -1 and a sentence when it cannot be read now. */
static int read_job(struct use *use, const struct job_place *place, int directory,
                    struct error *error)
{
    struct job_record record;
    if (record_read(directory, use->arena, &record, error))
        return file_is_damaged(errno) ? 0 : -1;
    if (expect_growth(directory, &record, error))
        return -1;
    use_add(use, place->id, &record, use->phase, false);
    struct use_job *job = names_find(use->jobs, text_of(place->id));
    if (!job)
        return 0;
    if (job->sized)
        note_time(directory, job);
    return use->time && use->phase == USE_RUNNING && record.gpus
               ? find_start(use, job, directory, &record, error)
               : 0;
}

/* It may take anything, so what is counted is less than what is used. */
static void note_unread(struct use *use, const struct job_place *place, const struct error *problem)
{
    char buffer[PLACE_TEXT_SIZE];
    error_set(&use->unread, "%s: what it takes is unknown: %s", job_place_text(place, buffer),
              problem->text);
}

/* What is known, and was where it is seen now, is only noted; of the rest the record is read.  So it is of what counts
 * although no look had found it, which may have been a guess: from now on the looks tell. */
static int see_job(void *context, const struct job_place *place)
{
    struct use *use = context;
    struct use_job *job = names_find(use->jobs, text_of(place->id));
    struct guard_before before;
    struct error error;
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
    if (directory < 0 && file_is_damaged(errno))
        return 0; /* it has just left */
    if (directory < 0) {
        error_errno(&error, "its directory could not be opened");
        note_unread(use, place, &error);
        return 0;
    }
    if (guard_begin(guard_own(), place->id, &before)) {
        if (read_job(use, place, directory, &error))
            note_unread(use, place, &error);
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

/* A job that moves against the order of the look, as one of held/ that is approved, is met in neither directory.  One
 * of which that cannot be told is there. */
static bool is_there(const struct use *use, const struct use_job *job)
{
    struct stat status;
    for (size_t i = 0; i < ARRAY_COUNT(directories); i++)
        if (use->states & 1u << directories[i].state &&
            (!sys.fstatat(use->spool->states[directories[i].state], names_text(job).data, &status,
                          AT_SYMLINK_NOFOLLOW) ||
             errno != ENOENT))
            return true;
    return false;
}

int use_look(struct use *use, struct error *error)
{
    struct use_job *next;
    use->unread = (struct error){""};
    use->seek_starts = use->time && clock_elapsed() >= use->starts_next;
    if (use->seek_starts)
        use->starts_next = clock_elapsed() + next_starts;
    for (struct use_job *job = names_first(use->jobs); job; job = names_after(job))
        job->seen = false;
    for (size_t i = 0; i < ARRAY_COUNT(directories); i++) {
        use->phase = directories[i].phase;
        if (use->states & 1u << directories[i].state &&
            jobs_walk(use->spool, directories[i].state, see_job, use))
            return error_errno(error, "%s/ could not be read",
                               spool_state_name(directories[i].state));
    }
    for (struct use_job *job = names_first(use->jobs); job; job = next) {
        next = names_after(job);
        if (!job->seen && !job->held && !is_there(use, job))
            forget_job(use, job);
    }
    if (use->unread.text[0])
        return error_set(error, "%s", use->unread.text);
    /* After the directories: what has left submitted/ has its line by now. */
    return use->time ? gpu_time_look(use->time, error) : 0;
}
