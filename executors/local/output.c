/* executors/local/output.c - copies what tasks print into the job's output/
 *
 * The source is the file that conmon writes, the target <role>-<index>.log.  The target's content is a
 * function of the source alone: the payloads of the source's lines one after another, cut at the log
 * limit, with a last line that says so.  So the target's length tells how much was copied, whoever copied
 * it and however often dlspool was restarted: a new process finds its place by reading the source from the
 * start once, and remembers it.  A source that has not grown costs one fstat.
 *
 * Once the target is cut, the source is emptied whenever it has grown: conmon appends to it, and a
 * program that prints without end would fill the disk.
 */
#include "base/directory.h"
#include "base/file.h"
#include "executors/local/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/system.h"
#include "executors/local/conmon_log.h"
#include "executors/local/storage.h"
#include "executors/output_file.h"

enum {
    PIECE = 256 << 10,       /* bytes read at a time; conmon's lines are shorter than 64 KiB */
    EMPTIED_ABOVE = 1 << 20, /* bytes of a source whose target is cut */
    POSITIONS_MAX = 4096     /* remembered places; all are forgotten when there are more */
};

struct log_position {
    char job[LOCAL_NAME_SIZE], task[LOCAL_NAME_SIZE];
    off_t source,
        target; /* where the next line starts in the source, and where its text belongs in the target */
};

/* ---- remembered places ---- */

static struct log_position *find_position(struct local *local, const char *job, const char *task)
{
    for (size_t i = 0; i < local->position_count; i++)
        if (strcmp(local->positions[i].job, job) == 0 &&
            strcmp(local->positions[i].task, task) == 0)
            return &local->positions[i];
    return NULL;
}

static struct log_position *add_position(struct local *local, const char *job, const char *task)
{
    if (local->position_count >= POSITIONS_MAX)
        local->position_count = 0;
    local->positions = memory_grow(local->positions, local->position_count, &local->position_buffer,
                                   sizeof(*local->positions));
    struct log_position *position = &local->positions[local->position_count++];
    *position = (struct log_position){.source = 0, .target = 0};
    snprintf(position->job, sizeof(position->job), "%s", job);
    snprintf(position->task, sizeof(position->task), "%s", task);
    return position;
}

static void forget_position(struct local *local, struct log_position *position)
{
    *position = local->positions[--local->position_count];
}

void local_forget_logs(struct local *local, const char *id, int attempt)
{
    char job[LOCAL_NAME_SIZE];
    local_job_name(job, id, attempt);
    for (size_t i = local->position_count; i-- > 0;)
        if (strcmp(local->positions[i].job, job) == 0)
            forget_position(local, &local->positions[i]);
}

void local_free_logs(struct local *local)
{
    free(local->positions);
    local->positions = NULL;
    local->position_count = local->position_buffer = 0;
}

/* ---- one task's log ---- */

struct copying {
    struct local *local;
    const char *name; /* of the target, for sentences */
    int source, target;
    off_t source_size; /* as it was at the beginning: what comes later is copied later */
    off_t target_size;
    struct error *error;
};

static void cut_line(const struct local *local, struct buffer *out)
{
    char limit[QUANTITY_TEXT_SIZE];
    buffer_printf(out, "\n[dlspool: the output is longer than %s, and the rest of it was cut]\n",
                  quantity_format_bytes(local->settings.log_limit, limit));
}

static int write_target(struct copying *copying, struct text bytes)
{
    if (file_write_all(copying->target, bytes, copying->name, copying->error))
        return -1;
    copying->target_size += (off_t)bytes.length;
    return 0;
}

/* Write the part of `bytes`, which belongs at `place` of the target, that is missing there and below the
 * limit. */
static int write_new(struct copying *copying, struct text bytes, off_t place)
{
    off_t limit = copying->local->settings.log_limit;
    off_t end = place + (off_t)bytes.length;
    if (end > limit)
        end = limit;
    if (end <= copying->target_size)
        return 0;
    off_t skip = copying->target_size - place;
    return write_target(copying, (struct text){bytes.data + skip, (size_t)(end - place - skip)});
}

/* Copy from `position` on, and move it past what was copied. */
static int copy_lines(struct copying *copying, struct log_position *position)
{
    off_t limit = copying->local->settings.log_limit;
    struct buffer raw = {0}, printed = {0};
    int result = 0;
    while (result == 0 && position->source < copying->source_size && position->target <= limit) {
        off_t left = copying->source_size - position->source;
        buffer_clear(&raw);
        buffer_clear(&printed);
        ssize_t length = sys.pread(copying->source, buffer_reserve(&raw, PIECE),
                                   left < PIECE ? (size_t)left : PIECE, position->source);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            result =
                error_errno(copying->error, "the log behind %s could not be read", copying->name);
        struct text rest = {raw.data, length > 0 ? (size_t)length : 0};
        while (conmon_log_next(&rest, &printed))
            continue;
        /* conmon is still writing a line that has no end. */
        off_t taken = (length > 0 ? length : 0) - (off_t)rest.length;
        if (result || taken == 0)
            break;
        result = write_new(copying, buffer_text(&printed), position->target);
        position->source += taken;
        position->target += (off_t)printed.length;
    }
    buffer_free(&raw);
    buffer_free(&printed);
    return result;
}

/* The target has reached the limit and there is more: append the line that says so, unless it is there. */
static int finish_cut(struct copying *copying)
{
    struct buffer line = {0};
    cut_line(copying->local, &line);
    off_t said = copying->target_size - copying->local->settings.log_limit;
    int result = 0;
    if (said >= 0 && said < (off_t)line.length)
        result = write_target(copying, (struct text){line.data + said, line.length - (size_t)said});
    buffer_free(&line);
    if (result == 0 && copying->source_size > EMPTIED_ABOVE && sys.ftruncate(copying->source, 0))
        result =
            error_errno(copying->error, "the log behind %s could not be emptied", copying->name);
    return result;
}

static int copy_log(struct copying *copying, const char *job, const char *task)
{
    struct local *local = copying->local;
    off_t limit = local->settings.log_limit;
    struct log_position *position = find_position(local, job, task);
    /* If the target has another length, somebody else wrote to it, or a write has failed half way. */
    if (position && position->target != copying->target_size && position->target <= limit) {
        forget_position(local, position);
        position = NULL;
    }
    if (!position)
        position = add_position(local, job, task);
    bool cut = copying->target_size > limit;
    if (!cut && copy_lines(copying, position)) {
        forget_position(local, position);
        return -1;
    }
    if (!cut && position->target <= limit)
        return 0;
    position->target = limit + 1;
    int result = finish_cut(copying);
    struct stat status;
    position->source = sys.fstat(copying->source, &status) ? 0 : status.st_size;
    return result;
}

/* ---- all of a job ---- */

struct walk {
    struct local *local;
    const char *job;
    int logs, target;
    struct error *error;
};

static int open_target(const struct walk *walk, const char *name, struct stat *status)
{
    int file = output_file_open(walk->target, name, O_WRONLY | O_APPEND | O_CREAT, status);
    if (file < 0 && errno == EEXIST)
        return error_set(walk->error, "%s is not a file of its own, as one for output should be",
                         name);
    return file < 0 ? error_errno(walk->error, "%s could not be opened", name) : file;
}

/* Append what a task has printed since the last time to its file.  A source that has not grown
 * costs one call. */
static int copy_task(const struct walk *walk, const char *task, int source)
{
    struct stat status, target_status;
    if (sys.fstat(source, &status))
        return error_errno(walk->error, "the log of %s could not be looked at", task);
    const struct log_position *position = find_position(walk->local, walk->job, task);
    if (position && position->source == status.st_size)
        return 0;
    char name[LOCAL_NAME_SIZE];
    snprintf(name, sizeof(name), "%s.log", task);
    struct copying copying = {
        .local = walk->local,
        .name = name,
        .source = source,
        .target = open_target(walk, name, &target_status),
        .source_size = status.st_size,
        .error = walk->error,
    };
    if (copying.target < 0)
        return -1;
    copying.target_size = target_status.st_size;
    int result = copy_log(&copying, walk->job, task);
    if (sys.close(copying.target) && result == 0)
        result = error_errno(walk->error, "%s could not be written", name);
    if (copying.target_size > target_status.st_size)
        output_file_note_time(walk->target, name, target_status.st_size);
    return result;
}

static int copy_task_log(void *context, const char *task, unsigned char type)
{
    const struct walk *walk = context;
    (void)type;
    if (strlen(task) + sizeof(".log") > LOCAL_NAME_SIZE)
        return 0;
    int source = sys.openat(walk->logs, task, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (source < 0)
        return error_errno(walk->error, "the log of %s could not be opened", task);
    int result = copy_task(walk, task, source);
    sys.close(source);
    return result;
}

static int copy_one(struct executor *executor, struct job_call *call)
{
    struct local *local = (struct local *)(void *)executor;
    struct error *error = &call->error;
    char job[LOCAL_NAME_SIZE];
    local_job_name(job, call->id, call->attempt);
    struct walk walk = {
        .local = local,
        .job = job,
        .logs = local_storage_logs(local->directory, job),
        .target = call->directory,
        .error = error,
    };
    if (walk.logs < 0 && errno == ENOENT)
        return 0;
    if (walk.logs < 0)
        return error_errno(error, "the logs of %s could not be opened", call->id);
    error_set(error, "the logs of %s could not be listed", call->id);
    int result = directory_walk(walk.logs, copy_task_log, &walk);
    sys.close(walk.logs);
    return result ? -1 : 0;
}

void local_output(struct executor *executor, struct job_call **batch, size_t count)
{
    struct local *local = (struct local *)(void *)executor;
    executor_one_by_one(executor, batch, count, copy_one, local->settings.request_timeout);
}
