/* stages/submit/queue.h - the order in which rendered jobs are submitted
 *
 * Jobs are ordered by priority, higher first.  Within a priority the owners take turns: the owner
 * who was served longest ago, or never, comes first, with the oldest of their jobs, by the tokens
 * in the ids; so a thousand jobs of one owner do not delay the one job of another.  A job that was
 * first and yielded to a higher priority is still the first of its owner's.  An owner's jobs of one priority go by
 * age, too, but for those that were put on top, the last one first.
 *
 * Users who always ask for the highest priority that they may have must not keep others waiting for ever.
 * So an owner with waiting jobs who has had no turn for a given time goes before users' priorities, whoever
 * has waited longest first: each owner has a turn in that time, and one more for each other owner who is
 * kept waiting.  Priorities above those of users are for administrators, and go first all the same.
 *
 * Where owners share by what they have used (`shares` of dlspool.yaml), not the turns but the shares say who is next
 * within a priority, and who has waited for that time goes before users' priorities only when owed as much as the
 * one who would be next.  Somebody who has just come, and so has waited for less, goes behind those who have waited
 * for so long: with the first job.
 *
 * Each job is in the queue once.  A job can be put back for later: it is passed over until its time has
 * come.  The queue is in memory only and is refilled from the directory, which is authoritative.  Adding
 * and taking cost O(log jobs + log owners), with shares O(log jobs + owners).
 */
#ifndef STAGES_SUBMIT_QUEUE_H
#define STAGES_SUBMIT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stages/submit/queue_job.h"

struct queue;

struct queue *queue_new(void);
void queue_free(struct queue *queue); /* NULL is fine */

/* Owners go before priorities up to `most` after so many milliseconds without a turn; 0, as for a new queue: they
 * never do. */
void queue_set_patience(struct queue *queue, int64_t patience, int most);

/* Shares decide within a priority: less than 0 when owner a is to go before b, more when b is; 0: they take turns. */
typedef int queue_compare(const void *context, uid_t a, uid_t b);
void queue_set_shares(struct queue *queue, queue_compare *compare, const void *context);

void queue_add(struct queue *queue, const struct queue_job *job);
/* Put back for `time` (of clock_elapsed). */
void queue_later(struct queue *queue, const struct queue_job *job, int64_t time);
bool queue_has(const struct queue *queue, const char *id);

/* Take that job out, wherever it stands; false when it is not there. */
bool queue_remove(struct queue *queue, const char *id, struct queue_job *job);

/* Those that were put back, and whose time has come, are in their places: queue_first() sees them. */
void queue_ripen(struct queue *queue);

/* Take the first job whose time has come; false when there is none. */
bool queue_take(struct queue *queue, struct queue_job *job);
/* Give back a job that was taken and not served; its owner's turn is restored. */
void queue_return(struct queue *queue, const struct queue_job *job);

/* Give back a job whose owner is to have no more for now: none of that owner's is taken before queue_wake(). */
void queue_rest(struct queue *queue, const struct queue_job *job);
void queue_wake(struct queue *queue);

/* A job of that owner, which was taken earlier and was first since, has its turn now. */
void queue_end_waiting(struct queue *queue, uid_t owner);

/* The job that queue_take() would take next if no job that was put back were due; NULL when there
 * is none.  Valid until the queue changes, or is asked again. */
const struct queue_job *queue_first(const struct queue *queue);

/* Does that one go before this one, which was taken earlier and is still first? */
bool queue_passes(const struct queue *queue, const struct queue_job *first);

size_t queue_count(const struct queue *queue); /* including those put back */
int64_t queue_due(const struct queue *queue);  /* when the first put-back one is due; INT64_MAX */

#endif
