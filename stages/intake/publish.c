/* stages/intake/publish.c - jobs that were made durable in .new/ appear, and then their claims go */
#include "stages/intake/publish.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/tally.h"
#include "stages/shared/end_line.h"

/* A claim whose job appeared. */
struct published {
    struct claim *claim;
    struct job_place place;
    bool keep; /* what was dropped is kept beside the reason */
};

struct publisher {
    struct stage *stage;
    struct published *waiting; /* until they are durable */
    size_t count;
    bool states[STATE_COUNT]; /* where they went */
};

struct publisher *publish_open(struct stage *stage, size_t most)
{
    struct publisher *publisher = memory_allocate(sizeof(*publisher));
    *publisher = (struct publisher){.stage = stage,
                                    .waiting = memory_allocate(most * sizeof(*publisher->waiting))};
    return publisher;
}

void publish_close(struct publisher *publisher)
{
    if (!publisher)
        return;
    free(publisher->waiting);
    free(publisher);
}

/* Once the copy is durable, check that the original is still what was copied. */
static void look_once_more(struct publisher *publisher, struct acceptance *item)
{
    struct spool *spool = &publisher->stage->spool;
    struct error error;
    if (item->fate != ACCEPT_JOB || !item->readable)
        return;
    enum drop_result look = drop_unchanged(spool->claims, item->claim->file, &item->drop, &error);
    if (look != DROP_CHANGING && look != DROP_ERROR)
        return;
    if (look == DROP_ERROR)
        log_warn("%s; it is retried", error.text);
    job_discard(spool, item->id);
    item->fate = ACCEPT_KEEP;
    item->claim->look = clock_elapsed() + PUBLISH_LOOK_AGAIN;
}

static void say_published(const struct stage *stage, const struct acceptance *item)
{
    tally_add("jobs_accepted_total", "", 1);
    struct job_place place = {.state = item->state};
    memcpy(place.id, item->id, sizeof(place.id));
    int job = item->state == STATE_FAILED ? job_open(&stage->spool, &place) : -1;
    if (job < 0) {
        log_detail("%s: %s", item->id, spool_state_name(item->state));
        return;
    }
    end_line_log(job, item->id, item->state);
    sys.close(job);
}

static void publish_job(struct publisher *publisher, struct acceptance *item)
{
    struct error error;
    struct published *published = &publisher->waiting[publisher->count];
    if (job_publish(&publisher->stage->spool, item->id, item->state, &error)) {
        log_warn("%s; it is retried", error.text);
        job_discard(&publisher->stage->spool, item->id);
        item->claim->suspect = true; /* it may be there all the same */
        item->claim->look = clock_elapsed() + PUBLISH_LOOK_AGAIN;
        return;
    }
    say_published(publisher->stage, item);
    *published = (struct published){
        .claim = item->claim, .place.state = item->state, .keep = !item->readable};
    memcpy(published->place.id, item->id, sizeof(item->id));
    item->claim->published = true;
    publisher->states[item->state] = true;
    publisher->count++;
}

static void dispose(struct publisher *publisher, struct claim *claim, const struct job_place *place,
                    bool keep)
{
    struct error error;
    claim->published = false;
    claim->gone = !claim_dispose(&publisher->stage->spool, claim, place, keep, &error);
    if (claim->gone)
        return;
    log_warn("%s; it is retried", error.text); /* the job will be found */
    claim->suspect = true;
    claim->look = clock_elapsed() + PUBLISH_LOOK_AGAIN;
}

void publish_item(struct publisher *publisher, struct acceptance *item)
{
    struct claim *claim = item->claim;
    claim->suspect = false;
    look_once_more(publisher, item);
    if (item->fate == ACCEPT_JOB)
        publish_job(publisher, item);
    else if (item->fate == ACCEPT_FOUND)
        dispose(publisher, claim, &claim->place, !item->readable);
    else if (item->fate == ACCEPT_CONTROL)
        dispose(publisher, claim, &claim->place, false);
}

/* Nothing waits any longer. */
static void forget(struct publisher *publisher)
{
    publisher->count = 0;
    memset(publisher->states, 0, sizeof(publisher->states));
}

void publish_settled(struct publisher *publisher)
{
    if (publisher->states[STATE_HELD])
        spool_notify_failed(&publisher->stage->spool);
    for (size_t i = 0; i < publisher->count; i++) {
        struct published *published = &publisher->waiting[i];
        dispose(publisher, published->claim, &published->place, published->keep);
    }
    forget(publisher);
}

/* Whether these jobs are there has to be looked for. */
static void doubt(struct publisher *publisher)
{
    for (size_t i = 0; i < publisher->count; i++) {
        struct claim *claim = publisher->waiting[i].claim;
        claim->published = false;
        claim->suspect = true;
        claim->look = clock_elapsed() + PUBLISH_LOOK_AGAIN;
    }
    forget(publisher);
}

void publish_settle(struct publisher *publisher)
{
    struct error error;
    for (int state = 0; state < STATE_COUNT; state++) {
        if (publisher->states[state] &&
            spool_sync_state(&publisher->stage->spool, (enum state)state, &error)) {
            log_warn("%s; what was dropped is kept and retried", error.text);
            doubt(publisher);
        }
    }
    if (publisher->count && stage_is_fenced(publisher->stage))
        doubt(publisher); /* the other daemon finds them */
    publish_settled(publisher);
}
