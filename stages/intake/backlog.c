/* stages/intake/backlog.c - which jobs are refused because too many wait */
#include "stages/intake/backlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/usage.h"
#include "spool/wants.h"
#include "stages/shared/use_explain.h"
#include "stages/users.h"

enum { WORD_SIZE = 256 }; /* bytes of the word by which a job is meant */
/* Milliseconds: resubmit has seen it by then, and how old what is known of others' jobs may be. */
static const int64_t retry_counts = 10000, look_counts = 10000;

/* What counts although no look has found it yet: a job of this batch, or a retry. */
struct expected {
    char name[WORD_SIZE];
    int64_t expires; /* of a retry, of clock_elapsed(); 0: of a job */
};

struct backlog {
    const struct stage *stage;
    struct limit_row *rows; /* those of limits.rows, and one for limits.waiting behind them */
    struct use *use;
    struct expected *expected;
    size_t expected_count, expected_capacity;
    bool looked;       /* in this batch */
    bool known;        /* the last look saw all */
    bool timed;        /* a row with gpu_hours refuses, or wants approval */
    bool decides;      /* any row does */
    int64_t next_look; /* where one decides, of clock_elapsed() */
};

static const struct limit_row *waiting_row(const struct backlog *backlog)
{
    return &backlog->rows[backlog->stage->settings.limits.row_count];
}

/* Does the row ever refuse a job for what others have? */
static bool is_of_intake(const struct limit_row *row)
{
    return row->waiting >= 0 || row->over != LIMIT_WAIT;
}

/* The accounts must be there before intake is confined, to be read then. */
static void count_gpu_time(struct backlog *backlog)
{
    struct error error;
    if (usage_make(&backlog->stage->spool, &error))
        log_warn("what was used of gpu_hours cannot be counted: %s", error.text);
    use_count_gpu_time(backlog->use);
}

struct backlog *backlog_new(const struct stage *stage)
{
    const struct job_limits *limits = &stage->settings.limits;
    unsigned int states = 1u << STATE_RENDERED | 1u << STATE_HELD;
    bool needed = limits->waiting, decides = false;
    for (size_t i = 0; i < limits->row_count; i++) {
        needed = needed || is_of_intake(&limits->rows[i]);
        decides = decides || limits->rows[i].over != LIMIT_WAIT;
    }
    if (!needed)
        return NULL;
    if (decides)
        states |= 1u << STATE_SUBMITTED;
    struct backlog *backlog = memory_allocate(sizeof(*backlog));
    *backlog =
        (struct backlog){.stage = stage,
                         .rows = memory_allocate((limits->row_count + 1) * sizeof(*backlog->rows)),
                         .decides = decides};
    for (size_t i = 0; i < limits->row_count; i++) {
        struct limit_row *row = &backlog->rows[i];
        *row = limits->rows[i];
        if (row->over == LIMIT_WAIT)
            row->gpu_time = LIMIT_NONE; /* submit's; so nothing is read for it here */
        backlog->timed = backlog->timed || row->gpu_time >= 0;
    }
    backlog->rows[limits->row_count] =
        (struct limit_row){.subject = LIMIT_USER,
                           .name = TEXT("*"),
                           .running = LIMIT_NONE,
                           .waiting = limits->waiting ? limits->waiting : LIMIT_NONE,
                           .cpus = LIMIT_NONE,
                           .memory = LIMIT_NONE,
                           .gpus = LIMIT_NONE,
                           .time_limit = LIMIT_NONE,
                           .gpu_time = LIMIT_NONE,
                           .lend_gpus = LIMIT_NONE,
                           .borrow_gpus = LIMIT_NONE};
    backlog->use = use_new(&stage->spool, backlog->rows, limits->row_count + 1, states);
    if (backlog->timed)
        count_gpu_time(backlog);
    return backlog;
}

void backlog_free(struct backlog *backlog)
{
    if (!backlog)
        return;
    use_free(backlog->use);
    free(backlog->rows);
    free(backlog->expected);
    free(backlog);
}

void backlog_begin(struct backlog *backlog)
{
    size_t kept = 0;
    if (!backlog)
        return;
    backlog->looked = false;
    for (size_t i = 0; i < backlog->expected_count; i++) {
        const struct expected expected = backlog->expected[i];
        if (!expected.expires)
            use_settle(backlog->use, expected.name);
        else if (clock_elapsed() >= expected.expires)
            use_drop(backlog->use, expected.name);
        else
            backlog->expected[kept++] = expected;
    }
    backlog->expected_count = kept;
}

static void look_again(struct backlog *backlog)
{
    struct error error;
    backlog->looked = true;
    backlog->next_look = clock_elapsed() + look_counts;
    backlog->known = !use_look(backlog->use, &error);
    if (!backlog->known)
        log_warn("the jobs that wait cannot be counted: %s", error.text);
}

/* What nothing that comes shows: GPU-hours grow by themselves, and resubmit brings jobs back. */
static bool is_old(const struct backlog *backlog)
{
    return backlog->decides && clock_elapsed() >= backlog->next_look;
}

enum backlog_answer backlog_ask(struct backlog *backlog, const struct job_record *record,
                                struct error *error)
{
    struct use_over over;
    if (!backlog)
        return BACKLOG_OPEN;
    if ((!backlog->known && !backlog->looked) || is_old(backlog))
        look_again(backlog);
    if (!use_exceeds_waiting(backlog->use, record, &over))
        return BACKLOG_OPEN;
    if (!backlog->looked) {
        look_again(backlog);
        if (!use_exceeds_waiting(backlog->use, record, &over))
            return BACKLOG_OPEN;
    }
    if (over.row != waiting_row(backlog)) {
        use_explain(&over, record, USE_WAITING, error);
        return BACKLOG_OVER;
    }
    if (settings_is_administrator(&backlog->stage->settings, &backlog->stage->spool, record->uid))
        return BACKLOG_OPEN;
    error_set(
        error,
        "%lld jobs of %s wait already, and no more may (limits.waiting of dlspool.yaml, which "
        "an administrator can change)",
        (long long)over.used.jobs, record->owner.data);
    return BACKLOG_FULL;
}

struct wanting {
    struct backlog *backlog;
    struct arena *arena;
    struct job_record *record;
    struct text wants;
};

static bool take_want(void *context, struct use_over *over)
{
    struct wanting *wanting = context;
    if (over->row->over == LIMIT_APPROVE &&
        use_exceeds_in_all(wanting->backlog->use, over, wanting->record))
        wanting->wants =
            wants_add(wanting->arena, wanting->wants, wants_of_row(wanting->arena, over->row));
    return false;
}

void backlog_take_wants(struct backlog *backlog, struct arena *arena, struct job_record *record)
{
    if (!backlog)
        return;
    struct use_over over;
    struct wanting wanting = {backlog, arena, record, record->wants};
    use_find_row(backlog->use, record, take_want, &wanting, &over);
    if (wanting.wants.length && !backlog->looked) {
        look_again(backlog);
        wanting.wants = record->wants;
        use_find_row(backlog->use, record, take_want, &wanting, &over);
    }
    record->wants = wanting.wants;
}

/* What is known of a job by its owner alone. */
static struct job_record record_of(uid_t uid, struct user *user)
{
    users_find(uid, user);
    return (struct job_record){.uid = uid,
                               .gid = user->gid,
                               .owner = text_of(user->name),
                               .queue = TEXT(""),
                               .gpu_type = TEXT("")};
}

bool backlog_refuses_retry(struct backlog *backlog, uid_t uid, struct error *error)
{
    struct user user;
    if (!backlog)
        return false;
    const struct job_record record = record_of(uid, &user);
    return backlog_ask(backlog, &record, error) != BACKLOG_OPEN;
}

static void expect_job(struct backlog *backlog, struct text name, const struct job_record *record,
                       int64_t expires)
{
    struct expected expected = {.expires = expires};
    snprintf(expected.name, sizeof(expected.name), "%.*s", (int)name.length, name.data);
    backlog->expected = memory_grow(backlog->expected, backlog->expected_count,
                                    &backlog->expected_capacity, sizeof(*backlog->expected));
    backlog->expected[backlog->expected_count++] = expected;
    use_add(backlog->use, expected.name, record, USE_WAITING, true);
}

void backlog_add(struct backlog *backlog, const char *id, const struct job_record *record)
{
    if (backlog)
        expect_job(backlog, text_of(id), record, 0);
}

void backlog_add_retry(struct backlog *backlog, struct text word, uid_t uid)
{
    struct user user;
    if (!backlog)
        return;
    const struct job_record record = record_of(uid, &user);
    expect_job(backlog, word, &record, clock_elapsed() + retry_counts);
}
