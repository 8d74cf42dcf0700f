/* request/openpai/v2_extras.c - extras of an OpenPAI v2 file
 *
 * `extras` is for services besides OpenPAI's own and may contain anything.  Known parts are checked
 * as those services do; each part without effect gets a note.
 */
#include <string.h>

#include "request/notes.h"
#include "request/openpai/v2_parts.h"
#include "request/openpai/v2_values.h"

static void note_path(struct openpai_v2 *file, const struct value_path *path, const char *sentence)
{
    struct arena *arena = file->reading->arena;
    request_notes_add(arena, &file->job->notes, openpai_v2_value_place(arena, path), "%s",
                      sentence);
}

static bool asks_for_nothing(const struct value *value)
{
    return value->kind == VALUE_NULL || (value->kind == VALUE_BOOLEAN && !value->boolean) ||
           (value->kind == VALUE_OBJECT && value->object.count == 0) ||
           (value->kind == VALUE_LIST && value->list.count == 0);
}

/* ---- hivedScheduler ---- */

/* OpenPAI's priority classes, numbers from -1 to 126 there, on dlspool's scale. */
static const struct {
    const char *name;
    int priority;
} priority_classes[] = {{"crit", 100}, {"prod", 50}, {"test", 0}, {"oppo", -100}};

static void read_priority(struct openpai_v2 *file, const struct value_path *above,
                          const struct value *value)
{
    struct value_path path = {.above = above, .name = TEXT("jobPriorityClass")};
    for (size_t i = 0; i < ARRAY_COUNT(priority_classes); i++) {
        if (value->kind != VALUE_STRING || !text_is(value->string, priority_classes[i].name))
            continue;
        file->job->priority = priority_classes[i].priority;
        file->job->priority_class = value->string; /* where the site has one of that name */
        file->job->has_priority = true;
        return;
    }
    problems_expected(file->reading, &path, value, "crit, prod, test or oppo");
}

/* Check what a role asks of HiveD, and add a note that it has no effect. */
static void read_cell(struct openpai_v2 *file, const struct value_path *path,
                      const struct member *member)
{
    const struct value *roles = value_get(file->root, "taskRoles");
    const struct value *cell = member->value;
    if (!value_member(roles, member->key)) {
        problems_add(file->reading, path, member->line, member->column,
                     "there is no such task role; expected one that taskRoles names");
        return;
    }
    if (cell->kind != VALUE_OBJECT) {
        problems_expected(file->reading, path, cell, "a map such as {skuNum: 2, skuType: null}");
        return;
    }
    const struct value *type = value_get(cell, "skuType");
    const struct value *pinned = value_get(cell, "pinnedCellId");
    if (type && pinned && type->kind != VALUE_NULL && pinned->kind != VALUE_NULL) {
        problems_add(file->reading, path, member->line, member->column,
                     "found both skuType and pinnedCellId, expected only one of them");
        return;
    }
    for (size_t i = 0; i < cell->object.count; i++) {
        struct value_path field = {.above = path, .name = cell->object.members[i].key};
        if (!asks_for_nothing(cell->object.members[i].value))
            note_path(file, &field,
                      "no effect here: there is no HiveD; resourcePerInstance and the "
                      "site's queues decide where tasks run");
    }
}

/* Read extras.hivedScheduler: the priority has an effect, everything else gets a note. */
static void read_hived(struct openpai_v2 *file, const struct value_path *path,
                       const struct value *hived)
{
    if (hived->kind != VALUE_OBJECT) {
        problems_expected(file->reading, path, hived, "a map of jobPriorityClass and taskRoles");
        return;
    }
    for (size_t i = 0; i < hived->object.count; i++) {
        const struct member *member = &hived->object.members[i];
        struct value_path field = {.above = path, .name = member->key};
        if (text_is(member->key, "jobPriorityClass")) {
            read_priority(file, path, member->value);
        } else if (!text_is(member->key, "taskRoles")) {
            note_path(file, &field, "no effect here");
        } else if (member->value->kind != VALUE_OBJECT) {
            problems_expected(file->reading, &field, member->value, "a map of task roles");
        } else {
            for (size_t j = 0; j < member->value->object.count; j++) {
                const struct member *role = &member->value->object.members[j];
                struct value_path cell = {.above = &field, .name = role->key};
                read_cell(file, &cell, role);
            }
        }
    }
}

/* ---- plugins ---- */

static const struct {
    const char *name, *sentence;
} plugins[] = {
    {"ssh", "no effect here: tasks are started by dlspool, and no ssh server is added to them"},
    {"teamwise_storage", "no effect here: no storage is mounted for it"},
    {"tensorboard", "no effect here: no TensorBoard is started"},
    {"cmd", "no effect here: put these commands into the task role's commands"},
    {NULL, "no effect here: dlspool has no plugins"},
};

static void read_plugins(struct openpai_v2 *file, const struct value_path *path,
                         const struct value *list)
{
    for (size_t i = 0; list->kind == VALUE_LIST && i < list->list.count; i++) {
        struct value_path item = {.above = path, .index = i};
        const struct value *name = value_get(list->list.items[i], "plugin");
        size_t at = 0;
        while (plugins[at].name &&
               !(name && name->kind == VALUE_STRING && text_is(name->string, plugins[at].name)))
            at++;
        struct error_quote_buffer buffer;
        struct text named = name && name->kind == VALUE_STRING ? name->string : TEXT("plugin");
        struct value_path field = {
            .above = &item,
            .name = arena_printf(file->reading->arena, "plugin %s",
                                 error_quote(&buffer, named.data, named.length))};
        note_path(file, &field, plugins[at].sentence);
    }
    if (list->kind != VALUE_LIST && !asks_for_nothing(list))
        note_path(file, path, "no effect here: expected a list of plugins");
}

/* OpenPAI's changes of a job's status, with what they are here. */
static const struct {
    const char *name;
    enum message_event event;
} changes[] = {{"running", MESSAGE_BEGIN},
               {"succeeded", MESSAGE_END},
               {"stopped", MESSAGE_FAIL},
               {"failed", MESSAGE_FAIL},
               {"retried", MESSAGE_REQUEUE}};

static void read_notifications(struct openpai_v2 *file, const struct value_path *path,
                               const struct value *map)
{
    unsigned int *events = &file->job->messages.events;
    for (size_t i = 0; map->kind == VALUE_OBJECT && i < map->object.count; i++) {
        const struct member *member = &map->object.members[i];
        struct value_path field = {.above = path, .name = member->key};
        size_t at = 0;
        if (asks_for_nothing(member->value))
            continue;
        while (at < ARRAY_COUNT(changes) && !text_is(member->key, changes[at].name))
            at++;
        if (at == ARRAY_COUNT(changes))
            note_path(file, &field, "no effect here: there is no message of that");
        else if (member->value->kind != VALUE_BOOLEAN)
            problems_expected(file->reading, &field, member->value, "true or false");
        else
            *events |= 1u << changes[at].event;
    }
    if (*events & 1u << MESSAGE_END && !(*events & 1u << MESSAGE_FAIL))
        note_path(file, path, "succeeded is end here: whichever way the job ends, it is told");
    if (map->kind != VALUE_OBJECT && !asks_for_nothing(map))
        note_path(file, path, "no effect here");
}

static void read_gang(struct openpai_v2 *file, const struct value_path *path,
                      const struct value *value)
{
    if (asks_for_nothing(value))
        note_path(file, path,
                  "no effect here: whether the tasks of a job start together is the "
                  "executor's choice");
}

static const struct {
    const char *name;
    void (*read)(struct openpai_v2 *file, const struct value_path *path, const struct value *value);
} extras[] = {
    {"hivedScheduler", read_hived},
    {"com.microsoft.pai.runtimeplugin", read_plugins},
    {"jobStatusChangeNotification", read_notifications},
    {"gangAllocation", read_gang},
};

void openpai_v2_extras_read(struct openpai_v2 *file)
{
    const struct value *map = value_get(file->root, "extras");
    struct value_path above = {.name = TEXT("extras")};
    for (size_t i = 0; map && i < map->object.count; i++) {
        const struct member *member = &map->object.members[i];
        struct value_path path = {.above = &above, .name = member->key};
        size_t at = 0, count = ARRAY_COUNT(extras);
        while (at < count && !text_is(member->key, extras[at].name))
            at++;
        if (at < count)
            extras[at].read(file, &path, member->value);
        else if (!asks_for_nothing(member->value))
            note_path(file, &path, "no effect here");
    }
}
