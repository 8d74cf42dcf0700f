/* commands/job_file.c - reads a job file of a user */
#include "commands/job_file.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "request/relative.h"
#include "request/sbatch/directory.h"

enum { FILE_LIMIT = 1 << 20 };

/* Make relative paths absolute: relative to the file's directory, or to the current one for
 * standard input.  A script for Slurm or PBS is told the current one, as sbatch and qsub do. */
static void make_absolute(const char *path, struct buffer *bytes)
{
    char directory[PATH_MAX];
    char *copy = memory_copy_string(file_named_descriptor(path) >= 0 ? "./-" : path);
    bool known = realpath(dirname(copy), directory) != NULL;
    free(copy);
    if (!known)
        return;
    struct arena *arena = arena_new();
    struct buffer said = {0};
    struct text before = buffer_text(bytes), line;
    struct text after = relative_make_absolute(arena, before, directory, &said);
    if (getcwd(directory, sizeof(directory)))
        after = sbatch_directory_add(arena, after, directory, &said);
    if (after.data != before.data) {
        buffer_clear(bytes);
        buffer_add_text(bytes, after);
    }
    struct text rest = buffer_text(&said);
    while (said.length && text_next(&rest, '\n', &line))
        remark("%s:%.*s", path, (int)line.length, line.data);
    buffer_free(&said);
    arena_free(arena);
}

int job_file_read(const char *path, struct buffer *bytes, struct error *error)
{
    int file = file_open_named(path, error);
    if (file < 0)
        return -1;
    int result = file_read_all(file, FILE_LIMIT, bytes, path, error);
    close(file);
    if (!result)
        make_absolute(path, bytes);
    return result;
}
