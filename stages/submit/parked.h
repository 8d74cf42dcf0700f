/* stages/submit/parked.h - jobs of rendered/ that are over a row of limits.rows, until there is room under it
 *
 * Those that wait for the same row and the same user, group or queue stand in a line, in the order of a queue
 * (stages/submit/queue.h), and leave it in that order: a small job does not pass a large one for ever.  One that is by
 * itself more than the row allows, as after the row was lowered, stands in no other's way, and stays until
 * the settings change.  In memory only, as the queue is.
 */
#ifndef STAGES_SUBMIT_PARKED_H
#define STAGES_SUBMIT_PARKED_H

#include "stages/shared/use.h"
#include "stages/submit/queue.h"

struct parked;

struct parked *parked_new(void);
void parked_free(struct parked *parked); /* NULL is fine */

void parked_add(struct parked *parked, const struct use_over *over, const struct queue_job *job);
bool parked_has(const struct parked *parked, const char *id);
size_t parked_count(const struct parked *parked);

/* Give to the queue those for which their row has room by now; `woken` is told each id. */
typedef void parked_woken(void *context, const char *id);
void parked_wake(struct parked *parked, struct use *use, struct queue *queue, parked_woken *woken,
                 void *context);

#endif
