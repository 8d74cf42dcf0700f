/* planning_fixture.h - a spool with a submit stage that is driven round by round, and an executor whose
 * capacity is what the test says
 *
 * The clock is the test's: it stands still but for advance().
 */
#ifndef TESTS_UNIT_PLANNING_FIXTURE_H
#define TESTS_UNIT_PLANNING_FIXTURE_H

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/history.h"
#include "spool/plan_file.h"
#include "stages/control.h"
#include "stages/rerender.h"
#include "stages/resize.h"
#include "stages/stage.h"

static char *path;
static struct spool spool;
static struct stage *stage;
static struct error error;
static int64_t now, elapsed;

static int64_t tell_time(void) { return now; }
static int64_t tell_elapsed(void) { return elapsed; }

/* ---- the executor ---- */

static struct {
    struct executor executor;
    struct capacity capacity;
    bool told, resizable;
    bool ready;
    char submitted[256];        /* names, in order, each with a space behind it */
    int64_t rendered;           /* the size that a job was last rendered anew at; 0: none was */
} fake;

static int fake_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    return fake.ready ? 0 : error_set(problem, "it sleeps");
}

static void fake_submit(struct executor *executor, struct submission **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(fake.submitted);
        const char *name = batch[i]->id;
        snprintf(fake.submitted + length, sizeof(fake.submitted) - length, "%.*s ",
                 (int)strcspn(name, "-"), name);
        batch[i]->outcome = SUBMIT_ACCEPTED;
        batch[i]->note[0] = '\0';
    }
}

static int fake_capacity(struct executor *executor, struct capacity *capacity, struct error *problem)
{
    (void)executor;
    *capacity = fake.capacity;
    return fake.told ? 0 : error_set(problem, "nobody knows");
}

static bool fake_resizable(struct executor *executor, struct text manifest, enum size_kind kind)
{
    (void)executor;
    (void)manifest;
    (void)kind;
    return fake.resizable;
}

static void fake_resize(struct executor *executor, struct job_resize **batch, size_t count)
{
    (void)executor;
    (void)batch;
    (void)count;
}

static void fake_close(struct executor *executor) { (void)executor; }

static const struct executor_operations fake_operations = {
    .name = "fake", .ready = fake_ready, .submit = fake_submit, .capacity = fake_capacity,
    .resizable = fake_resizable, .resize = fake_resize, .close = fake_close};

static struct executor *fake_open(const struct value *settings, const char *name,
                                  const char *directory, struct error *problem)
{
    (void)settings;
    (void)name;
    (void)directory;
    (void)problem;
    fake.executor.operations = &fake_operations;
    return &fake.executor;
}

static void fake_has(int64_t cpus, int64_t cpus_free)
{
    fake.capacity = (struct capacity){.cpus = cpus, .cpus_free = cpus_free, .memory = 1 << 30,
                                      .memory_free = 1 << 30};
}

/* In the place of stages/rerender.c, which needs templates. */
int rerender_jobs(struct stage *of, struct rerender *jobs, size_t count, struct error *problem)
{
    struct arena *arena = arena_new();
    struct job_record record;
    for (size_t i = 0; i < count; i++) {
        struct job_place place = {.state = STATE_RENDERED};
        snprintf(place.id, sizeof(place.id), "%s", jobs[i].id);
        int job = job_open(&of->spool, &place);
        assert_int_equal(record_read(job, arena, &record, problem), 0);
        record.size = fake.rendered = jobs[i].size;
        if (record.sizes.kind == SIZE_CPUS)
            record.cpus = record.size;
        assert_int_equal(record_replace(job, &record, problem), 0);
        close(job);
        jobs[i].done = true;
    }
    arena_free(arena);
    return 0;
}

/* ---- jobs ---- */

/* The n-th that was accepted, by its token. */
static const char *id_of(const char *name, int n)
{
    static char ids[8][ID_SIZE];
    static int next;
    char *id = ids[next++ % 8];
    snprintf(id, ID_SIZE, "%s-00000000000%02d", name, n);
    return id;
}

static struct job_record make_record(const char *id)
{
    return (struct job_record){
        .id = text_of(id), .owner = TEXT("ann"), .uid = 1000, .accepted = now,
        .template_path = TEXT("local/any/single.yaml"), .commit = TEXT("c0ffee"),
        .image = TEXT("image"), .arguments_sha256 = TEXT("abcd"), .cpus = 1000, .memory = 1 << 20,
        .attempt = 1, .manifest_sha256 = TEXT(
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        .failure.exit_code = -1};
}

static void give_deadline(struct job_record *record, int64_t seconds)
{
    record->deadline = now + seconds * 1000;
    if (!record->deadline_mode.length)
        record->deadline_mode = TEXT("count");
}

static const char running_log[] = "2026-11-22T10:00:00.000Z intent attempt=1\n"
                                  "2026-11-22T10:00:00.000Z submitted attempt=1\n"
                                  "2026-11-22T10:00:01.000Z started attempt=1\n";

static void put_job(enum state state, const struct job_record *record,
                    const struct progress *progress)
{
    int job = job_create(&spool, record->id.data, &error);
    assert_true(job >= 0);
    assert_int_equal(record_create(job, record, &error), 0);
    assert_int_equal(job_file_create(job, "manifest.yaml", TEXT(""), 0644, &error), 0);
    assert_int_equal(job_file_create(job, "log",
                                     state == STATE_SUBMITTED ? text_of(running_log) : TEXT(""),
                                     0644, &error), 0);
    if (progress)
        assert_int_equal(progress_write(job, progress, &error), 0);
    close(job);
    assert_int_equal(job_publish(&spool, record->id.data, state, &error), 0);
}

/* Five jobs like those of make_record() have taken that long, and done ten units a second. */
static void remember(double seconds)
{
    for (int i = 0; i < 5; i++) {
        struct job_record record = make_record(id_of("past", 10 + i));
        struct progress progress = {.time = now, .attempt = 1, .started = now - 1, .size = 1,
                                    .done = 10 * seconds, .total = 10 * seconds,
                                    .start_up = 0, .restart = -1};
        struct progress_at_size *at = progress_at(&progress, 1, 1);
        at->rate = 10;
        at->units = 10 * seconds;
        at->running = (int64_t)(seconds * 1000);
        at->cpu_used = -1;
        assert_int_equal(history_add(&spool, &record, &progress, true, now, &error), 0);
    }
}

static bool in_state(const char *id, enum state state)
{
    struct job_place place = {.state = state};
    snprintf(place.id, sizeof(place.id), "%s", id);
    int job = job_open(&spool, &place);
    if (job >= 0)
        close(job);
    return job >= 0;
}

static int open_submitted(const char *id)
{
    struct job_place place = {.state = STATE_SUBMITTED};
    snprintf(place.id, sizeof(place.id), "%s", id);
    return job_open(&spool, &place);
}

/* The executor says that a job of submitted/ has started. */
static void start_job(const char *id)
{
    int job = open_submitted(id);
    assert_int_equal(eventlog_append(job, TEXT("2026-11-22T10:00:01.000Z started attempt=1\n"), &error), 0);
    close(job);
}

/* What the log of a job of that state says of an event; "" when it has none. */
static const char *event_of(const char *id, enum state state, const char *name)
{
    static char found[512];
    struct job_place place = {.state = state};
    struct buffer log = {0};
    struct event event;
    snprintf(place.id, sizeof(place.id), "%s", id);
    found[0] = '\0';
    int job = job_open(&spool, &place);
    assert_true(job >= 0);
    assert_int_equal(file_read_at(job, "log", 1 << 20, &log, &error), 0);
    struct text rest = buffer_text(&log);
    while (eventlog_next(&rest, &event))
        if (text_is(event.name, name))
            snprintf(found, sizeof(found), "%.*s.", (int)event.rest.length, event.rest.data);
    buffer_free(&log);
    close(job);
    return found;
}

/* ---- the stage ---- */

static void advance(int64_t milliseconds)
{
    now += milliseconds;
    elapsed += milliseconds;
}

static void start_stage(const char *planner)
{
    char settings[512];
    snprintf(settings, sizeof(settings), "executor: fake\nsync: none\nplanner: {%s}\n", planner);
    int file = openat(spool.root, "dlspool.yaml", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(write(file, settings, strlen(settings)) > 0);
    close(file);
    stage = submit_stage.open(path, &error);
    if (!stage)
        fail_msg("%s", error.text);
}

static void stop_stage(void)
{
    if (stage)
        submit_stage.close(stage);
    stage = NULL;
}

/* A round, when the next plan is due. */
static void run_round(void)
{
    advance(5000);
    submit_stage.round(stage);
    assert_false(stage->failed);
}

static struct planned_job planned(const char *id)
{
    static struct arena *arena;
    struct plan_file plan;
    if (!arena)
        arena = arena_new();
    assert_int_equal(plan_file_read(&spool, arena, &plan, &error), 0);
    const struct planned_job *job = plan_file_find(&plan, id);
    return job ? *job : (struct planned_job){.standing = TEXT("not planned")};
}

static int open_fixture(void **state)
{
    struct timespec time;
    (void)state;
    clock_gettime(CLOCK_REALTIME, &time);
    now = (int64_t)time.tv_sec * 1000;
    elapsed = 1000000;
    clock_replace(tell_time, tell_elapsed);
    stage_open_executor = fake_open;
    memset(&fake, 0, sizeof(fake));
    fake.told = fake.ready = true;
    path = unit_directory();
    assert_int_equal(spool_create(path, &error), 0);
    assert_int_equal(spool_open(&spool, path, &error), 0);
    return 0;
}

static int close_fixture(void **state)
{
    (void)state;
    stop_stage();
    spool_close(&spool);
    unit_remove(path);
    clock_replace(NULL, NULL);
    return 0;
}

#endif
