/* spool/day_names_file.c - the files of history/names: opened, written, and removed */
#include "spool/day_names_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "spool/file.h"
#include "spool/history.h"
#include "spool/jobs.h"

enum {
    FEWEST = 1000,  /* jobs; fewer are walked as quickly */
    MOST = 1 << 19, /* jobs, which are in memory while the file is written */
    HEADER_MOST = 96,
    DIRECTORY_MODE = 0755,
    FILE_MODE = 0644
};
static const int64_t settled =
    5000; /* milliseconds after which a directory's time is not given twice */
static const char directory_name[] = "history/names";

/* ---- the first line: names 1 SECONDS.NANOSECONDS JOBS ---- */

static int format_header(char header[static HEADER_MOST], struct timespec changed, int64_t jobs)
{
    return snprintf(header, HEADER_MOST, "names 1 %" PRId64 ".%09ld %" PRId64 " ",
                    (int64_t)changed.tv_sec, changed.tv_nsec, jobs);
}

/* Does the file say of itself that it has all names of the directory that was changed then? */
static bool read_header(struct names_file *names, struct timespec changed)
{
    char bytes[HEADER_MOST], expected[HEADER_MOST], *end;
    struct stat status;
    ssize_t length = sys.pread(names->file, bytes, sizeof(bytes) - 1, 0);
    int before = format_header(expected, changed, 0) - (int)strlen("0 ");
    if (length <= before || memcmp(bytes, expected, (size_t)before) != 0)
        return false;
    bytes[length] = '\0';
    names->jobs = strtoll(bytes + before, &end, 10);
    long long size = strtoll(end, &end, 10);
    names->start = end - bytes + 1;
    names->size = (off_t)size;
    return *end == '\n' && !sys.fstat(names->file, &status) && status.st_size == size;
}

bool day_names_file_open(const struct spool *spool, const char *day, struct names_file *names)
{
    char path[sizeof(directory_name) + sizeof(day_name)];
    struct stat status;
    snprintf(path, sizeof(path), "%s/%s", directory_name, day);
    names->file = sys.openat(spool->root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (names->file < 0)
        return false;
    if (!sys.fstatat(spool->states[STATE_DONE], day, &status, AT_SYMLINK_NOFOLLOW) &&
        read_header(names, status.st_mtim))
        return true;
    sys.close(names->file);
    return false;
}

/* ---- writing ---- */

struct collected {
    char (*ids)[ID_SIZE];
    size_t count, capacity;
};

static int collect_job(void *context, const struct job_place *place)
{
    struct collected *jobs = context;
    if (jobs->count == MOST)
        return 1;
    jobs->ids = memory_grow(jobs->ids, jobs->count, &jobs->capacity, sizeof(*jobs->ids));
    memcpy(jobs->ids[jobs->count++], place->id, sizeof(*jobs->ids));
    return 0;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int open_directory(const struct spool *spool, struct error *error)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int above = history_open(spool, true, error), directory = -1;
    if (above < 0)
        return -1;
    if (!sys.mkdirat(above, "names", DIRECTORY_MODE) || errno == EEXIST)
        directory = sys.openat(above, "names", flags, 0);
    if (directory < 0)
        error_errno(error, "%s/ could not be opened", directory_name);
    sys.close(above);
    return directory;
}

/* The header has the length of the file, itself included. */
static void format_file(const struct collected *jobs, struct timespec changed, struct buffer *out)
{
    char header[HEADER_MOST], length[24];
    size_t names = 0;
    for (size_t i = 0; i < jobs->count; i++)
        names += strlen(jobs->ids[i]) + 1;
    size_t before = (size_t)format_header(header, changed, (int64_t)jobs->count) + 1;
    int digits = snprintf(length, sizeof(length), "%zu", before + names);
    /* The digits themselves may make one more. */
    digits = snprintf(length, sizeof(length), "%zu", before + (size_t)digits + names);
    snprintf(length, sizeof(length), "%zu", before + (size_t)digits + names);
    buffer_printf(out, "%s%s\n", header, length);
    for (size_t i = 0; i < jobs->count; i++)
        buffer_printf(out, "%s\n", jobs->ids[i]);
}

static int write_names(const struct spool *spool, const char *day, const struct collected *jobs,
                       struct timespec changed, struct error *error)
{
    struct buffer bytes = {0};
    int directory = open_directory(spool, error);
    if (directory < 0)
        return -1;
    format_file(jobs, changed, &bytes);
    /* Durable before it has its name: after a power cut it would else be of the right length, and empty. */
    int result = spool_file_replace(directory, day, buffer_text(&bytes), FILE_MODE, error);
    buffer_free(&bytes);
    sys.close(directory);
    return result ? -1 : 1;
}

int day_names_file_write(const struct spool *spool, const char *day, struct error *error)
{
    struct collected jobs = {0};
    struct names_file names;
    struct stat before, after;
    int done = spool->states[STATE_DONE];
    if (day_names_file_open(spool, day, &names)) {
        sys.close(names.file);
        return 0;
    }
    if (sys.fstatat(done, day, &before, AT_SYMLINK_NOFOLLOW) ||
        clock_now() - (before.st_mtim.tv_sec * INT64_C(1000)) < settled)
        return 0;
    int result = jobs_walk_day(spool, day, collect_job, &jobs);
    if (result < 0)
        error_errno(error, "done/%s could not be read", day);
    bool same = !result && !sys.fstatat(done, day, &after, AT_SYMLINK_NOFOLLOW) &&
                after.st_mtim.tv_sec == before.st_mtim.tv_sec &&
                after.st_mtim.tv_nsec == before.st_mtim.tv_nsec;
    result = result < 0 ? -1 : 0;
    if (same && jobs.count >= FEWEST) {
        qsort(jobs.ids, jobs.count, sizeof(*jobs.ids), compare_ids);
        result = write_names(spool, day, &jobs, before.st_mtim, error);
    }
    free(jobs.ids);
    return result;
}

struct sweep {
    const struct spool *spool;
    int directory;
};

static int sweep_file(void *context, const char *name, unsigned char type)
{
    const struct sweep *sweep = context;
    struct stat status;
    (void)type;
    if (sys.fstatat(sweep->spool->states[STATE_DONE], name, &status, AT_SYMLINK_NOFOLLOW) &&
        errno == ENOENT)
        sys.unlinkat(sweep->directory, name, 0);
    return 0;
}

void day_names_file_sweep(const struct spool *spool)
{
    struct sweep sweep = {.spool = spool};
    sweep.directory =
        sys.openat(spool->root, directory_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (sweep.directory < 0)
        return;
    directory_walk(sweep.directory, sweep_file, &sweep);
    sys.close(sweep.directory);
}
