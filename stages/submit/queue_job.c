/* stages/submit/queue_job.c - the few bytes that are kept of each job of a queue
 *
 * What jobs ask for is in a table by its words, and counts the jobs that ask for it.
 */
#include "stages/submit/queue_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

enum { WORDS_SIZE = GPU_TYPE_SIZE + 128 };

struct asked_for {
    size_t jobs;
    struct demand demand;
    int at_once;
    int64_t gpu_time;
};

struct kept_jobs {
    struct names *jobs;     /* id -> struct kept_job */
    struct names *asked;    /* words -> struct asked_for */
    struct asked_for *last; /* the one that was asked for last; NULL: none, or it is gone */
};

struct kept_jobs *queue_job_table(void)
{
    struct kept_jobs *jobs = memory_allocate(sizeof(*jobs));
    jobs->jobs = names_new(SIZE_MAX, sizeof(struct kept_job));
    jobs->asked = names_new(SIZE_MAX, sizeof(struct asked_for));
    return jobs;
}

void queue_job_free_table(struct kept_jobs *jobs)
{
    if (!jobs)
        return;
    names_free(jobs->jobs);
    names_free(jobs->asked);
    free(jobs);
}

static bool asks_for(const struct queue_job *job, const struct asked_for *asked)
{
    const struct demand *a = &job->demand, *b = &asked->demand;
    return a->cpus == b->cpus && a->memory == b->memory && a->gpus == b->gpus &&
           strcmp(a->gpu_type, b->gpu_type) == 0 && job->at_once == asked->at_once &&
           job->gpu_time == asked->gpu_time;
}

static struct asked_for *find_asked(struct kept_jobs *jobs, const struct queue_job *job)
{
    char words[WORDS_SIZE];
    const struct demand *demand = &job->demand;
    int length = snprintf(words, sizeof(words), "%d %d %jd %jd %jd %s", demand->gpus, job->at_once,
                          (intmax_t)demand->cpus, (intmax_t)demand->memory, (intmax_t)job->gpu_time,
                          demand->gpu_type);
    const struct text key = {words, (size_t)length};
    struct asked_for *asked = names_find(jobs->asked, key);
    if (!asked) {
        asked = names_add(jobs->asked, key);
        *asked = (struct asked_for){
            .demand = *demand, .at_once = job->at_once, .gpu_time = job->gpu_time};
    }
    return asked;
}

struct kept_job *queue_job_find(const struct kept_jobs *jobs, const char *id)
{
    return names_find(jobs->jobs, text_of(id));
}

struct kept_job *queue_job_keep(struct kept_jobs *jobs, const struct queue_job *job)
{
    struct kept_job *kept = names_add(jobs->jobs, text_of(job->id));
    if (!jobs->last || !asks_for(job, jobs->last))
        jobs->last = find_asked(jobs, job);
    jobs->last->jobs++;
    *kept = (struct kept_job){.asked = jobs->last,
                              .top = job->top,
                              .owner = job->owner,
                              .priority = job->priority,
                              .first = job->first,
                              .unsettled = job->unsettled};
    return kept;
}

void queue_job_forget(struct kept_jobs *jobs, struct kept_job *kept)
{
    struct asked_for *asked = kept->asked;
    names_remove(jobs->jobs, kept);
    if (--asked->jobs)
        return;
    if (jobs->last == asked)
        jobs->last = NULL;
    names_remove(jobs->asked, asked);
}

struct text queue_job_id(const struct kept_job *kept)
{
    return names_text(kept);
}

struct queue_job queue_job_of(const struct kept_job *kept)
{
    struct queue_job job = {.owner = kept->owner,
                            .priority = kept->priority,
                            .top = kept->top,
                            .demand = kept->asked->demand,
                            .at_once = kept->asked->at_once,
                            .gpu_time = kept->asked->gpu_time,
                            .first = kept->first,
                            .unsettled = kept->unsettled};
    text_copy(job.id, sizeof(job.id), queue_job_id(kept));
    return job;
}
