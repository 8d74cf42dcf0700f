/* client/acct_tree.c - an attempt of the accounts as `dlspool acct --json` prints it */
#include "client/acct_tree.h"

#include "client/acct_fields.h"
#include "client/put.h"
#include "client/usage_filter.h"

static void put_known(struct arena *arena, struct value *object, const char *key, int64_t amount,
                      double unit)
{
    value_put(arena, object, key,
              amount >= 0 ? value_number(arena, (double)amount / unit) : value_null(arena));
}

static void put_whose(struct arena *arena, struct value *object, const struct usage *usage)
{
    put_text(arena, object, "id", usage->id);
    value_put(arena, object, "attempt", value_number(arena, usage->attempt));
    value_put(arena, object, "number", value_number(arena, acct_fields_number(usage)));
    put_text(arena, object, "owner", usage->user);
    put_known(arena, object, "uid", usage->uid, 1);
    put_text(arena, object, "group", text_of(acct_fields_group(usage->gid)));
    put_known(arena, object, "gid", usage->gid, 1);
    put_text(arena, object, "name", usage->name);
    put_text(arena, object, "library", usage->library);
    put_text(arena, object, "type", usage->type);
    put_text(arena, object, "queue", usage->queue);
    value_put(arena, object, "priority", value_number(arena, usage->priority));
    put_text(arena, object, "priority_class", usage->priority_class);
    put_text(arena, object, "array", usage->array);
    put_text(arena, object, "executor", usage->executor);
    put_text(arena, object, "scheduler_id", usage->scheduler_id);
    put_text(arena, object, "node", usage->node);
    put_known(arena, object, "nodes", usage->nodes, 1);
}

static void put_end(struct arena *arena, struct value *object, const struct usage *usage)
{
    int64_t elapsed =
        usage->started && usage->ended > usage->started ? usage->ended - usage->started : 0;
    put_time(arena, object, "submitted", usage->submitted);
    put_time(arena, object, "eligible", usage->eligible);
    put_time(arena, object, "accepted", usage->accepted);
    put_time(arena, object, "started", usage->started);
    put_time(arena, object, "ended", usage->ended);
    put_known(arena, object, "elapsed_seconds", elapsed, 1000);
    put_text(arena, object, "outcome", usage->outcome);
    value_put(arena, object, "state", value_string(arena, usage_filter_state(usage)));
    put_text(arena, object, "reason", usage->reason);
    put_text(arena, object, "class", usage->class);
    put_known(arena, object, "exit_code", usage->exit_code, 1);
    put_time(arena, object, "deadline", usage->deadline);
    value_put(arena, object, "met",
              usage->met.length ? value_boolean(arena, text_is(usage->met, "yes"))
                                : value_null(arena));
}

static void put_amounts(struct arena *arena, struct value *object, const struct usage *usage)
{
    put_known(arena, object, "time_limit_seconds", usage->time_limit > 0 ? usage->time_limit : -1,
              1000);
    put_known(arena, object, "cpus", usage->cpus, 1000);
    put_known(arena, object, "memory", usage->memory, 1);
    put_known(arena, object, "gpus", usage->gpus, 1);
    put_text(arena, object, "gpu_type", usage->gpu_type);
    put_known(arena, object, "cpus_asked", usage->cpus_asked, 1000);
    put_known(arena, object, "gpus_asked", usage->gpus_asked, 1);
    put_known(arena, object, "cpu_held_seconds", usage->cpu_held, 1000);
    put_known(arena, object, "gpu_held_seconds", usage->gpu_held, 1000);
    put_known(arena, object, "cpu_used_seconds", usage->cpu_used, 1000);
    put_known(arena, object, "memory_peak", usage->memory_peak, 1);
}

struct value *acct_tree(struct arena *arena, const struct usage *usage)
{
    struct value *object = value_object(arena);
    put_whose(arena, object, usage);
    put_end(arena, object, usage);
    put_amounts(arena, object, usage);
    return object;
}
