/* web/dlworkspace_job.c - a job as DLWorkspace's REST server describes it */
#include "web/dlworkspace_job.h"

#include <time.h>

/* Of a job of held/: for an approval, for whom it waits until somebody says otherwise, or for others and its time. */
static const char *held_status(const struct job_view *view)
{
    if (view->record.wants.length)
        return "unapproved";
    return view->record.after_count || view->record.begin ? "queued" : "paused";
}

const char *dlworkspace_job_status(const struct job_view *view)
{
    switch (view->situation.state) {
    case JOB_QUEUED:
        return "scheduling";
    case JOB_RUNNING:
        return view->situation.suspended ? "paused" : "running";
    case JOB_STOPPING:
        return "killing";
    case JOB_DONE:
        return "finished";
    case JOB_HELD:
        return held_status(view);
    case JOB_FAILED:
        if (!view_has_ended(view))
            return "queued";
        return text_is(view->record.failure.reason, "Killed") ? "killed" : "failed";
    default:
        return "queued";
    }
}

struct text dlworkspace_job_cluster(const struct job_view *view)
{
    return view->record.queue.length ? view->record.queue : TEXT("default");
}

/* A time as Flask writes one: Thu, 26 Nov 2026 03:30:00 GMT. */
static struct value *time_value(struct arena *arena, int64_t time)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm tm;
    time_t seconds = time / 1000;
    if (!time || !gmtime_r(&seconds, &tm))
        return value_null(arena);
    return value_text(arena, arena_printf(arena, "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                          days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon],
                                          tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec));
}

static struct value *text_or_null(struct arena *arena, struct text text)
{
    return text.length ? value_text(arena, text) : value_null(arena);
}

/* Why it waits, is held or has failed, as the list of messages that DLWorkspace has. */
static struct value *detail(struct arena *arena, const struct job_view *view)
{
    struct value *list = value_list(arena), *item = value_object(arena);
    if (!view->why.length)
        return value_null(arena);
    value_put(arena, item, "message", value_text(arena, view_sentence(view)));
    value_append(arena, list, item);
    return list;
}

/* What was asked for, under the names of the job file. */
static struct value *parameters(struct arena *arena, const struct job_view *view)
{
    const struct job_record *record = &view->record;
    struct value *tree = value_object(arena);
    value_put(arena, tree, "jobName", value_text(arena, record->name));
    value_put(arena, tree, "userName", value_text(arena, record->owner));
    value_put(arena, tree, "userId", value_number(arena, record->uid));
    value_put(arena, tree, "vcName", value_text(arena, dlworkspace_job_cluster(view)));
    value_put(arena, tree, "jobType", value_string(arena, "training"));
    value_put(arena, tree, "image", text_or_null(arena, record->image));
    value_put(arena, tree, "resourcegpu", value_number(arena, record->gpus));
    value_put(arena, tree, "gpuType", text_or_null(arena, record->gpu_type));
    value_put(arena, tree, "preemptionAllowed", value_boolean(arena, record->priority == -100));
    value_put(arena, tree, "jobPriority", value_number(arena, record->priority + 100));
    return tree;
}

struct value *dlworkspace_job_short(struct arena *arena, const struct job_view *view)
{
    bool failed = view->situation.state == JOB_FAILED;
    struct value *tree = value_object(arena);
    value_put(arena, tree, "jobStatus", value_string(arena, dlworkspace_job_status(view)));
    value_put(arena, tree, "jobTime", time_value(arena, view->record.accepted));
    value_put(arena, tree, "errorMsg",
              failed ? text_or_null(arena, view_sentence(view)) : value_null(arena));
    return tree;
}

struct value *dlworkspace_job_tree(struct arena *arena, const struct job_view *view)
{
    char place[PLACE_TEXT_SIZE];
    struct value *tree = dlworkspace_job_short(arena, view);
    value_put(arena, tree, "jobId", value_string(arena, view->place.id));
    value_put(arena, tree, "jobName", value_text(arena, view->record.name));
    value_put(arena, tree, "userName", value_text(arena, view->record.owner));
    value_put(arena, tree, "vcName", value_text(arena, dlworkspace_job_cluster(view)));
    value_put(arena, tree, "jobStatusDetail", detail(arena, view));
    value_put(arena, tree, "jobType", value_string(arena, "training"));
    value_put(arena, tree, "jobDescriptionPath",
              value_text(arena, arena_printf(arena, "%s/manifest.yaml",
                                             job_place_text(&view->place, place))));
    value_put(arena, tree, "endpoints", value_null(arena));
    value_put(arena, tree, "jobParams", parameters(arena, view));
    return tree;
}
