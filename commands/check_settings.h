/* commands/check_settings.h - dlspool.yaml as the daemon reads it, and what it names */
#ifndef COMMANDS_CHECK_SETTINGS_H
#define COMMANDS_CHECK_SETTINGS_H

#include <stdbool.h>

#include "commands/findings.h"
#include "renderer/repository.h"
#include "spool/spool.h"

/* Look whether others could write what root is to serve; read every setting, also of the executors that are not used, and ask the executor: whether it takes jobs, whether
 * the devices that are named exist, and how many of the images that images.txt of `repository` (may
 * be NULL) names are there.  Problems and warnings are findings; what is well is told
 * on standard output, unless `quiet`.  False when there is a problem.  The executor is asked
 * only by root and the spool's owner. */
bool check_settings(const struct spool *spool, struct repository *repository,
                    struct findings *findings, bool quiet);

#endif
