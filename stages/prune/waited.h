/* stages/prune/waited.h - jobs that others wait for: by id, or by a name that is not resolved yet */
#ifndef STAGES_PRUNE_WAITED_H
#define STAGES_PRUNE_WAITED_H

#include <stdbool.h>

#include "spool/spool.h"

struct waited;

struct waited *waited_new(const struct spool *spool);
void waited_free(struct waited *waited); /* NULL is fine */

/* Read again what the jobs of held/ wait for, and with `failed` those of failed/ that come back by
 * themselves.  -1 and a sentence when that cannot be known: then nothing may be removed. */
int waited_read(struct waited *waited, bool failed, struct error *error);

/* Does a job wait for that one, or for one of its name? */
bool waited_for(const struct waited *waited, const char *id);

#endif
