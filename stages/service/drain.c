/* stages/service/drain.c - tells whether anything is left to do in a spool */
#include "stages/service/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/directory.h"
#include "spool/jobs.h"
#include "spool/pause.h"
#include "spool/record.h"
#include "stages/resubmit/held.h"
#include "watcher/settle.h"

enum { LOOKS_NEEDED = 2 };

static int is_dropped_file(void *context, const char *name, unsigned char type)
{
    (void)context;
    (void)type;
    return settle_ignores(text_of(name)) ? 0 : 1;
}

static int is_any(void *context, const char *name, unsigned char type)
{
    (void)context;
    (void)name;
    (void)type;
    return 1;
}

static int is_any_job(void *context, const struct job_place *place)
{
    (void)context;
    (void)place;
    return 1;
}

static int comes_back(void *context, const struct job_place *place)
{
    const struct spool *spool = context;
    struct job_record record;
    struct stat status;
    int job = job_open(spool, place);
    if (job < 0)
        return errno == ENOENT ? 1 : 0; /* it is being moved */
    struct arena *arena = arena_new();
    int result = 0;
    if (record_read(job, arena, &record, NULL) == 0 && record.failed)
        result = record.failure.when == RETRY_AT || record.failure.when == RETRY_ROOM ||
                 record.failure.when == RETRY_EXECUTOR;
    if (!sys.fstatat(job, "retry", &status, AT_SYMLINK_NOFOLLOW))
        result = 1;
    arena_free(arena);
    sys.close(job);
    return result;
}

/* Will any job of held/ leave it by itself, as things stand? */
static bool held_moves(const struct spool *spool)
{
    struct settings settings;
    struct error error;
    if (settings_read(&settings, spool, &error))
        return true;
    struct held_jobs *jobs = held_jobs_new(spool, &settings);
    bool moves = held_jobs_decide(jobs, clock_now(), &error) != 0;
    for (size_t i = 0; i < jobs->count && !moves; i++)
        moves = jobs->by_age[i]->decision != HELD_WAITS || jobs->soonest;
    held_jobs_free(jobs);
    settings_free(&settings);
    return moves;
}

/* In a paused spool all wait for somebody, not for the daemon. */
static bool nobody_waits(const struct spool *spool)
{
    struct pause pause;
    return jobs_walk(spool, STATE_RENDERED, is_any_job, NULL) == 0 || pause_read(spool, &pause);
}

static bool nothing_left(const struct spool *spool)
{
    union {
        const struct spool *constant;
        void *plain;
    } context = {.constant = spool};
    return directory_walk(spool->incoming, is_dropped_file, NULL) == 0 &&
           directory_walk(spool->claims, is_any, NULL) == 0 && nobody_waits(spool) &&
           jobs_walk(spool, STATE_SUBMITTED, is_any_job, NULL) == 0 &&
           jobs_walk(spool, STATE_FAILED, comes_back, context.plain) == 0 && !held_moves(spool) &&
           nobody_waits(spool);
}

bool drain_is_done(struct drain *drain, const struct spool *spool)
{
    drain->quiet_looks = nothing_left(spool) ? drain->quiet_looks + 1 : 0;
    return drain->quiet_looks >= LOOKS_NEEDED;
}
