/* stages/queue.h - the order in which rendered jobs are submitted
 *
 * By priority, higher first.  Within a priority the owners take turns: the one who was served
 * longest ago, or never, comes first, with the oldest of his jobs, as the ids' tokens give it; so
 * nobody's thousand jobs delay somebody else's one.  Each job is in it once.  A job can be put back
 * for later: it is passed over until its time has come.  In memory only; the truth is the
 * directory, from which it is filled again.  Adding and taking cost O(log jobs + log owners).
 */
#ifndef STAGES_QUEUE_H
#define STAGES_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spool/id.h"

struct queue;

struct queue *queue_new(void);
void queue_free(struct queue *queue);           /* NULL is fine */

void queue_add(struct queue *queue, const char *id, uid_t owner, int priority);
/* Put back for `time` (of clock_elapsed). */
void queue_later(struct queue *queue, const char *id, uid_t owner, int priority, int64_t time);
bool queue_has(const struct queue *queue, const char *id);

/* Take the first job whose time has come; false when there is none. */
bool queue_take(struct queue *queue, char id[static ID_SIZE]);

/* The job that queue_take() would take next if none of those put back were due; false when there is
 * none. */
bool queue_first(const struct queue *queue, char id[static ID_SIZE]);

size_t queue_count(const struct queue *queue);  /* with those put back */
int64_t queue_due(const struct queue *queue);   /* when the first put-back one is due; INT64_MAX */

#endif
