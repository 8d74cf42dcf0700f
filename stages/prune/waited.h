/* stages/prune/waited.h - jobs that others wait for: by id, or by a name that is not resolved yet
 *
 * However many there are, the memory is bounded: so nobody can keep others' jobs from being pruned.
 */
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

/* Note a word by which one is waited for: an id, or a name as ids begin with it, with its dash. */
void waited_add(struct waited *waited, struct text word);

/* Does a job wait for that one, or for one of its name?  Where millions are waited for it may say so of another one,
 * until the next process. */
bool waited_for(const struct waited *waited, const char *id);

#endif
