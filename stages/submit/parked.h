/* stages/submit/parked.h - jobs of rendered/ that are over a row of limits.rows, until there is room under it
 *
 * Those that wait for the same row and the same user, group or queue stand in a line, in the order of a queue
 * (stages/submit/queue.h), and leave it in that order: a small job does not pass a large one for ever, and one that
 * comes later does not take what the first of them waits for.  One that is by
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

/* Does somebody who stands in the line of that key wait for what the job would take?  `room`: what is
 * left there. */
bool parked_keeps_back(const struct parked *parked, struct text key, const struct use_amounts *room,
                       const struct queue_job *job);

/* Note in a cohort what jobs of its queues that stand in line, or have their turn, claim of what is their own. */
void parked_claim(const struct parked *parked, const struct use_cohort *cohort);
/* Would the job borrow GPUs which others claim? */
bool parked_leaves_none(const struct parked *parked, struct use *use, const struct limit_row *row,
                        const struct queue_job *job);

/* The first of the line of that row; NULL: there is none.  Valid until the lines change. */
const struct queue_job *parked_first(const struct parked *parked, const struct limit_row *row);
/* Visit the first of each line. */
typedef void parked_visit(void *context, const struct use_over *over,
                          const struct queue_job *first);
void parked_walk(const struct parked *parked, parked_visit *visit, void *context);

/* A job whose turn has come is kept back by no line, until it is parked again or has left rendered/. */
void parked_note_turn(struct parked *parked, const char *id);
bool parked_has_turn(const struct parked *parked, const char *id);
void parked_end_turn(struct parked *parked, const char *id);

/* Give to the queue those for which their row has room by now; it is their turn.  The first of a line that is no
 * longer in rendered/ is forgotten. */
struct parked_waker {
    bool (*is_there)(void *context, const char *id); /* is it in rendered/? */
    void (*woken)(void *context, const char *id);    /* it has left its line */
    void *context;
};
void parked_wake(struct parked *parked, struct use *use, struct queue *queue,
                 const struct parked_waker *waker);

#endif
