/* executors/kubernetes/inquiry.h - the Jobs in the cluster of some of our jobs, and requests for them
 *
 * The Jobs of all jobs that are asked about are looked up together, by their labels, some tens in a
 * request; then each is changed or deleted on the condition that it still has the uid that was seen.
 * What is not ours is not found, and so never touched.
 */
#ifndef EXECUTORS_KUBERNETES_INQUIRY_H
#define EXECUTORS_KUBERNETES_INQUIRY_H

#include "executors/kubernetes/inside.h"

struct found_job {              /* a Job of the cluster that is one of ours */
    const struct value *object; /* NULL: it was not looked up */
    struct text name, uid;      /* fit for paths and bodies */
    struct kubernetes_call call;
};

struct inquiry {              /* one job that is asked about */
    struct job_call *request; /* its result is -1 as soon as something of it fails */
    struct found_job *jobs;
    size_t job_count, job_capacity;
    struct kubernetes_call pods_call; /* for its pods */
    bool asked;                       /* ... it was made */
};

struct inquiries {
    struct kubernetes *kubernetes;
    struct arena *arena;
    struct inquiry *items;
    size_t count;
    struct kubernetes_call **calls; /* to be sent together */
    size_t call_count, call_capacity;
};

/* Find the Jobs of all; results and errors of the batch are cleared first.  inquiry_close() frees. */
void inquiry_open(struct inquiries *inquiries, struct executor *executor, struct job_call **batch,
                  size_t count);
/* The same, for jobs that are to be removed: of one whose owner the watch has shown nothing is looked up, and that
 * is what is found. */
void inquiry_open_to_remove(struct inquiries *inquiries, struct executor *executor,
                            struct job_call **batch, size_t count);
void inquiry_close(struct inquiries *inquiries);

/* One more call; send all of them, and wait for the answers. */
void inquiry_add_call(struct inquiries *inquiries, struct kubernetes_call *call);
void inquiry_run(struct inquiries *inquiries);

/* Of several failures the first is reported.  `rest` is how long the server asks to be left alone with it. */
void inquiry_fail(struct inquiry *inquiry, const struct error *error, int64_t rest);

/* Prepare and add a request for a Job; a PATCH is a merge patch.  The answer is not read. */
void inquiry_ask(struct inquiries *inquiries, struct found_job *found, const char *method,
                 struct text body);
/* What the answers to those mean for the job: what is gone needs nothing.  Frees the calls. */
void inquiry_judge(struct inquiry *inquiry);

bool inquiry_job_is_finished(const struct found_job *found);
bool inquiry_job_is_cancelled(const struct found_job *found);

#endif
