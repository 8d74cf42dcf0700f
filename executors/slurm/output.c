/* executors/slurm/output.c - copying what tasks print into the job's output/
 *
 * The source is ROLE-INDEX.log in the job's directory, which its user's programs write; the target
 * has the same name.  What the target holds is a function of the source alone: its bytes, cut at
 * the log limit, where one last line says so.  So the target's length tells how far it is, whoever
 * wrote it and however often dlspool was restarted.  What the batch script and Slurm itself say is
 * copied to batch.log.
 *
 * Only tasks that the job has are copied: its user may make files of any name, and how much lands
 * in the spool is bounded by the number of tasks and the log limit.
 *
 * A source that got shorter (its user's doing) adds nothing until it is longer again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/file.h"
#include "base/quantity.h"
#include "base/system.h"
#include "executors/output_file.h"
#include "executors/slurm/files.h"
#include "executors/slurm/inside.h"
#include "executors/slurm/jobs.h"

enum { PIECE = 256 << 10 }; /* bytes read at a time */

static const int64_t patience = 10000; /* milliseconds for one job's files, before others wait */

struct copying {
    struct slurm *slurm;
    struct slurm_job *job;
    int sources, targets;
    struct error *error;
};

static int copy_bytes(const struct copying *copying, int source, int target, const char *name,
                      off_t from, off_t to)
{
    struct buffer piece = {0};
    int result = 0;
    while (from < to && !result) {
        buffer_clear(&piece);
        size_t wanted = to - from < PIECE ? (size_t)(to - from) : PIECE;
        ssize_t length = sys.pread(source, buffer_reserve(&piece, PIECE), wanted, from);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            result = error_errno(copying->error, "the file behind %s could not be read", name);
        if (length <= 0)
            break;
        result =
            file_write_all(target, (struct text){piece.data, (size_t)length}, name, copying->error);
        from += length;
    }
    buffer_free(&piece);
    return result;
}

/* The target is at the limit, and there is more: say so, as far as it is not said yet. */
static int finish_cut(const struct copying *copying, int target, const char *name, off_t size)
{
    char limit[QUANTITY_TEXT_SIZE];
    struct buffer line = {0};
    buffer_printf(&line, "\n[dlspool: the output is longer than %s, and the rest of it was cut]\n",
                  quantity_format_bytes(copying->slurm->settings.log_limit, limit));
    off_t said = size - copying->slurm->settings.log_limit;
    int result = 0;
    if (said >= 0 && said < (off_t)line.length)
        result = file_write_all(target, (struct text){line.data + said, line.length - (size_t)said},
                                name, copying->error);
    buffer_free(&line);
    return result;
}

static int copy_file(const struct copying *copying, int source, off_t size, const char *name)
{
    struct stat status;
    off_t limit = copying->slurm->settings.log_limit;
    int target = output_file_open(copying->targets, name, O_WRONLY | O_APPEND | O_CREAT, &status);
    if (target < 0 && errno == EEXIST)
        return error_set(copying->error, "%s is not a file of its own, as one for output should be",
                         name);
    if (target < 0)
        return error_errno(copying->error, "%s could not be opened", name);
    int result = 0;
    if (status.st_size < limit)
        result =
            copy_bytes(copying, source, target, name, status.st_size, size < limit ? size : limit);
    if (!result && size > limit && sys.fstat(target, &status) == 0)
        result = finish_cut(copying, target, name, status.st_size);
    if (sys.close(target) && !result)
        result = error_errno(copying->error, "%s could not be written", name);
    if (!result && status.st_size < limit && size > status.st_size)
        output_file_note_time(copying->targets, name, status.st_size);
    return result;
}

static int copy_log(void *context, const char *name, unsigned char type)
{
    struct copying *copying = context;
    struct slurm_file file = slurm_file_of(name);
    struct stat status;
    (void)type;
    if (file.kind != SLURM_FILE_BATCH && (file.kind != SLURM_FILE_LOG || !copying->job->known ||
                                          !slurm_file_task(copying->job, file.role, file.index)))
        return 0;
    int source =
        sys.openat(copying->sources, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (source < 0) /* it is a link, or was taken away: the user's own doing */
        return errno == EIO || errno == ESTALE || errno == EMFILE || errno == ENFILE
                   ? error_errno(copying->error, "the file behind %s could not be opened", name)
                   : 0;
    int result = 0;
    /* A file with a second name may be somebody else's. */
    if (sys.fstat(source, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
        status.st_size > 0)
        result = copy_file(copying, source, status.st_size, name);
    sys.close(source);
    return result;
}

static int copy_one(struct executor *executor, struct job_call *call)
{
    struct slurm *slurm = slurm_of(executor);
    char name[SLURM_NAME_SIZE];
    if (slurm_ensure_directory(slurm, &call->error))
        return -1;
    slurm_directory_name(name, call->id, call->attempt);
    struct slurm_job *job = slurm_jobs_find(slurm, call->id, call->attempt, &call->error);
    if (!job)
        return -1;
    struct copying copying = {
        .slurm = slurm, .job = job, .targets = call->directory, .error = &call->error};
    copying.sources = slurm_directory_job(slurm->directory, name, &call->error);
    if (copying.sources < 0)
        return errno == ENOENT ? 0 : -1;
    error_set(&call->error, "the directory %s of slurm.directory could not be listed", name);
    int result = directory_walk(copying.sources, copy_log, &copying);
    sys.close(copying.sources);
    return result ? -1 : 0;
}

void slurm_output(struct executor *executor, struct job_call **batch, size_t count)
{
    executor_one_by_one(executor, batch, count, copy_one, patience);
}
