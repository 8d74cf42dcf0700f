/* executors/slurm/assess.c - a job's state, from its records and its files
 *
 *   waiting at Slurm                        WAITING; FAILED when it would wait for ever
 *   running                                 RUNNING, unless the rule of completion has decided
 *                                           while some tasks still run
 *   over, and the files tell of all tasks   what they say, by the rule of completion
 *   over, and they do not                   what Slurm says
 *
 * A decision that is made before all tasks have ended is written down: the remaining tasks are then
 * stopped, and how they end does not count.
 */
#include "executors/slurm/assess.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "executors/slurm/assess_parts.h"
#include "executors/slurm/files.h"
#include "executors/slurm/reason.h"

enum {
    LOOK_INTERVAL = 1000,      /* milliseconds between two looks at files while tasks run */
    IDLE_LOOK_INTERVAL = 60000 /* ... where Slurm alone says how the job ends */
};

static const int64_t silence_patience = 15000; /* milliseconds */

/* ---- one job that is over ---- */

/* Slurm reports success, and the job left no trace in its files.  They may arrive late over the
 * network; or the script that ran was that of another job, which had this number before slurmctld lost
 * it. */
static void doubt_success(struct slurm_assessment *assessment)
{
    struct slurm_job *job = assessment->job;
    struct job_poll *poll = assessment->poll;
    int64_t now = clock_elapsed();
    if (!job->silent)
        job->silent = now ? now : 1;
    poll->phase = now - job->silent < silence_patience ? PHASE_UNKNOWN : PHASE_VANISHED;
    snprintf(poll->detail, sizeof(poll->detail),
             "Slurm says that the job ended well, and it has left no trace in its directory");
}

/* Decide how a job that is over has ended.  What the tasks and the script wrote goes before what
 * Slurm says, since Slurm knows only the script's end; but a time limit and the loss of a node
 * only Slurm tells. */
static void judge_ended(struct slurm_assessment *assessment)
{
    struct slurm_job *job = assessment->job;
    struct job_poll *poll = assessment->poll;
    const struct slurm_record *leader =
        slurm_assess_records_read_log(assessment, assessment->leader);
    struct completion_outcome outcome = slurm_assess_tasks_outcome(assessment);
    int exit_code = job->ended ? job->exit_code : 255;
    bool good = leader ? leader->state == SLURM_STATE_COMPLETED && !leader->exit_code
                       : job->ended && job->exit_code == 0;
    /* The script's own exit code counts only when no task failed. */
    if (outcome.state == COMPLETION_SUCCEEDED &&
        (good || (job->ended && job->exit_code == 0) || slurm_assess_tasks_any_failed(poll))) {
        poll->phase = PHASE_SUCCEEDED;
    } else if (job->timed_out) {
        slurm_assess_tasks_fail_job(poll, 255, "TimeLimit");
        snprintf(poll->detail, sizeof(poll->detail), "the job ran for longer than its time limit");
    } else if (leader && leader->state != SLURM_STATE_FAILED &&
               leader->state != SLURM_STATE_COMPLETED) {
        const char *reason =
            slurm_reason_ended(leader, job->begun, &exit_code, poll->detail, sizeof(poll->detail));
        slurm_assess_tasks_fail_job(poll, exit_code, reason);
    } else if (outcome.state == COMPLETION_FAILED && outcome.decider) {
        slurm_assess_tasks_fail_by(poll, outcome.decider);
    } else if (job->end_reason[0]) {
        slurm_assess_tasks_fail_job(poll, exit_code, job->end_reason);
        snprintf(poll->detail, sizeof(poll->detail), "the job %s",
                 slurm_reason_words(job->end_reason));
    } else if (good && !job->begun && !job->ended) {
        doubt_success(assessment);
        return;
    } else if (good) {
        poll->phase = PHASE_SUCCEEDED;
        exit_code = 0;
    } else if (leader) {
        const char *reason =
            slurm_reason_ended(leader, job->begun, &exit_code, poll->detail, sizeof(poll->detail));
        slurm_assess_tasks_fail_job(
            poll, exit_code,
            job->begun || strcmp(reason, "Exited") != 0 || job->ended ? reason : "StartError");
    } else {
        slurm_assess_tasks_fail_job(poll, exit_code, "Exited");
        snprintf(poll->detail, sizeof(poll->detail), "the batch script ended with exit code %d",
                 exit_code);
    }
    slurm_assess_tasks_end(poll, poll->phase == PHASE_SUCCEEDED ? 0 : exit_code,
                           poll->phase == PHASE_SUCCEEDED ? "Exited" : poll->reason);
}

/* The job had begun, and Slurm shows it as waiting: its node failed (22.05 requeues jobs although it
 * was asked not to), or slurmctld restarted with an older state.  In the latter case it may still run,
 * and even succeed, so it counts as running as long as its heartbeat goes on.  The waiting job is left
 * at Slurm: if it is started, it ends as the first run does.  Once the heartbeat has stopped, the batch
 * script would not run the program again, and the job has failed. */
static void assess_requeued(struct slurm_assessment *assessment, const struct slurm_record *record)
{
    struct job_poll *poll = assessment->poll;
    if (assessment->job->ended && assessment->job->exit_code == 0) {
        assessment->leader = NULL; /* judge by its files alone */
        judge_ended(assessment);
        return;
    }
    if (!assessment->job->ended &&
        slurm_files_heartbeat(assessment->slurm, assessment->job, NULL)) {
        slurm_assess_tasks_run(assessment);
        if (poll->phase == PHASE_RUNNING)
            snprintf(poll->detail, sizeof(poll->detail),
                     "Slurm has put job %lld back into its queue, and it still runs",
                     (long long)record->number);
        return;
    }
    slurm_assess_tasks_fail_job(poll, 255, "NodeLost");
    snprintf(poll->detail, sizeof(poll->detail),
             "Slurm's job %lld had begun, and was put back into Slurm's queue: its node failed, "
             "it was preempted or requeued, or slurmctld has crashed",
             (long long)record->number);
    assessment->need->decide = true;
}

/* Decide what becomes of a job that waits in Slurm's queue: it is released when it is held,
 * fails when it cannot be launched or never fits, and waits otherwise. */
static void assess_waiting(struct slurm_assessment *assessment, const struct slurm_record *record)
{
    struct job_poll *poll = assessment->poll;
    const struct slurm_job *job = assessment->job;
    poll->phase = PHASE_WAITING;
    if (job->begun && !job->manifest->array_count && !slurm_manifest_may_requeue(job->manifest)) {
        assess_requeued(assessment, record);
        return;
    }
    if (!record->released && record->held) {
        assessment->need->release = record;
        return;
    }
    /* Slurm could not launch it on a node, and holds it.  Once released, it goes to another node,
     * since Slurm has drained that one.  Its files prevent a second run. */
    bool failed = slurm_reason_is_launch(record);
    if (failed && record->restarts <= SLURM_LAUNCHES_MOST) {
        slurm_reason_waiting(record, poll->detail, sizeof(poll->detail));
        assessment->need->release = record;
        return;
    }
    if (slurm_reason_waiting(record, poll->detail, sizeof(poll->detail)) && failed) {
        slurm_assess_tasks_fail_job(poll, 255, "LaunchFailed");
        assessment->need->decide = true;
    } else if (slurm_reason_waits_for_ever(record)) {
        slurm_assess_tasks_fail_job(poll, 255, "NeverFits");
        assessment->need->decide = true;
    } else if (record->restarts && !poll->detail[0]) {
        snprintf(poll->detail, sizeof(poll->detail),
                 "Slurm has put job %lld back into its queue (%d times)", (long long)record->number,
                 record->restarts);
    }
}

/* Decide by the files alone; what Slurm reports later changes nothing. */
static void assess_by_files(struct slurm_assessment *assessment)
{
    assessment->leader = NULL;
    judge_ended(assessment);
    assessment->need->decide = true;
}

static void assess_one(struct slurm_assessment *assessment)
{
    struct job_poll *poll = assessment->poll;
    const struct slurm_record *leader = assessment->leader;
    bool completing = assessment->job->ended && (leader->state == SLURM_STATE_COMPLETING ||
                                                 leader->state == SLURM_STATE_RUNNING);
    assessment->over = slurm_record_is_over(leader->state);
    slurm_assess_records_take_times(poll, leader, assessment->over);
    if (assessment->job->decided)
        slurm_assess_tasks_repeat(assessment);
    else if (assessment->over)
        judge_ended(assessment);
    else if (leader->state == SLURM_STATE_WAITING)
        assess_waiting(assessment, leader);
    else if (leader->state == SLURM_STATE_UNKNOWN)
        poll->phase = PHASE_UNKNOWN;
    else if (slurm_assess_tasks_linger(assessment->job, completing))
        assess_by_files(assessment);
    else
        slurm_assess_tasks_run(assessment);
}

/* ---- all ---- */

static bool has_all_addresses(const struct slurm_job *job)
{
    bool all = true;
    for (size_t i = 0; i < job->task_count; i++)
        all = all && job->tasks[i].address;
    return all;
}

bool slurm_assess_needs_files(const struct slurm_job *job, const struct slurm_records *records)
{
    bool over = records->count == 0, waiting = records->count > 0, completing = false;
    if (!job->known)
        return false;
    for (size_t i = 0; i < records->count; i++) {
        over = over || slurm_record_is_over(records->items[i].state);
        waiting = waiting && records->items[i].state == SLURM_STATE_WAITING;
        completing = completing || records->items[i].state == SLURM_STATE_COMPLETING;
    }
    if (over ||
        records->count > (job->manifest->array_count ? (size_t)-1 : job->manifest->component_count))
        return true;
    /* A waiting job may have begun before, and been requeued. */
    if (waiting)
        return !job->looked || job->running || job->begun || records->items[0].restarts;
    /* What runs may be a record that came back to life (slurm_assess_tasks_linger). */
    int64_t interval = job->task_count > 1 || job->manifest->array_count || completing ||
                               (job->manifest->listens && !has_all_addresses(job))
                           ? LOOK_INTERVAL
                           : IDLE_LOOK_INTERVAL;
    if (interval == IDLE_LOOK_INTERVAL && !job->looked)
        return job->running && clock_elapsed() - job->running >= interval;
    return !job->looked || clock_elapsed() - job->looked >= interval;
}

/* Report what Slurm says of a job whose directory was lost, so that its tasks are not known. */
static void assess_unknown(struct slurm_assessment *assessment)
{
    struct job_poll *poll = assessment->poll;
    const struct slurm_record *leader = assessment->leader;
    slurm_assess_records_take_times(poll, leader, slurm_record_is_over(leader->state));
    if (leader->state == SLURM_STATE_COMPLETED) {
        poll->phase = PHASE_SUCCEEDED;
    } else if (slurm_record_is_over(leader->state)) {
        int exit_code;
        const char *reason =
            slurm_reason_ended(leader, true, &exit_code, poll->detail, sizeof(poll->detail));
        slurm_assess_tasks_fail_job(poll, exit_code, reason);
    } else {
        poll->phase = leader->state == SLURM_STATE_WAITING ? PHASE_WAITING : PHASE_RUNNING;
    }
}

/* Tell under which number Slurm has the job, and in which state: of an array, what runs goes before what waits. */
static void tell_scheduler(const struct slurm_record *leader, const struct slurm_records *records,
                           struct job_poll *poll)
{
    struct text word = leader->state_word;
    for (size_t i = 0; i < records->count; i++)
        if (records->items[i].state == SLURM_STATE_RUNNING &&
            slurm_record_head(&records->items[i]) == slurm_record_head(leader))
            word = records->items[i].state_word;
    snprintf(poll->scheduler_id, sizeof(poll->scheduler_id), "%lld",
             (long long)slurm_record_head(leader));
    snprintf(poll->scheduler_state, sizeof(poll->scheduler_state), "%.*s", (int)word.length,
             word.length ? word.data : "");
}

void slurm_assess(struct slurm *slurm, struct arena *arena, struct slurm_job *job,
                  const struct slurm_records *records, struct job_poll *poll,
                  struct slurm_need *need)
{
    struct slurm_assessment assessment = {
        .slurm = slurm, .arena = arena, .job = job, .records = records, .poll = poll, .need = need};
    *need = (struct slurm_need){0};
    assessment.leader = slurm_assess_records_choose(job, records);
    if (assessment.leader)
        tell_scheduler(assessment.leader, records, poll);
    if (assessment.leader && assessment.leader->state == SLURM_STATE_RUNNING && !job->running)
        job->running = clock_elapsed() ? clock_elapsed() : 1;
    if (!job->known) {
        if (assessment.leader)
            assess_unknown(&assessment);
        return;
    }
    if (job->manifest->array_count) {
        const struct slurm_record *waiting = slurm_assess_array(&assessment);
        if (waiting)
            assess_waiting(&assessment, waiting);
        return;
    }
    slurm_assess_tasks_fill(&assessment);
    assessment.over = !records->count;
    if (assessment.leader) {
        slurm_assess_records_end_others(&assessment, assessment.leader);
        assess_one(&assessment);
    } else if (job->decided) {
        slurm_assess_tasks_repeat(&assessment);
    } else {
        judge_ended(&assessment);
    }
    if (poll->ended && poll->ended < poll->started)
        poll->ended = poll->started;
}