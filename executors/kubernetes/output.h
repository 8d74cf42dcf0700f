/* executors/kubernetes/output.h - between the files that copy logs */
#ifndef EXECUTORS_KUBERNETES_OUTPUT_H
#define EXECUTORS_KUBERNETES_OUTPUT_H

#include "executors/kubernetes/follow.h"
#include "executors/kubernetes/pod_log.h"

enum { OUTPUT_NAME_SIZE = 160 }; /* bytes of a file's name: role (63), index, suffix */

/* What is remembered of one task's log, under the name <token>/<role>-<index>. */
struct task_log {
    struct pod_log_place place;
    bool loaded;        /* the place is what the files say */
    int64_t due, delay; /* of clock_elapsed(); ms */
    int64_t follow_due; /* of clock_elapsed(): when it can be followed again, after a failure */
    int hangs;
    size_t piece;
};

/* A log that takes part in this call. */
struct copying {
    struct kubernetes *kubernetes;
    struct job_call *job;
    struct task_log *log;
    const struct cached_pod *const *pods; /* of the task, by age */
    size_t pod_count, pod;
    char name[OUTPUT_NAME_SIZE]; /* <role>-<index> */
    bool ended;                  /* the container had ended before it was asked */
    bool more;                   /* to be asked (again) */
    bool followed;               /* ... no, since it is followed (log_end.h) */
    bool slow;                   /* did not answer in time before */
    size_t limit;
    struct kubernetes_call call;
};

/* output_files.c: 0, or -1 with the job's sentence set and the place to be read again. */

/* Find out where we are, from the files; only the first time. */
int kubernetes_output_load_place(struct copying *copying);
int kubernetes_output_write_place(struct copying *copying, const struct pod_log_place *place);
/* Append what lies between the place `before` and the one that is remembered, and write that. */
int kubernetes_output_write(struct copying *copying, const struct pod_log_place *before,
                            struct text out);

/* The path of a request for the log from its place on; `more` is put behind its query.  In the arena. */
struct text kubernetes_output_path(const struct copying *copying, struct arena *arena,
                                   const char *more);
/* pod_log_take(), with a note in `out` where something may be missing. */
enum pod_log_taken kubernetes_output_take(struct pod_log_place *place, struct text answer,
                                          bool final, struct buffer *out);

/* Forget the logs of a job. */
void kubernetes_output_forget(struct kubernetes *kubernetes, const char *id, int attempt);

/* The operation of executor.h. */
void kubernetes_output(struct executor *executor, struct job_call **batch, size_t count);

#endif
