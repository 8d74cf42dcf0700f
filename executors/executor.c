/* executors/executor.c - the executor that the settings name */
#include "executors/executor.h"

#include "base/nearest.h"
#include "executors/local_manifest.h"
#include "executors/local_settings.h"

typedef struct executor *opener(const struct value *settings, const char *spool,
                                const char *directory, struct error *error);

static struct executor *open_null(const struct value *settings, const char *spool,
                                  const char *directory, struct error *error)
{
    (void)spool;
    (void)directory;
    return executor_null_open(settings, error);
}

/* The opener of the executor that the settings name; NULL and a sentence when it is none. */
static opener *find_opener(const struct value *settings, struct error *error)
{
    static const char *const names[] = {"local", "null", NULL};
    const struct value *named = value_get(settings, "executor");
    if (!named || (named->kind == VALUE_STRING && text_is(named->string, "local")))
        return executor_local_open;
    /* `executor: null` is YAML's null. */
    if (named->kind == VALUE_NULL || (named->kind == VALUE_STRING && text_is(named->string, "null")))
        return open_null;
    if (named->kind != VALUE_STRING) {
        error_set(error, "dlspool.yaml:%u: executor: found a %s, expected local or null",
                  named->line, value_kind_name(named->kind));
        return NULL;
    }
    struct error_quote_room room;
    const char *nearest = nearest_word(named->string, names);
    error_set(error, "dlspool.yaml:%u: executor: found \"%s\", expected local or null%s%s%s",
              named->line, error_quote(&room, named->string.data, named->string.length),
              nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    return NULL;
}

struct executor *executor_open(const struct value *settings, const char *spool,
                               const char *directory, struct error *error)
{
    opener *open = find_opener(settings, error);
    return open ? open(settings, spool, directory, error) : NULL;
}

int executor_check_settings(const struct value *settings, struct error *error)
{
    struct local_settings local;
    if (!find_opener(settings, error))
        return -1;
    struct arena *arena = arena_new();
    int result = local_settings_read(&local, arena, settings, error);
    arena_free(arena);
    return result;
}

int executor_check(const char *name, struct text manifest, struct error *error)
{
    /* The null executor takes the local one's manifests, and looks at none of them. */
    if (!text_is(text_of(name), "local"))
        return 0;
    struct arena *arena = arena_new();
    int result = local_manifest_read(arena, manifest, error) ? 0 : -1;
    arena_free(arena);
    return result;
}
