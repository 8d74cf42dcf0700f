/* commands/wait.c - dlspool wait ID... */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "commands/commands.h"
#include "commands/await_tasks.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/refuse.h"

/* Wait for the jobs.  Words are resolved to ids first: a newer job may get the same name. */
static int wait_for(const struct spool *spool, char *const *words, size_t count,
                    const struct follow_options *options)
{
    char(*ids)[ID_SIZE] = memory_allocate(count * sizeof(*ids));
    const char **wanted = memory_allocate(count * sizeof(*wanted));
    int status = STATUS_DONE;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct job_place place;
        struct error error;
        struct text tasks;
        int result = pick_find_tasks(spool, words[i], &place, &tasks, &error);
        if (result == STATUS_DONE && tasks.length) {
            int waited = await_tasks(spool, place.id, tasks, options);
            status = waited != STATUS_DONE ? waited : status;
        } else if (result == STATUS_DONE) {
            memcpy(ids[found], place.id, sizeof(ids[found]));
            wanted[found] = ids[found];
            found++;
        } else {
            refuse_not_found(words[i], result, &error, options->json);
            status = result;
        }
    }
    int ended = found ? follow_jobs(spool, wanted, found, options) : STATUS_DONE;
    free(ids);
    free(wanted);
    return ended != STATUS_DONE ? ended : status;
}

int command_wait(int argument_count, char **arguments)
{
    struct follow_options following = {.timeout = 0};
    const struct option_spec options[] = {
        {"timeout", 0, OPTION_DURATION, &following.timeout, "TIME",
         "leave after this long, with status 5"},
        {"any", 0, OPTION_FLAG, &following.any, NULL, "leave when one of the jobs has ended"},
        {"exit-status", 0, OPTION_FLAG, &following.exit_status, NULL,
         "end with the exit code of the job that failed, not with 6"},
        {"quiet", 'q', OPTION_FLAG, &following.quiet, NULL, "say nothing"},
        {"json", 'j', OPTION_FLAG, &following.json, NULL, "as JSON, an object for each job"},
        {"timeout", 't', OPTION_DURATION, &following.timeout, "TIME", NULL},
        {"any", 'a', OPTION_FLAG, &following.any, NULL, NULL},
        {"exit-status", 'e', OPTION_FLAG, &following.exit_status, NULL, NULL},
        {0}};
    const struct verb_usage usage = {
        "wait",
        "ID...",
        1,
        -1,
        "Wait until jobs have ended; status 0 when all are done.",
        "A job has ended when it is in done/, or in failed/ and will not be retried by itself.\n"
        "ID is a job's id, its name, which means your newest job of that name, or a beginning of\n"
        "the id that only one job has.  Of an array, sweep/3-5 waits for these tasks alone.\n",
        options};
    int operands, status;
    struct spool spool;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&spool))
        return STATUS_FAILED;
    status = wait_for(&spool, arguments + 1, (size_t)operands, &following);
    spool_close(&spool);
    return status;
}
