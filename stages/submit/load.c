/* stages/submit/load.c - how many objects the scheduler has, and how many more it may get */
#include "stages/submit/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "base/names.h"
#include "spool/jobs.h"
#include "spool/record.h"
#include "stages/guard.h"

enum { MOST_COUNTED = 1 << 20, MANIFEST_LIMIT = 16 << 20 }; /* jobs; bytes */

enum { SHARE = 4 }; /* an owner may have at most this many times what is left */

struct owner {
    int64_t objects; /* of all jobs */
};

struct counted {
    int weight; /* objects */
    struct owner *owner;
    bool held; /* taken, and not yet known to be in submitted/ */
    bool seen; /* in this refresh */
};

struct load {
    const struct spool *spool;
    struct executor *executor;
    struct names *jobs; /* id -> struct counted */
    struct names *
        owners; /* uid -> struct owner; who was once known stays known: there are as many as users */
    struct arena *arena;
    int64_t total;
    struct error unread; /* a job that this refresh could not read now; or "" */
};

struct load *load_new(const struct spool *spool, struct executor *executor)
{
    if (executor->live_max <= 0)
        return NULL;
    struct load *load = memory_allocate(sizeof(*load));
    *load = (struct load){.spool = spool,
                          .executor = executor,
                          .jobs = names_new(MOST_COUNTED, sizeof(struct counted)),
                          .owners = names_new(SIZE_MAX, sizeof(struct owner)),
                          .arena = arena_new()};
    return load;
}

void load_free(struct load *load)
{
    if (!load)
        return;
    names_free(load->jobs);
    names_free(load->owners);
    arena_free(load->arena);
    free(load);
}

static int weight_of(const struct load *load, struct text manifest)
{
    int weight = load->executor->operations->weight
                     ? load->executor->operations->weight(load->executor, manifest)
                     : 1;
    return weight < 1 ? 1 : weight;
}

static struct owner *owner_of(struct load *load, uid_t uid)
{
    char word[16];
    snprintf(word, sizeof(word), "%u", uid);
    struct owner *owner = names_find(load->owners, text_of(word));
    return owner ? owner : names_add(load->owners, text_of(word));
}

static struct counted *count_job(struct load *load, const char *id, uid_t uid, int weight)
{
    struct counted *counted = names_add(load->jobs, text_of(id));
    if (!counted)
        return NULL;
    counted->weight = weight;
    counted->owner = owner_of(load, uid);
    counted->owner->objects += weight;
    load->total += weight;
    return counted;
}

static void forget_counted(struct load *load, struct counted *counted)
{
    load->total -= counted->weight;
    counted->owner->objects -= counted->weight;
    names_remove(load->jobs, counted);
}

/* What its manifest makes, and whose it is.  One that is damaged makes one object, of nobody.  -1 and a sentence when
 * that cannot be read now. */
static int read_job(const struct load *load, int job, int *weight, uid_t *owner,
                    struct error *error)
{
    struct buffer manifest = {0};
    struct job_record record;
    *weight = 1;
    *owner = (uid_t)-1;
    int result = file_read_at(job, "manifest.yaml", MANIFEST_LIMIT, &manifest, error);
    if (!result)
        *weight = weight_of(load, buffer_text(&manifest));
    buffer_free(&manifest);
    if (result && !file_is_damaged(errno))
        return -1;
    result = record_read(job, load->arena, &record, error);
    if (!result)
        *owner = record.uid;
    return result && !file_is_damaged(errno) ? -1 : 0;
}

static void note_unread(struct load *load, const struct job_place *place,
                        const struct error *problem)
{
    char buffer[PLACE_TEXT_SIZE];
    error_set(&load->unread, "%s: how many objects it makes is unknown: %s",
              job_place_text(place, buffer), problem->text);
}

/* Count a job that is not known yet, by its manifest and owner; of a known one note that it is still there. */
int load_see_job(void *context, const struct job_place *place)
{
    struct load *load = context;
    struct counted *counted = names_find(load->jobs, text_of(place->id));
    if (!counted) {
        struct guard_before before;
        struct error error;
        int weight = 1, unread = 0;
        uid_t owner = (uid_t)-1;
        int job = job_open(load->spool, place);
        if (job < 0 && file_is_damaged(errno))
            return 0; /* it has just left submitted/ */
        if (job < 0) {
            error_errno(&error, "its directory could not be opened");
            note_unread(load, place, &error);
            return 0;
        }
        if (guard_begin(guard_own(), place->id, &before)) {
            unread = read_job(load, job, &weight, &owner, &error);
            arena_reset(load->arena);
            guard_return(guard_own(), &before);
        }
        sys.close(job);
        if (unread)
            note_unread(load, place, &error);
        else
            counted = count_job(load, place->id, owner, weight);
    }
    if (counted)
        counted->seen = true;
    return 0;
}

void load_begin(struct load *load)
{
    for (struct counted *counted = names_first(load->jobs); counted; counted = names_after(counted))
        counted->seen = false;
    load->unread = (struct error){""};
}

int load_end(struct load *load, struct error *error)
{
    struct counted *next;
    for (struct counted *counted = names_first(load->jobs); counted; counted = next) {
        next = names_after(counted);
        if (!counted->seen && !counted->held)
            forget_counted(load, counted);
    }
    return load->unread.text[0] ? error_set(error, "%s", load->unread.text) : 0;
}

int load_refresh(struct load *load, struct error *error)
{
    load_begin(load);
    if (jobs_walk(load->spool, STATE_SUBMITTED, load_see_job, load))
        return error_errno(error, "submitted/ could not be read");
    return load_end(load, error);
}

/* May the owner have that many more, considering what is left for others? */
static bool is_within_share(struct load *load, uid_t uid, int weight)
{
    int64_t has = owner_of(load, uid)->objects, most = load->executor->live_max;
    return has == 0 || most <= SHARE || has + weight <= SHARE * (most - load->total - weight);
}

enum load_answer load_take(struct load *load, const char *id, uid_t owner, struct text manifest,
                           struct error *error)
{
    struct counted *counted = names_find(load->jobs, text_of(id));
    if (counted)
        return LOAD_TAKEN;
    int weight = weight_of(load, manifest);
    if (weight > load->executor->live_max) {
        error_set(error,
                  "the job makes %d objects at the scheduler, where at most %" PRId64
                  " may be (live_max in dlspool.yaml)",
                  weight, load->executor->live_max);
        return LOAD_NEVER;
    }
    if (load->total + weight > load->executor->live_max) {
        error_set(error, "%" PRId64 " objects at the scheduler at most (live_max in dlspool.yaml)",
                  load->executor->live_max);
        return LOAD_FULL;
    }
    if (!is_within_share(load, owner, weight)) {
        error_set(
            error,
            "its owner has as many objects at the scheduler as one user may; the rest of %" PRId64
            " is for others (live_max in dlspool.yaml)",
            load->executor->live_max);
        return LOAD_SHARE;
    }
    counted = count_job(load, id, owner, weight);
    if (!counted)
        return LOAD_FULL;
    counted->held = true;
    return LOAD_TAKEN;
}

void load_release(struct load *load, const char *id, bool submitted)
{
    struct counted *counted = names_find(load->jobs, text_of(id));
    if (counted && submitted)
        counted->held = false;
    else if (counted)
        forget_counted(load, counted);
}
