/* stages/prune/waited.c - jobs that others wait for
 *
 * Weakness: a job that comes to held/ between the last look and the removal, and names one that ended
 * as long ago as `keep` says, finds it gone, and fails with a sentence that says so.
 */
#include "stages/prune/waited.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/names.h"
#include "spool/jobs.h"
#include "spool/record.h"

enum { MOST_WAITED = 1 << 20 };

struct waited {
    const struct spool *spool;
    struct names *words; /* ids, and names */
    struct arena *arena;
    bool full;
};

struct waited *waited_new(const struct spool *spool)
{
    struct waited *waited = memory_allocate(sizeof(*waited));
    waited->spool = spool;
    waited->words = names_new(MOST_WAITED, 1);
    waited->arena = arena_new();
    return waited;
}

void waited_free(struct waited *waited)
{
    if (!waited)
        return;
    names_free(waited->words);
    arena_free(waited->arena);
    free(waited);
}

static void add_word(struct waited *waited, struct text word)
{
    if (word.length && !names_find(waited->words, word) && !names_add(waited->words, word))
        waited->full = true;
}

/* The name as ids have it, with the dash. */
static struct text name_of(const char *id)
{
    return (struct text){id, strlen(id) - TOKEN_LENGTH};
}

static void add_awaited(struct waited *waited, const struct awaited *awaited)
{
    char id[ID_SIZE];
    if (awaited->id.length) {
        add_word(waited, awaited->id);
        return;
    }
    id_make(awaited->job, "0000000000000", id);
    add_word(waited, awaited->job); /* it may be an id */
    add_word(waited, name_of(id));
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
            add_awaited(waited, &record.after[i]);
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
    if (waited->full)
        return error_set(error, "more than %d jobs are waited for; nothing is removed",
                         MOST_WAITED);
    return 0;
}

bool waited_for(const struct waited *waited, const char *id)
{
    return names_find(waited->words, text_of(id)) || names_find(waited->words, name_of(id));
}
