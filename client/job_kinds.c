/* client/job_kinds.c - which libraries and job types the templates serve, in their own words */
#include "client/job_kinds.h"

#include <string.h>

struct reading {
    struct arena *arena;
    struct repository *repository;
    struct text executor;
    struct job_kinds *kinds;
    size_t capacity;
};

/* What stands behind " - " in a first line that is a comment. */
static struct text words_of(struct text source)
{
    struct text line = source;
    text_next(&source, '\n', &line);
    if (!text_starts(line, "#"))
        return TEXT("");
    for (size_t i = 0; i + 3 <= line.length; i++)
        if (memcmp(line.data + i, " - ", 3) == 0)
            return text_trim((struct text){line.data + i + 3, line.length - i - 3});
    return TEXT("");
}

static int take_file(void *context, const char *path)
{
    struct reading *reading = context;
    struct job_kinds *kinds = reading->kinds;
    struct text rest = text_of(path), executor, library, type;
    if (!text_next(&rest, '/', &executor) || !text_equal(executor, reading->executor) ||
        !text_next(&rest, '/', &library) || !text_next(&rest, '/', &type) || rest.length ||
        !text_ends(type, ".yaml"))
        return 0;
    struct text source = words_of(repository_file(reading->repository, path));
    kinds->items = arena_grow(reading->arena, kinds->items, kinds->count, &reading->capacity,
                              sizeof(*kinds->items));
    kinds->items[kinds->count++] = (struct job_kind){
        arena_text(reading->arena, library.data, library.length),
        arena_text(reading->arena, type.data, type.length - strlen(".yaml")),
        arena_text(reading->arena, source.data ? source.data : "", source.length)};
    return 0;
}

void job_kinds_read(struct arena *arena, struct repository *repository, struct text executor,
                    struct job_kinds *kinds)
{
    bool null = text_is(executor, "null"); /* it is given what is for this machine */
    struct reading reading = {arena, repository, null ? TEXT("local") : executor, kinds, 0};
    *kinds = (struct job_kinds){.count = 0};
    repository_walk(repository, take_file, &reading);
}

const struct job_kind *job_kinds_find(const struct job_kinds *kinds, struct text library,
                                      struct text type)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (text_equal(kinds->items[i].library, library) && text_equal(kinds->items[i].type, type))
            return &kinds->items[i];
    return NULL;
}
