/* commands/kill.c - dlspool kill, retry, hold and release ID...
 *
 * Each drops a control file; who may ask is decided by intake from the file's owner.  What would be
 * refused for certain is said here already.
 */
#include <stdio.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/drop.h"
#include "commands/options.h"
#include "commands/view.h"
#include "spool/settings.h"
#include "stages/control.h"

static bool may_ask(const struct spool *spool, const struct job_view *view)
{
    struct settings settings;
    if (!view->readable || view->record.uid == getuid())
        return true;
    if (settings_read(&settings, spool, NULL))
        return true;            /* intake will know */
    bool may = settings_is_administrator(&settings, spool, getuid());
    settings_free(&settings);
    return may;
}

static bool is_held(const struct spool *spool, const struct job_place *place)
{
    struct wish wish;
    int job = job_open(spool, place);
    bool held = job < 0 || control_pending(job, CONTROL_HOLD, &wish) != 0;
    if (job >= 0)
        sys.close(job);
    return held;
}

static int ask(const struct spool *spool, const char *verb, enum control_verb control,
               const char *id)
{
    struct job_place place;
    struct job_view view;
    struct error error;
    char line[ID_SIZE + 16], name[NAME_MAX + 1];
    int result = -1;
    if (find_job(spool, id, &place))
        return -1;
    struct arena *arena = arena_new();
    if (view_read(spool, &place, arena, &view)) {
        complain("%s moved just now; try again", place.id);
    } else if (!control_allows(control, &place, view.readable ? &view.record : NULL,
                                &error)) {
        complain("%s", error.text);
    } else if (control == CONTROL_RELEASE && !is_held(spool, &place)) {
        complain("%s is not held", place.id);
    } else if (!may_ask(spool, &view)) {
        complain("%s belongs to %.*s; only its owner or an administrator may %s it", place.id,
                 (int)view.record.owner.length, view.record.owner.data, verb);
    } else {
        int length = snprintf(line, sizeof(line), "%s: %s\n", verb, place.id);
        result = drop_file(spool, verb, ".yaml", (struct text){line, (size_t)length}, name, &error);
        if (result)
            complain("%s", error.text);
        else
            printf("asked to %s %s\n", verb, place.id);
    }
    arena_free(arena);
    return result;
}

static int ask_all(const struct verb_usage *usage, enum control_verb control, int argument_count,
                   char **arguments)
{
    int operands, status;
    struct spool spool;
    if (!options_read(usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&spool))
        return STATUS_FAILED;
    for (int i = 1; i <= operands; i++)
        if (ask(&spool, usage->verb, control, arguments[i]))
            status = STATUS_FAILED;
    spool_close(&spool);
    return status;
}

static const struct option_spec no_options[] = {{0}};

int command_kill(int argument_count, char **arguments)
{
    static const struct verb_usage usage = {
        "kill", "ID...", 1, -1, "Ask for jobs to be killed: they end in failed/.",
        "Your own jobs, or anybody's if you are an administrator.  The same as dropping a file\n"
        "that says `kill: ID` into incoming/.\n",
        no_options};
    return ask_all(&usage, CONTROL_KILL, argument_count, arguments);
}

int command_retry(int argument_count, char **arguments)
{
    static const struct verb_usage usage = {
        "retry", "ID...", 1, -1, "Ask for failed jobs to be tried again now.",
        "The same as dropping a file that says `retry: ID` into incoming/.\n", no_options};
    return ask_all(&usage, CONTROL_RETRY, argument_count, arguments);
}

int command_hold(int argument_count, char **arguments)
{
    static const struct verb_usage usage = {
        "hold", "ID...", 1, -1, "Ask for jobs that have not begun to wait in held/.",
        "They wait until they are released; what an administrator holds only an administrator\n"
        "releases.  The same as dropping a file that says `hold: ID` into incoming/.\n", no_options};
    return ask_all(&usage, CONTROL_HOLD, argument_count, arguments);
}

int command_release(int argument_count, char **arguments)
{
    static const struct verb_usage usage = {
        "release", "ID...", 1, -1, "Ask for held jobs to go on.",
        "A job that also waits for others goes on waiting for those.  The same as dropping a file\n"
        "that says `release: ID` into incoming/.\n", no_options};
    return ask_all(&usage, CONTROL_RELEASE, argument_count, arguments);
}
