/* commands/version.c - dlspool version */
#include <stdio.h>

#include "commands/commands.h"
#include "commands/options.h"

int command_version(int argument_count, char **arguments)
{
    bool json = false;
    const struct option_spec options[] = {
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object"}, {0}};
    const struct verb_usage usage = {"version", "",     0, 0, "Print the version of dlspool.",
                                     NULL,      options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (json)
        printf("{\"version\":\"%s\"}\n", DLSPOOL_VERSION);
    else
        printf("dlspool %s\n", DLSPOOL_VERSION);
    return STATUS_DONE;
}
