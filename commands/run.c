/* commands/run.c - dlspool run */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "spool/id.h"
#include "stages/service/supervisor.h"

/* systemd.exec(5): $JOURNAL_STREAM is the device and inode of the stream that goes to the journal;
 * standard error may have been redirected since. */
static bool is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat status;
    char own[64];
    if (!stream || fstat(STDERR_FILENO, &status))
        return false;
    snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    return strcmp(own, stream) == 0;
}

int command_run(int argument_count, char **arguments)
{
    bool drain = false, verbose = false, json = false;
    const struct option_spec options[] = {
        {"drain", 'd', OPTION_FLAG, &drain, NULL, "leave when nothing is left to do"},
        {"verbose", 'v', OPTION_FLAG, &verbose, NULL, "say where each job goes"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "the log as JSON, an object for each message"},
        {0}};
    const struct verb_usage usage = {
        "run",
        "",
        0,
        0,
        "Run the daemon: take dropped files, render, submit and follow jobs, until told to stop.",
        "SIGTERM or SIGINT stops it when what is under way is written down; containers go on.\n"
        "A second daemon on the same spool waits as a hot standby, and takes over when the first has gone.\n",
        options};
    int operands, status;
    struct error error;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    log_verbose(verbose);
    log_timestamps(!isatty(STDERR_FILENO));
    log_journal(is_journal(), id_valid);
    log_json(json);
    if (supervisor_run(option_spool, drain, &error)) {
        complain("%s", error.text);
        return STATUS_FAILED;
    }
    return STATUS_DONE;
}
