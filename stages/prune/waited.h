/* stages/prune/waited.h - jobs that others wait for: by id, or by a name that is not resolved yet
 *
 * However many there are, the memory is bounded: so nobody can keep all others' jobs from being pruned.  Whoever names
 * the id of another user's job keeps that for some time only: who asks says for how long.
 */
#ifndef STAGES_PRUNE_WAITED_H
#define STAGES_PRUNE_WAITED_H

#include <stdbool.h>
#include <sys/types.h>

#include "spool/job.h"

struct waited;

struct waited *waited_new(const struct spool *spool);
void waited_free(struct waited *waited); /* NULL is fine */

/* Read again what the jobs of held/ wait for, and with `failed` those of failed/ that come back by
 * themselves.  -1 and a sentence when that cannot be known: then nothing may be removed. */
int waited_read(struct waited *waited, bool failed, struct error *error);

/* Note that a job of this user waits for an id, or for a name, which means the user's own jobs; the name as ids begin
 * with it, with its dash. */
void waited_add(struct waited *waited, uid_t uid, struct text word);

enum waiter { WAITER_NONE, WAITER_OTHERS, WAITER_OWNER };

/* Does a job wait for that one: a job of its owner, by its id or its name, or only others', by its id?  Where millions
 * are waited for it may say so of another one, until the next process. */
enum waiter waited_for(struct waited *waited, const struct job_place *place);

#endif
