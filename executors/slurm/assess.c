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

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "executors/slurm/files.h"
#include "executors/slurm/reason.h"

enum {
    LOOK_INTERVAL = 1000,       /* milliseconds between two looks at files while tasks run */
    IDLE_LOOK_INTERVAL = 60000, /* ... where Slurm alone says how the job ends */
    LAUNCHES_MOST = 3           /* launches that may fail before the job has */
};

static const int64_t silence_patience = 15000; /* milliseconds */
static const int64_t completing_patience = 60000;

struct assessment {
    struct slurm *slurm;
    struct arena *arena;
    struct slurm_job *job;
    const struct slurm_records *records;
    struct job_poll *poll;
    struct slurm_need *need;
    const struct slurm_record *leader; /* not of an array */
    size_t end_capacity;               /* of need->end */
    bool over;                         /* nothing of it is left at Slurm */
};

/* ---- which record ---- */

static bool is_part(const struct slurm_record *record)
{
    return record->het_number && record->het_offset > 0;
}

static bool is_begun(const struct slurm_job *job, const struct slurm_record *record)
{
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)record->number);
    return job->begun_as[0] && strcmp(job->begun_as, number) == 0;
}

/* Rank records of the same token: the job that runs the program, then one that was released. */
static int rank_record(const struct slurm_job *job, const struct slurm_record *record)
{
    if (is_begun(job, record))
        return 3;
    if (record->released)
        return record->state == SLURM_STATE_CANCELLED ? 1 : 2;
    return 0;
}

static const struct slurm_record *choose_record(const struct slurm_job *job,
                                                const struct slurm_records *records)
{
    const struct slurm_record *best = NULL;
    for (size_t i = 0; i < records->count; i++) {
        const struct slurm_record *record = &records->items[i];
        if (!is_part(record) && (!best || rank_record(job, record) > rank_record(job, best)))
            best = record;
    }
    return best;
}

/* Have the record cancelled, `why` it must not run goes on after "which". */
static void add_surplus(struct assessment *assessment, const struct slurm_record *record,
                        const char *why)
{
    struct slurm_need *need = assessment->need;
    need->end = arena_grow(assessment->arena, need->end, need->end_count, &assessment->end_capacity,
                           sizeof(*need->end));
    need->end[need->end_count++] = (struct slurm_surplus){record, why};
}

/* Have the waiting duplicates of the chosen job cancelled.  One that was released is cancelled only if
 * the chosen one was released, too; otherwise it may be the one that runs. */
static void end_others(struct assessment *assessment, const struct slurm_record *chosen)
{
    const struct slurm_records *records = assessment->records;
    for (size_t i = 0; i < records->count; i++) {
        const struct slurm_record *record = &records->items[i];
        if (slurm_record_head(record) == slurm_record_head(chosen) || is_part(record) ||
            slurm_record_is_over(record->state))
            continue;
        if (record->array_number && record->array_index >= 0)
            continue; /* it is cancelled with its array's own record, or runs */
        if (record->state == SLURM_STATE_WAITING && (!record->released || chosen->released))
            add_surplus(assessment, record, "was submitted twice and never released");
    }
}

/* ---- tasks ---- */

static void fill_tasks(struct assessment *assessment)
{
    struct slurm_job *job = assessment->job;
    struct job_poll *poll = assessment->poll;
    poll->tasks = arena_allocate(assessment->arena, (job->task_count + 1) * sizeof(*poll->tasks));
    poll->task_count = job->task_count;
    for (size_t i = 0; i < job->task_count; i++) {
        const struct slurm_task *task = &job->tasks[i];
        struct task_state *state = &poll->tasks[i];
        snprintf(state->role, sizeof(state->role), "%.*s", (int)task->role.length, task->role.data);
        state->index = task->index;
        state->ended = task->ended;
        state->waits = job->manifest->array_count && !task->ended && !task->begun;
        state->exit_code = task->exit_code;
        state->killed = executor_task_is_killed(poll, task->index);
        memcpy(state->image, task->image, sizeof(state->image));
        snprintf(state->address, sizeof(state->address), "%s", task->address ? task->address : "");
        snprintf(state->reason, sizeof(state->reason), "%s",
                 task->reason[0]                  ? task->reason
                 : task->timed_out && task->ended ? "TimeLimit"
                 : task->ended                    ? "Exited"
                                                  : "");
    }
}

/* Mark all tasks as ended, whatever their files say. */
static void end_tasks(struct job_poll *poll, int exit_code, const char *reason)
{
    for (size_t i = 0; i < poll->task_count; i++) {
        struct task_state *task = &poll->tasks[i];
        if (task->ended)
            continue;
        task->ended = true;
        task->exit_code = exit_code;
        snprintf(task->reason, sizeof(task->reason), "%s", reason);
    }
}

static void fail_poll(struct job_poll *poll, int exit_code, const char *reason)
{
    poll->phase = PHASE_FAILED;
    poll->exit_code = exit_code;
    snprintf(poll->reason, sizeof(poll->reason), "%s", reason);
}

/* What a reason that is not the program's doing says of a task, or of the job; NULL: the reason's word is all. */
static const char *words_of_reason(const char *reason)
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

static void fail_by_task(struct job_poll *poll, const struct task_state *task)
{
    const char *words;
    const char *name = task->exit_code > 128 ? sigabbrev_np(task->exit_code - 128) : NULL;
    fail_poll(poll, task->exit_code, task->reason[0] ? task->reason : "Exited");
    if ((words = words_of_reason(poll->reason)) != NULL)
        snprintf(poll->detail, sizeof(poll->detail), "%s-%d %s", task->role, task->index, words);
    else if (strcmp(poll->reason, "Exited") != 0)
        snprintf(poll->detail, sizeof(poll->detail), "%s-%d ended at Slurm: %s", task->role,
                 task->index, poll->reason);
    else if (name)
        snprintf(poll->detail, sizeof(poll->detail), "%s-%d was ended by signal %d (SIG%s)",
                 task->role, task->index, task->exit_code - 128, name);
    else
        snprintf(poll->detail, sizeof(poll->detail), "%s-%d ended with exit code %d", task->role,
                 task->index, task->exit_code);
}

static struct completion_outcome judge_completion(const struct assessment *assessment)
{
    const struct job_poll *poll = assessment->poll;
    return completion_judge(assessment->job->rule, poll->tasks, poll->task_count, poll->task_count);
}

static bool all_ended(const struct job_poll *poll)
{
    for (size_t i = 0; i < poll->task_count; i++)
        if (!poll->tasks[i].ended)
            return false;
    return poll->task_count > 0;
}

static bool any_failed(const struct job_poll *poll)
{
    for (size_t i = 0; i < poll->task_count; i++)
        if (poll->tasks[i].ended && poll->tasks[i].exit_code != 0)
            return true;
    return false;
}

/* Has the completion rule decided while the job runs?  When all tasks have ended, Slurm will soon say
 * so itself. */
static void judge_running(struct assessment *assessment)
{
    struct job_poll *poll = assessment->poll;
    poll->phase = PHASE_RUNNING;
    if (all_ended(poll))
        return;
    struct completion_outcome outcome = judge_completion(assessment);
    if (outcome.state == COMPLETION_RUNNING)
        return;
    if (outcome.state == COMPLETION_FAILED && outcome.decider)
        fail_by_task(poll, outcome.decider);
    else
        poll->phase = PHASE_SUCCEEDED;
    assessment->need->decide = true;
}

/* Report an earlier decision, with the tasks as they are now. */
static void repeat_decision(struct assessment *assessment)
{
    const struct slurm_job *job = assessment->job;
    struct job_poll *poll = assessment->poll;
    poll->phase = job->phase;
    poll->exit_code = job->decided_code;
    memcpy(poll->reason, job->reason, sizeof(poll->reason));
    memcpy(poll->detail, job->detail, sizeof(poll->detail));
    if (assessment->over)
        end_tasks(poll, 128 + SIGTERM, "Cancelled");
}

/* ---- one job that is over ---- */

/* Slurm reports success, and the job left no trace in its files.  They may arrive late over the
 * network; or the script that ran was that of another job, which had this number before slurmctld lost
 * it. */
static void doubt_success(struct assessment *assessment)
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
static void judge_ended(struct assessment *assessment)
{
    struct slurm_job *job = assessment->job;
    struct job_poll *poll = assessment->poll;
    const struct slurm_record *leader = assessment->leader;
    struct completion_outcome outcome = judge_completion(assessment);
    int exit_code = job->ended ? job->exit_code : 255;
    bool good = leader ? leader->state == SLURM_STATE_COMPLETED && !leader->exit_code
                       : job->ended && job->exit_code == 0;
    /* The script's own exit code counts only when no task failed. */
    if (outcome.state == COMPLETION_SUCCEEDED &&
        (good || (job->ended && job->exit_code == 0) || any_failed(poll))) {
        poll->phase = PHASE_SUCCEEDED;
    } else if (job->timed_out) {
        fail_poll(poll, 255, "TimeLimit");
        snprintf(poll->detail, sizeof(poll->detail), "the job ran for longer than its time limit");
    } else if (leader && leader->state != SLURM_STATE_FAILED &&
               leader->state != SLURM_STATE_COMPLETED) {
        const char *reason =
            slurm_reason_ended(leader, job->begun, &exit_code, poll->detail, sizeof(poll->detail));
        fail_poll(poll, exit_code, reason);
    } else if (outcome.state == COMPLETION_FAILED && outcome.decider) {
        fail_by_task(poll, outcome.decider);
    } else if (job->end_reason[0]) {
        fail_poll(poll, exit_code, job->end_reason);
        snprintf(poll->detail, sizeof(poll->detail), "the job %s",
                 words_of_reason(job->end_reason));
    } else if (good && !job->begun && !job->ended) {
        doubt_success(assessment);
        return;
    } else if (good) {
        poll->phase = PHASE_SUCCEEDED;
        exit_code = 0;
    } else if (leader) {
        const char *reason =
            slurm_reason_ended(leader, job->begun, &exit_code, poll->detail, sizeof(poll->detail));
        fail_poll(poll, exit_code,
                  job->begun || strcmp(reason, "Exited") != 0 || job->ended ? reason
                                                                            : "StartError");
    } else {
        fail_poll(poll, exit_code, "Exited");
        snprintf(poll->detail, sizeof(poll->detail), "the batch script ended with exit code %d",
                 exit_code);
    }
    end_tasks(poll, poll->phase == PHASE_SUCCEEDED ? 0 : exit_code,
              poll->phase == PHASE_SUCCEEDED ? "Exited" : poll->reason);
}

static void take_times(struct job_poll *poll, const struct slurm_record *record, bool over)
{
    if (record->state != SLURM_STATE_WAITING && record->started &&
        (!poll->started || record->started < poll->started))
        poll->started = record->started;
    if (record->state != SLURM_STATE_WAITING && record->nodes.length && !poll->node[0])
        snprintf(poll->node, sizeof(poll->node), "%.*s", (int)record->nodes.length,
                 record->nodes.data);
    if (over && record->ended > poll->ended)
        poll->ended = record->ended;
    if (record->state == SLURM_STATE_WAITING || !record->started)
        return;
    int nodes = slurm_record_count_nodes(record->nodes);
    int64_t end = over ? record->ended : clock_now();
    poll->nodes = nodes > poll->nodes ? nodes : poll->nodes;
    poll->task_time += end > record->started ? end - record->started : 0;
}

static bool may_be_requeued(const struct slurm_manifest *manifest)
{
    const struct value *requeue = slurm_manifest_property(&manifest->job, "requeue");
    return requeue && requeue->boolean;
}

/* The job had begun, and Slurm shows it as waiting: its node failed (22.05 requeues jobs although it
 * was asked not to), or slurmctld restarted with an older state.  In the latter case it may still run,
 * and even succeed, so it counts as running as long as its heartbeat goes on.  The waiting job is left
 * at Slurm: if it is started, it ends as the first run does.  Once the heartbeat has stopped, the batch
 * script would not run the program again, and the job has failed. */
static void assess_requeued(struct assessment *assessment, const struct slurm_record *record)
{
    struct job_poll *poll = assessment->poll;
    if (assessment->job->ended && assessment->job->exit_code == 0) {
        assessment->leader = NULL; /* judge by its files alone */
        judge_ended(assessment);
        return;
    }
    if (!assessment->job->ended &&
        slurm_files_heartbeat(assessment->slurm, assessment->job, NULL)) {
        judge_running(assessment);
        if (poll->phase == PHASE_RUNNING)
            snprintf(poll->detail, sizeof(poll->detail),
                     "Slurm has put job %lld back into its queue, and it still runs",
                     (long long)record->number);
        return;
    }
    fail_poll(poll, 255, "NodeLost");
    snprintf(poll->detail, sizeof(poll->detail),
             "Slurm's job %lld had begun, and was put back into Slurm's queue: its node failed, "
             "it was preempted or requeued, or slurmctld has crashed",
             (long long)record->number);
    assessment->need->decide = true;
}

/* Decide what becomes of a job that waits in Slurm's queue: it is released when it is held,
 * fails when it cannot be launched or never fits, and waits otherwise. */
static void assess_waiting(struct assessment *assessment, const struct slurm_record *record)
{
    struct job_poll *poll = assessment->poll;
    const struct slurm_job *job = assessment->job;
    poll->phase = PHASE_WAITING;
    if (job->begun && !job->manifest->array_count && !may_be_requeued(job->manifest)) {
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
    if (failed && record->restarts <= LAUNCHES_MOST) {
        slurm_reason_waiting(record, poll->detail, sizeof(poll->detail));
        assessment->need->release = record;
        return;
    }
    if (slurm_reason_waiting(record, poll->detail, sizeof(poll->detail)) && failed) {
        fail_poll(poll, 255, "LaunchFailed");
        assessment->need->decide = true;
    } else if (slurm_reason_waits_for_ever(record)) {
        fail_poll(poll, 255, "NeverFits");
        assessment->need->decide = true;
    } else if (record->restarts && !poll->detail[0]) {
        snprintf(poll->detail, sizeof(poll->detail),
                 "Slurm has put job %lld back into its queue (%d times)", (long long)record->number,
                 record->restarts);
    }
}

/* A node that is down, or a process that cannot be killed, can keep a job COMPLETING for hours, and a slurmctld
 * that restarted with an older state has a job RUNNING until its time limit that has no process.  True when that
 * has lasted for completing_patience, while its files say that it has ended. */
static bool completes_too_long(struct slurm_job *job, bool completing)
{
    int64_t now = clock_elapsed();
    if (!completing)
        job->completing = 0;
    else if (!job->completing)
        job->completing = now ? now : 1;
    return completing && now - job->completing >= completing_patience;
}

/* Decide by the files alone; what Slurm reports later changes nothing. */
static void assess_by_files(struct assessment *assessment)
{
    assessment->leader = NULL;
    judge_ended(assessment);
    assessment->need->decide = true;
}

static void assess_one(struct assessment *assessment)
{
    struct job_poll *poll = assessment->poll;
    const struct slurm_record *leader = assessment->leader;
    bool completing = assessment->job->ended && (leader->state == SLURM_STATE_COMPLETING ||
                                                 leader->state == SLURM_STATE_RUNNING);
    assessment->over = slurm_record_is_over(leader->state);
    take_times(poll, leader, assessment->over);
    if (assessment->job->decided)
        repeat_decision(assessment);
    else if (assessment->over)
        judge_ended(assessment);
    else if (leader->state == SLURM_STATE_WAITING)
        assess_waiting(assessment, leader);
    else if (leader->state == SLURM_STATE_UNKNOWN)
        poll->phase = PHASE_UNKNOWN;
    else if (completes_too_long(assessment->job, completing))
        assess_by_files(assessment);
    else
        judge_running(assessment);
}

/* ---- an array ---- */

struct elements {
    const struct slurm_record **of;  /* each element's own record, or NULL */
    const struct slurm_record *rest; /* of those that have not begun, or NULL */
    bool rest_is_cut; /* its list is: a client library of Slurm's cuts it at some length */
    bool running, begun;
    bool
        freeing; /* what runs has ended by its files, and Slurm frees its nodes, or believes that it runs */
};

static void find_elements(struct assessment *assessment, struct elements *elements)
{
    const struct slurm_records *records = assessment->records;
    const struct slurm_record *chosen = choose_record(assessment->job, records);
    size_t count = assessment->job->task_count;
    *elements = (struct elements){
        .of = arena_allocate(assessment->arena, (count + 1) * sizeof(*elements->of))};
    for (size_t i = 0; i < records->count; i++) {
        const struct slurm_record *record = &records->items[i];
        if (chosen && slurm_record_head(record) != slurm_record_head(chosen))
            continue;
        take_times(assessment->poll, record, slurm_record_is_over(record->state));
        if (record->array_index < 0)
            elements->rest = record;
        else if ((size_t)record->array_index < count)
            elements->of[record->array_index] = record;
    }
    elements->rest_is_cut =
        elements->rest && text_contains(elements->rest->array_rest, TEXT("..."));
    if (chosen)
        end_others(assessment, chosen);
}

enum { EXIT_KILLED = 128 + 15 }; /* of an element that was killed and has no exit code */

/* An element has ended at Slurm, and no file says how.  Write it down, because Slurm forgets it. */
static int note_silent(struct assessment *assessment, struct slurm_task *task,
                       const struct slurm_record *record)
{
    struct error error;
    char words[256];
    int exit_code = 0;
    const char *reason = "Exited";
    if (executor_task_is_killed(assessment->poll, task->index))
        reason = "Killed", exit_code = EXIT_KILLED;
    else if (record && record->state != SLURM_STATE_COMPLETED)
        reason = slurm_reason_ended(record, task->begun, &exit_code, words, sizeof(words));
    else if (record)
        exit_code = record->exit_code;
    else
        reason = "Vanished", exit_code = 255;
    return slurm_job_note_element(assessment->slurm, assessment->job, task, exit_code, reason,
                                  &error);
}

/* An element that has a record of its own and waits was put back into Slurm's queue: its node was lost or
 * could not launch it, or slurmctld restarted with an older state and has it held, as the node runs it already.
 * As with other jobs (assess_waiting) its files say whether it has ended or still runs, in which case its record
 * must not run; an element that never began is released again, waits, or fails.  -1 when its end cannot be
 * written down. */
static int settle_waiting(struct assessment *assessment, struct elements *elements,
                          struct slurm_task *task, const struct slurm_record *record)
{
    struct job_poll *poll = assessment->poll;
    struct error error;
    char words[sizeof(poll->detail)];
    const char *reason = NULL;
    bool failed = slurm_reason_is_launch(record);
    slurm_reason_waiting(record, words, sizeof(words));
    if (task->ended) {
        add_surplus(assessment, record, "was put back into Slurm's queue, and has ended already");
        return 0;
    }
    if (task->begun && !may_be_requeued(assessment->job->manifest)) {
        if (!slurm_files_heartbeat(assessment->slurm, assessment->job, task))
            reason = "NodeLost";
        else
            snprintf(words, sizeof(words),
                     "Slurm has put job %lld (element %d) back into its queue, and it still runs",
                     (long long)record->number, record->array_index);
    } else if (failed ? record->restarts <= LAUNCHES_MOST : record->held && !record->released) {
        assessment->need->release = record;
    } else if (failed) {
        reason = "LaunchFailed";
    } else if (slurm_reason_waits_for_ever(record)) {
        reason = "NeverFits";
    }
    if (!poll->detail[0] && !reason)
        memcpy(poll->detail, words, sizeof(words));
    if (!reason) {
        elements->running = true;
        elements->freeing = false;
        return 0;
    }
    if (slurm_job_note_element(assessment->slurm, assessment->job, task, 255, reason, &error))
        return -1;
    add_surplus(assessment, record, "has failed, and waits in Slurm's queue");
    return 0;
}

/* Find out which elements run, and write down the end of those that Slurm has ended or will never run and whose
 * files do not tell it.  -1 when that cannot be written. */
static int settle_elements(struct assessment *assessment, struct elements *elements)
{
    struct slurm_job *job = assessment->job;
    elements->freeing = true;
    for (size_t i = 0; i < job->task_count; i++) {
        struct slurm_task *task = &job->tasks[i];
        const struct slurm_record *record = elements->of[i];
        bool over = record && slurm_record_is_over(record->state);
        bool rests =
            !record && elements->rest && !slurm_record_is_over(elements->rest->state) &&
            (elements->rest_is_cut || slurm_record_array_has(elements->rest->array_rest, (int)i));
        elements->begun |=
            task->ended || task->begun || (record && record->state != SLURM_STATE_WAITING);
        if (record && record->state == SLURM_STATE_WAITING) {
            if (settle_waiting(assessment, elements, task, record))
                return -1;
            continue;
        }
        if (record && !over) {
            elements->running = true;
            elements->freeing &= task->ended;
            continue;
        }
        if (task->ended || rests)
            continue;
        /* It was cancelled while it waited: Slurm keeps one record for all such elements. */
        const struct slurm_record *of = record ? record : elements->rest;
        if (note_silent(assessment, task, of))
            return -1;
    }
    return 0;
}

/* Decide the state of an array by all its elements: it is over when none runs, and none waits
 * that could. */
static void assess_array(struct assessment *assessment)
{
    struct job_poll *poll = assessment->poll;
    struct elements elements;
    find_elements(assessment, &elements);
    if (settle_elements(assessment, &elements)) {
        poll->phase = PHASE_UNKNOWN;
        return;
    }
    fill_tasks(assessment);
    bool waits = elements.rest && !slurm_record_is_over(elements.rest->state);
    bool lingering =
        completes_too_long(assessment->job, elements.running && elements.freeing && !waits);
    assessment->over = (!elements.running || lingering) && !waits;
    if (!assessment->over)
        poll->ended = 0;
    if (assessment->job->decided) {
        repeat_decision(assessment);
        return;
    }
    if (!assessment->over && !elements.begun && elements.rest) {
        assess_waiting(assessment, elements.rest);
        return;
    }
    if (waits && elements.rest && !elements.rest->released && elements.rest->held)
        assessment->need->release = elements.rest;
    if (!assessment->over) {
        judge_running(assessment);
        return;
    }
    struct completion_outcome outcome = judge_completion(assessment);
    assessment->need->decide = lingering;
    poll->phase = PHASE_SUCCEEDED;
    if (outcome.state == COMPLETION_FAILED && outcome.decider)
        fail_by_task(poll, outcome.decider);
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
    /* What runs may be a record that came back to life (completes_too_long). */
    int64_t interval = job->task_count > 1 || job->manifest->array_count || completing ||
                               (job->manifest->listens && !has_all_addresses(job))
                           ? LOOK_INTERVAL
                           : IDLE_LOOK_INTERVAL;
    if (interval == IDLE_LOOK_INTERVAL && !job->looked)
        return job->running && clock_elapsed() - job->running >= interval;
    return !job->looked || clock_elapsed() - job->looked >= interval;
}

/* Report what Slurm says of a job whose directory was lost, so that its tasks are not known. */
static void assess_unknown(struct assessment *assessment)
{
    struct job_poll *poll = assessment->poll;
    const struct slurm_record *leader = assessment->leader;
    take_times(poll, leader, slurm_record_is_over(leader->state));
    if (leader->state == SLURM_STATE_COMPLETED) {
        poll->phase = PHASE_SUCCEEDED;
    } else if (slurm_record_is_over(leader->state)) {
        int exit_code;
        const char *reason =
            slurm_reason_ended(leader, true, &exit_code, poll->detail, sizeof(poll->detail));
        fail_poll(poll, exit_code, reason);
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
    struct assessment assessment = {
        .slurm = slurm, .arena = arena, .job = job, .records = records, .poll = poll, .need = need};
    *need = (struct slurm_need){0};
    assessment.leader = choose_record(job, records);
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
        assess_array(&assessment);
        return;
    }
    fill_tasks(&assessment);
    assessment.over = !records->count;
    if (assessment.leader) {
        end_others(&assessment, assessment.leader);
        assess_one(&assessment);
    } else if (job->decided) {
        repeat_decision(&assessment);
    } else {
        judge_ended(&assessment);
    }
    if (poll->ended && poll->ended < poll->started)
        poll->ended = poll->started;
}
