/* stages/prune/readers.c - who may read a file of a job, and so in which archive it is */
#include "stages/prune/readers.h"

#include <stdio.h>

bool readers_are_same(struct readers a, struct readers b)
{
    return a.mode == b.mode && (a.mode != 0640 || a.group == b.group);
}

struct readers readers_of(const struct stat *file, struct readers above)
{
    if (file->st_mode & S_IROTH && above.mode == 0644)
        return above;
    bool group = (file->st_mode & S_IRGRP) != 0;
    if (group && above.mode == 0644)
        return (struct readers){0640, file->st_gid};
    if (above.mode == 0640 && (file->st_mode & S_IROTH || (group && file->st_gid == above.group)))
        return above;
    return (struct readers){0600, 0};
}

struct readers readers_below(const struct stat *directory, struct readers above)
{
    struct stat searched = *directory;
    searched.st_mode =
        (directory->st_mode & S_IXOTH ? S_IROTH : 0) | (directory->st_mode & S_IXGRP ? S_IRGRP : 0);
    return readers_of(&searched, above);
}

void readers_name(struct readers readers, char text[static READERS_NAME_SIZE])
{
    if (readers.mode == 0644)
        text[0] = '\0';
    else if (readers.mode == 0640)
        snprintf(text, READERS_NAME_SIZE, "group-%u", (unsigned int)readers.group);
    else
        snprintf(text, READERS_NAME_SIZE, "private");
}
