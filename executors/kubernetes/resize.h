/* executors/kubernetes/resize.h - between the files that give a running job another size
 *
 * resize.c has the batch, and the number of tasks; resize_pod.c the CPUs
 * of a pod.
 */
#ifndef EXECUTORS_KUBERNETES_RESIZE_H
#define EXECUTORS_KUBERNETES_RESIZE_H

#include "executors/kubernetes/inquiry.h"

struct resize_change { /* one job of the batch */
    struct job_resize *job;
    struct job_call request;
    struct inquiry *inquiry;
    struct kubernetes_call patch;
    bool patched;              /* the call was made */
    enum resize_outcome after; /* what it is when the patch is done */
    bool decided;
};

/* The outcome for the job, with its sentence; of RESIZE_DONE NULL. */
void kubernetes_resize_decide(struct resize_change *change, enum resize_outcome outcome,
                              const char *sentence);

/* Add a patch to those that are sent together.  When it is done, the outcome is `after`, unless it was
 * decided before. */
void kubernetes_resize_patch(struct inquiries *inquiries, struct resize_change *change,
                             struct text path, const char *type, struct text body,
                             enum resize_outcome after);

/* Is the Job one of a single pod whose CPUs have a limit that can be changed while it runs? */
bool kubernetes_resize_is_one_pod(const struct value *object);
/* Does the server know of that?  One that cannot be asked now may. */
bool kubernetes_resize_pods_served(struct kubernetes *kubernetes);

/* Ask for the job's pod, or decide; and go by the answer. */
void kubernetes_resize_ask_pods(struct inquiries *inquiries, struct resize_change *change);
void kubernetes_resize_take_pods(struct inquiries *inquiries, struct resize_change *change);

/* The operations of executor.h. */
bool kubernetes_resize_is_possible(struct executor *executor, struct text manifest,
                                   enum size_kind kind);
void kubernetes_resize(struct executor *executor, struct job_resize **batch, size_t count);

#endif
