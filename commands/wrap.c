/* commands/wrap.c - a job file around a command */
#include "commands/wrap.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/yaml.h"

static bool sets_field(const struct option_list *sets, const char *field)
{
    size_t length = strlen(field);
    for (size_t i = 0; i < sets->count; i++)
        if (strncmp(sets->items[i], field, length) == 0 && sets->items[i][length] == '=')
            return true;
    return false;
}

int wrap_command(struct arena *arena, char *const *words, int count, const struct option_list *sets,
                 struct buffer *out, struct error *error)
{
    char here[PATH_MAX];
    struct value *job = value_object(arena), *tasks = value_object(arena);
    struct value *task = value_object(arena), *command = value_list(arena);
    for (int i = 0; i < count; i++)
        value_append(arena, command, value_string(arena, words[i]));
    if (!sets_field(sets, "program")) {
        if (!getcwd(here, sizeof(here)))
            return error_errno(error,
                               "the current directory is unknown; name one with --set program=DIR");
        if (strcmp(here, "/") != 0)
            value_put(arena, job, "program", value_string(arena, here));
    }
    value_put(arena, task, "command", command);
    value_put(arena, tasks, "main", task);
    value_put(arena, job, "tasks", tasks);
    return yaml_write(out, job, error);
}

const char *wrap_name(struct arena *arena, const char *command)
{
    const char *slash = strrchr(command, '/');
    const char *name = slash ? slash + 1 : command;
    return arena_printf(arena, "%s.yaml", *name ? name : "command").data;
}
