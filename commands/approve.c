/* commands/approve.c - dlspool approve and refuse: an approver decides about jobs that wait for that
 *
 * Each drops a control file for each job; intake checks that its owner is an approver, and not the job's owner.
 * An approval names the manifest that the job has now, so it is refused if the job is rendered again meanwhile.
 */
#include <stdio.h>

#include "client/decision.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/print.h"
#include "commands/refuse.h"
#include "spool/wants.h"

struct deciding {
    enum control_verb control;
    const char *verb, *reason;
    struct spool spool;
    struct settings settings;
    struct arena *arena;
    bool json;
};

static void tell_decided(const struct deciding *deciding, const struct job_record *record)
{
    if (!deciding->json) {
        struct buffer words = {0};
        wants_describe(record->wants, &words);
        printf("asked to %s %s: %s\n", deciding->verb, record->id.data, words.data);
        buffer_free(&words);
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
    int status = pick_job_for(&deciding->spool, word, deciding->control, &place, &error);
    if (status != STATUS_DONE) {
        refuse_not_found(word, status, &error, deciding->json);
        return status;
    }
    if (view_read(&deciding->spool, &place, deciding->arena, &view) || !view.readable)
        return refuse_gone(&place);
    int result =
        decision_check(&deciding->settings, &view, deciding->control, &error) ||
                decision_drop(&deciding->spool, deciding->arena, &view, deciding->reason, &error)
            ? -1
            : 0;
    if (result)
        refuse_not_found(word, STATUS_FAILED, &error, deciding->json);
    else
        tell_decided(deciding, &view.record);
    return result ? STATUS_FAILED : STATUS_DONE;
}

static int decide_all(struct deciding *deciding, char *const *words, int count)
{
    int status = STATUS_DONE;
    if (open_spool_and_settings(&deciding->spool, &deciding->settings))
        return STATUS_FAILED;
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
    struct error error;
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
    if (decision_check_reason(deciding.reason, &error)) {
        complain("--reason: %s", error.text);
        return STATUS_USAGE;
    }
    return decide_all(&deciding, arguments + 1, operands);
}
