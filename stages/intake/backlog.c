/* stages/intake/backlog.c - how many jobs of each user wait, where that is limited */
#include "stages/intake/backlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/names.h"
#include "spool/jobs.h"
#include "spool/record.h"
#include "stages/users.h"

enum { MOST_WAITING = 1 << 20 };           /* jobs that are known */
static const int64_t retry_counts = 10000; /* milliseconds; resubmit has seen it by then */

struct waiting_job {
    uid_t uid;
    bool seen;       /* in this look */
    uint64_t batch;  /* the one in which it was added; 0: it was found */
    int64_t expires; /* of a retry, of clock_elapsed(): it counts until then; 0: of a job */
};

struct tally {
    uid_t uid;
    int count;
};

struct backlog {
    const struct stage *stage;
    struct names *jobs;  /* id, or the word of a retry -> struct waiting_job */
    struct tally *users; /* of whom any job was ever known */
    size_t user_count, user_capacity;
    struct arena *arena;
    uint64_t batch;
    bool looked; /* in this batch */
    bool known;  /* ever */
};

struct backlog *backlog_new(const struct stage *stage)
{
    if (!stage->settings.limits.waiting)
        return NULL;
    struct backlog *backlog = memory_allocate(sizeof(*backlog));
    *backlog = (struct backlog){.stage = stage,
                                .jobs = names_new(MOST_WAITING, sizeof(struct waiting_job)),
                                .arena = arena_new()};
    return backlog;
}

void backlog_free(struct backlog *backlog)
{
    if (!backlog)
        return;
    names_free(backlog->jobs);
    free(backlog->users);
    arena_free(backlog->arena);
    free(backlog);
}

void backlog_begin(struct backlog *backlog)
{
    if (!backlog)
        return;
    backlog->batch++;
    backlog->looked = false;
}

static int *count_of(struct backlog *backlog, uid_t uid)
{
    size_t at = 0;
    while (at < backlog->user_count && backlog->users[at].uid != uid)
        at++;
    if (at == backlog->user_count) {
        backlog->users = memory_grow(backlog->users, backlog->user_count, &backlog->user_capacity,
                                     sizeof(*backlog->users));
        backlog->users[backlog->user_count++] = (struct tally){.uid = uid};
    }
    return &backlog->users[at].count;
}

/* Whose job it is; nobody's when that cannot be read. */
static uid_t find_owner(struct backlog *backlog, const struct job_place *place)
{
    struct job_record record;
    uid_t uid = (uid_t)-1;
    int job = job_open(&backlog->stage->spool, place);
    if (job >= 0 && record_read(job, backlog->arena, &record, NULL) == 0)
        uid = record.uid;
    if (job >= 0)
        sys.close(job);
    arena_reset(backlog->arena);
    return uid;
}

static void add_job(struct backlog *backlog, struct text name, const struct waiting_job *facts)
{
    struct waiting_job *job = names_find(backlog->jobs, name);
    if (job)
        --*count_of(backlog, job->uid);
    else if (!(job = names_add(backlog->jobs, name)))
        return;
    *job = *facts;
    ++*count_of(backlog, job->uid);
}

static int see_job(void *context, const struct job_place *place)
{
    struct backlog *backlog = context;
    struct waiting_job *job = names_find(backlog->jobs, text_of(place->id));
    struct waiting_job found = {.seen = true};
    if (job && !job->expires) {
        job->seen = true;
        return 0;
    }
    found.uid = job ? job->uid : find_owner(backlog, place);
    add_job(backlog, text_of(place->id), &found);
    return 0;
}

/* Learn which of the jobs wait still, and which others do. */
static void look(struct backlog *backlog)
{
    const struct spool *spool = &backlog->stage->spool;
    struct waiting_job *next;
    int64_t now = clock_elapsed();
    backlog->looked = backlog->known = true;
    for (struct waiting_job *job = names_first(backlog->jobs); job; job = names_after(job))
        job->seen = false;
    if (jobs_walk(spool, STATE_RENDERED, see_job, backlog) ||
        jobs_walk(spool, STATE_HELD, see_job, backlog)) {
        log_warn("the jobs that wait cannot be counted: %s", strerror(errno));
        return;
    }
    for (struct waiting_job *job = names_first(backlog->jobs); job; job = next) {
        next = names_after(job);
        bool keep = job->expires ? now < job->expires : job->batch == backlog->batch;
        if (job->seen || keep)
            continue;
        --*count_of(backlog, job->uid);
        names_remove(backlog->jobs, job);
    }
}

bool backlog_is_full(struct backlog *backlog, uid_t uid, struct error *error)
{
    struct user user;
    if (!backlog ||
        settings_is_administrator(&backlog->stage->settings, &backlog->stage->spool, uid))
        return false;
    int most = backlog->stage->settings.limits.waiting;
    if (!backlog->known || (*count_of(backlog, uid) >= most && !backlog->looked))
        look(backlog);
    int count = *count_of(backlog, uid);
    if (count < most)
        return false;
    users_find(uid, &user);
    error_set(
        error,
        "%d jobs of %s wait already, and no more may (limits.waiting of dlspool.yaml, which an "
        "administrator can change)",
        count, user.name);
    return true;
}

void backlog_add(struct backlog *backlog, const char *id, uid_t uid)
{
    const struct waiting_job job = {.uid = uid, .batch = backlog ? backlog->batch : 0};
    if (backlog)
        add_job(backlog, text_of(id), &job);
}

void backlog_add_retry(struct backlog *backlog, struct text word, uid_t uid)
{
    const struct waiting_job job = {.uid = uid, .expires = clock_elapsed() + retry_counts};
    if (backlog)
        add_job(backlog, word, &job);
}
