/* stages/planning/backfill.c - what this machine has free, which job gets it first, and which may
 * pass */
#include "stages/planning/backfill.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/jobs.h"
#include "spool/progress_file.h"
#include "stages/guard.h"
#include "stages/planning/past.h"
#include "stages/planning/runs.h"

static const int64_t NEVER = INT64_MAX;
/* Milliseconds after a program's end until the executor is seen to have its resources free again. */
static const int64_t UNTIL_SEEN = 2000;
/* Milliseconds for which what is known of running jobs is used. */
static const int64_t RUNNING_KEPT = 1000;

/* An amount of resources.  GPUs of a type count as such and among all GPUs; those that a job of no type takes
 * count only among all: the executor chooses them when it knows all jobs that start (struct submission:
 * gpus_wanted). */
struct stock {
    int64_t cpus, memory;
    int gpus, of_type[MOST_GPU_TYPES];
};

struct running {
    struct demand held;
    int64_t end; /* time of day; NEVER: not known */
};

struct backfill {
    const struct spool *spool;
    struct executor *executor;
    struct runs *runs;
    bool told;
    char types[MOST_GPU_TYPES][GPU_TYPE_SIZE]; /* of GPU, as the executor tells them */
    size_t type_count;
    struct stock all, free;
    struct running *running; /* by end */
    size_t count, capacity;
    int64_t looked; /* when they were read, of clock_elapsed(); 0: not yet */
    int64_t turn;   /* when the first will start; NEVER: not known */
    struct stock
        beside; /* what is left over beside the first job when it starts, or now where that time is not known */
};

struct backfill *backfill_new(const struct spool *spool, struct executor *executor)
{
    if (!executor->operations->needs)
        return NULL;
    struct backfill *backfill = memory_allocate(sizeof(*backfill));
    *backfill = (struct backfill){.spool = spool, .executor = executor, .runs = runs_new(spool)};
    return backfill;
}

void backfill_free(struct backfill *backfill)
{
    if (!backfill)
        return;
    runs_free(backfill->runs);
    free(backfill->running);
    free(backfill);
}

/* ---- amounts ---- */

static int64_t smaller_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t not_negative(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

/* The index of the type that the demand names; type_count when it names none, or one that the executor does
 * not report. */
static size_t type_of(const struct backfill *backfill, const struct demand *demand)
{
    size_t type = 0;
    while (type < backfill->type_count && strcmp(backfill->types[type], demand->gpu_type) != 0)
        type++;
    return type;
}

/* How many GPUs of the stock the job may have. */
static int gpus_for(const struct backfill *backfill, const struct stock *stock,
                    const struct demand *demand)
{
    size_t type = type_of(backfill, demand);
    if (type < backfill->type_count)
        return (int)smaller_of(stock->gpus, stock->of_type[type]);
    bool unknown = demand->gpu_type[0] && type > 0 && type < MOST_GPU_TYPES;
    return unknown ? 0 : stock->gpus;
}

static bool stock_has(const struct backfill *backfill, const struct demand *demand,
                      const struct stock *stock)
{
    return demand->cpus <= stock->cpus && demand->memory <= stock->memory &&
           (demand->gpus == 0 || demand->gpus <= gpus_for(backfill, stock, demand));
}

static void take_demand(const struct backfill *backfill, struct stock *stock,
                        const struct demand *demand)
{
    size_t type = type_of(backfill, demand);
    stock->cpus -= demand->cpus;
    stock->memory -= demand->memory;
    stock->gpus -= demand->gpus;
    if (type < backfill->type_count)
        stock->of_type[type] -= demand->gpus;
}

/* Return a demand to the stock, up to what the machine has in all. */
static void give_back(const struct backfill *backfill, struct stock *stock,
                      const struct demand *demand)
{
    const struct stock *all = &backfill->all;
    size_t type = type_of(backfill, demand);
    stock->cpus = smaller_of(stock->cpus + demand->cpus, all->cpus);
    stock->memory = smaller_of(stock->memory + demand->memory, all->memory);
    stock->gpus = (int)smaller_of(stock->gpus + demand->gpus, all->gpus);
    if (type < backfill->type_count)
        stock->of_type[type] =
            (int)smaller_of(stock->of_type[type] + demand->gpus, all->of_type[type]);
}

/* Take a demand from the stock, as far as it is there. */
static void take_what_there_is(const struct backfill *backfill, struct stock *stock,
                               const struct demand *demand)
{
    struct demand there = *demand;
    there.cpus = smaller_of(demand->cpus, not_negative(stock->cpus));
    there.memory = smaller_of(demand->memory, not_negative(stock->memory));
    there.gpus = (int)smaller_of(demand->gpus, not_negative(gpus_for(backfill, stock, demand)));
    take_demand(backfill, stock, &there);
}

/* ---- what is free ---- */

void backfill_set_free(struct backfill *backfill, const struct capacity *now)
{
    backfill->told = true;
    backfill->all = (struct stock){.cpus = now->cpus, .memory = now->memory, .gpus = now->gpus};
    backfill->free =
        (struct stock){.cpus = now->cpus_free, .memory = now->memory_free, .gpus = now->gpus_free};
    backfill->type_count = now->gpu_type_count;
    for (size_t i = 0; i < now->gpu_type_count; i++) {
        memcpy(backfill->types[i], now->gpu_types[i].type, GPU_TYPE_SIZE);
        backfill->all.of_type[i] = now->gpu_types[i].count;
        backfill->free.of_type[i] = now->gpu_types[i].free;
    }
}

int backfill_refresh(struct backfill *backfill, struct error *error)
{
    struct capacity now = {.cpus = 0};
    backfill->told = backfill->executor->operations->capacity(backfill->executor, &now, error) == 0;
    if (backfill->told)
        backfill_set_free(backfill, &now);
    return backfill->told ? 0 : -1;
}

void backfill_hold(struct backfill *backfill, const struct demand *demand, bool taken)
{
    if (!taken)
        take_what_there_is(backfill, &backfill->free, demand);
    take_what_there_is(backfill, &backfill->all, demand);
}

bool backfill_fits_ever(const struct backfill *backfill, const struct demand *demand)
{
    return !backfill->told || stock_has(backfill, demand, &backfill->all);
}

/* Write the sentence that says which resource is short. */
static void tell_short(const struct backfill *backfill, const struct demand *demand,
                       struct error *error)
{
    struct text type =
        text_of(type_of(backfill, demand) < backfill->type_count ? demand->gpu_type : "");
    size_t count = (size_t)not_negative(gpus_for(backfill, &backfill->all, demand));
    struct text *types = memory_allocate((count + 1) * sizeof(*types));
    for (size_t i = 0; i < count; i++)
        types[i] = type;
    const struct machine machine = {.cpus = backfill->all.cpus,
                                    .memory = backfill->all.memory,
                                    .gpu_count = count,
                                    .gpu_types = types};
    const struct free_resources available = {.machine = &machine,
                                             .cpus = backfill->free.cpus,
                                             .memory = backfill->free.memory,
                                             .gpu_type = type,
                                             .gpus = gpus_for(backfill, &backfill->free, demand)};
    resources_fit_now(&available, *demand, error);
    free(types);
}

int backfill_take(struct backfill *backfill, const struct demand *demand, struct error *error)
{
    if (!backfill->told)
        return 0;
    if (!stock_has(backfill, demand, &backfill->free)) {
        tell_short(backfill, demand, error);
        return -1;
    }
    take_demand(backfill, &backfill->free, demand);
    return 0;
}

struct demand backfill_lacks(const struct backfill *backfill, const struct demand *demand)
{
    struct demand lacks = *demand;
    const struct stock *free = &backfill->free;
    lacks.cpus = not_negative(demand->cpus - not_negative(free->cpus));
    lacks.memory = not_negative(demand->memory - not_negative(free->memory));
    lacks.gpus = (int)not_negative(demand->gpus - not_negative(gpus_for(backfill, free, demand)));
    return lacks;
}

/* ---- when jobs are over ---- */

/* Seconds that the job runs from now on, or from its start if it does not run; negative: not known.
 */
static double predict_seconds(struct backfill *backfill, const struct job_record *record,
                              const struct progress *progress, bool running, bool late)
{
    struct predict_job question;
    struct prediction answer;
    past_job(record, progress, running, clock_now(), &question);
    predict(runs_past(backfill->runs), &question, &answer);
    if (!answer.known)
        return -1;
    double start_up = running || answer.start_up < 0 ? 0 : answer.start_up;
    return start_up + predict_seconds_left(&answer, past_plan_size(record, record->size), late);
}

static int64_t time_after(int64_t time, double seconds)
{
    const double longest = 100.0 * 365 * 86400; /* a prediction may be without end */
    return seconds < longest ? time + (int64_t)(seconds * 1000) : NEVER;
}

static int64_t read_start(int job)
{
    struct buffer log = {0};
    struct event event;
    int64_t start = 0;
    if (eventlog_read(job, &log, NULL) == 0) {
        struct text rest = buffer_text(&log);
        while (eventlog_next(&rest, &event)) {
            if (text_is(event.name, "intent"))
                start = 0;
            else if (text_is(event.name, "started"))
                start = event.time;
        }
    }
    buffer_free(&log);
    return start;
}

/* When a job that was submitted will be over. */
static int64_t find_end(struct backfill *backfill, int job, const struct job_record *record)
{
    struct progress progress;
    int64_t now = clock_now(), end = NEVER, start = read_start(job);
    bool measured = start && progress_file_read(job, &progress, NULL) == 0 &&
                    progress.attempt == record->attempt;
    double seconds =
        predict_seconds(backfill, record, measured ? &progress : NULL, measured, false);
    if (!start)
        start = now;
    if (seconds >= 0)
        end = time_after(measured ? now : start, seconds);
    if (record->time_limit)
        end = smaller_of(end, start + record->time_limit);
    return end < now ? now : end;
}

static void read_running(struct backfill *backfill, int job)
{
    struct job_record record;
    struct arena *arena = arena_new();
    if (record_read(job, arena, &record, NULL) == 0) {
        backfill->running = memory_grow(backfill->running, backfill->count, &backfill->capacity,
                                        sizeof(struct running));
        backfill->running[backfill->count++] = (struct running){
            .held = resources_demand(record.cpus, record.memory, record.gpus, record.gpu_type),
            .end = find_end(backfill, job, &record)};
    }
    arena_free(arena);
}

static int look_at_running(void *context, const struct job_place *place)
{
    struct backfill *backfill = context;
    struct guard_before before;
    int job = job_open(backfill->spool, place);
    if (job < 0)
        return 0; /* it has just left submitted/ */
    if (guard_begin(guard_own(), place->id, &before)) {
        read_running(backfill, job);
        guard_return(guard_own(), &before);
    }
    sys.close(job);
    return 0;
}

static int by_end(const void *a, const void *b)
{
    const struct running *first = a, *second = b;
    return (first->end > second->end) - (first->end < second->end);
}

/* Read the jobs that run.  Those that cannot be read, or were submitted a moment ago, only make the first
 * job's start seem later. */
static void look_at_all_running(struct backfill *backfill)
{
    if (backfill->looked && clock_elapsed() - backfill->looked < RUNNING_KEPT)
        return;
    backfill->looked = clock_elapsed();
    backfill->count = 0;
    runs_refresh(backfill->runs);
    if (jobs_walk(backfill->spool, STATE_SUBMITTED, look_at_running, backfill))
        log_warn("submitted/ could not be read; it is unknown when resources become free");
    if (backfill->count)
        qsort(backfill->running, backfill->count, sizeof(*backfill->running), by_end);
}

/* ---- who may pass ---- */

void backfill_reserve(struct backfill *backfill, const struct demand *demand)
{
    struct stock buffer = backfill->free;
    look_at_all_running(backfill);
    backfill->turn = NEVER;
    for (size_t i = 0; i < backfill->count && backfill->turn == NEVER; i++) {
        if (backfill->running[i].end == NEVER)
            break;
        give_back(backfill, &buffer, &backfill->running[i].held);
        if (stock_has(backfill, demand, &buffer))
            backfill->turn = backfill->running[i].end;
    }
    backfill->beside = backfill->turn == NEVER ? backfill->free : buffer;
    take_what_there_is(backfill, &backfill->beside, demand);
}

bool backfill_may_pass(const struct backfill *backfill, const struct demand *demand)
{
    return stock_has(backfill, demand, &backfill->free) &&
           (backfill->turn != NEVER || stock_has(backfill, demand, &backfill->beside));
}

bool backfill_is_shut(const struct backfill *backfill)
{
    const struct stock *buffer = backfill->turn == NEVER ? &backfill->beside : &backfill->free;
    return buffer->cpus <= 0 || buffer->memory <= 0;
}

bool backfill_pass(struct backfill *backfill, const struct job_record *record,
                   const struct demand *demand)
{
    if (!backfill_may_pass(backfill, demand))
        return false;
    if (!stock_has(backfill, demand, &backfill->beside)) {
        double seconds = record->time_limit ? (double)record->time_limit / 1000
                                            : predict_seconds(backfill, record, NULL, false, true);
        if (seconds < 0 || time_after(clock_now() + UNTIL_SEEN, seconds) > backfill->turn)
            return false;
    } else {
        take_demand(backfill, &backfill->beside, demand);
    }
    take_demand(backfill, &backfill->free, demand);
    return true;
}
