/* commands/resubmit.c - dlspool resubmit: one pass over failed/, for cron */
#include <stdio.h>

#include "base/log.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "stages/stage.h"

int command_resubmit(int argument_count, char **arguments)
{
    bool quiet = false, json = false;
    const struct option_spec options[] = {
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "say nothing when all went well"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object"},
        {0}};
    const struct verb_usage usage = {
        "resubmit",
        "",
        0,
        0,
        "Make one pass over failed/ and held/: send to rendered/ what is due, and leave.",
        "`dlspool run` does this by itself every retry_interval.\n",
        options};
    int operands, status;
    struct error error;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    log_verbose(!quiet);
    int count = stage_resubmit_once(option_spool, &error);
    if (count < 0) {
        complain("%s", error.text);
        return STATUS_FAILED;
    }
    if (json)
        printf("{\"requeued\":%d}\n", count);
    else if (!quiet)
        printf("%d %s sent back to rendered/\n", count, count == 1 ? "job was" : "jobs were");
    return STATUS_DONE;
}
