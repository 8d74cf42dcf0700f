/* renderer/unread.c - fields that a job has and that its template does not read */
#include "renderer/unread.h"

/* The variables of `env` are in the environment of each role, so they are not looked for. */
static const char *const job_fields[] = {
    "args",   "checkpoint", "complete", "dataset", "debug",  "entry",  "features",  "gpu_type",
    "output", "program",    "queue",    "script",  "signal", "spread", "time_limit"};
static const char *const role_fields[] = {"command", "shm"};

static bool is_given(const struct value *value)
{
    return value && value->kind != VALUE_NULL &&
           !(value->kind == VALUE_BOOLEAN && !value->boolean) &&
           !(value->kind == VALUE_LIST && value->list.count == 0);
}

static void watch_field(struct unread *unread, const struct value *object, const char *field,
                        struct text shown)
{
    const struct value *value = value_get(object, field);
    if (!is_given(value) || unread->count == UNREAD_MOST)
        return;
    unread->watched[unread->count] = (struct watched_value){.object = object, .value = value};
    unread->fields[unread->count++] = shown;
}

void unread_watch(struct arena *arena, struct unread *unread, const struct value *job)
{
    const struct value *roles = value_get(job, "roles");
    unread->count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(job_fields); i++)
        watch_field(unread, job, job_fields[i], text_of(job_fields[i]));
    for (size_t i = 0; roles && i < roles->list.count; i++) {
        const struct value *role = roles->list.items[i];
        struct text name = value_get_text(role, "role");
        for (size_t k = 0; k < ARRAY_COUNT(role_fields); k++)
            watch_field(
                unread, role, role_fields[k],
                arena_printf(arena, "tasks.%.*s.%s", (int)name.length, name.data, role_fields[k]));
    }
}

size_t unread_fields(struct arena *arena, const struct unread *unread, const struct text **fields)
{
    struct text *list = arena_allocate(arena, UNREAD_MOST * sizeof(*list));
    size_t count = 0;
    for (size_t i = 0; i < unread->count; i++)
        if (!unread->watched[i].read)
            list[count++] = unread->fields[i];
    *fields = list;
    return count;
}
