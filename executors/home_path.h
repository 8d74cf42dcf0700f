/* executors/home_path.h - which directories can be a task's HOME
 *
 * The system's list of users names one for everybody, for accounts of services too: `/`, `/bin`, or one
 * that is not meant to be there.
 */
#ifndef EXECUTORS_HOME_PATH_H
#define EXECUTORS_HOME_PATH_H

#include <stdbool.h>

/* May it be shown to a task at its own place?  It is absolute, without `..`, and hides nothing that a task
 * needs there.  Whether it exists is not looked at. */
bool home_path_fits(const char *path);

#endif
