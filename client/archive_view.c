/* client/archive_view.c - a job as commands and pages show it, from the line that the index of an archive has of it */
#include "client/archive_view.h"

#include <stdio.h>

void archive_view(const struct part *part, const struct archived_job *job, struct arena *arena,
                  struct job_view *view)
{
    struct job_record *record = &view->record;
    char name[PART_NAME_SIZE];
    *view = (struct job_view){.readable = true, .why = job->why};
    view->archive = arena_printf(arena, "history/archive/%s", part_name(part, TEXT(""), name));
    bool failed = text_is(job->state, "failed");
    view->place.state = failed ? STATE_FAILED : STATE_DONE;
    snprintf(view->place.id, sizeof(view->place.id), "%.*s", (int)job->id.length, job->id.data);
    view->situation = (struct job_situation){.state = failed ? JOB_FAILED : JOB_DONE,
                                             .queued = job->queued,
                                             .started = job->started,
                                             .ended = job->ended};
    snprintf(view->situation.node, sizeof(view->situation.node), "%.*s", (int)job->node.length,
             job->node.length ? job->node.data : "");
    record->id = job->id;
    record->name = job->name;
    record->owner = job->owner;
    record->uid = job->uid;
    record->accepted = job->accepted;
    record->attempt = job->attempt;
    record->library = job->library;
    record->version = job->version;
    record->type = job->type;
    record->queue = job->queue;
    record->gpu_type = job->gpu_type;
    record->executor = job->executor;
    record->image = job->image;
    record->priority = job->priority;
    record->cpus = job->cpus;
    record->memory = job->memory;
    record->gpus = (int)job->gpus;
    record->failed = failed;
    record->failure = (struct failure){.when = RETRY_NEVER,
                                       .reason = job->reason,
                                       .class = job->class,
                                       .exit_code = job->exit_code,
                                       .failed = job->ended};
}
