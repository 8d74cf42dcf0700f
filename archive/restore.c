/* archive/restore.c - makes an archived job's directory again, for a command that shows it */
#include "archive/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "archive/job_files.h"

enum {
    DIRECTORY_MODE = 0700,
    FILE_MODE = 0600,
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

struct restoring {
    int job; /* the new directory */
    enum restore_output output;
};

static int make_file(const struct restoring *restoring, int directory,
                     const struct job_file *member, struct error *error)
{
    const struct unpack_member *entry = member->entry;
    bool contents = directory == restoring->job || restoring->output == RESTORE_CONTENTS;
    const struct timespec times[2] = {{.tv_sec = entry->changed}, {.tv_sec = entry->changed}};
    int file = sys.openat(directory, member->file,
                          O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (file < 0)
        return error_errno(error, "%s could not be made for showing it", entry->path);
    int result = contents ? unpack_copy(member->unpack, file, error) : 0;
    sys.utimensat(file, NULL, times, 0);
    sys.close(file);
    return result;
}

static int make_member(void *context, const struct job_file *member, struct error *error)
{
    const struct restoring *restoring = context;
    if (!member->directory[0])
        return make_file(restoring, restoring->job, member, error);
    if (sys.mkdirat(restoring->job, member->directory, DIRECTORY_MODE) && errno != EEXIST)
        return error_errno(error, "%s could not be made for showing it", member->entry->path);
    if (!member->file[0])
        return 0;
    int directory = sys.openat(restoring->job, member->directory, OPEN_DIRECTORY, 0);
    if (directory < 0)
        return error_errno(error, "%s could not be made for showing it", member->entry->path);
    int result = make_file(restoring, directory, member, error);
    sys.close(directory);
    return result;
}

int restore_job(int archive, const struct found *found, int directory, enum restore_output output,
                bool *denied, struct error *error)
{
    char id[ID_SIZE];
    *denied = false;
    snprintf(id, sizeof(id), "%.*s", (int)found->job.id.length, found->job.id.data);
    if (sys.mkdirat(directory, id, DIRECTORY_MODE))
        return error_errno(error, "a directory for showing %s could not be made", id);
    struct restoring restoring = {.job = sys.openat(directory, id, OPEN_DIRECTORY, 0),
                                  .output = output};
    if (restoring.job < 0)
        return error_errno(error, "a directory for showing %s could not be made", id);
    int result = job_files_walk(archive, found, make_member, &restoring, denied, error);
    sys.close(restoring.job);
    return result;
}
