/* stages/intake/accept.c - claimed files become jobs, a batch at a time */
#include "stages/intake/accept.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/tally.h"
#include "stages/intake/new_job.h"
#include "stages/intake/once.h"
#include "stages/intake/owner.h"
#include "stages/intake/publish.h"
#include "stages/intake/take_token.h"
#include "stages/intake/witness.h"
#include "stages/prepare/limits.h"
#include "stages/shared/control.h"
#include "stages/users.h"

enum { MOST_CLAIMS = 1024 }; /* in one batch */

struct acceptor *accept_new(struct stage *stage, struct repository *repository)
{
    struct acceptor *acceptor = memory_allocate(sizeof(*acceptor));
    acceptor->stage = stage;
    acceptor->repository = repository;
    acceptor->arena = arena_new();
    acceptor->guard = guard_own();
    acceptor->backlog = backlog_new(stage);
    acceptor->names = name_index_new(&stage->spool);
    acceptor->publisher = publish_open(stage, MOST_CLAIMS);
    acceptor->items = memory_allocate(MOST_CLAIMS * sizeof(*acceptor->items));
    acceptor->used = 1;
    return acceptor;
}

void accept_free(struct acceptor *acceptor)
{
    if (!acceptor)
        return;
    for (size_t i = 0; i < acceptor->used; i++)
        buffer_free(&acceptor->items[i].bytes);
    free(acceptor->items);
    arena_free(acceptor->arena);
    backlog_free(acceptor->backlog);
    name_index_free(acceptor->names);
    publish_close(acceptor->publisher);
    free(acceptor);
}

/* What priority is asked for, and may this user give it to any job?  1 and a sentence when not. */
static int read_priority(const struct acceptor *acceptor, struct control *control, uid_t uid,
                         struct error *reason)
{
    const struct limits limits = {&acceptor->stage->settings, &acceptor->stage->spool, false};
    struct user asker;
    if (control->verb != CONTROL_PRIORITY)
        return 0;
    users_find(uid, &asker);
    return limits_value(&limits, uid, asker.gid, control->value, &control->number, reason) ? 1 : 0;
}

/* A request to retry a job counts against the waiting jobs of whoever makes it. */
static int apply_control(struct acceptor *acceptor, struct acceptance *item,
                         struct control *control, int64_t now, struct error *reason)
{
    uid_t uid = item->drop.uid;
    bool sealed = witness_is_needed();
    bool retry = control->verb == CONTROL_RETRY;
    if ((retry && backlog_refuses_retry(acceptor->backlog, uid, reason)) ||
        read_priority(acceptor, control, uid, reason))
        return 1;
    int result = control_apply_witnessed(acceptor->stage, acceptor->names, control, uid, now,
                                         sealed ? witness_approve : NULL, item->claim, reason);
    if (retry && !result)
        backlog_add_retry(acceptor->backlog, control->id, uid);
    return result;
}

/* Carry out a control file.  0 when the claim is none. */
static int take_control(struct acceptor *acceptor, struct acceptance *item, int64_t now,
                        struct error *error)
{
    struct control control;
    struct error reason;
    int result = request_control_read(acceptor->arena, buffer_text(&item->bytes),
                                      item->claim->source, &control, &reason);
    if (!result && control.verb == CONTROL_NONE)
        return 0;
    if (!result) {
        result = take_token_is_meant(&control)
                     ? take_token_apply(acceptor, item, &control, now, &reason)
                     : apply_control(acceptor, item, &control, now, &reason);
        if (result < 0) {
            *error = reason;
            return -1;
        }
    }
    if (!result) {
        item->fate = ACCEPT_CONTROL;
        return 1;
    }
    return new_job_refuse_control(acceptor, item, &reason, now, error) ? -1 : 1;
}

/* The job of this claim exists, because of a crash between publishing it and removing the claim: remove the
 * claim only. */
static void finish_found(struct acceptor *acceptor, struct acceptance *item)
{
    struct job_record record;
    int job = job_open(&acceptor->stage->spool, &item->claim->place);
    item->readable =
        job < 0 || record_read(job, acceptor->arena, &record, NULL) || record.request_file.length;
    if (job >= 0)
        sys.close(job);
    memcpy(item->id, item->claim->place.id, sizeof(item->id));
    item->fate = ACCEPT_FOUND;
    item->state = item->claim->place.state;
}

/* Read a claim, and check that it is the word of its owner. */
static enum drop_result read_claim(const struct spool *spool, struct acceptance *item,
                                   struct error *reason)
{
    const struct claim *claim = item->claim;
    struct text shown = text_of(claim->source);
    enum drop_result read =
        drop_read(spool->claims, claim->file, shown, &item->bytes, &item->drop, reason);
    if (read != DROP_TAKEN)
        return read;
    if (witness_is_reader(item->drop.uid)) {
        error_set(
            reason,
            "the file belongs to the user that reads job files, who asks for nothing; drop it "
            "as somebody else");
        return DROP_REFUSED;
    }
    int foreign = owner_check(spool, &item->drop, shown, reason);
    return foreign < 0 ? DROP_ERROR : foreign ? DROP_REFUSED : DROP_TAKEN;
}

/* Make of a file that was read what it asks for: nothing when it was sent again, and is a job already. */
static int take_file(struct acceptor *acceptor, struct acceptance *item, int64_t now,
                     struct error *error)
{
    int result = once_look(&acceptor->stage->spool, item->claim, item->drop.uid, error);
    if (result > 0)
        item->fate = ACCEPT_CONTROL;
    if (result == 0)
        result = take_control(acceptor, item, now, error);
    if (result == 0)
        result = new_job_make(acceptor, item, now, error);
    return result;
}

/* Make a job, a control request or a failed job of one claim, or keep it to be tried again: item->fate says
 * which.  A claim over which intake has ended too often is quarantined without being read. */
static void accept_one(struct acceptor *acceptor, struct acceptance *item)
{
    struct spool *spool = &acceptor->stage->spool;
    struct claim *claim = item->claim;
    struct error reason, error;
    int64_t now = clock_now();
    int result = 0;
    item->fate = ACCEPT_KEEP;
    item->readable = false;
    if (claim->found) {
        finish_found(acceptor, item);
        return;
    }
    if (claim->tries >= GUARD_MOST_TRIES) {
        if (new_job_quarantine(acceptor, item, now, &error)) {
            log_warn("%s; it is retried", error.text);
            claim->look = clock_elapsed() + PUBLISH_LOOK_AGAIN;
        }
        return;
    }
    guard_enter(acceptor->guard, claim->file, claim->tries);
    enum drop_result read = read_claim(spool, item, &reason);
    if (item->refusal && (read == DROP_TAKEN || read == DROP_REFUSED)) {
        error_set(&reason, "%s", item->refusal);
        read = DROP_REFUSED;
    }
    switch (read) {
    case DROP_TAKEN:
        item->readable = true;
        result = take_file(acceptor, item, now, &error);
        break;
    case DROP_REFUSED:
        result = new_job_refuse_file(acceptor, item, &reason, now, &error);
        break;
    case DROP_CHANGING:
        /* Somebody has had it open since before it was claimed; that is not waited for forever. */
        if (claim->changing == 0)
            claim->changing = clock_elapsed();
        if (clock_elapsed() - claim->changing > acceptor->stage->settings.cut_off_time)
            result = new_job_refuse_file(acceptor, item, &reason, now, &error);
        break;
    case DROP_GONE:
        item->fate = ACCEPT_CONTROL; /* nothing is left to be done */
        break;
    case DROP_ERROR:
        error = reason;
        result = -1;
        break;
    }
    if (result < 0)
        log_warn("%s; it is retried", error.text);
    if (item->fate == ACCEPT_KEEP)
        claim->look = clock_elapsed() + PUBLISH_LOOK_AGAIN;
    buffer_free(&item->bytes);
    arena_reset(acceptor->arena);
    guard_leave(acceptor->guard);
}

static void give_up(struct acceptor *acceptor, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct acceptance *item = &acceptor->items[i];
        if (item->fate == ACCEPT_JOB)
            job_discard(&acceptor->stage->spool, item->id);
        item->claim->look = clock_elapsed() + PUBLISH_LOOK_AGAIN;
    }
}

static int is_fenced(struct acceptor *acceptor, struct error *error)
{
    return stage_is_fenced(acceptor->stage)
               ? error_set(error, "this batch is left to the other daemon")
               : 0;
}

/* Make of each claim what it asks for, as long as there is time. */
static size_t accept_all(struct acceptor *acceptor, struct claim **claims,
                         const char *const *refusals, size_t count, int64_t until)
{
    size_t tried = 0;
    backlog_begin(acceptor->backlog);
    while (tried < count && (tried == 0 || clock_elapsed() < until)) {
        struct acceptance *item = &acceptor->items[tried];
        item->claim = claims[tried];
        item->refusal = refusals[tried++];
        if (acceptor->used < tried)
            acceptor->used = tried;
        accept_one(acceptor, item);
    }
    name_index_clear(acceptor->names);
    return tried;
}

int accept_claims(struct acceptor *acceptor, struct claim **claims, const char *const *refusals,
                  size_t *count, int64_t until, struct error *error)
{
    struct spool *spool = &acceptor->stage->spool;
    struct error warning;

    if (repository_refresh(acceptor->repository, &warning))
        log_warn("%s", warning.text);
    if (claims_find_jobs(spool, claims, *count, error))
        return -1;
    *count = accept_all(acceptor, claims, refusals, *count, until);
    if (spool_sync(spool, error) || is_fenced(acceptor, error)) {
        give_up(acceptor, *count);
        arena_reset(acceptor->arena);
        return -1;
    }
    publish_settled(acceptor->publisher);
    for (size_t i = 0; i < *count; i++)
        publish_item(acceptor->publisher, &acceptor->items[i]);
    arena_reset(acceptor->arena);
    return 0;
}

void accept_settle(struct acceptor *acceptor)
{
    publish_settle(acceptor->publisher);
}

int accept_refusal(struct acceptor *acceptor, struct claim *claim, const struct error *reason,
                   struct error *error)
{
    struct spool *spool = &acceptor->stage->spool;
    struct acceptance *item = &acceptor->items[0];
    item->claim = claim;
    item->readable = false;
    item->drop = (struct drop){.uid = (uid_t)-1, .gid = (gid_t)-1};
    int result = new_job_refuse_file(acceptor, item, reason, clock_now(), error);
    if (!result)
        result = spool_sync(spool, error);
    if (!result)
        result = job_publish(spool, item->id, item->state, error);
    if (!result)
        tally_add("jobs_accepted_total", "", 1);
    if (!result)
        result = spool_sync_state(spool, item->state, error);
    arena_reset(acceptor->arena);
    return result;
}
