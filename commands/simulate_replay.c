/* commands/simulate_replay.c - dlspool simulate --replay: repeats recorded decisions */
#include "commands/simulate_replay.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "simulation/replay.h"

static struct value *pool_tree(struct arena *arena, const struct recorded_pool *pool)
{
    struct value *tree = value_object(arena);
    value_put(arena, tree, "pool", value_text(arena, pool->name));
    value_put(arena, tree, "capacity", value_number(arena, pool->capacity));
    value_put(arena, tree, "jobs", value_number(arena, (double)pool->jobs));
    value_put(arena, tree, "started", value_number(arena, (double)pool->started));
    value_put(arena, tree, "pairs", value_number(arena, (double)pool->pairs));
    value_put(arena, tree, "pairs_in_order", value_number(arena, (double)pool->in_order));
    value_put(arena, tree, "same_first_size", value_number(arena, (double)pool->same_size));
    return tree;
}

static int print_replay_json(struct arena *arena, const struct replay *replay)
{
    struct buffer out = {0};
    struct value *tree = value_object(arena), *different = value_list(arena);
    struct value *pools = value_list(arena);
    for (size_t i = 0; i < replay->different && i < REPLAY_MOST_DIFFERENCES; i++)
        value_append(arena, different, value_string(arena, replay->differences[i]));
    for (size_t i = 0; i < replay->pool_count; i++)
        value_append(arena, pools, pool_tree(arena, &replay->pools[i]));
    value_put(arena, tree, "plans", value_number(arena, (double)replay->plans));
    value_put(arena, tree, "decisions", value_number(arena, (double)replay->decisions));
    value_put(arena, tree, "different", value_number(arena, (double)replay->different));
    value_put(arena, tree, "differences", different);
    value_put(arena, tree, "simulated", pools);
    if (json_write(&out, tree, false, NULL) == 0)
        printf("%s\n", out.data);
    buffer_free(&out);
    return replay->different ? STATUS_FAILED : STATUS_DONE;
}

static int print_replay(const struct replay *replay)
{
    printf("%zu plans, %zu decisions: ", replay->plans, replay->decisions);
    if (replay->different)
        printf("%zu differ\n", replay->different);
    else
        printf("all the same\n");
    for (size_t i = 0; i < replay->different && i < REPLAY_MOST_DIFFERENCES; i++)
        printf("  %s\n", replay->differences[i]);
    for (size_t i = 0; i < replay->pool_count; i++) {
        const struct recorded_pool *pool = &replay->pools[i];
        printf("simulated as a trace, %.*s, capacity %d: ", (int)pool->name.length, pool->name.data,
               pool->capacity);
        if (pool->too_many)
            printf("too many jobs\n");
        else
            printf(
                "%zu of %zu jobs started; in the same order %zu of %zu pairs; at the same size %zu\n",
                pool->started, pool->jobs, pool->in_order, pool->pairs, pool->same_size);
    }
    return replay->different ? STATUS_FAILED : STATUS_DONE;
}

int simulate_replay(const char *path, bool json)
{
    enum { MOST_BYTES = 256 << 20 };
    struct buffer recording = {0};
    struct error error;
    struct replay replay;
    int status = STATUS_FAILED;
    struct arena *arena = arena_new();
    int file = file_open_named(path, &error);
    int result = file < 0 ? -1 : file_read_all(file, MOST_BYTES, &recording, path, &error);
    if (file >= 0)
        close(file);
    if (!result && replay_run(arena, buffer_text(&recording), &replay, &error))
        result = error_prefix(&error, "%s", path);
    if (result)
        complain("%s", error.text);
    else
        status = json ? print_replay_json(arena, &replay) : print_replay(&replay);
    buffer_free(&recording);
    arena_free(arena);
    return status;
}
