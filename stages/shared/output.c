/* stages/shared/output.c - <id>/output/: what the tasks of a job printed */
#include "stages/shared/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system.h"
#include "spool/file.h"
#include "spool/spool.h"

enum { OUTPUT_MODE = 0755 };

/* Give the directory to the job's group.  Only root may give files away; without root it keeps the daemon's
 * group. */
static int give_group(int output, const struct stat *status, gid_t gid)
{
    if (gid == (gid_t)-1 || status->st_gid == gid || !sys.fchown(output, (uid_t)-1, gid))
        return 0;
    return errno == EPERM ? 0 : -1;
}

/* ENOTDIR when there is something else, or when root finds a directory that another user has made: from there
 * the user could take what tasks have printed, in a file of root's, and drop it as a job of root's. */
static int open_directory(int job, struct stat *status)
{
    int output = sys.openat(job, "output", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (output < 0 || sys.fstat(output, status) || geteuid() != 0 || status->st_uid == 0)
        return output;
    sys.close(output);
    errno = ENOTDIR;
    return -1;
}

int output_open(int job, gid_t gid, struct error *error)
{
    struct stat status = {.st_gid = gid};
    if (sys.mkdirat(job, "output", OUTPUT_MODE) && errno != EEXIST)
        return error_errno(error, "output/ could not be made");
    int output = open_directory(job, &status);
    if (output < 0 && (errno == ENOTDIR || errno == ELOOP)) {
        /* What has the name is renamed, so that the job's end does not wait for it. */
        if (!spool_file_damaged(job, "output") && !sys.mkdirat(job, "output", OUTPUT_MODE))
            output = open_directory(job, &status);
    }
    if (output < 0)
        return error_errno(error, "output/ could not be opened");
    if (!give_group(output, &status, gid))
        return output;
    error_errno(error, "the group of output/ could not be set");
    sys.close(output);
    return -1;
}

/* The last bytes of a file, at most `limit`; 0 when there is none. */
static size_t read_end(int job, const char *name, char *bytes, size_t limit)
{
    struct stat status;
    ssize_t length = 0;
    int file = sys.openat(job, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0)
        return 0;
    if (!sys.fstat(file, &status))
        length = sys.pread(file, bytes, limit,
                           status.st_size > (off_t)limit ? status.st_size - (off_t)limit : 0);
    sys.close(file);
    return length > 0 ? (size_t)length : 0;
}

/* What a task has printed, at most `limit` bytes from its end. */
static struct output_end output_of(struct arena *arena, int job, const struct task_state *task,
                                   size_t limit)
{
    struct output_end end;
    char name[128];
    snprintf(end.task, sizeof(end.task), "%s-%d", task->role, task->index);
    char *bytes = arena_allocate(arena, limit + 1);
    /* A log that was just begun again is short: the end of <name>.1 is what comes before it. */
    snprintf(name, sizeof(name), "output/%s.log", end.task);
    size_t length = read_end(job, name, bytes, limit);
    if (length < limit) {
        snprintf(name, sizeof(name), "output/%s.log.1", end.task);
        char *both = arena_allocate(arena, limit + 1);
        size_t before = read_end(job, name, both, limit - length);
        memcpy(both + before, bytes, length);
        bytes = both;
        length += before;
    }
    end.bytes = (struct text){bytes, length};
    return end;
}

struct output_end output_of_failure(struct arena *arena, int job, const struct job_poll *poll,
                                    size_t limit)
{
    struct output_end end = {.bytes = {"", 0}};
    for (size_t i = 0; i < poll->task_count && poll->exit_code && !end.bytes.length; i++) {
        const struct task_state *task = &poll->tasks[i];
        if (!task->ended || task->exit_code != poll->exit_code)
            continue;
        struct output_end found = output_of(arena, job, task, limit);
        if (!end.task[0] || found.bytes.length)
            end = found;
    }
    return end;
}
