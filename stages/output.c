/* stages/output.c - <id>/output/: what the tasks of a job printed */
#include "stages/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/system.h"

enum { OUTPUT_MODE = 0755 };

int output_copy(struct executor *executor, int job, const char *id, int attempt,
                struct error *error)
{
    if (sys.mkdirat(job, "output", OUTPUT_MODE) && errno != EEXIST)
        return error_errno(error, "output/ could not be made");
    int output =
        sys.openat(job, "output", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (output < 0)
        return error_errno(error, "output/ could not be opened");
    int result = executor->operations->output(executor, id, attempt, output, error);
    if (result)
        error_prefix(error, "the output could not be copied");
    sys.close(output);
    return result;
}

struct text output_of_failure(struct arena *arena, int job, const struct job_poll *poll,
                              size_t limit)
{
    const struct task_state *task = NULL;
    for (size_t i = 0; i < poll->task_count && !task; i++)
        if (poll->tasks[i].ended && poll->tasks[i].exit_code == poll->exit_code &&
            poll->exit_code != 0)
            task = &poll->tasks[i];
    if (!task)
        return (struct text){"", 0};
    char name[128];
    snprintf(name, sizeof(name), "output/%s-%d.log", task->role, task->index);
    int file = sys.openat(job, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (file < 0)
        return (struct text){"", 0};
    struct stat status;
    char *bytes = arena_allocate(arena, limit + 1);
    ssize_t length = 0;
    if (!sys.fstat(file, &status))
        length = sys.pread(file, bytes, limit,
                           status.st_size > (off_t)limit ? status.st_size - (off_t)limit : 0);
    sys.close(file);
    return (struct text){bytes, length > 0 ? (size_t)length : 0};
}
