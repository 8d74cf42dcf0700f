/* commands/archived.c - an archived job, made again for the time that a command looks at it */
#include "commands/archived.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "commands/options.h"

enum { OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* ---- the directory ---- */

/* Wait until the command has ended, and remove the directory.  Standard output is closed, lest a reader
 * waits for this process. */
static void clean_up(const char *path, const char *id, int until)
{
    char byte;
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    while (read(until, &byte, 1) < 0 && errno == EINTR)
        continue;
    int top = open(path, OPEN_DIRECTORY);
    if (top >= 0)
        job_remove(top, id, NULL);
    rmdir(path);
    _exit(0);
}

/* A directory below $TMPDIR, and the process that removes it when this one has ended. */
static int make_directory(struct archived *archived, struct error *error)
{
    const char *temporary = getenv("TMPDIR");
    int pipes[2];
    snprintf(archived->path, sizeof(archived->path), "%s/dlspool-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (pipe2(pipes, O_CLOEXEC))
        return error_errno(error, "a pipe could not be made");
    archived->cleaner = pipes[1];
    if (!mkdtemp(archived->path)) {
        close(pipes[0]);
        return error_errno(error, "a directory for showing the job could not be made (%s)",
                           archived->path);
    }
    archived->top = open(archived->path, OPEN_DIRECTORY);
    archived->process = fork();
    if (archived->process == 0) {
        close(pipes[1]);
        clean_up(archived->path, archived->place.id, pipes[0]);
    }
    close(pipes[0]);
    if (archived->top < 0 || archived->process < 0) {
        error_errno(error, "a directory for showing the job could not be used");
        rmdir(archived->path);
        return -1;
    }
    return 0;
}

/* ---- the job ---- */

static int find(const struct spool *spool, int archive, const char *word, struct archived *archived,
                struct found *found, struct error *error)
{
    char name[PART_NAME_SIZE];
    int result = find_archived(archive, text_of(word), getuid(), archived->arena, found, error);
    if (result)
        return result < 0 ? STATUS_FAILED : STATUS_NOT_FOUND;
    archived->place.state = text_is(found->job.state, "failed") ? STATE_FAILED : STATE_DONE;
    memcpy(archived->place.id, found->job.id.data, found->job.id.length);
    snprintf(archived->file, sizeof(archived->file), "history/archive/%s",
             part_name(&found->part, TEXT(""), name));
    archived->spool = *spool;
    archived->why = found->job.why;
    return STATUS_DONE;
}

int archived_open(const struct spool *spool, const char *word, enum restore_output output,
                  struct archived *archived, struct error *error)
{
    struct found found;
    *archived = (struct archived){.cleaner = -1, .top = -1, .process = -1};
    archived->arena = arena_new();
    int archive = parts_open(spool, false);
    if (archive < 0 && errno == ENOENT) {
        error_set(error, "no job is archived in %s", spool->path);
        return STATUS_NOT_FOUND;
    }
    if (archive < 0) {
        error_errno(error, "history/archive/ could not be opened");
        return STATUS_FAILED;
    }
    int status = find(spool, archive, word, archived, &found, error);
    if (status == STATUS_DONE &&
        (make_directory(archived, error) ||
         restore_job(archive, &found, archived->top, output, &archived->denied, error)))
        status = STATUS_FAILED;
    sys.close(archive);
    archived->spool.states[archived->place.state] = archived->top;
    return status;
}

void archived_close(struct archived *archived)
{
    if (archived->top >= 0)
        close(archived->top);
    if (archived->cleaner >= 0)
        close(archived->cleaner);
    if (archived->process > 0)
        waitpid(archived->process, NULL, 0);
    arena_free(archived->arena);
}

int archived_view_read(const struct archived *archived, struct arena *arena, struct job_view *view)
{
    int result = view_read(&archived->spool, &archived->place, arena, view);
    view->archive = text_of(archived->file);
    if (!view->why.length && archived->why.length)
        view->why = arena_printf(arena, "%.*s\n", (int)archived->why.length, archived->why.data);
    return result;
}
