/* executors/kubernetes/logs.c - which tasks' logs are being copied, by <token>/<task> */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "executors/kubernetes/logs.h"

struct kubernetes_logs {
    struct names *names; /* struct task_log */
};

struct kubernetes_logs *kubernetes_logs_new(void)
{
    struct kubernetes_logs *logs = memory_allocate(sizeof(*logs));
    logs->names = names_new(SIZE_MAX, sizeof(struct task_log));
    return logs;
}

size_t kubernetes_logs_count(const struct kubernetes_logs *logs)
{
    return names_count(logs->names);
}

struct task_log *kubernetes_logs_find(struct kubernetes_logs *logs, const char *key)
{
    struct task_log *log = names_find(logs->names, text_of(key));
    if (!log) {
        log = names_add(logs->names, text_of(key));
        log->key = names_text(log).data;
    }
    return log;
}

static void forget_prefix(struct kubernetes_logs *logs, const char *prefix)
{
    struct task_log *log = names_first(logs->names);
    for (struct task_log *next; log; log = next) {
        next = names_after(log);
        if (text_starts(names_text(log), prefix))
            names_remove(logs->names, log);
    }
}

void kubernetes_logs_forget_all(struct kubernetes_logs *logs)
{
    forget_prefix(logs, "");
}

void kubernetes_logs_forget(struct kubernetes_logs *logs, const char *id, int attempt)
{
    char token[KUBERNETES_NAME_SIZE + 1];
    if (!logs)
        return;
    snprintf(token, sizeof(token), "%s-a%d/", id, attempt);
    forget_prefix(logs, token);
}

void kubernetes_logs_free(struct kubernetes_logs *logs)
{
    if (!logs)
        return;
    names_free(logs->names);
    free(logs);
}
