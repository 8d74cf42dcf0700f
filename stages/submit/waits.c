/* stages/submit/waits.c - jobs that wait in rendered/: what they are told, and how long a declined one
 * rests */
#include "stages/submit/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/names.h"
#include "spool/file.h"
#include "spool/job.h"
#include "stages/guard.h"

enum { MOST_DECLINED = 1 << 20, WHY_LIMIT = 64 * 1024, PART = 10 };

struct declined {
    int64_t since, until; /* of clock_elapsed() */
};

struct waits {
    struct stage *stage;
    struct waiting_file told;
    bool there;             /* DIR/waiting is */
    struct names *declined; /* id -> struct declined */
};

struct waits *waits_new(struct stage *stage)
{
    struct waits *waits = memory_allocate(sizeof(*waits));
    *waits = (struct waits){.stage = stage,
                            .there = true,
                            .declined = names_new(MOST_DECLINED, sizeof(struct declined))};
    waiting_read(&stage->spool, &waits->told);
    return waits;
}

void waits_free(struct waits *waits)
{
    if (!waits)
        return;
    names_free(waits->declined);
    free(waits);
}

/* ---- why ---- */

static const char *next_of(enum waiting_for what)
{
    switch (what) {
    case WAITING_TURN:
    case WAITING_ROOM:
        break;
    case WAITING_LIMIT:
        return "the job is submitted automatically as soon as the limit allows it.";
    case WAITING_EXECUTOR:
        return "the job is submitted automatically as soon as the executor answers.";
    case WAITING_PAUSE:
        return "the job is submitted automatically when an administrator lets the spool go on: dlspool resume";
    }
    return "the job starts automatically as soon as there is room for it.";
}

int waits_explain(int job, enum waiting_for what, const char *reason, struct error *error)
{
    struct error sentence;
    struct buffer text = {0}, old = {0};
    int result = 0;
    waiting_sentence(what, reason, &sentence);
    why_format(&(struct why){.sentence = sentence.text, .next = next_of(what)}, &text);
    if (file_read_at(job, "why", WHY_LIMIT, &old, NULL) ||
        !text_equal(buffer_text(&old), buffer_text(&text)))
        result = spool_file_renew(job, "why", buffer_text(&text), 0644, error);
    buffer_free(&text);
    buffer_free(&old);
    return result;
}

/* Write the `why` of the job, or, without a reason, take it away. */
static void explain_job(struct waits *waits, const char *id, enum waiting_for what,
                        const char *reason)
{
    struct job_place place = {.state = STATE_RENDERED};
    struct guard_before before;
    struct error error;
    memcpy(place.id, id, strlen(id) + 1);
    int job = job_open(&waits->stage->spool, &place);
    if (job < 0)
        return; /* it has gone on */
    if (guard_begin(guard_own(), id, &before)) {
        if (reason ? waits_explain(job, what, reason, &error) : why_remove(job, &error))
            log_warn("%s: %s", id, error.text);
        guard_return(guard_own(), &before);
    }
    sys.close(job);
}

void waits_retract(struct waits *waits, const char *id)
{
    if (!stage_is_fenced(waits->stage))
        explain_job(waits, id, WAITING_TURN, NULL);
}

void waits_leave(struct waits *waits, const char *id)
{
    if (strcmp(waits->told.first, id) == 0)
        waits->told.first[0] = '\0';
}

/* ---- all ---- */

void waits_set(struct waits *waits, enum waiting_for what, const char *first, const char *reason)
{
    struct waiting_file *told = &waits->told;
    struct error error;
    bool other = strcmp(told->first, first) != 0;
    if (waits->there && !other && told->what == what && strcmp(told->reason, reason) == 0)
        return;
    if (stage_is_fenced(waits->stage))
        return;
    if (other && told->first[0] && !names_find(waits->declined, text_of(told->first)))
        explain_job(waits, told->first, what, NULL);
    if (other || told->what != what || !told->since)
        told->since = clock_now();
    told->what = what;
    memmove(told->first, first, strlen(first) + 1);
    snprintf(told->reason, sizeof(told->reason), "%s", reason);
    if (first[0])
        explain_job(waits, first, what, reason);
    waits->there = waiting_write(&waits->stage->spool, told, &error) == 0;
    if (!waits->there)
        log_warn("%s", error.text);
}

void waits_clear(struct waits *waits)
{
    if (!waits->there || stage_is_fenced(waits->stage))
        return;
    if (waits->told.first[0] && !names_find(waits->declined, text_of(waits->told.first)))
        explain_job(waits, waits->told.first, WAITING_TURN, NULL);
    waiting_remove(&waits->stage->spool);
    waits->told = (struct waiting_file){.what = WAITING_TURN};
    waits->there = false;
}

/* ---- those that were declined ---- */

int64_t waits_decline(struct waits *waits, const char *id, int64_t least, int64_t longest,
                      bool *again)
{
    struct declined *declined = names_find(waits->declined, text_of(id));
    int64_t now = clock_elapsed(), rest = least;
    *again = declined != NULL;
    if (!declined && (declined = names_add(waits->declined, text_of(id))))
        declined->since = now;
    if (declined && (now - declined->since) / PART > rest)
        rest = (now - declined->since) / PART;
    if (rest > longest && longest > least)
        rest = longest;
    if (declined)
        declined->until = now + rest;
    return rest;
}

bool waits_rests(const struct waits *waits, const char *id)
{
    const struct declined *declined = names_find(waits->declined, text_of(id));
    return declined && clock_elapsed() < declined->until;
}

void waits_forget(struct waits *waits, const char *id)
{
    struct declined *declined = names_find(waits->declined, text_of(id));
    if (declined)
        names_remove(waits->declined, declined);
}
