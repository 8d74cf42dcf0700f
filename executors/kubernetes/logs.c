/* executors/kubernetes/logs.c - which tasks' logs are being copied, by <token>/<task> */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executors/kubernetes/cache.h"
#include "executors/kubernetes/output.h"

enum { SLOTS = 1024 };

struct kubernetes_logs {
    struct task_log *slots[SLOTS];
    size_t count;
};

struct kubernetes_logs *logs_new(void)
{
    return memory_allocate(sizeof(struct kubernetes_logs));
}

size_t logs_count(const struct kubernetes_logs *logs)
{
    return logs->count;
}

struct task_log *logs_find(struct kubernetes_logs *logs, const char *key)
{
    uint64_t hash = hash_text(text_of(key));
    struct task_log **slot = &logs->slots[hash % SLOTS];
    for (struct task_log *log = *slot; log; log = log->next)
        if (log->hash == hash && strcmp(log->key, key) == 0)
            return log;
    struct task_log *log = memory_allocate(sizeof(*log));
    *log = (struct task_log){.next = *slot, .hash = hash, .key = memory_copy_string(key)};
    *slot = log;
    logs->count++;
    return log;
}

static void forget_prefix(struct kubernetes_logs *logs, const char *prefix)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < SLOTS; i++) {
        struct task_log **at = &logs->slots[i];
        while (*at) {
            struct task_log *log = *at;
            if (strncmp(log->key, prefix, length) != 0) {
                at = &log->next;
                continue;
            }
            *at = log->next;
            logs->count--;
            free(log->key);
            free(log);
        }
    }
}

void logs_forget_all(struct kubernetes_logs *logs)
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
    logs_forget_all(logs);
    free(logs);
}
