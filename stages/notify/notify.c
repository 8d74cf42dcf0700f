/* stages/notify/notify.c - the stage that tells owners of their jobs
 *
 * Jobs whose owners want messages have a file in messages/ (spool/subscription.h); nothing else of a job, and no other
 * stage, knows of this one.  It looks at the logs of those jobs, finds what is to be told
 * (stages/notify/occasions.h), hands messages to the courier (stages/notify/courier.h), and notes durably what was
 * sent.  So however long a mail server is away, jobs go on, and nothing waits in memory: what was not told is found
 * again.
 *
 * A message is told at least once; a second time only if the stage ended after it was sent and before that was
 * durable, and then with the same Message-ID.  Of one job messages go in order, one at a time.  One that cannot be sent
 * is tried again, after a pause that doubles; so are all others, after a shorter one, as the server may be away.  After
 * `notify.give_up` it is dropped, and the log says so.
 *
 * How often it looks follows from what looking costs: at most a tenth of the time.
 *
 * Weaknesses: nobody is told of a deadline status that lasted less than a minute; and a job whose directory was
 * removed within moments of its end may be missed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/log.h"
#include "base/names.h"
#include "spool/eventlog.h"
#include "spool/job_state.h"
#include "spool/jobs.h"
#include "spool/plan_file.h"
#include "stages/notify/courier.h"
#include "stages/notify/inside.h"
#include "stages/notify/letter.h"
#include "stages/sandbox.h"
#include "stages/stage.h"

enum {
    WATCHED_MOST = 1000000, /* jobs; of more, the rest waits */
    WHY_LIMIT = 64 << 10,   /* bytes */
    WALK_SHARE = 10,        /* looking takes one in so much of the time */
};

static const int64_t slowest_look = 60000;     /* milliseconds between two looks */
static const int64_t longest_pause = 600000;   /* until a message is tried again */
static const int64_t orphan_patience = 600000; /* until a file whose job is nowhere is removed */
static const int64_t stop_patience = 2000;     /* for what is being sent when the stage stops */

/* A job of messages/. */
struct watched {
    struct job_place place;
    bool found;            /* `place` is where it was seen last */
    off_t size;            /* of its log, when it was read last ... */
    struct timespec time;  /* ... and its time */
    int64_t next;          /* time of day when something is due; 0: nothing is */
    int64_t retry;         /* of clock_elapsed(): not sent again before; 0: no failure */
    int64_t pause;         /* after the last failure; 0: none */
    int64_t at_risk_since; /* time of day, by the plan; 0: it is not */
    bool pending;          /* something is to be told */
    bool sending;
    uint64_t seen; /* the round in which its name was there */
    size_t owner;  /* which of `owners`; 0: not known yet */
};

/* Somebody who is told of jobs. */
struct owner {
    uid_t uid;
    uint64_t turn; /* when something of theirs was handed over last, by the count of turns */
    bool waits;    /* something of theirs can be handed over now */
};

struct notify_stage {
    struct stage stage; /* first */
    struct courier courier;
    struct arena *arena;
    struct names *jobs;   /* struct watched */
    struct owner *owners; /* the first is who is not known */
    size_t owner_count, owner_capacity;
    uint64_t turns;
    int directory;       /* messages/ */
    uint64_t round;      /* counts looks */
    int64_t look;        /* of clock_elapsed(): when the next one is due */
    int64_t pause_until; /* nothing is sent before; 0: the last one went well */
    int64_t pause;
    time_t plan_time; /* of the file `plan`, when it was read */
    bool wants_plan;  /* a job has to do with it */
    bool full;        /* it was said that there are too many */
    char last_problem[COURIER_SAID_SIZE];
    struct {
        char id[ID_SIZE];
        struct message_key key;
    } slots[COURIER_SLOTS];
};

static struct notify_stage *stage_of(struct stage *stage)
{
    return (struct notify_stage *)(void *)stage;
}

/* ---- what was sent, and what was not ---- */

static int64_t longer(int64_t pause, int64_t first, int64_t most)
{
    int64_t next = pause ? pause * 2 : first;
    return next < most ? next : most;
}

static void note_failure(struct notify_stage *notify, struct watched *job, const char *id,
                         const char *said)
{
    int64_t now = clock_elapsed(), first = notify->stage.settings.messages.retry;
    job->pause = longer(job->pause, first, longest_pause);
    job->retry = now + job->pause;
    /* The others wait, too, but less long each time: it may be this message only. */
    notify->pause = longer(notify->pause, first, longest_pause / 10);
    notify->pause_until = now + notify->pause;
    if (strcmp(notify->last_problem, said) != 0)
        log_warn("a message about %s could not be sent: %s; it is tried again", id, said);
    snprintf(notify->last_problem, sizeof(notify->last_problem), "%s", said);
}

static void note_success(struct notify_stage *notify, struct watched *job)
{
    if (notify->last_problem[0])
        log_say("messages are sent again");
    notify->last_problem[0] = '\0';
    notify->pause = notify->pause_until = 0;
    if (job)
        job->pause = job->retry = 0;
}

static void take_result(struct notify_stage *notify, const struct courier_result *result)
{
    const char *id = notify->slots[result->slot].id;
    const struct message_key *key = &notify->slots[result->slot].key;
    struct watched *job = names_find(notify->jobs, text_of(id));
    struct error error;
    if (job)
        job->sending = false;
    if (!result->sent) {
        if (job)
            note_failure(notify, job, id, result->said);
        return;
    }
    if (subscription_note(notify->directory, id, key, NULL, clock_now(), &error)) {
        /* Sent, and not noted: it is sent once more when it can be. */
        log_warn("that a message about %s was sent could not be noted: %s", id, error.text);
        if (job)
            note_failure(notify, job, id, error.text);
        return;
    }
    log_detail("%s: its owner was told: %s", id, message_event_name(key->event));
    note_success(notify, job);
}

/* Which deadlines are at risk, by the plan that the courier has read. */
static void take_plan(struct notify_stage *notify)
{
    struct plan_file plan;
    plan_file_parse(courier_plan(&notify->courier), notify->arena, &plan);
    for (struct watched *job = names_first(notify->jobs); job; job = names_after(job)) {
        const struct planned_job *planned = plan_file_find(&plan, names_text(job).data);
        bool at_risk = planned && (text_is(planned->deadline_status, "at risk") ||
                                   text_is(planned->deadline_status, "cannot meet"));
        if (at_risk == (job->at_risk_since != 0))
            continue;
        job->at_risk_since = at_risk ? plan.time : 0;
        job->pending = true;
    }
    arena_reset(notify->arena);
}

/* 0, or -1 when the courier has ended. */
static int take_results(struct notify_stage *notify)
{
    struct courier_result result;
    struct error error;
    int taken;
    while ((taken = courier_receive(&notify->courier, &result, &error)) > 0)
        if (result.slot != COURIER_PLAN)
            take_result(notify, &result);
        else if (result.sent)
            take_plan(notify);
    if (taken < 0) {
        log_warn("%s", error.text);
        notify->stage.failed = true;
    }
    return taken;
}

/* ---- a job ---- */

/* Find where the job is, and whether its log has changed.  1: it is nowhere; -1: not known now. */
static int find_job(struct notify_stage *notify, struct watched *job, const char *id, bool *changed)
{
    const struct spool *spool = &notify->stage.spool;
    struct stat status;
    char log[PLACE_TEXT_SIZE + 8];
    for (int tries = 0; tries < 2; tries++) {
        if (job->found) {
            char place[PLACE_TEXT_SIZE];
            snprintf(log, sizeof(log), "%s/log", job_place_text(&job->place, place));
            if (!sys.fstatat(spool->root, log, &status, AT_SYMLINK_NOFOLLOW)) {
                *changed = status.st_size != job->size ||
                           status.st_mtim.tv_sec != job->time.tv_sec ||
                           status.st_mtim.tv_nsec != job->time.tv_nsec;
                job->size = status.st_size;
                job->time = status.st_mtim;
                return 0;
            }
            if (errno != ENOENT)
                return -1;
        }
        job->found = false;
        job->size = -1;
        if (jobs_find_whole(spool, text_of(id), &job->place)) {
            job->found = true;
            continue;
        }
        int done = jobs_find_done(spool, text_of(id), &job->place);
        if (done <= 0)
            return done < 0 ? -1 : 1;
        job->found = true;
    }
    return -1; /* it moves while we look */
}

/* What is read of a job when something may have to be told. */
struct reading {
    struct buffer log, why;
    struct job_record record;
    struct subscription subscription;
    struct occasions occasions;
    int job;
};

static void end_reading(struct reading *reading)
{
    buffer_free(&reading->log);
    buffer_free(&reading->why);
    if (reading->job >= 0)
        sys.close(reading->job);
}

/* -1: nothing can be told now, or for ever, of a job that is damaged. */
static int read_job(struct notify_stage *notify, const struct watched *job, const char *id,
                    struct reading *reading)
{
    struct error error;
    *reading = (struct reading){.job = job_open(&notify->stage.spool, &job->place)};
    if (reading->job < 0 || eventlog_read(reading->job, &reading->log, &error) ||
        record_read(reading->job, notify->arena, &reading->record, &error) ||
        subscription_read(notify->directory, id, notify->arena, &reading->subscription, &error))
        return -1;
    const struct occasions_input input = {
        .events = reading->subscription.events,
        .log = buffer_text(&reading->log),
        .record = &reading->record,
        .state = job->place.state,
        .now = clock_now(),
        .at_risk_since = job->at_risk_since,
    };
    occasions_find(notify->arena, &input, &reading->occasions);
    return 0;
}

/* The first that was not told; what is too old is dropped.  NULL: there is none. */
static const struct occasion *first_due(struct notify_stage *notify, const char *id,
                                        const struct reading *reading)
{
    int64_t oldest = clock_now() - notify->stage.settings.messages.give_up;
    for (size_t i = 0; i < reading->occasions.count; i++) {
        const struct occasion *occasion = &reading->occasions.items[i];
        struct error error;
        if (subscription_was_told(&reading->subscription, &occasion->key))
            continue;
        if (occasion->time >= oldest)
            return occasion;
        log_warn("%s: its owner is not told of \"%s\" any more: that could not be sent in time", id,
                 message_event_name(occasion->key.event));
        if (subscription_note(notify->directory, id, &occasion->key, "not sent in time",
                              clock_now(), &error))
            log_warn("%s", error.text);
    }
    return NULL;
}

/* Whom messages are from. */
static struct text sender(struct notify_stage *notify)
{
    const struct message_settings *settings = &notify->stage.settings.messages;
    if (settings->from.length)
        return settings->from;
    return settings->domain.length
               ? arena_printf(notify->arena, "dlspool@%s", settings->domain.data)
               : TEXT("dlspool");
}

/* Write the message and give it to the courier, if that has a slot. */
static void hand_over(struct notify_stage *notify, struct watched *job, const char *id,
                      struct reading *reading, const struct occasion *occasion)
{
    const struct message_settings *settings = &notify->stage.settings.messages;
    struct job_situation situation;
    struct letter letter;
    struct error error;
    int slot = courier_free_slot(&notify->courier);
    if (slot < 0 || stage_is_fenced(&notify->stage))
        return;
    job_state_read_situation(reading->job, &job->place, &situation);
    if (occasion->current && file_read_at(reading->job, "why", WHY_LIMIT, &reading->why, &error))
        buffer_clear(&reading->why);
    const struct letter_facts facts = {
        .spool = notify->stage.spool.path,
        .domain = settings->domain,
        .from = sender(notify),
        .to = reading->subscription.mail,
        .place = &job->place,
        .record = &reading->record,
        .situation = &situation,
        .occasion = occasion,
        .why = buffer_text(&reading->why),
    };
    letter_write(notify->arena, &facts, &letter);
    const struct message message = {
        .environment = letter.environment,
        .body = settings->webhook.length ? letter.json : letter.mail,
        .id = letter.id,
    };
    if (courier_send(&notify->courier, slot, &message, &error)) {
        note_failure(notify, job, id, error.text);
        return;
    }
    snprintf(notify->slots[slot].id, sizeof(notify->slots[slot].id), "%s", id);
    notify->slots[slot].key = occasion->key;
    job->sending = true;
}

/* Tell the next thing of a job, if there is one; a job of which all is told is forgotten once it is done. */
static void tell(struct notify_stage *notify, struct watched *job, const char *id)
{
    struct reading reading;
    struct error error;
    if (!read_job(notify, job, id, &reading)) {
        const struct occasion *occasion = first_due(notify, id, &reading);
        job->pending = occasion != NULL;
        job->next = reading.occasions.next;
        if (reading.record.deadline && reading.subscription.events & 1u << MESSAGE_DEADLINE_AT_RISK)
            notify->wants_plan = true;
        if (occasion)
            hand_over(notify, job, id, &reading, occasion);
        else if (reading.occasions.finished && subscription_end(notify->directory, id, &error))
            log_warn("%s", error.text);
    } else {
        job->size = -1; /* look again */
    }
    end_reading(&reading);
    arena_reset(notify->arena);
}

/* Its file is there and it is not: it has not been published yet, or never will be, or was removed. */
static void look_at_orphan(struct notify_stage *notify, const char *id)
{
    struct stat status;
    struct error error;
    if (sys.fstatat(notify->directory, id, &status, AT_SYMLINK_NOFOLLOW) ||
        clock_now() - (int64_t)status.st_mtim.tv_sec * 1000 < orphan_patience)
        return;
    if (subscription_end(notify->directory, id, &error))
        log_warn("%s", error.text);
}

/* ---- all jobs ---- */

static int note_name(void *context, const char *name, unsigned char type)
{
    struct notify_stage *notify = context;
    (void)type;
    if (!id_valid(text_of(name)))
        return 0;
    struct watched *job = names_find(notify->jobs, text_of(name));
    if (!job)
        job = names_add(notify->jobs, text_of(name));
    if (job) {
        job->seen = notify->round;
        return 0;
    }
    if (!notify->full)
        log_warn("more than %d jobs ask for messages; the others wait", (int)WATCHED_MOST);
    notify->full = true;
    return 1;
}

static size_t find_owner(struct notify_stage *notify, uid_t uid)
{
    for (size_t i = 1; i < notify->owner_count; i++)
        if (notify->owners[i].uid == uid)
            return i;
    notify->owners = memory_grow(notify->owners, notify->owner_count, &notify->owner_capacity,
                                 sizeof(*notify->owners));
    notify->owners[notify->owner_count] = (struct owner){.uid = uid};
    return notify->owner_count++;
}

static void learn_owner(struct notify_stage *notify, struct watched *job)
{
    struct job_record record;
    int directory = job->owner ? -1 : job_open(&notify->stage.spool, &job->place);
    if (directory < 0)
        return;
    if (!record_read(directory, notify->arena, &record, NULL))
        job->owner = find_owner(notify, record.uid);
    sys.close(directory);
    arena_reset(notify->arena);
}

static void look_at(struct notify_stage *notify, struct watched *job)
{
    const char *id = names_text(job).data;
    bool changed = false;
    int found = job->sending ? 1 : find_job(notify, job, id, &changed);
    if (found == 0 && (changed || (job->next && clock_now() >= job->next)))
        job->pending = true;
    else if (found > 0 && !job->sending)
        look_at_orphan(notify, id);
    if (job->pending)
        learn_owner(notify, job);
}

/* See which jobs there are, and which have changed. */
static void look(struct notify_stage *notify)
{
    int64_t start = clock_elapsed(), least = 2 * notify->stage.settings.poll_interval;
    notify->round++;
    int walked = directory_walk(notify->directory, note_name, notify);
    if (walked < 0)
        log_warn("messages/ could not be read (%s); it is tried again", strerror(errno));
    if (notify->wants_plan)
        courier_ask_plan(&notify->courier);
    for (struct watched *job = names_first(notify->jobs), *next; job; job = next) {
        next = names_after(job);
        if (job->seen == notify->round || job->sending || walked)
            look_at(notify, job);
        else
            names_remove(notify->jobs, job);
    }
    int64_t now = clock_elapsed(), wait = WALK_SHARE * (now - start);
    wait = wait > slowest_look ? slowest_look : wait > least ? wait : least;
    notify->look = now + wait;
}

static bool can_send(const struct notify_stage *notify, int64_t now)
{
    return courier_free_slot(&notify->courier) >= 0 && notify->pause_until <= now &&
           !notify->stage.failed;
}

/* Hand over the first message of an owner that can be; -1: of anybody, all that can be. */
static void tell_owner(struct notify_stage *notify, ssize_t owner, int64_t now)
{
    for (struct watched *job = names_first(notify->jobs), *next; job && can_send(notify, now);
         job = next) {
        next = names_after(job);
        if (!job->pending || job->sending || job->retry > now ||
            (owner >= 0 && job->owner != (size_t)owner))
            continue;
        tell(notify, job, names_text(job).data);
        if (!job->sending)
            continue;
        notify->owners[job->owner].turn = ++notify->turns;
        if (owner >= 0)
            return;
    }
}

/* Who waits, and was served longest ago; -1: nobody. */
static ssize_t choose_owner(const struct notify_stage *notify)
{
    ssize_t chosen = -1;
    for (size_t i = 0; i < notify->owner_count; i++)
        if (notify->owners[i].waits &&
            (chosen < 0 || notify->owners[i].turn < notify->owners[chosen].turn))
            chosen = (ssize_t)i;
    return chosen;
}

/* Hand over what is due, as long as there are free slots: owners take turns, as what one is told may be slow, or never
 * go.  Returns when the next one is. */
static int64_t tell_all(struct notify_stage *notify)
{
    int64_t now = clock_elapsed(), due = notify->look;
    if (notify->pause_until > now)
        return notify->pause_until < due ? notify->pause_until : due;
    if (!can_send(notify, now))
        return due;
    for (struct watched *job = names_first(notify->jobs); job; job = names_after(job)) {
        if (!job->pending || job->sending)
            continue;
        if (job->retry > now)
            due = job->retry < due ? job->retry : due;
        else
            notify->owners[job->owner].waits = true;
    }
    for (ssize_t owner; (owner = choose_owner(notify)) >= 0;) {
        notify->owners[owner].waits = false;
        tell_owner(notify, owner, now);
    }
    tell_owner(notify, -1, now);
    return due;
}

/* ---- the stage ---- */

static int64_t notify_round(struct stage *stage)
{
    struct notify_stage *notify = stage_of(stage);
    if (take_results(notify) || stage_is_fenced(stage))
        return clock_elapsed();
    if (clock_elapsed() >= notify->look)
        look(notify);
    return tell_all(notify);
}

static int notify_descriptor(const struct stage *stage)
{
    return ((const struct notify_stage *)(const void *)stage)->courier.socket;
}

bool stages_notify_is_sending(const struct stage *stage)
{
    const struct notify_stage *notify = (const struct notify_stage *)(const void *)stage;
    for (int slot = 0; slot < COURIER_SLOTS; slot++)
        if (notify->courier.busy[slot])
            return true;
    return false;
}

/* What is being sent has a moment to end, so that it is not sent again.  When all stages are told to stop this one is
 * the last, and what they have left to be told has that moment, too. */
static void finish(struct notify_stage *notify)
{
    struct stage *stage = &notify->stage;
    int64_t until = clock_elapsed() + stop_patience;
    notify->look = 0;
    while (!stage->failed && clock_elapsed() < until) {
        if (stage->stopping)
            notify_round(stage);
        else
            (void)take_results(notify);
        if (stage->failed || !stages_notify_is_sending(stage))
            break;
        struct pollfd ready = {.fd = notify->courier.socket, .events = POLLIN};
        poll(&ready, 1, (int)(until - clock_elapsed()));
    }
}

static void notify_close(struct stage *stage)
{
    struct notify_stage *notify = stage_of(stage);
    if (notify->courier.socket >= 0)
        finish(notify);
    courier_stop(&notify->courier);
    if (notify->directory >= 0)
        sys.close(notify->directory);
    names_free(notify->jobs);
    free(notify->owners);
    arena_free(notify->arena);
    stage_close(&notify->stage);
    free(notify);
}

static struct stage *notify_open(const char *directory, struct error *error)
{
    struct notify_stage *notify = memory_allocate(sizeof(*notify));
    if (stage_open(&notify->stage, "notify", directory, error)) {
        free(notify);
        return NULL;
    }
    notify->courier.socket = -1;
    notify->arena = arena_new();
    notify->jobs = names_new(WATCHED_MOST, sizeof(struct watched));
    (void)find_owner(notify, (uid_t)-1);
    notify->directory = subscription_open_directory(&notify->stage.spool);
    int result = notify->directory < 0 ? error_errno(error, "messages/ could not be opened") : 0;
    if (!result)
        result =
            courier_start(&notify->courier, notify->stage.spool.path,
                          &notify->stage.settings.messages, notify->stage.settings.user, error);
    if (!result)
        return &notify->stage;
    notify_close(&notify->stage);
    return NULL;
}

static int notify_confine(struct stage *stage, struct error *error)
{
    return sandbox_enter(&stage->spool, stage->settings.user, SANDBOX_NOTIFY, error);
}

const struct stage_operations notify_stage = {
    .name = "notify",
    .open = notify_open,
    .confine = notify_confine,
    .round = notify_round,
    .descriptor = notify_descriptor,
    .close = notify_close,
};
