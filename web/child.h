/* web/child.h - starts this program afresh in a process with a user's rights and nothing else of this one */
#ifndef WEB_CHILD_H
#define WEB_CHILD_H

#include <pwd.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    CHILD_FIRST = 3
}; /* the number of the first descriptor that it is given; the next has the next */

/* Execute it with these arguments, as that user with the user's groups (NULL: as whoever this is), with the
 * descriptors, what messages go to, and an empty environment.  Its number, or -1 with errno. */
pid_t child_start(char *const arguments[], const struct passwd *user, const int *descriptors,
                  size_t count);

#endif
