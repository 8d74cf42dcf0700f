/* commands/check_settings.h - checks dlspool.yaml, and the executor and images that it names */
#ifndef COMMANDS_CHECK_SETTINGS_H
#define COMMANDS_CHECK_SETTINGS_H

#include <stdbool.h>

#include "commands/findings.h"
#include "renderer/repository.h"
#include "spool/spool.h"

/* Check whether others can write what root serves; read every setting, also those of unused
 * executors; and query the executor: whether it takes jobs, whether the named devices exist, and
 * how many images of `repository`'s images.txt are there (`repository` may be NULL).  Problems
 * and warnings become findings; good results are printed on standard output, unless `quiet`.
 * False when there is a problem.  The executor is queried only for root and the spool's owner. */
bool check_settings(const struct spool *spool, struct repository *repository,
                    struct findings *findings, bool quiet);

#endif
