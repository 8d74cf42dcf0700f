/* executors/executor.c - the executor that the settings name */
#include "executors/executor.h"

#include "base/nearest.h"

struct executor *executor_open(const struct value *settings, const char *spool,
                               const char *directory, struct error *error)
{
    static const char *const names[] = {"local", "null", NULL};
    const struct value *named = value_get(settings, "executor");
    if (!named || (named->kind == VALUE_STRING && text_is(named->string, "local")))
        return executor_local_open(settings, spool, directory, error);
    if (named->kind != VALUE_STRING) {
        error_set(error, "dlspool.yaml:%u: executor: found a %s, expected local or null",
                  named->line, value_kind_name(named->kind));
        return NULL;
    }
    if (text_is(named->string, "null"))
        return executor_null_open(settings, error);
    struct error_quote_room room;
    const char *nearest = nearest_word(named->string, names);
    error_set(error, "dlspool.yaml:%u: executor: found \"%s\", expected local or null%s%s%s",
              named->line, error_quote(&room, named->string.data, named->string.length),
              nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    return NULL;
}
