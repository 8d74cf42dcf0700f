/* stages/planning/resize_requests.c - which running jobs should change size, and why */
#include "stages/planning/resize_requests.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"

enum leaning { LEANS_NOT, LEANS_TO_GROW, LEANS_TO_SHRINK, LEANS_TO_STOP };

static enum leaning leaning_of(const struct cached_job *job)
{
    return job->next == 0          ? LEANS_TO_STOP
           : job->next > job->size ? LEANS_TO_GROW
           : job->next < job->size ? LEANS_TO_SHRINK
                                   : LEANS_NOT;
}

/* When the job is predicted to be done at its present size, at the planning quantile. */
static int64_t predict_unresized_finish(const struct cached_job *job, int64_t now)
{
    double seconds = forecast_seconds(job, job->plan.size, true);
    return isfinite(seconds) ? now + (int64_t)(seconds * 1000) : 0;
}

static bool falls_behind(const struct cached_job *job, int64_t now)
{
    return forecast_misses(job, now, job->plan.size);
}

enum { SIZES_TEXT_SIZE = 2 * SIZE_TEXT_SIZE + 16 };

static const char *say_sizes(const struct cached_job *job, char buffer[static SIZES_TEXT_SIZE])
{
    char to[SIZE_TEXT_SIZE], from[SIZE_TEXT_SIZE];
    enum size_kind kind = job->record.sizes.kind;
    snprintf(buffer, SIZES_TEXT_SIZE, "%s instead of %s", size_text(kind, job->next, to),
             size_text(kind, job->size, from));
    return buffer;
}

static void explain_change(const struct cached_job *job, enum leaning leaning, int64_t now,
                           struct resize_request *request)
{
    char sizes[SIZES_TEXT_SIZE], finish[CLOCK_TEXT_SIZE], deadline[CLOCK_TEXT_SIZE];
    bool timed = job->record.deadline && !forecast_is_trial(job);
    int64_t predicted = forecast_finish(job, now, true),
            as_it_is = predict_unresized_finish(job, now);
    clock_format(job->record.deadline, deadline);
    if (leaning == LEANS_TO_STOP)
        snprintf(request->reason, sizeof(request->reason),
                 "frees resources for jobs that need them more%s%s", timed ? "; deadline " : "",
                 timed ? deadline : "");
    else if (leaning == LEANS_TO_GROW && falls_behind(job, now))
        snprintf(
            request->reason, sizeof(request->reason), "falls behind: predicted %s, deadline %s; %s",
            as_it_is ? clock_format(as_it_is, finish) : "never", deadline, say_sizes(job, sizes));
    else if (leaning == LEANS_TO_GROW)
        snprintf(request->reason, sizeof(request->reason), "spare capacity is free; %s",
                 say_sizes(job, sizes));
    else if (timed && predicted && predicted <= job->record.deadline)
        snprintf(request->reason, sizeof(request->reason),
                 "is ahead: predicted %s, deadline %s; %s", clock_format(predicted, finish),
                 deadline, say_sizes(job, sizes));
    else
        snprintf(request->reason, sizeof(request->reason), "other jobs need resources; %s",
                 say_sizes(job, sizes));
}

bool resize_request_for(struct cached_job *job, int64_t now, int64_t elapsed, int64_t tick,
                        struct resize_request *request)
{
    enum leaning leaning = job->plan.kept ? LEANS_NOT : leaning_of(job);
    if ((int)leaning != job->leaning) {
        job->leaning = (int)leaning;
        job->leaned = elapsed;
    }
    if (leaning == LEANS_NOT || job->record.resizes == INT_MAX)
        return false;
    bool urgent = leaning == LEANS_TO_GROW && falls_behind(job, now) &&
                  !forecast_misses(job, now, forecast_units(job, job->next));
    if (!urgent && elapsed - job->leaned < tick)
        return false;
    *request = (struct resize_request){
        .generation = job->record.resizes + 1, .from = job->size, .to = job->next, .when = now};
    explain_change(job, leaning, now, request);
    return true;
}
