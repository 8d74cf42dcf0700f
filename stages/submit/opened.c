/* stages/submit/opened.c - jobs that stay open from where they are found to where they are handed over */
#include "stages/submit/opened.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/names.h"
#include "base/system.h"

enum { MOST_BYTES = 16 << 20 };      /* of records */
static const int64_t longest = 1000; /* milliseconds */

struct opened_job {
    int job;
    int64_t since; /* of clock_elapsed() */
    const struct job_record *record;
};

struct opened {
    struct names *jobs;  /* id -> struct opened_job */
    struct arena *arena; /* of the records */
};

struct opened *opened_new(size_t most)
{
    struct opened *opened = memory_allocate(sizeof(*opened));
    opened->jobs = names_new(most, sizeof(struct opened_job));
    opened->arena = arena_new();
    return opened;
}

void opened_free(struct opened *opened)
{
    if (!opened)
        return;
    opened_clear(opened);
    names_free(opened->jobs);
    arena_free(opened->arena);
    free(opened);
}

struct arena *opened_arena(const struct opened *opened)
{
    return names_full(opened->jobs) || arena_used(opened->arena) > MOST_BYTES ? NULL
                                                                              : opened->arena;
}

void opened_keep(struct opened *opened, const char *id, int job, const struct job_record *record)
{
    opened_forget(opened, id);
    struct opened_job *entry = names_add(opened->jobs, text_of(id));
    if (!entry) {
        sys.close(job);
        return;
    }
    struct job_record *copy = arena_allocate(opened->arena, sizeof(*copy));
    *copy = *record;
    *entry = (struct opened_job){.job = job, .since = clock_elapsed(), .record = copy};
}

int opened_take(struct opened *opened, const char *id, struct job_record *record)
{
    struct opened_job *found = names_find(opened->jobs, text_of(id));
    if (!found)
        return -1;
    const struct opened_job entry = *found;
    names_remove(opened->jobs, found);
    if (clock_elapsed() - entry.since <= longest) {
        *record = *entry.record;
        return entry.job;
    }
    sys.close(entry.job);
    return -1;
}

void opened_forget(struct opened *opened, const char *id)
{
    struct opened_job *found = names_find(opened->jobs, text_of(id));
    if (!found)
        return;
    sys.close(found->job);
    names_remove(opened->jobs, found);
}

void opened_clear(struct opened *opened)
{
    for (struct opened_job *job; (job = names_first(opened->jobs));) {
        sys.close(job->job);
        names_remove(opened->jobs, job);
    }
    arena_reset(opened->arena);
}
