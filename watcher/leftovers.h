/* watcher/leftovers.h - files in the drop directory that are never taken
 *
 * Names of work in progress (settle_ignores()) are never taken.  Most of them vanish within
 * moments.  One that stays for longer than the patience may have been meant as a job, so the log
 * names it once.  A look reads the directory's names, and checks the age of these alone.
 */
#ifndef WATCHER_LEFTOVERS_H
#define WATCHER_LEFTOVERS_H

#include <stdint.h>

struct leftovers;

/* `path` is what the log calls the directory.  `patience`: milliseconds since the last change. */
struct leftovers *leftovers_new(const char *path, int64_t patience);
void leftovers_free(struct leftovers *leftovers); /* NULL is fine */

/* Look, if a look is due; `now` is clock_elapsed().  Returns the number of files logged. */
int leftovers_check(struct leftovers *leftovers, int directory, int64_t now);
int64_t leftovers_due(const struct leftovers *leftovers);

#endif
