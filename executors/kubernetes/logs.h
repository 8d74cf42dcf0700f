/* executors/kubernetes/logs.h - what is remembered of each task's log, by <token>/<task> */
#ifndef EXECUTORS_KUBERNETES_LOGS_H
#define EXECUTORS_KUBERNETES_LOGS_H

#include "executors/kubernetes/inside.h"
#include "executors/kubernetes/pod_log.h"

/* What is remembered of one task's log. */
struct task_log {
    const char *key; /* <token>/<role>-<index>; its name in the table */
    struct pod_log_place place;
    bool loaded;        /* the place is what the files say */
    int64_t due, delay; /* of clock_elapsed(); ms */
    int hangs;
    size_t piece;
};

struct kubernetes_logs *kubernetes_logs_new(void);
void kubernetes_logs_free(struct kubernetes_logs *logs); /* NULL is fine */
size_t kubernetes_logs_count(const struct kubernetes_logs *logs);
struct task_log *kubernetes_logs_find(struct kubernetes_logs *logs,
                                      const char *key); /* made when new */
void kubernetes_logs_forget_all(struct kubernetes_logs *logs);

void kubernetes_logs_forget(struct kubernetes_logs *logs, const char *id,
                            int attempt); /* NULL is fine */

#endif
