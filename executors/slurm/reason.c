/* executors/slurm/reason.c - explains why a job waits and how one ended
 *
 * Slurm's reasons are those of squeue(1), "JOB REASON CODES".
 */
#include "executors/slurm/reason.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static const struct waiting {
    const char *reason; /* as it is; with a star at the end: all that begin so */
    bool for_ever;
    const char *words;
} waitings[] = {
    {"None", false, "Slurm has not looked at it yet"},
    {"Resources", false, "for resources to become free"},
    {"Priority", false, "behind jobs of higher priority"},
    {"Dependency", false, "for a job that it depends on"},
    {"DependencyNeverSatisfied", true,
     "for a job that it depends on, and that can no longer end as it should"},
    {"BadConstraints", true, "for nodes that do not exist: no node has what it asks for"},
    {"BeginTime", false, "for the time at which it may begin"},
    {"JobHeldUser", false, "because a user holds it at Slurm (scontrol release lets it go)"},
    {"JobHeldAdmin", false, "because an administrator holds it at Slurm"},
    {"JobHoldMaxRequeue", true, "because it was put back into Slurm's queue too often"},
    {"job_requeued_in_held_state", false,
     "because it was put back into Slurm's queue, and is held there"},
    {"launch_failed_requeued_held", false,
     "because it could not be launched, and is held since then"},
    {"JobArrayTaskLimit", false, "for other elements of the array to end"},
    {"Licenses", false, "for licenses to become free"},
    {"ReqNodeNotAvail*", false, "for nodes that are down, drained or reserved"},
    {"NodeDown", false, "for a node that is down"},
    {"Nodes required for job are DOWN*", false, "for nodes that are down, drained or reserved"},
    {"Reservation", false, "for its reservation to begin"},
    {"ReservationDeleted", true, "for a reservation that was deleted"},
    {"PartitionDown", false, "for its partition, which is down"},
    {"PartitionInactive", false, "for its partition, which takes no jobs now"},
    {"PartitionNodeLimit", false,
     "for more nodes than its partition has or allows, or for some that are down"},
    {"PartitionTimeLimit", true, "forever: its time limit is longer than its partition allows"},
    {"PartitionConfig", false, "for its partition to be set up otherwise"},
    {"AccountNotAllowed", true, "forever: its account may not use its partition"},
    {"QOSNotAllowed", true, "forever: its QOS may not be used in its partition or by its account"},
    {"InvalidAccount", true, "forever: its account is not valid, or no longer"},
    {"InvalidQOS", true, "forever: its QOS is not valid, or no longer"},
    {"Prolog", false, "for PrologSlurmctld to end"},
    {"Cleaning", false, "for its last run to be cleaned up"},
    {"BootFail*", false, "for nodes that could not be booted"},
    {"SchedDefer", false, "for the scheduler's next turn"},
    {"Assoc*", false, "for a limit of its account or user"},
    {"QOS*", false, "for a limit of its QOS"},
    {"MaxGRESPerAccount", false, "for a limit of its account"},
    {"BurstBuffer*", false, "for its burst buffer"},
    {"FrontEndDown", false, "for a front end that is down"},
    {"Federation*", false, "for the cluster of the federation that takes it"},
    {"Held by*", false, "because it is held at Slurm"},
    {"user env retrieval failed*", false, "because the environment of its user could not be read"},
};

static bool matches_pattern(struct text reason, const char *pattern)
{
    size_t length = strlen(pattern);
    if (pattern[length - 1] != '*')
        return text_is(reason, pattern);
    return reason.length >= length - 1 && memcmp(reason.data, pattern, length - 1) == 0;
}

static const struct waiting *find_waiting(const struct slurm_record *record)
{
    for (size_t i = 0; i < ARRAY_COUNT(waitings) && record->reason.length; i++)
        if (matches_pattern(record->reason, waitings[i].reason))
            return &waitings[i];
    return NULL;
}

bool slurm_reason_is_launch(const struct slurm_record *record)
{
    /* 22.05 writes it into the description, newer ones as a reason. */
    return record->held && (text_is(record->description, "launch failed requeued held") ||
                            text_is(record->reason, "launch_failed_requeued_held"));
}

bool slurm_reason_waits_for_ever(const struct slurm_record *record)
{
    const struct waiting *known = find_waiting(record);
    return known && known->for_ever;
}

bool slurm_reason_waiting(const struct slurm_record *record, char *buffer, size_t size)
{
    struct error_quote_buffer quoted, described;
    struct text reason = record->reason;
    const struct waiting *known = find_waiting(record);
    buffer[0] = '\0';
    if (!reason.length || text_is(reason, "None"))
        return false;
    bool more = record->description.length && !text_equal(record->description, reason);
    snprintf(buffer, size, "Slurm's job %lld waits %s (%s%s%s)", (long long)record->number,
             known ? known->words : "for a reason of Slurm's",
             error_quote(&quoted, reason.data, reason.length), more ? ": " : "",
             more ? error_quote(&described, record->description.data, record->description.length)
                  : "");
    return true;
}

static const struct ending {
    enum slurm_state state;
    const char *reason;
    int exit_code; /* 0: what Slurm says */
    const char *words;
} endings[] = {
    {SLURM_STATE_TIMEOUT, "TimeLimit", 255, "ran for longer than its time limit"},
    {SLURM_STATE_DEADLINE, "DeadlinePassed", 255, "could not end before its deadline"},
    {SLURM_STATE_NODE_FAIL, "NodeLost", 255, "was lost with a node"},
    {SLURM_STATE_BOOT_FAIL, "NodeLost", 255, "was ended because a node could not be booted"},
    {SLURM_STATE_OUT_OF_MEMORY, "OOMKilled", 128 + SIGKILL,
     "needed more memory than it had asked for, and was killed"},
    {SLURM_STATE_PREEMPTED, "Preempted", 255, "was preempted by a job of higher priority"},
    {SLURM_STATE_CANCELLED, "Cancelled", 255, "was cancelled at Slurm"},
    {SLURM_STATE_REVOKED, "Cancelled", 255, "was taken away by another cluster of the federation"},
};

/* Reasons of jobs that failed before any of their programs ran. */
static const struct launch {
    const char *reason, *ours, *words;
} launches[] = {
    {"JobLaunchFailure", "StartError", "could not be launched on its node"},
    {"launch*", "StartError", "could not be launched on its node"},
    {"SystemFailure", "NodeLost", "failed through a fault of Slurm's or of a node"},
    {"BadConstraints", "NeverFits", "asked for nodes that do not exist"},
    {"OutOfMemory", "OOMKilled", "needed more memory than it had asked for, and was killed"},
    {"TimeLimit", "TimeLimit", "ran for longer than its time limit"},
    {"NodeDown", "NodeLost", "was lost with a node"},
    {"InactiveLimit", "TimeLimit", "was ended because it was inactive for too long"},
};

const char *slurm_reason_ended(const struct slurm_record *record, bool begun, int *exit_code,
                               char *buffer, size_t size)
{
    const char *where = record->nodes.length ? " on " : "";
    struct error_quote_buffer nodes;
    const char *quoted =
        record->nodes.length ? error_quote(&nodes, record->nodes.data, record->nodes.length) : "";
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        const struct ending *ending = &endings[i];
        if (ending->state != record->state)
            continue;
        *exit_code = ending->exit_code;
        snprintf(buffer, size, "Slurm's job %lld%s%s %s", (long long)record->number, where, quoted,
                 ending->words);
        return ending->reason;
    }
    *exit_code = record->exit_code ? record->exit_code : 255;
    for (size_t i = 0; i < ARRAY_COUNT(launches); i++) {
        /* 22.05 says of a script that was ended by a signal that it could not be launched. */
        if (!matches_pattern(record->reason, launches[i].reason) ||
            (begun && strcmp(launches[i].ours, "StartError") == 0))
            continue;
        snprintf(buffer, size, "Slurm's job %lld%s%s %s (%s)", (long long)record->number, where,
                 quoted, launches[i].words, launches[i].reason);
        return launches[i].ours;
    }
    if (!record->exit_code) {
        snprintf(buffer, size,
                 "Slurm's job %lld%s%s failed, and Slurm does not say with what exit code",
                 (long long)record->number, where, quoted);
        return "Exited";
    }
    const char *name = *exit_code > 128 ? sigabbrev_np(*exit_code - 128) : NULL;
    if (name)
        snprintf(buffer, size,
                 "the batch script of Slurm's job %lld%s%s was ended by signal %d (SIG%s)",
                 (long long)record->number, where, quoted, *exit_code - 128, name);
    else
        snprintf(buffer, size, "the batch script of Slurm's job %lld%s%s ended with exit code %d",
                 (long long)record->number, where, quoted, *exit_code);
    return "Exited";
}

const char *slurm_reason_words(const char *reason)
{
    static const struct {
        const char *reason, *words;
    } known[] = {
        {"TimeLimit", "ran for longer than its time limit"},
        {"OOMKilled", "needed more memory than it had asked for, and was killed"},
        {"LaunchFailed", "was never started: Slurm did not launch it"},
        {"NodeRefused", "was not started on the node that it was given to"},
        {"NodeLost", "had begun, and shows no more signs of life"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(known); i++)
        if (strcmp(reason, known[i].reason) == 0)
            return known[i].words;
    return NULL;
}
