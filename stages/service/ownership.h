/* stages/service/ownership.h - does what tells root what to do belong to root?
 *
 * Where records are sealed (spool/seal.h), who has taken over what reads job files must not be able to change
 * the settings, the templates, or what stands under those names in the spool's directory.
 */
#ifndef STAGES_SERVICE_OWNERSHIP_H
#define STAGES_SERVICE_OWNERSHIP_H

#include "spool/settings.h"

/* Log a warning for each of them that belongs to settings->user, with the command that mends it; nothing where
 * records are not sealed. */
void ownership_check(const struct spool *spool, const struct settings *settings);

#endif
