/* executors/slurm/list.c - the jobs that have something at Slurm, or in slurm.directory
 *
 * The list that the last poll requested serves, unless it is too old, or each user has a list.  The
 * identity in a job's comment says which spool submitted it; for a job that Slurm has forgotten, the
 * file `submission` in its directory does.  Jobs of another spool, which may have the same path on
 * another host or share the directory, have another identity, and jobs that an older dlspool submitted
 * have none.
 */
#include <stdio.h>
#include <string.h>

#include "executors/slurm/table.h"

/* An old list does no harm: nothing is done to a job before it was looked for in the spool for 30 s. */
static const int64_t list_age_most = 10000; /* milliseconds */

struct listing {
    struct slurm *slurm;
    const struct slurm_records *records;
    executor_take *take;
    void *context;
};

static void tell_job(const struct listing *listing, const struct slurm_record *record)
{
    char id[SLURM_NAME_SIZE];
    snprintf(id, sizeof(id), "%.*s", (int)record->id.length, record->id.data);
    listing->take(listing->context, id, record->attempt);
}

static bool is_ours(const struct listing *listing, struct text identity)
{
    return text_is(identity, listing->slurm->executor.identity);
}

static bool facts_are_ours(const struct listing *listing, const char *name)
{
    struct arena *arena = arena_new();
    struct slurm_facts facts;
    bool ours = slurm_directory_facts(listing->slurm->directory, name, arena, &facts, NULL) == 1 &&
                is_ours(listing, facts.identity);
    arena_free(arena);
    return ours;
}

/* The file is read only when Slurm has no record of the job. */
static void take_directory(void *context, const char *name)
{
    const struct listing *listing = context;
    struct slurm_record record = {0};
    char id[SLURM_NAME_SIZE];
    if (!slurm_record_read_name(&record, text_of(name)))
        return;
    snprintf(id, sizeof(id), "%.*s", (int)record.id.length, record.id.data);
    const struct slurm_records found = slurm_records_of(listing->records, id, record.attempt);
    if (found.count ? is_ours(listing, found.items[0].identity) : facts_are_ours(listing, name))
        tell_job(listing, &record);
}

int slurm_list(struct executor *executor, executor_take *take, void *context, struct error *error)
{
    struct slurm *slurm = slurm_of(executor);
    if (!executor->identity[0])
        return 0;
    if (slurm_ensure_directory(slurm, error) ||
        slurm_table_refresh_older(slurm, "", list_age_most, error))
        return -1;
    struct listing listing = {slurm, slurm_table_all(slurm, ""), take, context};
    for (size_t i = 0; i < listing.records->count; i++)
        if (!slurm_record_is_over(listing.records->items[i].state) &&
            is_ours(&listing, listing.records->items[i].identity))
            tell_job(&listing, &listing.records->items[i]);
    if (slurm_directory_list(slurm->directory, take_directory, &listing))
        return error_errno(error, "slurm.directory could not be read");
    return 0;
}
