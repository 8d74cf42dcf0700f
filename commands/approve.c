/* commands/approve.c - dlspool approve and refuse: an approver decides about jobs that wait for that
 *
 * Each drops a control file for each job; intake checks that its owner is an approver, and not the job's owner.
 * An approval names the manifest that the job has now, so it is refused if the job is rendered again meanwhile.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "client/drop_file.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/print.h"
#include "commands/refuse.h"
#include "client/view.h"
#include "stages/shared/control.h"
#include "stages/users.h"

struct deciding {
    enum control_verb control;
    const char *verb, *reason;
    struct spool spool;
    struct settings settings;
    struct arena *arena;
    bool json;
};

/* Would intake refuse it?  -1 and a sentence. */
static int check_decision(const struct deciding *deciding, const struct job_view *view,
                          struct error *error)
{
    struct user user;
    users_find(getuid(), &user);
    return !control_allows(deciding->control, &view->place, &view->record, error) ||
                   approval_may_decide(&deciding->settings, &view->record, getuid(), user.name,
                                       error)
               ? -1
               : 0;
}

/* The control file.  A refusal is written as JSON, which keeps any words as they are. */
static int write_request(const struct deciding *deciding, const struct job_record *record,
                         struct buffer *line, struct error *error)
{
    struct arena *arena = deciding->arena;
    struct value *tree = value_object(arena), *parts = value_object(arena);
    if (deciding->control == CONTROL_APPROVE) {
        buffer_printf(line, "approve: {job: %s, manifest: %s}\n", record->id.data,
                      record->first_manifest_sha256.data);
        return 0;
    }
    value_put(arena, parts, "job", value_text(arena, record->id));
    value_put(arena, parts, "text", value_string(arena, deciding->reason));
    value_put(arena, tree, "refuse", parts);
    int result = json_write(line, tree, false, error);
    buffer_add_byte(line, '\n');
    return result;
}

static void tell_decided(const struct deciding *deciding, const struct job_record *record)
{
    if (!deciding->json) {
        printf("asked to %s %s: %s\n", deciding->verb, record->id.data, record->wants.data);
        return;
    }
    struct value *tree = value_object(deciding->arena);
    value_put(deciding->arena, tree, "id", value_text(deciding->arena, record->id));
    value_put(deciding->arena, tree, "asked", value_string(deciding->arena, deciding->verb));
    value_put(deciding->arena, tree, "wants", value_text(deciding->arena, record->wants));
    print_json(tree);
}

/* Drop the decision about one job.  Returns the status, after a complaint on failure. */
static int decide_about(struct deciding *deciding, const char *word)
{
    struct job_place place;
    struct job_view view;
    struct error error;
    struct buffer line = {0};
    char name[NAME_MAX + 1];
    int status = pick_job_for(&deciding->spool, word, deciding->control, &place, &error);
    if (status != STATUS_DONE) {
        refuse_not_found(word, status, &error, deciding->json);
        return status;
    }
    if (view_read(&deciding->spool, &place, deciding->arena, &view) || !view.readable)
        return refuse_gone(&place);
    bool approves = deciding->control == CONTROL_APPROVE;
    int result = check_decision(deciding, &view, &error);
    if (!result)
        result = write_request(deciding, &view.record, &line, &error);
    if (!result)
        result = drop_file(&deciding->spool, deciding->verb, approves ? ".yaml" : ".json",
                           buffer_text(&line), name, &error);
    if (result)
        refuse_not_found(word, STATUS_FAILED, &error, deciding->json);
    else
        tell_decided(deciding, &view.record);
    buffer_free(&line);
    return result ? STATUS_FAILED : STATUS_DONE;
}

static int decide_all(struct deciding *deciding, char *const *words, int count)
{
    struct error error;
    int status = STATUS_DONE;
    if (open_spool(&deciding->spool))
        return STATUS_FAILED;
    if (settings_read(&deciding->settings, &deciding->spool, &error)) {
        complain("%s", error.text);
        spool_close(&deciding->spool);
        return STATUS_FAILED;
    }
    deciding->arena = arena_new();
    for (int i = 0; i < count; i++) {
        int one = decide_about(deciding, words[i]);
        status = one == STATUS_DONE ? status : one;
    }
    arena_free(deciding->arena);
    settings_free(&deciding->settings);
    spool_close(&deciding->spool);
    return status;
}

#define WHO                                                                                         \
    "Only those whom `approvers` of dlspool.yaml names may, and nobody about a job of their own.\n" \
    "What waits for you: dlspool list --approvals.  "

int command_approve(int argument_count, char **arguments)
{
    struct deciding deciding = {.control = CONTROL_APPROVE, .verb = "approve"};
    const struct option_spec options[] = {
        {"json", 'j', OPTION_FLAG, &deciding.json, NULL, "as JSON, an object for each job"}, {0}};
    const struct verb_usage usage = {
        "approve",
        "ID...",
        1,
        -1,
        "Approve jobs that wait for that.",
        WHO "The same as dropping a file that says\n`approve: ID` into incoming/.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    return decide_all(&deciding, arguments + 1, operands);
}

int command_refuse(int argument_count, char **arguments)
{
    struct deciding deciding = {.control = CONTROL_REFUSE, .verb = "refuse"};
    const struct option_spec options[] = {
        {"reason", 0, OPTION_TEXT, &deciding.reason, "TEXT", "why, for the jobs' owners"},
        {"json", 'j', OPTION_FLAG, &deciding.json, NULL, "as JSON, an object for each job"},
        {0}};
    const struct verb_usage usage = {
        "refuse",
        "ID...",
        1,
        -1,
        "Refuse to approve jobs that wait for that: they end in failed/.",
        WHO
        "The same as dropping a file that says\n`refuse: {job: ID, text: WHY}` into incoming/.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    const char *reason = deciding.reason;
    if (!reason || !*reason || strlen(reason) > CONTROL_WORDS_LONGEST || strchr(reason, '\n')) {
        complain("--reason: found %zu bytes, expected one line of 1 to %d that says why",
                 reason ? strlen(reason) : 0, CONTROL_WORDS_LONGEST);
        return STATUS_USAGE;
    }
    return decide_all(&deciding, arguments + 1, operands);
}
