/* executors/home_path.h - which directories can be a task's HOME
 *
 * passwd(5) has a home directory for every account, also for those of services: `/`, `/bin`, or one
 * that does not exist on purpose.
 */
#ifndef EXECUTORS_HOME_PATH_H
#define EXECUTORS_HOME_PATH_H

#include <stdbool.h>

/* Can the directory be mounted into a task at the same path?  It can when it is absolute, has no `..`
 * and hides nothing that a task needs.  Whether it exists is not checked. */
bool home_path_fits(const char *path);

#endif
