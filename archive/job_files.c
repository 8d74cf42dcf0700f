/* archive/job_files.c - goes through the files of one archived job */
#include "archive/job_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 2 }; /* <id>/output/<file> */

struct walk {
    char id[ID_SIZE];
    job_files_take *take;
    void *context;
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

/* The names of its path; false when it is none of a job's. */
static bool find_names(struct text below, struct job_file *member)
{
    struct text names[MOST_DEPTH], name;
    size_t depth = 0;
    for (; text_next(&below, '/', &name); depth++)
        if (depth == MOST_DEPTH || !is_name(name))
            return false;
        else
            names[depth] = name;
    bool is_directory = member->entry->directory;
    if (depth == 0 || (depth == MOST_DEPTH && is_directory))
        return false;
    if (depth == MOST_DEPTH || is_directory)
        text_copy(member->directory, sizeof(member->directory), names[0]);
    if (!is_directory)
        text_copy(member->file, sizeof(member->file), names[depth - 1]);
    return true;
}

/* The job's entries of an archive stand together. */
static int take_members(const struct walk *walk, struct unpack *unpack, struct error *error)
{
    struct unpack_member entry;
    bool met = false;
    int result;
    while ((result = unpack_next(unpack, &entry, error)) > 0) {
        struct job_file member = {.entry = &entry, .unpack = unpack};
        struct text below;
        if (below_job(entry.path, walk->id, &below)) {
            met = true;
            if (find_names(below, &member) && walk->take(walk->context, &member, error))
                return -1;
        } else if (met) {
            return 0;
        }
    }
    return result;
}

static int take_archive(int archive, const struct part *part, struct text kind, int64_t offset,
                        const struct walk *walk, bool *denied, struct error *error)
{
    char name[PART_NAME_SIZE];
    struct unpack *unpack = unpack_open(archive, part_name(part, kind, name), offset, error);
    if (!unpack && errno == EACCES) {
        *denied = true;
        return 0;
    }
    int result = unpack ? take_members(walk, unpack, error) : -1;
    unpack_close(unpack);
    return result;
}

int job_files_walk(int archive, const struct found *found, job_files_take *take, void *context,
                   bool *denied, struct error *error)
{
    struct walk walk = {.take = take, .context = context};
    struct text others = found->job.others, kind;
    int64_t offset;
    *denied = false;
    text_copy(walk.id, sizeof(walk.id), found->job.id);
    int result =
        take_archive(archive, &found->part, TEXT(""), found->job.offset, &walk, denied, error);
    while (result == 0 && index_next_other(&others, &kind, &offset))
        result = take_archive(archive, &found->part, kind, offset, &walk, denied, error);
    return result;
}
