/* tests/unit/never_started.h - the track stage over a real executor, and a job that never started
 *
 * The job counts units, so it is measured: of what never ran there is nothing to be measured, and
 * its end is written down all the same.
 */
#ifndef TESTS_UNIT_NEVER_STARTED_H
#define TESTS_UNIT_NEVER_STARTED_H

#include "spool/file.h"
#include "spool/job.h"
#include "tests/unit/least_templates.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/registry/registry.h"
#include "stages/stage.h"

#define NEVER_STARTED "job-0000000000001"

static struct executor *never_started_executor;

static inline struct executor *never_started_open(const struct value *settings, const char *name,
                                                  const char *directory, struct error *error)
{
    (void)settings;
    (void)name;
    (void)directory;
    (void)error;
    return never_started_executor;
}

/* The stage is given an executor that somebody else will close. */
static inline void never_started_keep(struct executor *executor)
{
    (void)executor;
}

static inline void never_started_put(struct spool *spool)
{
    const char *id = NEVER_STARTED;
    struct error error;
    struct job_record record = {.id = text_of(id),
                                .owner = TEXT("ann"),
                                .uid = 1000,
                                .gid = (gid_t)-1,
                                .accepted = clock_now(),
                                .request_file = TEXT("request.yaml"),
                                .cpus = 1000,
                                .attempt = 1,
                                .units_pattern = TEXT("step {done}/{total}"),
                                .failure.exit_code = -1};
    int job = job_create(spool, id, &error);
    assert_true(job >= 0);
    assert_int_equal(record_create(job, &record, &error), 0);
    assert_int_equal(spool_file_create(job, "manifest.yaml", TEXT(""), 0644, &error), 0);
    assert_int_equal(spool_file_create(job, "log",
                                       TEXT("2026-01-01T12:00:00.000Z submitted attempt=1\n"), 0644,
                                       &error),
                     0);
    close(job);
    assert_int_equal(job_publish(spool, id, STATE_SUBMITTED, &error), 0);
}

/* The executor has the job NEVER_STARTED, which ends without having started: it comes to failed/
 * for that reason. */
static inline void never_started_fails(struct executor *executor, const char *reason)
{
    enum { PATIENCE = 30000, PAUSE = 50000000 }; /* milliseconds, nanoseconds */
    const struct executor_operations *real = executor->operations;
    struct executor_operations operations = *real;
    struct job_place place = {.state = STATE_FAILED};
    struct job_record record;
    struct spool spool;
    struct error error;
    char *directory = unit_directory();
    operations.close = never_started_keep;
    executor->operations = &operations;
    never_started_executor = executor;
    stage_open_executor = never_started_open;
    assert_int_equal(spool_create(directory, &error), 0);
    assert_int_equal(spool_open(&spool, directory, &error), 0);
    give_least_templates(directory);
    int settings = openat(spool.root, "dlspool.yaml", O_WRONLY | O_CREAT, 0644);
    assert_true(dprintf(settings, "executor: null\nsync: none\n") > 0);
    close(settings);
    never_started_put(&spool);
    sigset_t signals; /* which a stage blocks, and a stand-in is to be ended by */
    sigprocmask(SIG_SETMASK, NULL, &signals);
    struct stage *stage = track_stage.open(directory, &error);
    if (!stage)
        fail_msg("%s", error.text);
    snprintf(place.id, sizeof(place.id), "%s", NEVER_STARTED);
    int job = -1;
    for (int64_t begin = clock_elapsed(); job < 0 && clock_elapsed() - begin < PATIENCE;) {
        track_stage.round(stage);
        job = job_open(&spool, &place);
        nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    }
    track_stage.close(stage);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    executor->operations = real;
    stage_open_executor = registry_open;
    if (job < 0)
        fail_msg("the job did not come to failed/");
    struct arena *arena = arena_new();
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    if (!text_is(record.failure.reason, reason))
        fail_msg("it failed for %.*s, expected %s", (int)record.failure.reason.length,
                 record.failure.reason.data, reason);
    arena_free(arena);
    close(job);
    spool_close(&spool);
    unit_remove(directory);
}

#endif
