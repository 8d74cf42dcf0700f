/* stages/shared/decayed_use.c - who has used how much of late, and so who is next */
#include "stages/shared/decayed_use.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/decay.h"
#include "base/file.h"
#include "base/log.h"
#include "base/names.h"
#include "spool/eventlog.h"
#include "spool/history.h"
#include "spool/jobs.h"
#include "spool/use_sums.h"
#include "stages/guard.h"

enum { MOST_JOBS = 1 << 20 };
enum { LIVES = 16 }; /* half-lives: what is older counts for nothing */
static const int64_t advance =
    600 * 1000; /* milliseconds that a job counts for at least, where others take longer */
static const int64_t set_back = 60 * 1000; /* ... by which a clock is off, not slow */
static const double nothing = 1;           /* millisecond of a GPU: as good as none */

struct charged { /* a job at the executor */
    uid_t uid;
    double rate; /* GPUs */
    int attempt;
    int64_t started;  /* time of day; 0: it waits there */
    bool ended;       /* the accounts have this attempt */
    int64_t log_size; /* when it was read; -1: never */
    bool held, seen;  /* counts although no look finds it; was found by this look */
};

struct decayed_use {
    const struct spool *spool;
    const struct fair_share *share;
    struct sharers *sharers;
    struct names *jobs; /* by id */
    struct usage_tail *tail;
    int64_t reference;
    struct use_lengths lengths; /* as of the reference */
    bool changed;               /* since the sums were kept */
    struct arena *arena;        /* of a job, or of the sums */
};

struct decayed_use *decayed_use_new(const struct spool *spool, const struct fair_share *share)
{
    struct decayed_use *use = memory_allocate(sizeof(*use));
    *use = (struct decayed_use){.spool = spool,
                                .share = share,
                                .sharers = sharers_new(share),
                                .jobs = names_new(MOST_JOBS, sizeof(struct charged)),
                                .arena = arena_new()};
    return use;
}

void decayed_use_free(struct decayed_use *use)
{
    if (!use)
        return;
    usage_tail_free(use->tail);
    sharers_free(use->sharers);
    names_free(use->jobs);
    arena_free(use->arena);
    free(use);
}

void decayed_use_note(struct decayed_use *use, uid_t uid, gid_t gid)
{
    sharers_know(use->sharers, uid, gid);
}

int decayed_use_compare(const struct decayed_use *use, uid_t a, uid_t b)
{
    return sharers_compare(use->sharers, a, b);
}

void decayed_use_walk(const struct decayed_use *use, decayed_use_visit *visit, void *context)
{
    for (struct sharer *user = sharers_first(use->sharers); user; user = sharers_after(user)) {
        const struct decayed_user told = {user->uid, user->group->gid, user->used, user->weight,
                                          user->group->weight};
        visit(context, &told);
    }
}

/* ---- the past ---- */

static int64_t first_time(const struct decayed_use *use)
{
    return use->reference - LIVES * use->share->half_life;
}

/* What the attempt held: milliseconds of a GPU.  Of what nobody has measured, as an array, it is one task. */
static double amount_of(const struct decayed_use *use, const struct usage *usage)
{
    double time = usage->started && usage->ended > usage->started
                      ? (double)(usage->ended - usage->started)
                      : 0;
    double cpus = usage->cpu_held >= 0 ? (double)usage->cpu_held * 1000
                  : usage->cpus > 0    ? (double)usage->cpus * time
                                       : 0;
    double gpus = usage->gpu_held >= 0 ? (double)usage->gpu_held
                  : usage->gpus > 0    ? (double)usage->gpus * time
                                       : 0;
    return fair_share_amount(use->share, cpus, gpus) /
           fair_share_of_queue(use->share, usage->queue);
}

static int take_usage(void *context, const struct usage *usage)
{
    struct decayed_use *use = context;
    struct charged *job = names_find(use->jobs, usage->id);
    if (job && job->attempt == usage->attempt)
        job->ended = true;
    if (usage->uid < 0)
        return 0;
    struct sharer *user = sharers_know(use->sharers, (uid_t)usage->uid, (gid_t)usage->gid);
    double used = amount_of(use, usage) *
                  decay_mean(usage->started, usage->ended, use->reference, use->share->half_life);
    if (user)
        user->past += used;
    if (usage->ended > usage->started) {
        use->lengths.used += used;
        use->lengths.times += used * (double)(usage->ended - usage->started);
    }
    use->changed = true;
    return 0;
}

static void begin_anew(struct decayed_use *use, int64_t now)
{
    usage_tail_free(use->tail);
    use->reference = now;
    use->tail = usage_tail_new(use->spool, first_time(use));
    use->lengths = (struct use_lengths){0};
    for (struct sharer *user = sharers_first(use->sharers); user; user = sharers_after(user))
        user->past = 0;
}

/* Go on from the sums that were kept.  False when there are none, or they do not fit the accounts. */
static bool take_sums(struct decayed_use *use, int64_t now)
{
    struct use_sums sums;
    bool result =
        use_sums_read(use->spool, use->share, use->arena, &sums) && sums.time <= now + set_back;
    for (size_t i = 0; result && i < sums.place_count; i++)
        result = !usage_tail_seek(use->tail, &sums.places[i], NULL);
    const double left = result ? decay_factor(now - sums.time, use->share->half_life) : 0;
    for (size_t i = 0; result && i < sums.user_count; i++) {
        const struct use_sum *sum = &sums.users[i];
        struct sharer *user = sharers_know(use->sharers, sum->uid, sum->gid);
        if (user)
            user->past = sum->used * left;
    }
    if (result)
        use->lengths = (struct use_lengths){sums.lengths.used * left, sums.lengths.times * left};
    arena_reset(use->arena);
    return result;
}

/* The past counts as of now. */
static void move_reference(struct decayed_use *use, int64_t now)
{
    double left = decay_factor(now - use->reference, use->share->half_life);
    if (now <= use->reference)
        return;
    use->reference = now;
    use->lengths.used *= left;
    use->lengths.times *= left;
    for (struct sharer *user = sharers_first(use->sharers); user; user = sharers_after(user))
        user->past *= left;
}

static int look_at_past(struct decayed_use *use, int64_t now, struct error *error)
{
    struct error problem;
    bool first = !use->tail;
    if (first || now < use->reference - set_back) {
        begin_anew(use, now);
        if (first && !take_sums(use, now))
            begin_anew(use, now);
    } else {
        move_reference(use, now);
    }
    if (!usage_tail_read(use->tail, take_usage, use, &problem))
        return 0;
    log_detail("%s; what was used is counted anew", problem.text);
    begin_anew(use, now);
    return usage_tail_read(use->tail, take_usage, use, error);
}

int decayed_use_keep(struct decayed_use *use, struct error *error)
{
    struct use_sums sums = {.time = use->reference, .lengths = use->lengths};
    if (!use->changed || !use->tail)
        return 0;
    sums.users = memory_allocate((sharers_count(use->sharers) + 1) * sizeof(*sums.users));
    for (struct sharer *user = sharers_first(use->sharers); user; user = sharers_after(user))
        if (user->past >= nothing)
            sums.users[sums.user_count++] =
                (struct use_sum){user->uid, user->group->gid, user->past};
    sums.places = usage_tail_places(use->tail, &sums.place_count);
    int result = use_sums_write(use->spool, use->share, &sums, error);
    use->changed = result != 0;
    free(sums.users);
    return result;
}

/* ---- what is at the executor ---- */

/* How long attempts have taken of late, the most for those that used most: what a job counts for before it has run for
 * as long.  Of short jobs it is little, so that what was used decides, however few of them run at a time. */
static int64_t usual_length(const struct use_lengths *lengths)
{
    double length = lengths->used >= nothing ? lengths->times / lengths->used : (double)advance;
    return length < 1 ? 1 : length < (double)advance ? (int64_t)length : advance;
}

/* Milliseconds of a GPU that it counts for now. */
static double count_now(const struct decayed_use *use, const struct charged *job, int64_t now)
{
    int64_t time = job->started && now > job->started ? now - job->started : 0;
    if (job->ended)
        return 0;
    const int64_t usual = usual_length(&use->lengths);
    if (time <= usual)
        return job->rate * (double)usual;
    return job->rate * (double)time * decay_mean(job->started, now, now, use->share->half_life);
}

static double rate_of(const struct decayed_use *use, const struct job_record *record)
{
    int64_t cpus, gpus, size = record->size_now ? record->size_now : record->size;
    history_amounts(record, size, &cpus, &gpus);
    return fair_share_amount(use->share, (double)cpus, (double)gpus) /
           fair_share_of_queue(use->share, record->queue);
}

double decayed_use_amount(const struct decayed_use *use, const struct job_record *record)
{
    return rate_of(use, record) * (double)usual_length(&use->lengths);
}

void decayed_use_place(struct decayed_use *use, struct sharing_turn *turns, size_t count)
{
    sharers_place(use->sharers, turns, count);
}

static void take_record(struct decayed_use *use, struct charged *job,
                        const struct job_record *record)
{
    job->uid = record->uid;
    job->attempt = record->attempt;
    job->rate = rate_of(use, record);
    sharers_know(use->sharers, record->uid, record->gid);
}

void decayed_use_charge(struct decayed_use *use, const char *id, const struct job_record *record)
{
    struct charged *job = names_find(use->jobs, text_of(id));
    if (job || !(job = names_add(use->jobs, text_of(id))))
        return;
    take_record(use, job, record);
    job->held = true;
    job->log_size = -1;
    struct sharer *user = sharers_find(use->sharers, job->uid);
    if (user)
        sharers_use(user, count_now(use, job, 0));
}

void decayed_use_settle(struct decayed_use *use, const char *id)
{
    struct charged *job = names_find(use->jobs, text_of(id));
    if (job)
        job->held = false;
}

void decayed_use_drop(struct decayed_use *use, const char *id)
{
    struct charged *job = names_find(use->jobs, text_of(id));
    if (!job || !job->held)
        return;
    struct sharer *user = sharers_find(use->sharers, job->uid);
    if (user)
        sharers_use(user, -count_now(use, job, 0));
    names_remove(use->jobs, job);
}

/* Read its record and its log, which says when it has started.  Where that fails for a reason that passes, it is read
 * again with the next look. */
static void read_job(struct decayed_use *use, struct charged *job, int directory)
{
    struct job_record record;
    struct buffer log = {0};
    struct usage_times times;
    struct text node;
    if (!record_read(directory, use->arena, &record, NULL) &&
        !eventlog_read(directory, &log, NULL)) {
        job->ended = job->ended && job->attempt == record.attempt;
        take_record(use, job, &record);
        usage_recall(buffer_text(&log), record.attempt, use->arena, &times, &node);
        job->started = times.started;
    } else if (!file_is_damaged(errno)) {
        job->log_size = -1;
    }
    buffer_free(&log);
    arena_reset(use->arena);
}

/* A job is read again when its log has grown. */
static int see_job(void *context, const struct job_place *place)
{
    struct decayed_use *use = context;
    struct charged *job = names_find(use->jobs, text_of(place->id));
    struct guard_before before;
    struct stat status;
    char path[ID_SIZE + 8];
    snprintf(path, sizeof(path), "%s/log", place->id);
    if (sys.fstatat(use->spool->states[STATE_SUBMITTED], path, &status, AT_SYMLINK_NOFOLLOW))
        return 0; /* it has just left */
    if (!job) {
        job = names_add(use->jobs, text_of(place->id));
        if (!job)
            return 0;
        *job = (struct charged){.uid = (uid_t)-1, .log_size = -1};
    }
    job->seen = true;
    if (job->log_size == status.st_size)
        return 0;
    int directory = job_open(use->spool, place);
    if (directory < 0)
        return 0;
    job->log_size = status.st_size;
    if (guard_begin(guard_own(), place->id, &before)) {
        read_job(use, job, directory);
        guard_return(guard_own(), &before);
    }
    sys.close(directory);
    return 0;
}

static int look_at_jobs(struct decayed_use *use, struct error *error)
{
    struct charged *next;
    for (struct charged *job = names_first(use->jobs); job; job = names_after(job))
        job->seen = false;
    if (jobs_walk(use->spool, STATE_SUBMITTED, see_job, use))
        return error_errno(error, "submitted/ could not be read");
    for (struct charged *job = names_first(use->jobs); job; job = next) {
        next = names_after(job);
        if (!job->seen && !job->held)
            names_remove(use->jobs, job);
    }
    return 0;
}

/* ---- both ---- */

static void add_up(struct decayed_use *use, int64_t now)
{
    sharers_clear(use->sharers);
    for (struct sharer *user = sharers_first(use->sharers); user; user = sharers_after(user))
        sharers_use(user, user->past);
    for (struct charged *job = names_first(use->jobs); job; job = names_after(job)) {
        struct sharer *user = sharers_find(use->sharers, job->uid);
        if (user)
            sharers_use(user, count_now(use, job, now));
    }
}

int decayed_use_look(struct decayed_use *use, struct error *error)
{
    int64_t now = clock_now();
    /* What has ended is in the accounts before it leaves submitted/: looked at in this order, nothing is missed. */
    int result = look_at_jobs(use, error);
    if (!result)
        result = look_at_past(use, now, error);
    add_up(use, now);
    return result;
}
