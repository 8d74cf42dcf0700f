/* executors/completion.c - when a job has ended, by the ends of its tasks */
#include "executors/completion.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

enum { MOST_TASKS = 1000000, MOST_AGAIN = 1000 };

/* -1 or a number from 1. */
static int read_number(const struct value *value, const char *role, const char *field, int *number,
                       struct error *error)
{
    if (value->kind != VALUE_NUMBER || floor(value->number) != value->number ||
        value->number > MOST_TASKS || value->number < -1 || value->number == 0)
        return error_set(error, "%s.%s: expected a whole number from 1, or -1", role, field);
    *number = (int)value->number;
    return 0;
}

/* How often a failed task is started again. */
static int read_again(const struct value *value, const char *role, int *again, struct error *error)
{
    if (value->kind != VALUE_NUMBER || floor(value->number) != value->number || value->number < 0 ||
        value->number > MOST_AGAIN)
        return error_set(error, "%s.again: expected a whole number from 0 to %d", role, MOST_AGAIN);
    *again = (int)value->number;
    return 0;
}

/* Read the rule for one role; -1 and a sentence that names the field. */
static int read_role(const struct member *member, struct completion_role *role, struct error *error)
{
    struct error_quote_buffer quotes[2];
    const char *name = error_quote(&quotes[0], member->key.data, member->key.length);
    *role = (struct completion_role){.role = member->key};
    if (member->value->kind != VALUE_OBJECT)
        return error_set(error, "%s: expected {failed: N, succeeded: N} or {each: true}", name);
    for (size_t i = 0; i < member->value->object.count; i++) {
        const struct member *field = &member->value->object.members[i];
        bool failed = text_is(field->key, "failed");
        if (text_is(field->key, "each")) {
            if (field->value->kind != VALUE_BOOLEAN)
                return error_set(error, "%s.each: expected true or false", name);
            role->each = field->value->boolean;
            continue;
        }
        if (text_is(field->key, "again")) {
            if (read_again(field->value, name, &role->again, error))
                return -1;
            continue;
        }
        if (!failed && !text_is(field->key, "succeeded"))
            return error_set(error,
                             "%s.%s: unknown field, expected failed, succeeded, again or each",
                             name, error_quote(&quotes[1], field->key.data, field->key.length));
        if (read_number(field->value, name, failed ? "failed" : "succeeded",
                        failed ? &role->failed : &role->succeeded, error))
            return -1;
    }
    if (role->each && (role->failed || role->succeeded || role->again))
        return error_set(error, "%s.each: expected no failed, succeeded or again beside it", name);
    return 0;
}

struct completion_rule *completion_of(struct arena *arena, const struct value *tree,
                                      struct error *error)
{
    struct completion_rule *rule = arena_allocate(arena, sizeof(*rule));
    if (!tree)
        return rule;
    if (tree->kind != VALUE_OBJECT) {
        error_set(error, "expected an object of roles");
        return NULL;
    }
    rule->count = tree->object.count;
    rule->roles = arena_allocate(arena, (rule->count + 1) * sizeof(*rule->roles));
    for (size_t i = 0; i < rule->count; i++)
        if (read_role(&tree->object.members[i], &rule->roles[i], error))
            return NULL;
    return rule;
}

struct completion_rule *completion_read(struct arena *arena, struct text json, struct error *error)
{
    if (json.length == 0)
        return completion_of(arena, NULL, error);
    struct value *tree = json_read(arena, json, "rule", &yaml_request_limits, error);
    return tree ? completion_of(arena, tree, error) : NULL;
}

static const struct completion_role *find_role(const struct completion_rule *rule, const char *name)
{
    for (size_t i = 0; rule && i < rule->count; i++)
        if (text_is(rule->roles[i].role, name))
            return &rule->roles[i];
    return NULL;
}

bool completion_has_again(const struct completion_rule *rule)
{
    bool again = false;
    for (size_t i = 0; rule && i < rule->count; i++)
        again = again || rule->roles[i].again > 0;
    return again;
}

int completion_again(const struct completion_rule *rule, const char *role, int index)
{
    const struct completion_role *found = index > 0 ? find_role(rule, role) : NULL;
    return found ? found->again : 0;
}

static bool has_failed(const struct task_state *task)
{
    return task->ended && (task->exit_code != 0 || task->killed);
}

/* The `wanted`-th failed (or succeeded) task of a role; NULL when there are fewer. */
static const struct task_state *find_nth_end(const struct task_state *tasks, size_t count,
                                             const char *role, bool failures, int wanted)
{
    int found = 0;
    for (size_t i = 0; i < count && wanted > 0; i++)
        if (tasks[i].ended && has_failed(&tasks[i]) == failures &&
            strcmp(tasks[i].role, role) == 0 && ++found == wanted)
            return &tasks[i];
    return NULL;
}

/* Has a task before this one the same role? */
static bool seen_before(const struct task_state *tasks, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(tasks[i].role, tasks[index].role) == 0)
            return true;
    return false;
}

/* How many failures (or successes) of the role end the job; -1 or 0: no number does. */
static int wanted_of(const struct completion_role *role, bool failures)
{
    if (!role)
        return failures ? 1 : 0;
    if (role->each)
        return -1;
    return failures && !role->failed ? 1 : failures ? role->failed : role->succeeded;
}

/* The task whose end ends the job by a failure (or success), in the first role that reaches its number;
 * NULL when no role does. */
static const struct task_state *find_decider(const struct completion_rule *rule,
                                             const struct task_state *tasks, size_t count,
                                             bool failures)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(tasks[i].role, tasks[i - 1].role) == 0)
            continue;
        if (seen_before(tasks, i))
            continue;
        int wanted = wanted_of(find_role(rule, tasks[i].role), failures);
        const struct task_state *found =
            find_nth_end(tasks, count, tasks[i].role, failures, wanted);
        if (found)
            return found;
    }
    return NULL;
}

/* The failed task of the smallest index in roles with `each`, or NULL.  A task that was killed is
 * taken only when no other has failed. */
static const struct task_state *first_of_each(const struct completion_rule *rule,
                                              const struct task_state *tasks, size_t count)
{
    const struct task_state *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!has_failed(&tasks[i]) ||
            (first &&
             (first->killed != tasks[i].killed ? tasks[i].killed : first->index <= tasks[i].index)))
            continue;
        const struct completion_role *role = find_role(rule, tasks[i].role);
        if (role && role->each)
            first = &tasks[i];
    }
    return first;
}

struct completion_outcome completion_judge(const struct completion_rule *rule,
                                           const struct task_state *tasks, size_t count,
                                           size_t total)
{
    const struct task_state *task = find_decider(rule, tasks, count, true);
    if (task)
        return (struct completion_outcome){COMPLETION_FAILED, task, false};
    task = find_decider(rule, tasks, count, false);
    if (task)
        return (struct completion_outcome){COMPLETION_SUCCEEDED, task, false};
    for (size_t i = 0; i < count; i++)
        if (!tasks[i].ended)
            return (struct completion_outcome){COMPLETION_RUNNING, NULL, false};
    if (count < total || count == 0)
        return (struct completion_outcome){COMPLETION_RUNNING, NULL, false};
    task = first_of_each(rule, tasks, count);
    if (task)
        return (struct completion_outcome){COMPLETION_FAILED, task, true};
    return (struct completion_outcome){COMPLETION_SUCCEEDED, &tasks[count - 1], false};
}
