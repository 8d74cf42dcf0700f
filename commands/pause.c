/* commands/pause.c - dlspool pause and resume: for maintenance, nothing is submitted
 *
 * Each drops a control file; intake checks that its owner is an administrator.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "commands/ask.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "client/drop_file.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "request/control.h"

/* Drop `verb: words`, as JSON, which keeps any text as it is.  Returns the status, after a complaint on failure. */
static int drop_request(const char *verb, const char *words, bool json)
{
    struct spool spool;
    struct error error;
    struct buffer line = {0};
    char name[NAME_MAX + 1];
    if (open_spool(&spool))
        return STATUS_FAILED;
    struct arena *arena = arena_new();
    struct value *tree = value_object(arena);
    value_put(arena, tree, verb, value_string(arena, words));
    int result = json_write(&line, tree, false, &error);
    buffer_add_byte(&line, '\n');
    if (!result && !ask_is_administrator(&spool))
        result = error_set(&error, "only an administrator may %s the spool", verb);
    if (!result)
        result = drop_file(&spool, verb, ".json", buffer_text(&line), name, &error);
    if (result) {
        complain("%s", error.text);
    } else if (json) {
        struct value *told = value_object(arena);
        value_put(arena, told, "asked", value_string(arena, verb));
        print_json(told);
    } else {
        printf("asked to %s the spool\n", verb);
    }
    buffer_free(&line);
    arena_free(arena);
    spool_close(&spool);
    return result ? STATUS_FAILED : STATUS_DONE;
}

int command_pause(int argument_count, char **arguments)
{
    const char *reason = "";
    bool json = false;
    const struct option_spec options[] = {
        {"reason", 0, OPTION_TEXT, &reason, "TEXT", "why, for those whose jobs wait"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object"},
        {0}};
    const struct verb_usage usage = {
        "pause",
        "",
        0,
        0,
        "Ask for no more jobs to be started, as for maintenance.",
        "Running jobs go on to their end, and job files are still taken.  The same as dropping a file\n"
        "that says `pause: TEXT` into incoming/.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (strlen(reason) > CONTROL_WORDS_LONGEST || strchr(reason, '\n')) {
        complain("--reason: found %zu bytes, expected one line of at most %d", strlen(reason),
                 CONTROL_WORDS_LONGEST);
        return STATUS_USAGE;
    }
    return drop_request("pause", reason, json);
}

int command_resume(int argument_count, char **arguments)
{
    bool json = false;
    const struct option_spec options[] = {
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object"}, {0}};
    const struct verb_usage usage = {
        "resume",
        "",
        0,
        0,
        "Ask for a paused spool to go on.",
        "The same as dropping a file that says `resume: yes` into incoming/.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    return drop_request("resume", "", json);
}
