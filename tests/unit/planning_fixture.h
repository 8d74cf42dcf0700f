/* tests/unit/planning_fixture.h - a submit stage that plans, and an executor
 *
 * What the executor's capacity is, the test says; what it was given, the test can ask.
 */
#ifndef TESTS_UNIT_PLANNING_FIXTURE_H
#define TESTS_UNIT_PLANNING_FIXTURE_H

#include <time.h>

#include "spool/history.h"
#include "tests/unit/history_fixture.h"
#include "spool/plan_file.h"
#include "stages/prepare/rerender.h"
#include "stages/shared/control.h"
#include "stages/shared/resize.h"
#include "tests/unit/stage_fixture.h"

/* ---- the executor ---- */

static struct {
    struct capacity capacity;
    bool told, resizable;
    bool ready;
    char submitted[256]; /* names, in order, each with a space behind it */
    int64_t rendered;    /* the size that a job was last rendered again at; 0: none was */
} fake;

static inline int fake_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    return fake.ready ? 0 : error_set(problem, "it sleeps");
}

static inline void fake_submit(struct executor *executor, struct submission **batch, size_t count)
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

static inline int fake_capacity(struct executor *executor, struct capacity *capacity,
                                struct error *problem)
{
    (void)executor;
    *capacity = fake.capacity;
    return fake.told ? 0 : error_set(problem, "nobody knows");
}

static inline bool fake_resizable(struct executor *executor, struct text manifest,
                                  enum size_kind kind)
{
    (void)executor;
    (void)manifest;
    (void)kind;
    return fake.resizable;
}

static inline void fake_resize(struct executor *executor, struct job_resize **batch, size_t count)
{
    (void)executor;
    (void)batch;
    (void)count;
}

static inline void fake_close(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations fake_operations = {.name = "fake",
                                                           .ready = fake_ready,
                                                           .submit = fake_submit,
                                                           .capacity = fake_capacity,
                                                           .resizable = fake_resizable,
                                                           .resize = fake_resize,
                                                           .close = fake_close};

/* In thousandths of a processor. */
static inline void fake_has(int64_t cpus, int64_t cpus_free)
{
    fake.capacity = (struct capacity){
        .cpus = cpus, .cpus_free = cpus_free, .memory = 1 << 30, .memory_free = 1 << 30};
}

/* In the place of stages/prepare/rerender.c, which needs templates. */
int rerender_jobs(struct stage *of, struct rerender *jobs, size_t count, struct error *problem)
{
    struct arena *arena = arena_new();
    struct job_record record;
    (void)of;
    for (size_t i = 0; i < count; i++) {
        int job = open_job(jobs[i].id, STATE_RENDERED);
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

static int accepted; /* so many jobs in this test */

/* The n-th that was accepted, by its token. */
static inline const char *id_of(const char *name, int n)
{
    static char ids[16][ID_SIZE];
    static int next;
    char *id = ids[next++ % 16];
    snprintf(id, ID_SIZE, "%s-00000000000%02d", name, n);
    return id;
}

static inline struct job_record make_record(const char *id)
{
    return (struct job_record){
        .id = text_of(id),
        .owner = TEXT("ann"),
        .uid = 1000,
        .accepted = now,
        .template_path = TEXT("local/any/single.yaml"),
        .commit = TEXT("c0ffee"),
        .image = TEXT("image"),
        .arguments_sha256 = TEXT("abcd"),
        .cpus = 1000,
        .memory = 1 << 20,
        .attempt = 1,
        .manifest_sha256 = TEXT("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        .failure.exit_code = -1};
}

/* What a test says of a job; what it does not say is as in make_record(). */
struct job_sketch {
    const char *name;
    int64_t deadline;          /* in so many seconds */
    const char *deadline_mode; /* "count" */
    const char *owner;
    unsigned uid;
    int priority;
    int64_t cpus, memory;
    int64_t size;      /* its processors, which may be 1000 to `most` */
    int64_t most;      /* 4000 */
    bool checkpoint;   /* it can be stopped */
    double units;      /* that it counts */
    double done, rate; /* so many of them, at so many a second since it started */
    double spread;     /* of the time of a unit */
    int64_t restart;   /* that took so long, once */
    double used;       /* this part of its processors; 0: all of it */
};

static inline struct job_record record_of(const struct job_sketch *sketch, const char *id)
{
    struct job_record record = make_record(id);
    if (sketch->deadline) {
        record.deadline = now + sketch->deadline * 1000;
        record.deadline_mode = text_of(sketch->deadline_mode ? sketch->deadline_mode : "count");
    }
    if (sketch->owner) {
        record.owner = text_of(sketch->owner);
        record.uid = sketch->uid;
    }
    record.priority = sketch->priority;
    if (sketch->cpus)
        record.cpus = sketch->cpus;
    if (sketch->memory)
        record.memory = sketch->memory;
    if (sketch->size) {
        record.sizes = (struct sizes){
            .kind = SIZE_CPUS, .least = 1000, .most = sketch->most ? sketch->most : 4000};
        record.size = record.size_asked = record.cpus = sketch->size;
    }
    if (sketch->checkpoint)
        record.checkpoint_signal = TEXT("TERM");
    if (sketch->units > 0) {
        record.units_pattern = TEXT("step {done}");
        record.units_total = sketch->units;
    }
    return record;
}

static inline struct progress progress_of(const struct job_sketch *sketch)
{
    int64_t running = (int64_t)(sketch->done / sketch->rate * 1000);
    int64_t size = sketch->size ? sketch->size : 1;
    struct progress progress = {.time = now,
                                .attempt = 1,
                                .started = now - running,
                                .done = sketch->done,
                                .total = sketch->units,
                                .most = sketch->done,
                                .unit = now,
                                .size = size,
                                .since = now - running,
                                .rate = sketch->rate,
                                .spread = sketch->spread,
                                .samples = 20,
                                .start_up = 500,
                                .restart = sketch->restart ? sketch->restart : -1};
    struct progress_at_size *at = progress_file_entry_at(&progress, 1, size);
    at->rate = sketch->rate;
    at->units = sketch->done;
    at->running = at->cpu_allocated = running;
    at->cpu_used = sketch->used > 0 ? (int64_t)(sketch->used * (double)running) : running;
    return progress;
}

static inline const char *put_sketch(enum state state, struct job_sketch sketch)
{
    static const char running_log[] = "2026-11-22T10:00:00.000Z intent attempt=1\n"
                                      "2026-11-22T10:00:00.000Z submitted attempt=1\n"
                                      "2026-11-22T10:00:01.000Z started attempt=1\n";
    const char *id = id_of(sketch.name, ++accepted);
    struct job_record record = record_of(&sketch, id);
    struct progress progress;
    if (sketch.rate > 0)
        progress = progress_of(&sketch);
    put_job(state, &record, state == STATE_SUBMITTED ? running_log : "",
            sketch.rate > 0 ? &progress : NULL);
    return id;
}

/* A job that waits, or one that runs, as the members of a sketch say; its id, until there are many
 * more. */
#define put_rendered(...) put_sketch(STATE_RENDERED, (struct job_sketch){__VA_ARGS__})
#define put_submitted(...) put_sketch(STATE_SUBMITTED, (struct job_sketch){__VA_ARGS__})

/* Five jobs like those of make_record() have taken that long, and done ten units a second. */
static inline void remember(double seconds)
{
    for (int i = 0; i < 5; i++) {
        struct job_record record = make_record(id_of("past", 10 + i));
        struct progress progress = {.time = now,
                                    .attempt = 1,
                                    .started = now - 1,
                                    .size = 1,
                                    .done = 10 * seconds,
                                    .total = 10 * seconds,
                                    .start_up = 0,
                                    .restart = -1};
        struct progress_at_size *at = progress_file_entry_at(&progress, 1, 1);
        at->rate = 10;
        at->units = 10 * seconds;
        at->running = (int64_t)(seconds * 1000);
        at->cpu_used = -1;
        assert_int_equal(history_add(&spool, &record, &progress, true, now, &error), 0);
    }
}

/* The executor says that a job of submitted/ has started. */
static inline void start_job(const char *id)
{
    append_event(id, STATE_SUBMITTED, "2026-11-22T10:00:01.000Z started attempt=1\n");
}

/* A job of submitted/ is over. */
static inline void end_job(const char *id, enum state state)
{
    struct job_place place = {.state = STATE_SUBMITTED};
    snprintf(place.id, sizeof(place.id), "%s", id);
    assert_int_equal(job_move(&spool, &place, state, now, &error), 0);
}

/* What the log of a job of that state says of an event; "" when it has none. */
static inline const char *event_of(const char *id, enum state state, const char *name)
{
    static char found[512];
    find_events(id, state, name, found);
    return found;
}

static inline bool is_told_to_stop(const char *id)
{
    return strstr(event_of(id, STATE_SUBMITTED, "resize"), "to=0 ") != NULL;
}

/* ---- the stage ---- */

/* With these settings of the planner, beside those that every test has. */
static inline void start_stage(const char *planner)
{
    char settings[512];
    snprintf(settings, sizeof(settings), "executor: fake\nsync: none\nplanner: {tick: 5s%s%s}\n",
             *planner ? ", " : "", planner);
    write_settings(settings);
    open_stage();
}

/* A round, when the next plan is due. */
static inline void run_round(void)
{
    run_round_after(5000);
}

static inline void start_planning(const char *planner)
{
    start_stage(planner);
    run_round();
}

static inline bool plan_is_there(void)
{
    return faccessat(spool.root, "plan", F_OK, 0) == 0;
}

static inline struct planned_job planned(const char *id)
{
    static struct arena *arena;
    struct plan_file plan;
    if (!arena)
        arena = arena_new();
    assert_int_equal(plan_file_read(&spool, arena, &plan, &error), 0);
    const struct planned_job *job = plan_file_find(&plan, id);
    return job ? *job : (struct planned_job){.deadline_status = TEXT("not planned")};
}

/* The reason holds `reason`, unless that is NULL. */
static inline void expect_status(const char *id, const char *status, const char *reason)
{
    struct planned_job job = planned(id);
    if (!text_is(job.deadline_status, status) ||
        (reason && !text_contains(job.reason, text_of(reason))))
        fail_msg("%s: %.*s, %.*s", id, (int)job.deadline_status.length, job.deadline_status.data,
                 (int)job.reason.length, job.reason.length ? job.reason.data : "");
}

static inline int open_fixture(void **state)
{
    struct timespec time;
    (void)state;
    clock_gettime(CLOCK_REALTIME, &time);
    memset(&fake, 0, sizeof(fake));
    fake.told = fake.ready = true;
    accepted = 0;
    open_spool(&submit_stage, &fake_operations, (int64_t)time.tv_sec * 1000);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_spool)

#endif
