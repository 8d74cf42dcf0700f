/* executors/kubernetes/log_end.h - the last output of tasks that are told to end
 *
 * A pod that is deleted is gone as soon as its containers have ended, and its log with it.  So the log of
 * a task that is told to end is followed by a stream from then on: what it prints comes as it is printed,
 * and is there after the pod is gone.  A task whose log is followed so is not asked for it besides.
 *
 * Of very many tasks that end together only some are followed, and the logs of the others are requested
 * as those of running ones are.
 */
#ifndef EXECUTORS_KUBERNETES_LOG_END_H
#define EXECUTORS_KUBERNETES_LOG_END_H

#include "executors/kubernetes/output.h"

/* Is the log that takes part followed? */
bool log_end_is_followed(const struct copying *copying);

/* Begin to follow it, from its place on.  False when it cannot be, now. */
bool log_end_follow(struct copying *copying);

/* Let the requests for what was begun go out, before its task is told to end. */
void log_end_send(struct kubernetes *kubernetes);

/* Take in what has come of all. */
void log_end_receive(struct kubernetes *kubernetes);

/* Copy what has come of the job's tasks; `pods` are those that it has now.  When this is the last time
 * for the job, wait for what is still to come, but not beyond `until` (of clock_elapsed()); the job's result
 * is -1 when that is not all here yet. */
void log_end_copy(struct kubernetes *kubernetes, struct job_call *job,
                  const struct cached_pod *const *pods, size_t count, int64_t until);

/* Of the jobs whose token begins so; "": of all. */
void log_end_forget(struct kubernetes *kubernetes, const char *prefix);

#endif
