/* tests/unit/slurm_node.h - what the programs of a batch script for Slurm see
 *
 * tests/unit/slurm_node.bash runs the tasks without Slurm, each on a node of its own; here `env -0`
 * takes the place of their programs.
 */
#ifndef TESTS_UNIT_SLURM_NODE_H
#define TESTS_UNIT_SLURM_NODE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/system.h"
#include "executors/slurm/manifest.h"

/* Run all tasks of a manifest; what was in the directory before is gone.  The whole script runs
 * where tasks are not all that it starts. */
static inline void slurm_node_run(const struct slurm_manifest *manifest, const char *directory)
{
    bool beside = false;
    char path[160], command[1024], elements[32] = "";
    for (size_t i = 0; i < manifest->tasks_count; i++)
        beside = beside || manifest->tasks[i].beside;
    if (manifest->array_count)
        snprintf(elements, sizeof(elements), "ELEMENTS=%d", manifest->array_count);
    snprintf(command, sizeof(command), "rm -rf %s && mkdir %s", directory, directory);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof(path), "%s/.script", directory);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(manifest->script.data, 1, manifest->script.length, stream),
                     manifest->script.length);
    fclose(stream);
    snprintf(command, sizeof(command),
             "bash -n %s && env -i PATH=/usr/bin:/bin %s timeout 60 bash "
             "tests/unit/slurm_node.bash %s %s "
             "%s env -0",
             path, elements, path, directory, beside ? "batch" : "task");
    if (system(command) != 0) {
        snprintf(command, sizeof(command), "cat %s/*.log >&2", directory);
        (void)!system(command);
        fail_msg("the script of %s does not run", directory);
    }
}

/* The environment of the program of a task, or NULL where it has run none. */
static inline struct value *slurm_node_seen(struct arena *arena, const char *directory,
                                            struct text role, int index)
{
    char path[256];
    struct error error;
    struct buffer out = {0};
    snprintf(path, sizeof(path), "%s/%s-%d.log", directory, role.data, index);
    if (file_read_at(AT_FDCWD, path, 1 << 22, &out, &error)) {
        buffer_free(&out);
        return NULL;
    }
    struct value *result = value_object(arena);
    struct text rest = arena_text(arena, out.data ? out.data : "", out.length), line;
    buffer_free(&out);
    while (text_next(&rest, '\0', &line)) {
        const char *equals = line.length ? memchr(line.data, '=', line.length) : NULL;
        if (!equals)
            continue;
        struct text name = arena_text(arena, line.data, (size_t)(equals - line.data));
        struct text value = {equals + 1, line.length - name.length - 1};
        value_set(arena, result, name,
                  value_text(arena, arena_text(arena, value.data, value.length)));
    }
    return result;
}

#endif
