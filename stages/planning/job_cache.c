/* stages/planning/job_cache.c - the jobs of rendered/ and submitted/, kept in memory from plan to plan */
#include "stages/planning/job_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/names.h"
#include "spool/eventlog.h"
#include "spool/jobs.h"
#include "stages/guard.h"
#include "stages/shared/resize.h"

enum { MOST_JOBS = 1 << 20 };

struct job_cache {
    const struct spool *spool;
    struct names *jobs;  /* id -> struct cached_job */
    struct arena *arena; /* of one job's record */
};

struct job_cache *job_cache_new(const struct spool *spool)
{
    struct job_cache *job_cache = memory_allocate(sizeof(*job_cache));
    *job_cache = (struct job_cache){.spool = spool,
                                    .jobs = names_new(MOST_JOBS, sizeof(struct cached_job)),
                                    .arena = arena_new()};
    return job_cache;
}

static void forget_facts(struct cached_job *job)
{
    free(job->words);
    free(job->progress);
    free(job->levels);
    job->words = NULL;
    job->progress = NULL;
    job->levels = NULL;
    job->level_count = 0;
    job->predicted_of = 0;
}

void job_cache_free(struct job_cache *job_cache)
{
    if (!job_cache)
        return;
    for (struct cached_job *job = job_cache_first(job_cache); job; job = job_cache_after(job))
        forget_facts(job);
    names_free(job_cache->jobs);
    arena_free(job_cache->arena);
    free(job_cache);
}

struct cached_job *job_cache_first(struct job_cache *job_cache)
{
    return names_first(job_cache->jobs);
}
struct cached_job *job_cache_after(struct cached_job *job)
{
    return names_after(job);
}
const char *job_cache_id(const struct cached_job *job)
{
    return names_text(job).data;
}
size_t job_cache_count(const struct job_cache *job_cache)
{
    return names_count(job_cache->jobs);
}

struct cached_job *job_cache_find(struct job_cache *job_cache, const char *id)
{
    return names_find(job_cache->jobs, text_of(id));
}

static bool has_deadline(const struct job_record *record)
{
    return record->deadline && !text_is(record->deadline_mode, "none");
}

bool job_cache_record_wants_plan(const struct job_record *record)
{
    return has_deadline(record) || record->sizes.kind != SIZE_FIXED;
}

bool job_cache_wants_plan(const struct cached_job *job)
{
    return job->readable && job_cache_record_wants_plan(&job->record);
}

static int64_t scale_amount(int64_t amount, int64_t size, int64_t of)
{
    return of > 0 ? (int64_t)((double)amount * (double)size / (double)of + 0.5) : amount;
}

bool job_cache_takes_part(const struct cached_job *job)
{
    return job->readable &&
           (job->state == STATE_SUBMITTED || (!job->asked && !job->intended && !job->outgrown));
}

struct need job_cache_need(const struct cached_job *job, int64_t size)
{
    const struct job_record *record = &job->record;
    struct need need = {record->cpus, record->memory, record->gpus};
    switch (record->sizes.kind) {
    case SIZE_FIXED:
        break;
    case SIZE_TASKS:
        need.cpus = scale_amount(need.cpus, size, record->size);
        need.memory = scale_amount(need.memory, size, record->size);
        need.gpus = (int)scale_amount(need.gpus, size, record->size);
        break;
    case SIZE_GPUS:
        need.gpus = (int)size;
        break;
    case SIZE_CPUS:
        need.cpus = size;
        break;
    }
    return need;
}

void job_cache_doubt(struct cached_job *job)
{
    job->settled = false;
}

/* ---- reading a job ---- */

/* Keep what a plan needs of the record: one block for all texts. */
static void keep_record(struct cached_job *job, const struct job_record *record)
{
    struct job_record *kept = &job->record;
    const struct text from[] = {record->owner,         record->template_path,    record->commit,
                                record->image,         record->arguments_sha256, record->gpu_type,
                                record->queue,         record->deadline_mode,    record->units_file,
                                record->units_pattern, record->checkpoint_signal};
    struct text *const to[] = {&kept->owner,         &kept->template_path,    &kept->commit,
                               &kept->image,         &kept->arguments_sha256, &kept->gpu_type,
                               &kept->queue,         &kept->deadline_mode,    &kept->units_file,
                               &kept->units_pattern, &kept->checkpoint_signal};
    enum { COUNT = ARRAY_COUNT(from) };
    size_t bytes = 0;
    *kept = *record;
    kept->id = kept->name = kept->source = kept->request_file = kept->request_sha256 = TEXT("");
    kept->library = kept->version = kept->type = kept->executor = kept->manifest_sha256 = TEXT("");
    kept->array = kept->array_left = kept->array_killed = kept->array_aside = kept->array_held =
        TEXT("");
    kept->dlspool = TEXT("");
    kept->failure = (struct failure){.when = RETRY_NEVER};
    kept->after = NULL;
    kept->after_count = 0;
    for (int i = 0; i < COUNT; i++)
        bytes += from[i].length + 1;
    char *at = job->words = memory_allocate(bytes);
    for (int i = 0; i < COUNT; i++) {
        if (from[i].length)
            memcpy(at, from[i].data, from[i].length);
        *to[i] = (struct text){at, from[i].length};
        at += from[i].length + 1;
    }
}

static void keep_facts(struct cached_job *job, const struct job_record *record)
{
    keep_record(job, record);
    if (!has_deadline(record))
        job->record.deadline = 0;
    if (record->size <= 0) {
        job->record.sizes = (struct sizes){.kind = SIZE_FIXED};
        job->record.size = 1;
    }
    job->size = record->size_now > 0 && record->size > 0 ? record->size_now : job->record.size;
    job->resizable_known = job->resizable_known && job->state == STATE_SUBMITTED;
}

/* Read the log, which grows without a change of the directory's time.  -1 with errno. */
static int read_log(struct cached_job *job, int directory)
{
    struct buffer log = {0};
    struct event event;
    struct eventlog_fold fold;
    job->intended = false;
    job->started = 0;
    int result = eventlog_read(directory, &log, NULL), number = errno;
    if (!result) {
        struct text rest = buffer_text(&log);
        while (eventlog_next(&rest, &event)) {
            if (text_is(event.name, "started"))
                job->started = event.time;
            job->promised = job->promised || text_is(event.name, "promised");
            job->predicted = job->predicted || text_is(event.name, "predicted");
        }
        eventlog_fold(buffer_text(&log), &fold);
        job->intended = fold.intent && !fold.failed;
        job->started = fold.started ? job->started : 0;
    }
    buffer_free(&log);
    errno = number;
    return result;
}

static bool is_there(int job, const char *name)
{
    struct stat status;
    return !sys.fstatat(job, name, &status, AT_SYMLINK_NOFOLLOW);
}

static void read_progress(struct cached_job *job, int directory)
{
    struct progress progress;
    struct error error;
    free(job->progress);
    job->progress = NULL;
    int result = progress_file_read(directory, &progress, &error);
    if (result < 0)
        log_warn("%s: %s", job_cache_id(job), error.text);
    if (result)
        return;
    job->progress = memory_allocate(sizeof(progress));
    *job->progress = progress;
}

/* Where its record or log cannot be read for a reason that passes, nothing is known of it until the next refresh. */
static void read_job(struct job_cache *job_cache, struct cached_job *job, int directory)
{
    struct job_record record;
    bool passes = false;
    forget_facts(job);
    job->readable = false;
    job->asked = is_there(directory, "kill") || is_there(directory, "hold");
    job->resizing = job->state == STATE_SUBMITTED && resize_is_there(directory);
    if (record_read(directory, job_cache->arena, &record, NULL)) {
        passes = !file_is_damaged(errno);
    } else if (text_is(record.id, job_cache_id(job))) {
        keep_facts(job, &record);
        passes = read_log(job, directory) && !file_is_damaged(errno);
        job->readable = !passes;
        read_progress(job, directory);
    }
    job->settled = job->settled && !passes;
    arena_reset(job_cache->arena);
}

/* Read a job again if its directory has changed since it was read, or so recently that its time does not show
 * it.  A job over which the stage has died too often is not read. */
static int see_job(void *context, const struct job_place *place)
{
    struct job_cache *job_cache = context;
    struct stat status;
    struct cached_job *job = names_find(job_cache->jobs, text_of(place->id));
    struct guard_before before;
    if (sys.fstatat(job_cache->spool->states[place->state], place->id, &status,
                    AT_SYMLINK_NOFOLLOW))
        return 0; /* it has just left */
    /* Only its log tells that a job has started, and the log grows unseen. */
    bool known = job && job->state == place->state && job->settled &&
                 (job->started || place->state == STATE_RENDERED) &&
                 job->changed.tv_sec == status.st_mtim.tv_sec &&
                 job->changed.tv_nsec == status.st_mtim.tv_nsec;
    if (!job)
        job = names_add(job_cache->jobs, text_of(place->id));
    if (!job)
        return 0; /* more than a million jobs: these wait */
    job->seen = true;
    if (known)
        return 0;
    int directory = job_open(job_cache->spool, place);
    if (directory < 0)
        return 0;
    job->state = place->state;
    job->changed = status.st_mtim;
    job->settled = job_is_settled(&status);
    if (guard_begin(guard_own(), place->id, &before)) {
        read_job(job_cache, job, directory);
        guard_return(guard_own(), &before);
    }
    sys.close(directory);
    return 0;
}

int job_cache_refresh(struct job_cache *job_cache, struct error *error)
{
    struct cached_job *next;
    for (struct cached_job *job = job_cache_first(job_cache); job; job = job_cache_after(job))
        job->seen = false;
    /* Look in the order in which jobs move, so that one that is moved meanwhile is seen. */
    if (jobs_walk(job_cache->spool, STATE_RENDERED, see_job, job_cache) ||
        jobs_walk(job_cache->spool, STATE_SUBMITTED, see_job, job_cache))
        return error_errno(error, "rendered/ or submitted/ could not be read");
    for (struct cached_job *job = job_cache_first(job_cache); job; job = next) {
        next = job_cache_after(job);
        if (job->seen)
            continue;
        forget_facts(job);
        names_remove(job_cache->jobs, job);
    }
    return 0;
}

/* ---- at the start ---- */

static int look_for_request(void *context, const struct job_place *place)
{
    struct job_cache *job_cache = context;
    struct job_record record;
    struct guard_before before;
    int directory = job_open(job_cache->spool, place);
    if (directory < 0)
        return 0;
    bool looks = guard_begin(guard_own(), place->id, &before);
    bool wants = looks && record_read(directory, job_cache->arena, &record, NULL) == 0 &&
                 job_cache_record_wants_plan(&record);
    if (looks)
        guard_return(guard_own(), &before);
    sys.close(directory);
    arena_reset(job_cache->arena);
    return wants;
}

int job_cache_submitted_wants_plan(const struct spool *spool, struct error *error)
{
    struct job_cache job_cache = {.spool = spool, .arena = arena_new()};
    int result = jobs_walk(spool, STATE_SUBMITTED, look_for_request, &job_cache);
    if (result < 0)
        error_errno(error, "submitted/ could not be read");
    arena_free(job_cache.arena);
    return result;
}
