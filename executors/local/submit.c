/* executors/local/submit.c - submits jobs to podman, exactly once
 *
 * A batch goes through the steps together, each step being one batch of requests.  A layout whose
 * outcome is decided takes no further part.
 *
 * What was made for a job that is then refused is removed again.  When that fails, or an answer is
 * missing, the outcome is SUBMIT_UNKNOWN: the same submission, repeated, finds what exists.
 *
 * A job of several tasks may be refused when some of them run already: podman reports only when a task is
 * started that it cannot be.  The running ones are removed.  Before that, the refusal is noted in
 * dlspool's storage, and the note stays: when the same submission is repeated, because dlspool was killed
 * or an answer was lost, it goes on removing and does not run the tasks a second time.  A submission that
 * is no repetition, since the caller has noted that outcome, removes the note and is a new try.  Known
 * weakness: the note of a job that is never retried stays for good.
 */
#include "executors/local/step.h"

#include <stdio.h>

#include "executors/local/ports.h"
#include "executors/local/sources.h"
#include "executors/local/storage.h"
#include "executors/local/turns.h"

/* Remove what was made for a job that is refused after all. */
static void remove_again(struct batch *batch, const struct layout *layout)
{
    struct submission *submission = layout->submission;
    struct local *local = batch->local;
    struct error error;
    char job[LOCAL_NAME_SIZE];
    local_job_name(job, submission->id, submission->attempt);
    bool keep_note = submission->outcome == SUBMIT_REFUSED && (layout->started || layout->refused);
    if (keep_note && !layout->refused &&
        local_storage_note_refusal(local->directory, job, submission->error.text, &error)) {
        submission->outcome = SUBMIT_UNKNOWN;
        return;
    }
    if (batch->silent ||
        local_remove_containers(local, submission->id, submission->attempt, &error) ||
        (keep_note ? local_storage_empty_job(local->directory, job, &error)
                   : local_storage_remove_job(local->directory, job, &error))) {
        submission->outcome = SUBMIT_UNKNOWN;
        batch->silent = true;
    }
}

static void finish_layout(struct batch *batch, struct layout *layout)
{
    struct submission *submission = layout->submission;
    if (!layout->decided)
        layout_decide(layout, SUBMIT_ACCEPTED);
    /* Running tasks of a job that will be submitted again must not be removed and run a second time. */
    if ((submission->outcome == SUBMIT_UNAVAILABLE || submission->outcome == SUBMIT_NO_ROOM) &&
        layout_has_started(layout))
        submission->outcome = SUBMIT_UNKNOWN;
    if (submission->outcome == SUBMIT_ACCEPTED) {
        submission->error.text[0] = '\0';
        snprintf(submission->note, sizeof(submission->note), "%s",
                 layout->note.length ? layout->note.data : "");
    } else if (layout->made && submission->outcome != SUBMIT_UNKNOWN) {
        remove_again(batch, layout);
    }
    /* A request to start that is still under way needs the held sources. */
    char job[LOCAL_NAME_SIZE];
    local_job_name(job, submission->id, submission->attempt);
    if (submission->outcome != SUBMIT_UNKNOWN)
        sources_drop(batch->local, job);
    else if (!submission->error.text[0])
        error_set(&submission->error, "podman did not say whether it has the job");
    buffer_free(&layout->note);
}

static void decide_all_unavailable(struct batch *batch, const struct error *error)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->layouts[i].decided)
            continue;
        batch->layouts[i].submission->error = *error;
        layout_decide(&batch->layouts[i], SUBMIT_UNAVAILABLE);
    }
}

/* Look at podman's containers: adopt those of earlier tries, and allocate what is left to the rest. */
static void take_stock(struct batch *batch)
{
    struct podman_container *containers = NULL;
    size_t count = 0;
    struct error error;
    if (local_ensure(batch->local, &error) ||
        local_list(batch->local, batch->arena, true, &containers, &count, &error)) {
        decide_all_unavailable(batch, &error);
        return;
    }
    layout_match_containers(batch, containers, count);
    local_ports_take(batch, containers, count);
    layout_take_resources(batch, containers, count);
}

int local_needs(struct executor *executor, struct text manifest, struct demand *demand)
{
    struct arena *arena = arena_new();
    struct error error;
    const struct local_manifest *read = local_manifest_read(arena, manifest, &error);
    (void)executor;
    *demand = (struct demand){0};
    /* A job whose tasks take turns begins when one of them fits. */
    int result = read ? 0 : -1;
    for (size_t i = 0; read && i < (read->parallelism ? 1 : read->task_count); i++) {
        demand->cpus += read->tasks[i].cpus;
        demand->gpus += read->tasks[i].gpus;
        if (demand->memory > INT64_MAX - read->tasks[i].memory)
            result = -1; /* it can never fit, and submit() refuses it */
        else
            demand->memory += read->tasks[i].memory;
    }
    arena_free(arena);
    return result;
}

void local_submit(struct executor *executor, struct submission **submissions, size_t count)
{
    struct batch batch = {
        .local = (struct local *)(void *)executor,
        .arena = arena_new(),
        .count = count,
    };
    batch.layouts = arena_allocate(batch.arena, (count + 1) * sizeof(*batch.layouts));
    for (size_t i = 0; i < count; i++)
        layout_read(&batch, &batch.layouts[i], submissions[i]);
    /* Without the lock, another process may for once allocate the resources that are counted here. */
    int held = local_turns_hold(batch.local, batch.local->settings.request_timeout);
    if (layout_any_left(&batch))
        take_stock(&batch);
    layout_hold_sources(&batch);
    layout_write_files(&batch);
    step_make_containers(&batch);
    step_start_containers(&batch);
    local_turns_release(held);
    for (size_t i = 0; i < count; i++)
        finish_layout(&batch, &batch.layouts[i]);
    arena_free(batch.arena);
}
