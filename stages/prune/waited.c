/* stages/prune/waited.c - jobs that others wait for
 *
 * However many are waited for, and whoever's they are, the memory is the same: of each word one bit is kept, at a
 * place that nobody can choose.  So a job may stay once because others' words fall together with its own; the next
 * process has other places.
 *
 * Weakness: a job that comes to held/ between the last look and the removal, and names one that ended
 * as long ago as `keep` says, finds it gone, and fails with a sentence that says so.
 */
#include "stages/prune/waited.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "spool/jobs.h"
#include "spool/record.h"

/* 16 MiB, of which memory is taken as words come: a million of them keep less than one in a hundred other jobs. */
enum { PLACES = 1 << 27, BYTE_BITS = 8 };

struct waited {
    const struct spool *spool;
    unsigned char *words; /* bits, of ids and names */
    struct arena *arena;
};

struct waited *waited_new(const struct spool *spool)
{
    struct waited *waited = memory_allocate(sizeof(*waited));
    waited->spool = spool;
    waited->words = memory_allocate(PLACES / BYTE_BITS);
    waited->arena = arena_new();
    return waited;
}

void waited_free(struct waited *waited)
{
    if (!waited)
        return;
    free(waited->words);
    arena_free(waited->arena);
    free(waited);
}

static size_t place_of(struct text word)
{
    return (size_t)(hash_secret(word) % PLACES);
}

static void add_word(struct waited *waited, struct text word)
{
    size_t place = place_of(word);
    waited->words[place / BYTE_BITS] |= (unsigned char)(1u << place % BYTE_BITS);
}

/* The word of a user's jobs: no id has a blank. */
static struct text word_of(struct arena *arena, uid_t uid, struct text word)
{
    return arena_printf(arena, "%u %.*s", (unsigned int)uid, (int)word.length, word.data);
}

void waited_add(struct waited *waited, uid_t uid, struct text word)
{
    if (!word.length)
        return;
    add_word(waited, word);
    add_word(waited, word_of(waited->arena, uid, word));
}

static bool has_word(const struct waited *waited, struct text word)
{
    size_t place = place_of(word);
    return waited->words[place / BYTE_BITS] >> place % BYTE_BITS & 1;
}

/* The name as ids have it, with the dash. */
static struct text name_of(const char *id)
{
    return (struct text){id, strlen(id) - TOKEN_LENGTH};
}

static void add_awaited(struct waited *waited, uid_t uid, const struct awaited *awaited)
{
    char id[ID_SIZE];
    if (awaited->id.length) {
        waited_add(waited, uid, awaited->id);
        return;
    }
    id_make(awaited->job, "0000000000000", id);
    waited_add(waited, uid, awaited->job); /* it may be an id */
    waited_add(waited, uid, name_of(id));
}

/* What has been met already does not matter any more: `released` says so. */
static int take_job(void *context, const struct job_place *place)
{
    struct waited *waited = context;
    struct job_record record;
    int result = 0;
    int job = job_open(waited->spool, place);
    if (job < 0)
        return errno == ENOENT ? 0 : -1;
    if (record_read(job, waited->arena, &record, NULL))
        result = file_is_damaged(errno) ? 0 : -1;
    else if (!record.released && (place->state == STATE_HELD || record.failure.when != RETRY_NEVER))
        for (size_t i = 0; i < record.after_count; i++)
            add_awaited(waited, record.uid, &record.after[i]);
    int keep = errno;
    sys.close(job);
    arena_reset(waited->arena);
    errno = keep;
    return result;
}

int waited_read(struct waited *waited, bool failed, struct error *error)
{
    if (jobs_walk(waited->spool, STATE_HELD, take_job, waited) ||
        (failed && jobs_walk(waited->spool, STATE_FAILED, take_job, waited)))
        return error_errno(error, "what jobs wait for could not be read");
    return 0;
}

/* Does the job's own user wait for it by one of these words?  True when nobody can tell whose job it is. */
static bool waited_by_owner(struct waited *waited, const struct job_place *place, struct text name)
{
    struct job_record record;
    int job = job_open(waited->spool, place);
    bool known = job >= 0 && record_read(job, waited->arena, &record, NULL) == 0;
    bool result = !known || has_word(waited, word_of(waited->arena, record.uid, name)) ||
                  has_word(waited, word_of(waited->arena, record.uid, text_of(place->id)));
    if (job >= 0)
        sys.close(job);
    arena_reset(waited->arena);
    return result;
}

enum waiter waited_for(struct waited *waited, const struct job_place *place)
{
    struct text name = name_of(place->id);
    bool by_id = has_word(waited, text_of(place->id));
    if (!by_id && !has_word(waited, name))
        return WAITER_NONE;
    return waited_by_owner(waited, place, name) ? WAITER_OWNER
           : by_id                              ? WAITER_OTHERS
                                                : WAITER_NONE;
}
