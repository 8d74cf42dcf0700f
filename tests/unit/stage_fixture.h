/* tests/unit/stage_fixture.h - a spool with one stage that is driven round by round
 *
 * The clock is the test's: it stands still but for advance().  So is the executor that the stage
 * opens: `fake_executor`, with the operations that the test gives it.
 */
#ifndef TESTS_UNIT_STAGE_FIXTURE_H
#define TESTS_UNIT_STAGE_FIXTURE_H

#include "base/file.h"
#include "spool/file.h"
#include "spool/job.h"
#include "tests/unit/least_templates.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/system.h"
#include "spool/eventlog.h"
#include "spool/progress_file.h"
#include "stages/stage.h"

static char *path;
static struct spool spool;
static const struct stage_operations *stage_kind;
static struct stage *stage;
static struct executor fake_executor;
static struct error error;
static int64_t now, elapsed;

/* ---- the clock ---- */

static inline int64_t tell_time(void)
{
    return now;
}

static inline int64_t tell_elapsed(void)
{
    return elapsed;
}

static inline void advance(int64_t milliseconds)
{
    now += milliseconds;
    elapsed += milliseconds;
}

/* ---- the stage ---- */

static inline struct executor *open_fake(const struct value *settings, const char *name,
                                         const char *directory, struct error *problem)
{
    (void)settings;
    (void)name;
    (void)directory;
    (void)problem;
    return &fake_executor;
}

/* The machine does not crash in these tests, and waiting for the disk is most of what they would do. */
static inline int sync_nothing(int file)
{
    (void)file;
    return 0;
}

/* A new spool for a stage of that kind; it is `time`. */
static inline void open_spool(const struct stage_operations *kind,
                              const struct executor_operations *operations, int64_t time)
{
    stage_kind = kind;
    stage = NULL;
    fake_executor = (struct executor){.operations = operations};
    now = time;
    elapsed = 1000000;
    clock_replace(tell_time, tell_elapsed);
    stage_open_executor = open_fake;
    sys.fsync = sys.syncfs = sync_nothing;
    path = unit_directory();
    assert_int_equal(spool_create(path, &error), 0);
    assert_int_equal(spool_open(&spool, path, &error), 0);
}

static inline void open_templates(void)
{
    give_least_templates(path);
}

static inline void write_settings(const char *settings)
{
    int file = openat(spool.root, "dlspool.yaml", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(write(file, settings, strlen(settings)) > 0);
    close(file);
}

static inline void open_stage(void)
{
    stage = stage_kind->open(path, &error);
    if (!stage)
        fail_msg("%s", error.text);
}

static inline void close_stage(void)
{
    if (stage)
        stage_kind->close(stage);
    stage = NULL;
}

/* After so much time. */
static inline void run_round_after(int64_t milliseconds)
{
    advance(milliseconds);
    stage_kind->round(stage);
    assert_false(stage->failed);
}

/* For a test's end. */
static inline int close_spool(void **state)
{
    (void)state;
    close_stage();
    spool_close(&spool);
    unit_remove(path);
    clock_replace(NULL, NULL);
    return 0;
}

/* ---- jobs ---- */

static inline void write_into(int job, const char *name, const char *text)
{
    int file = openat(job, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

/* Its directory, or -1 when it is not in that state. */
static inline int look_for_job(const char *id, enum state state)
{
    char today[CLOCK_TEXT_SIZE];
    struct job_place place = {.state = state};
    snprintf(place.id, sizeof(place.id), "%s", id);
    if (state == STATE_DONE)
        snprintf(place.date, sizeof(place.date), "%.10s", clock_format(now, today));
    return job_open(&spool, &place);
}

static inline int open_job(const char *id, enum state state)
{
    int job = look_for_job(id, state);
    if (job < 0)
        fail_msg("%s is not in %s/", id, spool_state_name(state));
    return job;
}

static inline bool in_state(const char *id, enum state state)
{
    int job = look_for_job(id, state);
    if (job >= 0)
        close(job);
    return job >= 0;
}

/* `progress` may be NULL. */
static inline void put_job(enum state state, const struct job_record *record, const char *log,
                           const struct progress *progress)
{
    int job = job_create(&spool, record->id.data, &error);
    assert_true(job >= 0);
    assert_int_equal(record_create(job, record, &error), 0);
    assert_int_equal(spool_file_create(job, "manifest.yaml", TEXT(""), 0644, &error), 0);
    assert_int_equal(spool_file_create(job, "log", text_of(log), 0644, &error), 0);
    if (progress)
        assert_int_equal(progress_file_write(job, progress, &error), 0);
    close(job);
    assert_int_equal(job_publish(&spool, record->id.data, state, &error), 0);
}

static inline void append_event(const char *id, enum state state, const char *line)
{
    int job = open_job(id, state);
    assert_int_equal(eventlog_append(job, text_of(line), &error), 0);
    close(job);
}

/* How many events of that name the job's log has; `last`, unless it is NULL, is what it says of the
 * last of them, or "". */
static inline int find_events(const char *id, enum state state, const char *name, char last[512])
{
    struct buffer log = {0};
    struct event event;
    int count = 0, job = open_job(id, state);
    if (last)
        last[0] = '\0';
    assert_int_equal(file_read_at(job, "log", 1 << 20, &log, &error), 0);
    struct text rest = buffer_text(&log);
    while (eventlog_next(&rest, &event))
        if (text_is(event.name, name)) {
            count++;
            if (last)
                snprintf(last, 512, "%.*s.", (int)event.rest.length, event.rest.data);
        }
    buffer_free(&log);
    close(job);
    return count;
}

#endif
