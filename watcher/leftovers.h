/* watcher/leftovers.h - files in the drop directory that are never taken
 *
 * Names of work in progress (settle_ignores()) are passed over for ever.  Mostly that is as it should
 * be: they are gone in a moment.  One that stays for a minute was perhaps meant to be a job: the log
 * names it, once.  A look reads the directory's names, and asks only of those for their age.
 */
#ifndef WATCHER_LEFTOVERS_H
#define WATCHER_LEFTOVERS_H

#include <stdint.h>

struct leftovers;

/* `path` is what the log calls the directory.  `patience`: milliseconds since the last change. */
struct leftovers *leftovers_new(const char *path, int64_t patience);
void leftovers_free(struct leftovers *leftovers); /* NULL is fine */

/* Look, if it is time for it; `now` is clock_elapsed().  The number of files named. */
int leftovers_check(struct leftovers *leftovers, int directory, int64_t now);
int64_t leftovers_due(const struct leftovers *leftovers);

#endif
