/* commands/logs.c - dlspool logs ID [TASK]: print what a job's tasks printed
 *
 * The files are those of <id>/output/, <task>.log and what may have been cut off it into
 * <task>.log.1; with --follow, what is added to them until the job ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands/commands.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/view.h"

enum { MOST_TASKS = 20000 };
static const struct timespec look_interval = {.tv_nsec = 200 * 1000000};

struct log_file {
    char *name;                 /* "main-0.log" */
    bool begun;                 /* something of it was printed, or tried to be */
    off_t printed;
};

struct logs {
    const char *task;           /* only this one; NULL: all */
    struct log_file *files;
    size_t count;
    const char *last;           /* whose output was printed last */
    bool denied;                /* a file may not be read by who asks */
};

static int add_file(void *context, const char *name, unsigned char type)
{
    struct logs *logs = context;
    (void)type;
    struct text text = text_of(name);
    if (!text_ends(text, ".log") || logs->count == MOST_TASKS)
        return 0;
    if (logs->task && (strncmp(name, logs->task, text.length - 4) != 0 ||
                       strlen(logs->task) != text.length - 4))
        return 0;
    for (size_t i = 0; i < logs->count; i++)
        if (strcmp(logs->files[i].name, name) == 0)
            return 0;
    logs->files = memory_resize(logs->files, (logs->count + 1) * sizeof(*logs->files));
    logs->files[logs->count++] = (struct log_file){.name = memory_copy_string(name)};
    return 0;
}

static int compare_files(const void *a, const void *b)
{
    const struct log_file *first = a, *second = b;
    return strverscmp(first->name, second->name);
}

/* Print a file of a task from an offset on.  Where it ended; -1 when it is not there. */
static off_t print_from(struct logs *logs, const struct log_file *log, int output,
                        const char *name, off_t offset)
{
    char bytes[65536];
    ssize_t count;
    int file = sys.openat(output, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0) {
        logs->denied = logs->denied || errno == EACCES;
        return -1;
    }
    while ((count = sys.pread(file, bytes, sizeof(bytes), offset)) > 0) {
        if (logs->count > 1 && logs->last != log->name)
            printf("%s==> %.*s <==\n", logs->last ? "\n" : "", (int)strlen(log->name) - 4,
                   log->name);
        logs->last = log->name;
        fwrite(bytes, 1, (size_t)count, stdout);
        offset += count;
    }
    sys.close(file);
    return offset;
}

/* Print what is new of one task.  A log that has grown too long was renamed to <name>.1, and a new
 * one begun: what is left of that comes first. */
static void print_file(struct logs *logs, struct log_file *log, int output)
{
    char older[NAME_MAX + 8];
    struct stat status;
    bool shorter = !sys.fstatat(output, log->name, &status, AT_SYMLINK_NOFOLLOW) &&
                   status.st_size < log->printed;
    if (!log->begun || shorter) {
        snprintf(older, sizeof(older), "%s.1", log->name);
        print_from(logs, log, output, older, log->printed);
        log->printed = 0;
    }
    log->begun = true;
    off_t end = print_from(logs, log, output, log->name, log->printed);
    if (end >= 0)
        log->printed = end;
}

/* Print what is new of all tasks.  -1 when the job's directory cannot be opened. */
static int print_new(struct logs *logs, const struct spool *spool, const struct job_place *place)
{
    int job = job_open(spool, place);
    if (job < 0)
        return -1;
    int output = sys.openat(job, "output", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    sys.close(job);
    if (output < 0)
        return 0;
    directory_walk(output, add_file, logs);
    if (logs->count)
        qsort(logs->files, logs->count, sizeof(*logs->files), compare_files);
    for (size_t i = 0; i < logs->count; i++)
        print_file(logs, &logs->files[i], output);
    sys.close(output);
    fflush(stdout);
    return 0;
}

static bool has_ended(const struct spool *spool, const struct job_place *place)
{
    struct job_view view;
    struct arena *arena = arena_new();
    bool ended = view_read(spool, place, arena, &view) == 0 && view_has_ended(&view);
    arena_free(arena);
    return ended;
}

static int print_logs(struct logs *logs, const struct spool *spool, const char *id, bool follow)
{
    struct job_place place;
    char whole[ID_SIZE];
    int status = pick_job(spool, id, &place);
    if (status != STATUS_DONE)
        return status;
    memcpy(whole, place.id, sizeof(whole));     /* a newer job of that name is another */
    for (;;) {
        status = pick_job(spool, whole, &place);
        if (status != STATUS_DONE)
            return status;
        /* Asked first: what is printed after the end was known to have come is all there is. */
        bool ended = has_ended(spool, &place);
        if (print_new(logs, spool, &place) == 0 && (!follow || ended))
            break;
        nanosleep(&look_interval, NULL);
    }
    if (logs->count == 0 && logs->task) {
        complain("%s has no output of a task \"%s\"", place.id, logs->task);
        return STATUS_FAILED;
    }
    if (logs->denied) {
        complain("what %s printed is for its owner and his group", place.id);
        return STATUS_FAILED;
    }
    return STATUS_DONE;
}

int command_logs(int argument_count, char **arguments)
{
    bool follow = false;
    const struct option_spec options[] = {
        {"follow", 'f', OPTION_FLAG, &follow, NULL, "go on until the job has ended"}, {0}};
    const struct verb_usage usage = {
        "logs", "ID [TASK]", 1, 2, "Print what a job's tasks printed.",
        "TASK is a role and an index, such as worker-0; without it, all tasks are printed.\n",
        options};
    int operands, status;
    struct spool spool;
    struct logs logs = {0};
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&spool))
        return STATUS_FAILED;
    if (operands == 2)
        logs.task = arguments[2];
    status = print_logs(&logs, &spool, arguments[1], follow);
    for (size_t i = 0; i < logs.count; i++)
        free(logs.files[i].name);
    free(logs.files);
    spool_close(&spool);
    return status;
}
