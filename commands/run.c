/* commands/run.c - dlspool run */
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "stages/supervisor.h"

int command_run(int argument_count, char **arguments)
{
    bool drain = false, verbose = false;
    const struct option_spec options[] = {
        {"drain", 'd', OPTION_FLAG, &drain, NULL, "leave when nothing is left to do"},
        {"verbose", 'v', OPTION_FLAG, &verbose, NULL, "say where each job goes"},
        {0}};
    const struct verb_usage usage = {
        "run", "", 0, 0,
        "Serve a spool: take dropped files, render, submit and follow jobs, until told to stop.",
        "SIGTERM or SIGINT stops it when what is under way is written down; containers go on.\n"
        "A second one on the same spool stands by and takes over when the first has gone.\n",
        options};
    int operands, status;
    struct error error;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    log_verbose(verbose);
    log_timestamps(!isatty(STDERR_FILENO));
    log_journal(getenv("JOURNAL_STREAM") != NULL);
    if (supervise(option_spool, drain, &error)) {
        complain("%s", error.text);
        return STATUS_FAILED;
    }
    return STATUS_DONE;
}
