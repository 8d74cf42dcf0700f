/* archive/restore.c - makes an archived job's directory again, for a command that shows it
 *
 * Only what is below the job's own directory is made, whatever names the archive has.
 */
#include "archive/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "archive/unpack.h"

enum {
    DIRECTORY_MODE = 0700,
    FILE_MODE = 0600,
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    MOST_DEPTH = 2 /* <id>/output/<file> */
};

struct restoring {
    int job; /* the new directory */
    enum restore_output output;
    const char *id;
};

static bool is_name(struct text name)
{
    return name.length && name.length <= NAME_MAX && !text_is(name, ".") && !text_is(name, "..") &&
           !memchr(name.data, '\0', name.length);
}

/* The part of a member's path below <id>/; false when it is not below it. */
static bool below_job(const char *path, const char *id, struct text *below)
{
    size_t length = strlen(id);
    if (strncmp(path, id, length) != 0 || path[length] != '/')
        return false;
    *below = text_of(path + length + 1);
    if (text_ends(*below, "/"))
        below->length--;
    return true;
}

static int make_file(const struct restoring *restoring, int directory, const char *name,
                     const struct unpack_member *member, struct unpack *unpack, struct error *error)
{
    bool contents = directory == restoring->job || restoring->output == RESTORE_CONTENTS;
    const struct timespec times[2] = {{.tv_sec = member->changed}, {.tv_sec = member->changed}};
    int file = sys.openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                          FILE_MODE);
    if (file < 0)
        return error_errno(error, "%s could not be made for showing it", member->path);
    int result = contents ? unpack_copy(unpack, file, error) : 0;
    sys.utimensat(file, NULL, times, 0);
    sys.close(file);
    return result;
}

static int make_member(const struct restoring *restoring, const struct unpack_member *member,
                       struct text below, struct unpack *unpack, struct error *error)
{
    struct text names[MOST_DEPTH], name;
    char first[NAME_MAX + 1], second[NAME_MAX + 1] = "";
    size_t depth = 0;
    for (; text_next(&below, '/', &name); depth++)
        if (depth == MOST_DEPTH || !is_name(name))
            return 0;
        else
            names[depth] = name;
    if (depth == 0)
        return 0;
    snprintf(first, sizeof(first), "%.*s", (int)names[0].length, names[0].data);
    if (depth == 1 && !member->directory)
        return make_file(restoring, restoring->job, first, member, unpack, error);
    if (sys.mkdirat(restoring->job, first, DIRECTORY_MODE) && errno != EEXIST)
        return error_errno(error, "%s could not be made for showing it", member->path);
    if (depth == 1 || member->directory)
        return 0;
    snprintf(second, sizeof(second), "%.*s", (int)names[1].length, names[1].data);
    int directory = sys.openat(restoring->job, first, OPEN_DIRECTORY, 0);
    if (directory < 0)
        return error_errno(error, "%s could not be made for showing it", member->path);
    int result = make_file(restoring, directory, second, member, unpack, error);
    sys.close(directory);
    return result;
}

/* The job's entries of an archive stand together. */
static int take_members(const struct restoring *restoring, struct unpack *unpack,
                        struct error *error)
{
    struct unpack_member member;
    bool met = false;
    int result;
    while ((result = unpack_next(unpack, &member, error)) > 0) {
        struct text below;
        if (below_job(member.path, restoring->id, &below)) {
            met = true;
            if (make_member(restoring, &member, below, unpack, error))
                return -1;
        } else if (met) {
            return 0;
        }
    }
    return result;
}

static int take_archive(int archive, const struct part *part, struct text kind, int64_t offset,
                        const struct restoring *restoring, bool *denied, struct error *error)
{
    char name[PART_NAME_SIZE];
    struct unpack *unpack = unpack_open(archive, part_name(part, kind, name), offset, error);
    if (!unpack && errno == EACCES) {
        *denied = true;
        return 0;
    }
    int result = unpack ? take_members(restoring, unpack, error) : -1;
    unpack_close(unpack);
    return result;
}

int restore_job(int archive, const struct found *found, int directory, enum restore_output output,
                bool *denied, struct error *error)
{
    char id[ID_SIZE];
    struct text others = found->job.others, kind;
    int64_t offset;
    *denied = false;
    snprintf(id, sizeof(id), "%.*s", (int)found->job.id.length, found->job.id.data);
    if (sys.mkdirat(directory, id, DIRECTORY_MODE))
        return error_errno(error, "a directory for showing %s could not be made", id);
    struct restoring restoring = {
        .job = sys.openat(directory, id, OPEN_DIRECTORY, 0), .output = output, .id = id};
    if (restoring.job < 0)
        return error_errno(error, "a directory for showing %s could not be made", id);
    int result =
        take_archive(archive, &found->part, TEXT(""), found->job.offset, &restoring, denied, error);
    while (result == 0 && index_next_other(&others, &kind, &offset))
        result = take_archive(archive, &found->part, kind, offset, &restoring, denied, error);
    sys.close(restoring.job);
    return result;
}
