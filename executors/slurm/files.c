/* executors/slurm/files.c - the files that a job's script keeps
 *
 * The directory is listed each time, and only names that were listed are opened: an NFS client
 * remembers for half a minute that a name was not there.
 */
#include "executors/slurm/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/system.h"

enum {
    MARK_LIMIT = 256,   /* bytes of a marker */
    NAMES_MOST = 200000 /* names in a directory that are looked at */
};

static const int64_t heartbeat_age_most = 40000; /* milliseconds; there is one every 10 s */

static int read_index(struct text digits)
{
    enum { LARGEST = 9999999 };
    bool zeros = digits.length > 1 && digits.data[0] == '0';
    return zeros ? -1 : (int)text_number(digits, LARGEST);
}

struct slurm_file slurm_file_of(const char *name)
{
    static const struct {
        const char *word;
        enum slurm_file_kind kind;
    } marks[] = {
        {"started", SLURM_FILE_STARTED},
        {"ended", SLURM_FILE_ENDED},
        {"alive", SLURM_FILE_ALIVE},
        {"timed-out", SLURM_FILE_TIMED_OUT},
    };
    struct text text = text_of(name);
    struct slurm_file file = {.index = -1};
    if (text_is(text, "batch.log"))
        return (struct slurm_file){.kind = SLURM_FILE_BATCH, .index = -1};
    for (size_t i = 0; i < ARRAY_COUNT(marks); i++) {
        size_t length = strlen(marks[i].word);
        if (!text_starts(text, marks[i].word))
            continue;
        if (text.length == length)
            return (struct slurm_file){.kind = marks[i].kind, .index = -1};
        file.index =
            text.data[length] == '-'
                ? read_index((struct text){text.data + length + 1, text.length - length - 1})
                : -1;
        if (file.index >= 0) {
            file.kind = marks[i].kind;
            return file;
        }
    }
    const char *dot = strrchr(name, '.'),
               *dash = dot ? memrchr(name, '-', (size_t)(dot - name)) : NULL;
    if (dot && dot != name && strcmp(dot, ".image") == 0)
        return (struct slurm_file){
            .kind = SLURM_FILE_IMAGE, .role = {name, (size_t)(dot - name)}, .index = -1};
    if (!dash || dash == name || name[0] == '.')
        return file;
    static const struct {
        const char *suffix;
        enum slurm_file_kind kind;
    } of_tasks[] = {{".log", SLURM_FILE_LOG},
                    {".ended", SLURM_FILE_TASK_ENDED},
                    {".address", SLURM_FILE_ADDRESS}};
    for (size_t i = 0; i < ARRAY_COUNT(of_tasks); i++)
        if (strcmp(dot, of_tasks[i].suffix) == 0)
            file.kind = of_tasks[i].kind;
    file.index = read_index((struct text){dash + 1, (size_t)(dot - dash - 1)});
    if (file.index < 0 || file.kind == SLURM_FILE_OTHER)
        return (struct slurm_file){.index = -1};
    file.role = (struct text){name, (size_t)(dash - name)};
    return file;
}

int slurm_file_open(int directory, const char *name, struct stat *status)
{
    int file = sys.openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0)
        return -1;
    if (sys.fstat(file, status) == 0 && S_ISREG(status->st_mode))
        return file;
    sys.close(file);
    return -1;
}

static size_t read_start(int directory, const char *name, char buffer[static MARK_LIMIT])
{
    struct stat status;
    int file = slurm_file_open(directory, name, &status);
    ssize_t length = -1;
    if (file >= 0) {
        do
            length = sys.pread(file, buffer, MARK_LIMIT - 1, 0);
        while (length < 0 && errno == EINTR);
        sys.close(file);
    }
    buffer[length > 0 ? length : 0] = '\0';
    return length > 0 ? (size_t)length : 0;
}

/* Read an exit code that the script wrote, and its reason, if it wrote one behind it: what ended so is not the
 * program's doing, and its code is not, either.  -1 when there is none, or only a part of it yet. */
static int read_end(int directory, const char *name, char reason[static SLURM_REASON_SIZE])
{
    static const struct {
        const char *word;
        int exit_code;
    } reasons[] = {{"LaunchFailed", 255},
                   {"NodeRefused", 255},
                   {"NodeLost", 255},
                   {"OOMKilled", 128 + SIGKILL}};
    char buffer[MARK_LIMIT];
    size_t length = read_start(directory, name, buffer);
    struct text rest = text_trim((struct text){buffer, length}), digits;
    if (!text_next(&rest, ' ', &digits))
        return -1;
    int code = read_index(digits);
    for (size_t i = 0; i < ARRAY_COUNT(reasons) && code >= 0; i++) {
        if (!text_is(rest, reasons[i].word))
            continue;
        snprintf(reason, SLURM_REASON_SIZE, "%s", reasons[i].word);
        code = reasons[i].exit_code;
    }
    return code > 255 ? 255 : code;
}

/* ---- looking at all of them ---- */

struct look {
    struct slurm_job *job;
    int directory;
    size_t names;
};

struct slurm_task *slurm_file_task(struct slurm_job *job, struct text role, int index)
{
    size_t at = 0;
    for (size_t i = 0; i < job->manifest->tasks_count; i++) {
        const struct slurm_tasks *tasks = &job->manifest->tasks[i];
        if (!role.data || text_equal(tasks->role, role)) {
            if (index < tasks->count)
                return &job->tasks[at + (size_t)index];
            if (role.data)
                return NULL;
            index -= tasks->count;
        }
        at += (size_t)tasks->count;
    }
    return NULL;
}

static void take_ended(const struct look *look, const char *name, struct slurm_task *task)
{
    if (!task || task->ended)
        return;
    int code = read_end(look->directory, name, task->reason);
    if (code < 0)
        return;
    task->ended = true;
    task->exit_code = code;
}

/* Take the image's name: a line of printable characters that fits the buffer; anything else is ignored. */
static void take_image(const struct look *look, const char *name, struct text role)
{
    char buffer[MARK_LIMIT];
    struct slurm_task *task = slurm_file_task(look->job, role, 0);
    if (!task)
        return;
    size_t length = read_start(look->directory, name, buffer);
    if (length && buffer[length - 1] == '\n')
        buffer[--length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (buffer[i] < ' ' || buffer[i] > '~')
            return;
    if (length && length < IMAGE_RAN_SIZE)
        memcpy(task->image, buffer, length + 1);
}

/* Take HOST:PORT of a port from 1024 on; anything else is ignored. */
static void take_address(const struct look *look, const char *name, struct slurm_task *task)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    enum { PORT_LEAST = 1024, PORT_MOST = 65535 };
    char buffer[MARK_LIMIT];
    size_t length = read_start(look->directory, name, buffer), host = strspn(buffer, plain);
    if (!task || task->address || !host || buffer[host] != ':' || buffer[length - 1] != '\n')
        return;
    buffer[--length] = '\0';
    int port = strlen(buffer) == length
                   ? read_index((struct text){buffer + host + 1, length - host - 1})
                   : -1;
    if (port >= PORT_LEAST && port <= PORT_MOST && length < ADDRESS_SIZE)
        task->address = arena_text(look->job->arena, buffer, length).data;
}

static int64_t time_modified(const struct stat *status)
{
    return status->st_mtim.tv_sec * 1000 + status->st_mtim.tv_nsec / 1000000;
}

/* The start counts as the first heartbeat, until `alive` is there. */
static void take_heartbeat(struct slurm_job *job, struct slurm_task *element, int directory,
                           const char *name, bool started)
{
    struct stat status;
    int file = slurm_file_open(directory, name, &status);
    if (file < 0)
        return;
    sys.close(file);
    if (!started)
        job->alive += time_modified(&status) + status.st_size;
    int64_t *last = element ? &element->last_heartbeat : &job->last_heartbeat;
    if (time_modified(&status) > *last)
        *last = time_modified(&status);
}

/* Take up what a file in the job's directory says.  Other names are ignored; more than
 * NAMES_MOST end the reading, since they can only be the user's. */
static int note_file(void *context, const char *name, unsigned char type)
{
    struct look *look = context;
    struct slurm_job *job = look->job;
    (void)type;
    struct slurm_file file = slurm_file_of(name);
    struct slurm_task *element = file.index >= 0 && !file.role.data
                                     ? slurm_file_task(job, (struct text){0}, file.index)
                                     : NULL;
    char buffer[MARK_LIMIT];
    switch (file.kind) {
    case SLURM_FILE_TASK_ENDED:
        take_ended(look, name, slurm_file_task(job, file.role, file.index));
        break;
    case SLURM_FILE_ADDRESS:
        take_address(look, name, slurm_file_task(job, file.role, file.index));
        break;
    case SLURM_FILE_IMAGE:
        take_image(look, name, file.role);
        break;
    case SLURM_FILE_STARTED:
        if (element)
            element->begun = true;
        if (!element || !element->ended)
            take_heartbeat(job, element, look->directory, name, true);
        if (!job->begun) {
            read_start(look->directory, name, buffer);
            buffer[strcspn(buffer, " \n")] = '\0';
            snprintf(job->begun_as, sizeof(job->begun_as), "%.63s", buffer);
        }
        job->begun = true;
        break;
    case SLURM_FILE_ENDED:
        if (element) {
            take_ended(look, name, element);
        } else if (!job->ended &&
                   (job->exit_code = read_end(look->directory, name, job->end_reason)) >= 0) {
            job->ended = true;
        }
        break;
    case SLURM_FILE_ALIVE:
        take_heartbeat(job, element, look->directory, name, false);
        break;
    case SLURM_FILE_TIMED_OUT:
        if (element)
            element->timed_out = true;
        else
            job->timed_out = true;
        break;
    default:
        break;
    }
    return ++look->names > NAMES_MOST;
}

/* Forget what is read anew each time: also the ends of tasks that are started again, whose files go then. */
static void forget_ends(struct slurm_job *job)
{
    job->alive = job->last_heartbeat = 0;
    job->begun = job->ended = false;
    for (size_t i = 0; i < job->task_count; i++) {
        struct slurm_task *task = &job->tasks[i];
        char role[sizeof(((struct task_state *)NULL)->role)];
        task->last_heartbeat = 0;
        if (!task->ended || !completion_has_again(job->rule))
            continue;
        snprintf(role, sizeof(role), "%.*s", (int)task->role.length, task->role.data);
        if (completion_again(job->rule, role, task->index)) {
            task->ended = false;
            task->exit_code = 0;
            task->reason[0] = '\0';
        }
    }
}

int slurm_files_read(struct slurm *slurm, struct slurm_job *job, struct error *error)
{
    int64_t alive = job->alive, now = clock_elapsed();
    struct look look = {.job = job,
                        .directory = slurm_directory_job(slurm->directory, job->name, error)};
    if (look.directory < 0)
        return -1;
    forget_ends(job);
    int result = directory_walk(look.directory, note_file, &look);
    sys.close(look.directory);
    if (result < 0)
        return error_errno(error, "the directory %s of slurm.directory could not be listed",
                           job->name);
    if (job->alive != alive || !job->alive_since)
        job->alive_since = now ? now : 1;
    job->looked = now ? now : 1;
    return 0;
}

bool slurm_files_heartbeat(struct slurm *slurm, const struct slurm_job *job,
                           const struct slurm_task *element)
{
    struct stat status;
    int64_t last = element ? element->last_heartbeat : job->last_heartbeat;
    if (!last || sys.utimensat(slurm->directory, job->name, NULL, AT_SYMLINK_NOFOLLOW) ||
        sys.fstatat(slurm->directory, job->name, &status, AT_SYMLINK_NOFOLLOW))
        return false;
    int64_t silence = time_modified(&status) - last;
    /* The script does not write times of the future. */
    return silence < heartbeat_age_most && silence > -heartbeat_age_most;
}
