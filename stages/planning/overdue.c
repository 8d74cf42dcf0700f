/* stages/planning/overdue.c - whose turn is overdue */
#include "stages/planning/overdue.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/names.h"
#include "spool/id.h"

enum { MOST_USERS = 65535, UID_SIZE = 24 };

struct waiting_user {
    int64_t since;            /* when they had a turn last, or began to wait */
    struct cached_job *first; /* of their jobs that wait; NULL: none does */
};

struct overdue {
    struct names *users; /* by user number */
};

struct overdue *overdue_new(void)
{
    struct overdue *turns = memory_allocate(sizeof(*turns));
    turns->users = names_new(MOST_USERS, sizeof(struct waiting_user));
    return turns;
}

void overdue_free(struct overdue *turns)
{
    if (!turns)
        return;
    names_free(turns->users);
    free(turns);
}

static struct text name_of(uid_t uid, char name[static UID_SIZE])
{
    snprintf(name, UID_SIZE, "%ju", (uintmax_t)uid);
    return text_of(name);
}

/* Does the job come before the other one of its owner?  Those with a deadline come last, as the deadline says
 * when they start, unless their run time is unknown. */
static bool goes_before(const struct cached_job *job, const struct cached_job *other,
                        int64_t time_of_day)
{
    bool timed = job->record.deadline > time_of_day,
         other_timed = other->record.deadline > time_of_day;
    if (timed != other_timed)
        return other_timed;
    if (job->record.priority != other->record.priority)
        return job->record.priority > other->record.priority;
    return text_compare(id_token(text_of(job_cache_id(job))),
                        id_token(text_of(job_cache_id(other)))) < 0;
}

static void note_waiting(struct overdue *turns, struct cached_job *job, int64_t now,
                         int64_t time_of_day)
{
    char name[UID_SIZE];
    struct text uid = name_of(job->record.uid, name);
    struct waiting_user *user = names_find(turns->users, uid);
    if (!user && (user = names_add(turns->users, uid)))
        user->since = now;
    if (user && (!user->first || goes_before(job, user->first, time_of_day)))
        user->first = job;
}

/* Who is owed most of those who wait; NULL where that does not matter, or nobody waits. */
static const struct waiting_user *most_owed(const struct overdue *turns,
                                            const struct decayed_use *shares)
{
    const struct waiting_user *most = NULL;
    for (struct waiting_user *user = shares ? names_first(turns->users) : NULL; user;
         user = names_after(user))
        if (user->first && (!most || decayed_use_compare(shares, user->first->record.uid,
                                                         most->first->record.uid) < 0))
            most = user;
    return most;
}

int overdue_look(struct overdue *turns, struct job_cache *job_cache,
                 const struct job_limits *limits, const struct decayed_use *shares, int64_t now,
                 int64_t time_of_day)
{
    struct waiting_user *user, *next;
    int standing = 0;
    for (user = names_first(turns->users); user; user = names_after(user))
        user->first = NULL;
    for (struct cached_job *job = job_cache_first(job_cache); job; job = job_cache_after(job)) {
        job->standing = 2 * job->record.priority;
        job->overdue = 0;
        if (job->state == STATE_RENDERED && job_cache_takes_part(job))
            note_waiting(turns, job, now, time_of_day);
    }
    const struct waiting_user *most = most_owed(turns, shares);
    for (user = names_first(turns->users); user; user = next) {
        next = names_after(user);
        if (!user->first) {
            names_remove(turns->users, user);
        } else if (limits->turn && now - user->since >= limits->turn &&
                   user->first->record.priority <= limits->users.most &&
                   (!most || decayed_use_compare(shares, user->first->record.uid,
                                                 most->first->record.uid) <= 0)) {
            user->first->standing = standing = 2 * limits->users.most + 1;
            user->first->overdue = now - user->since;
        }
    }
    return standing;
}

void overdue_take(struct overdue *turns, uid_t uid, int64_t now)
{
    char name[UID_SIZE];
    struct waiting_user *user = names_find(turns->users, name_of(uid, name));
    if (user)
        user->since = now;
}
