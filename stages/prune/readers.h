/* stages/prune/readers.h - who may read a file of a job, and so in which archive it is: everybody, one group, or
 * only the daemon's user
 *
 * By modes alone, of the file and of the directories above it; where these leave no such group, nobody but the
 * daemon's user may.
 */
#ifndef STAGES_PRUNE_READERS_H
#define STAGES_PRUNE_READERS_H

#include <stdbool.h>
#include <sys/stat.h>

struct readers {
    mode_t mode; /* 0644, 0640, 0600 */
    gid_t group; /* of 0640 */
};

bool readers_are_same(struct readers a, struct readers b);

/* Who may read the file, below a directory in which `above` may look for it. */
struct readers readers_of(const struct stat *file, struct readers above);
/* Who may look for what is in a directory. */
struct readers readers_below(const struct stat *directory, struct readers above);

/* As it is in the name of an archive: "", "group-1000" or "private". */
enum { READERS_NAME_SIZE = 32 };
void readers_name(struct readers readers, char text[static READERS_NAME_SIZE]);

#endif
