/* stages/prune/measure.c - how much of a disk a job's files take */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/directory.h"
#include "stages/prune/inside.h"

enum { BLOCK = 512, MOST_DEPTH = 4 };

struct measure {
    int directory, depth;
    bool output;
    int64_t bytes;
};

static int64_t measure_directory(int directory, int depth, bool output);

static int take_entry(void *context, const char *name, unsigned char type)
{
    struct measure *measure = context;
    struct stat status;
    (void)type;
    if (measure->output && strncmp(name, "output", 6) != 0)
        return 0;
    if (sys.fstatat(measure->directory, name, &status, AT_SYMLINK_NOFOLLOW))
        return 0;
    measure->bytes += (int64_t)status.st_blocks * BLOCK;
    if (!S_ISDIR(status.st_mode) || measure->depth == MOST_DEPTH)
        return 0;
    int inner =
        sys.openat(measure->directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (inner >= 0) {
        measure->bytes += measure_directory(inner, measure->depth + 1, false);
        sys.close(inner);
    }
    return 0;
}

static int64_t measure_directory(int directory, int depth, bool output)
{
    struct measure measure = {.directory = directory, .depth = depth, .output = output};
    directory_walk(directory, take_entry, &measure);
    return measure.bytes;
}

int64_t prune_measure_job(int job, bool output)
{
    struct stat status;
    int64_t bytes = measure_directory(job, 0, output);
    if (!output && !sys.fstat(job, &status))
        bytes += (int64_t)status.st_blocks * BLOCK;
    return bytes;
}
