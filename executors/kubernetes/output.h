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
    bool followed;               /* ... no, since it is followed (output_end.c) */
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

/* output_end.c: a pod that is deleted is gone as soon as its containers have ended, and its log with it.  So
 * the log of a task that is told to end is followed by a stream from then on, and is not requested besides.
 * Of very many that end together only some are followed, and the others' logs are requested as those of
 * running ones are. */
/* Is the log that takes part followed? */
bool kubernetes_output_is_followed(const struct copying *copying);

/* Begin to follow it, from its place on.  False when it cannot be, now. */
bool kubernetes_output_follow(struct copying *copying);

/* Let the requests for what was begun go out, before its task is told to end. */
void kubernetes_output_send(struct kubernetes *kubernetes);

/* Take in what has come of all. */
void kubernetes_output_receive(struct kubernetes *kubernetes);

/* Copy what has come of the job's tasks; `pods` are those that it has now.  When this is the last time
 * for the job, wait for what is still to come, but not beyond `until` (of clock_elapsed()); the job's result
 * is -1 when that is not all here yet. */
void kubernetes_output_copy_ends(struct kubernetes *kubernetes, struct job_call *job,
                                 const struct cached_pod *const *pods, size_t count, int64_t until);

/* Of the jobs whose token begins so; "": of all. */
void kubernetes_output_forget_ends(struct kubernetes *kubernetes, const char *prefix);

/* Forget the logs of a job. */
void kubernetes_output_forget(struct kubernetes *kubernetes, const char *id, int attempt);

/* The operation of executor.h. */
void kubernetes_output(struct executor *executor, struct job_call **batch, size_t count);

#endif
