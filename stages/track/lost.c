/* stages/track/lost.c - ends jobs at the executor that have ended, or whose directory somebody has removed */
#include "stages/track/lost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/log.h"
#include "spool/jobs.h"
#include "stages/shared/removed_file.h"

enum { LOOKS_LEAST = 3 };
static const int64_t longest_pause = 30000; /* milliseconds */
static const int64_t between_looks = 5000;  /* milliseconds */
static const int64_t orphans_retry = 10000; /* ... after the executor could not be asked for them */

struct lost_job {
    int64_t since, next; /* of clock_elapsed */
    int64_t pause;       /* milliseconds between two looks, once it was told to end */
    int looks;
    bool told, forced;  /* it was told to end, politely and with force */
    int64_t force_time; /* of clock_elapsed: when the grace is over */
};

enum sight { SIGHT_NONE, SIGHT_SEEN, SIGHT_ENDED, SIGHT_UNKNOWN };

/* Is the job anywhere in the spool, or in failed/ or done/, and so has ended?  Asks the file server, not the
 * cache of this host. */
static enum sight look_everywhere(const struct spool *spool, const char *id)
{
    struct job_place place = {.state = STATE_SUBMITTED};
    memcpy(place.id, id, strlen(id) + 1);
    for (int i = 0; i < STATE_COUNT; i++) {
        directory_refresh(spool->states[i]);
        if (i == STATE_DONE)
            continue;
        place.state = (enum state)i;
        int job = job_open(spool, &place);
        if (job >= 0)
            sys.close(job);
        if (job >= 0 || errno != ENOENT)
            return job < 0 ? SIGHT_UNKNOWN : i == STATE_FAILED ? SIGHT_ENDED : SIGHT_SEEN;
    }
    int done = jobs_find_done(spool, text_of(id), &place);
    return done < 0 ? SIGHT_UNKNOWN : done ? SIGHT_ENDED : SIGHT_NONE;
}

/* Is submitted/ still the directory that this stage has open?  If somebody has replaced it, no jobs were
 * removed from it. */
static bool is_whole(const struct spool *spool)
{
    struct stat held, named;
    return !sys.fstat(spool->states[STATE_SUBMITTED], &held) &&
           !sys.fstatat(spool->root, spool_state_name(STATE_SUBMITTED), &named,
                        AT_SYMLINK_NOFOLLOW) &&
           held.st_ino == named.st_ino && held.st_dev == named.st_dev && held.st_nlink > 0;
}

/* Have the executor end the tasks of a job that has ended, or whose directory is gone: politely first, with
 * force once the grace period is over. */
static void tell_to_end(struct tracker *tracker, struct tracked *tracked, const char *id,
                        enum sight sight)
{
    struct lost_job *lost = tracked->lost;
    int attempt = tracked->attempt;
    bool orphan = tracked->orphan;
    bool force = lost->told;
    if (lost->forced || (lost->told && clock_elapsed() < lost->force_time))
        return;
    if (!lost->told && sight == SIGHT_ENDED)
        log_warn(
            "%s: it has ended, and the executor still has tasks of attempt %d, which are ended", id,
            attempt);
    else if (!lost->told && orphan)
        log_warn(
            "%s: the executor has tasks of it, and its directory is nowhere in the spool, so they are "
            "ended; the way to end a job is: dlspool kill %s",
            id, id);
    else if (!lost->told)
        log_warn(
            "%s: its directory was removed from submitted/, so its tasks are ended at the executor; "
            "the way to end a job is: dlspool kill %s",
            id, id);
    struct job_call call = {.id = id, .attempt = attempt, .force = force}, *calls[] = {&call};
    tracker->executor->operations->cancel(tracker->executor, calls, 1);
    if (call.result) {
        log_warn("%s: could not be ended: %s", id, call.error.text);
        return;
    }
    lost->told = true;
    lost->forced = force;
    if (!force)
        lost->force_time = clock_elapsed() + track_grace(tracker, &call);
}

/* Does the executor have tasks that run, or will run?  Tasks that have ended are left to it. */
static bool is_under_way(struct tracker *tracker, const char *id, int attempt)
{
    struct error error;
    struct job_poll poll = {.id = id, .attempt = attempt, .ending = true}, *asked[] = {&poll};
    return !tracker->executor->operations->poll(tracker->executor, tracker->arena, asked, 1,
                                                &error) &&
           (poll.phase == PHASE_RUNNING || poll.phase == PHASE_WAITING);
}

/* Have the executor forget the job once its tasks have ended.  True when nothing of it is left. */
static bool clean_up(struct tracker *tracker, const struct tracked *tracked, const char *id,
                     enum sight sight)
{
    struct error error;
    int attempt = tracked->attempt;
    struct job_poll poll = {.id = id, .attempt = attempt, .ending = true}, *asked[] = {&poll};
    if (tracker->executor->operations->poll(tracker->executor, tracker->arena, asked, 1, &error) ||
        (poll.phase != PHASE_SUCCEEDED && poll.phase != PHASE_FAILED &&
         poll.phase != PHASE_VANISHED))
        return false;
    for (size_t i = 0; i < poll.task_count; i++)
        if (poll.phase != PHASE_VANISHED && !poll.tasks[i].ended)
            return false;
    if (executor_remove(tracker->executor, id, attempt, &error)) {
        log_warn("%s: the executor could not remove what it has of it: %s", id, error.text);
        return false;
    }
    if (sight == SIGHT_ENDED)
        return true;
    account_removed(tracker, tracked, &poll);
    log_say("%s: state=removed attempt=%d (its directory was removed; nothing of it is left at the "
            "executor)",
            id, attempt);
    struct removed_job removed = {.attempt = attempt, .time = clock_now()};
    memcpy(removed.id, id, strlen(id) + 1);
    if (removed_file_note(&tracker->stage.spool, &removed, &error))
        log_warn("%s: it could not be noted for `dlspool status` that the job was ended: %s", id,
                 error.text);
    return true;
}

/* Has it been missing for long enough? */
static bool is_sure(struct lost_job *lost, int64_t now)
{
    lost->looks++;
    return lost->looks >= LOOKS_LEAST && now - lost->since >= LOST_PATIENCE;
}

bool lost_handle_job(struct tracker *tracker, struct tracked *tracked)
{
    char id[ID_SIZE] = "";
    struct text name = track_id(tracked);
    int64_t now = clock_elapsed();
    memcpy(id, name.data, name.length);
    if (!tracked->lost) {
        tracked->lost = memory_allocate(sizeof(*tracked->lost));
        *tracked->lost = (struct lost_job){.since = now};
    }
    struct lost_job *lost = tracked->lost;
    if (now < lost->next)
        return false;
    lost->next = now + (lost->told ? lost->pause : between_looks);
    enum sight sight = look_everywhere(&tracker->stage.spool, id);
    if (sight == SIGHT_SEEN || (sight == SIGHT_ENDED && !tracked->orphan))
        return true; /* it is elsewhere, or here again, and will be followed like any other */
    if (sight == SIGHT_UNKNOWN || !is_whole(&tracker->stage.spool) ||
        stage_is_fenced(&tracker->stage)) {
        lost->since = now;
        lost->looks = 0;
        return false;
    }
    if (!lost->told && !is_sure(lost, now))
        return false;
    if (++tracker->lost_asked > LOST_AT_ONCE) {
        lost->next = now; /* the next round goes on here */
        return false;
    }
    lost->pause = !lost->pause                      ? 1000
                  : lost->pause < longest_pause / 2 ? 2 * lost->pause
                                                    : longest_pause;
    lost->next = now + lost->pause;
    if (sight == SIGHT_ENDED && !lost->told && !is_under_way(tracker, id, tracked->attempt))
        return true;
    tell_to_end(tracker, tracked, id, sight);
    return lost->told && clean_up(tracker, tracked, id, sight);
}

static void take_orphan(void *context, const char *id, int attempt)
{
    struct tracker *tracker = context;
    struct text name = text_of(id);
    if (!id_valid(name) || names_find(tracker->jobs, name))
        return;
    enum sight sight = look_everywhere(&tracker->stage.spool, id);
    if (sight == SIGHT_SEEN || sight == SIGHT_UNKNOWN)
        return;
    struct tracked_name *added = names_add(tracker->jobs, name);
    if (!added)
        return;
    struct tracked *tracked = track_begin(added);
    tracked->learned = true;
    tracked->attempt = attempt;
    tracked->uid = (uid_t)-1;
    tracked->gid = (gid_t)-1;
    tracked->orphan = true;
}

void lost_find_orphans(struct tracker *tracker)
{
    struct error error;
    int64_t now = clock_elapsed();
    tracker->lost_asked = 0;
    if (!tracker->executor->operations->list || now < tracker->orphans_next ||
        stage_is_fenced(&tracker->stage))
        return;
    int listed =
        tracker->executor->operations->list(tracker->executor, take_orphan, tracker, &error);
    if (listed)
        log_detail("jobs without a directory could not be looked for: %s", error.text);
    tracker->orphans_next = now + (listed ? orphans_retry : STRAYS_INTERVAL);
}
