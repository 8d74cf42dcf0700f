/* executors/registry/null.c - accepts everything and finishes it at once
 *
 * For measurements and tests of the rest.  It keeps nothing: whatever it is asked about has
 * succeeded, started and ended when it is asked.
 */
#include "executors/executor.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"

static int null_ready(struct executor *executor, struct error *error)
{
    (void)executor;
    (void)error;
    return 0;
}

static void null_submit(struct executor *executor, struct submission **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        batch[i]->outcome = SUBMIT_ACCEPTED;
        batch[i]->error.text[0] = '\0';
        batch[i]->note[0] = '\0';
    }
}

static int null_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                     size_t count, struct error *error)
{
    (void)executor;
    (void)arena;
    (void)error;
    int64_t now = clock_now();
    for (size_t i = 0; i < count; i++)
        *jobs[i] = (struct job_poll){
            .id = jobs[i]->id,
            .attempt = jobs[i]->attempt,
            .phase = PHASE_SUCCEEDED,
            .started = now,
            .ended = now,
        };
    return 0;
}

static void null_call(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        batch[i]->result = 0;
        batch[i]->error.text[0] = '\0';
    }
}

static int null_capacity(struct executor *executor, struct capacity *capacity, struct error *error)
{
    enum { PLENTY = 1 << 30 };
    (void)executor;
    (void)error;
    *capacity = (struct capacity){
        .cpus = PLENTY,
        .cpus_free = PLENTY,
        .memory = INT64_MAX,
        .memory_free = INT64_MAX,
        .gpus = PLENTY,
        .gpus_free = PLENTY,
    };
    return 0;
}

static void null_close(struct executor *executor)
{
    free(executor);
}

static const struct executor_operations operations = {
    .name = "null",
    .ready = null_ready,
    .submit = null_submit,
    .poll = null_poll,
    .cancel = null_call,
    .remove = null_call,
    .capacity = null_capacity,
    .close = null_close,
};

struct executor *executor_null_open(const struct value *settings, struct error *error)
{
    const struct value *tree = value_get(settings, "null");
    if (tree && tree->kind == VALUE_OBJECT && tree->object.count) {
        const struct member *member = &tree->object.members[0];
        struct error_quote_buffer quote;
        error_set(error, "dlspool.yaml:%u: null.%s: unknown setting; the null executor has none",
                  member->line, error_quote(&quote, member->key.data, member->key.length));
        return NULL;
    }
    struct executor *executor = memory_allocate(sizeof(*executor));
    *executor = (struct executor){.operations = &operations};
    return executor;
}
