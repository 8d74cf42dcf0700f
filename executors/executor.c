/* executors/executor.c - what every executor has in common */
#include "executors/executor.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

int64_t executor_spread_rest(int64_t rest)
{
    return rest + (rest ? random() % (rest / 4 + 1) : 0);
}

bool executor_task_is_killed(const struct job_poll *poll, int index)
{
    return index >= 0 && (size_t)index < poll->killed_count && poll->killed[index];
}

void executor_clear_poll(struct job_poll *poll)
{
    enum { ASKED = offsetof(struct job_poll, phase) }; /* bytes of what the caller says */
    memset((char *)poll + ASKED, 0, sizeof(*poll) - ASKED);
}

struct gpu_capacity *executor_gpu_type(struct capacity *capacity, struct text type)
{
    char name[GPU_TYPE_SIZE];
    snprintf(name, sizeof(name), "%.*s",
             (int)(type.length < sizeof(name) ? type.length : sizeof(name) - 1), type.data);
    for (size_t i = 0; i < capacity->gpu_type_count; i++)
        if (strcmp(capacity->gpu_types[i].type, name) == 0)
            return &capacity->gpu_types[i];
    if (capacity->gpu_type_count == MOST_GPU_TYPES)
        return NULL;
    struct gpu_capacity *added = &capacity->gpu_types[capacity->gpu_type_count++];
    memcpy(added->type, name, sizeof(name));
    return added;
}

void executor_clamp_capacity(struct capacity *capacity)
{
    if (capacity->cpus_free < 0)
        capacity->cpus_free = 0;
    if (capacity->memory_free < 0)
        capacity->memory_free = 0;
    if (capacity->gpus_free < 0)
        capacity->gpus_free = 0;
    for (size_t i = 0; i < capacity->gpu_type_count; i++)
        if (capacity->gpu_types[i].free < 0)
            capacity->gpu_types[i].free = 0;
}

bool executor_call_names_task(const struct job_call *call, int index)
{
    for (size_t i = 0; i < call->task_count; i++)
        if (call->tasks[i] == index)
            return true;
    return call->task_count == 0;
}

static int call_one(void (*operation)(struct executor *executor, struct job_call **batch,
                                      size_t count),
                    struct executor *executor, struct job_call call, struct error *error)
{
    struct job_call *batch[] = {&call};
    operation(executor, batch, 1);
    if (call.result && error)
        *error = call.error;
    return call.result;
}

int executor_cancel(struct executor *executor, const char *id, int attempt, bool force,
                    struct error *error)
{
    return call_one(executor->operations->cancel, executor,
                    (struct job_call){.id = id, .attempt = attempt, .force = force}, error);
}

int executor_output(struct executor *executor, const char *id, int attempt, int directory,
                    bool last, struct error *error)
{
    struct job_call call = {.id = id, .attempt = attempt, .directory = directory, .last = last};
    if (!executor->operations->output)
        return 0;
    return call_one(executor->operations->output, executor, call, error);
}

int executor_remove(struct executor *executor, const char *id, int attempt, struct error *error)
{
    return call_one(executor->operations->remove, executor,
                    (struct job_call){.id = id, .attempt = attempt}, error);
}

void executor_one_by_one(struct executor *executor, struct job_call **batch, size_t count,
                         int (*one)(struct executor *executor, struct job_call *call),
                         int64_t patience)
{
    bool hangs = false;
    for (size_t i = 0; i < count; i++) {
        struct job_call *call = batch[i];
        int64_t begun = clock_elapsed();
        call->error.text[0] = '\0';
        call->result = hangs ? error_set(&call->error, "not asked, because the executor let a call "
                                                       "before it wait too long")
                             : one(executor, call);
        hangs = hangs || clock_elapsed() - begun > patience;
    }
}
