/* commands/wait.c - dlspool wait ID... */
#include "commands/commands.h"
#include "commands/follow.h"
#include "commands/options.h"
#include "commands/view.h"

int command_wait(int argument_count, char **arguments)
{
    bool quiet = false;
    int64_t timeout = 0;
    const struct option_spec options[] = {
        {"timeout", 't', OPTION_DURATION, &timeout, "TIME", "leave after this long with status 1"},
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "say nothing"},
        {0}};
    const struct verb_usage usage = {
        "wait", "ID...", 1, -1, "Wait until jobs have ended; status 0 when all are done.",
        "A job has ended when it is in done/, or in failed/ and will not be tried again by\n"
        "itself.\n",
        options};
    int operands, status;
    struct spool spool;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&spool))
        return STATUS_FAILED;
    status = follow_jobs(&spool, (const char *const *)(arguments + 1), (size_t)operands, timeout,
                         quiet);
    spool_close(&spool);
    return status;
}
