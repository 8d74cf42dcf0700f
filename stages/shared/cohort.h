/* stages/shared/cohort.h - queues that lend one another the GPUs that are theirs
 *
 * Each queue has GPUs of its own, which are guaranteed.  What it does not use of them others may borrow, up to what
 * it lends; each borrows at most so many beyond its own.  What a queue keeps (its own less what it lends) only its own
 * jobs use.  These are the nominal quota, the lending limit and the borrowing limit of Kueue.
 *
 * Numbers of GPUs throughout.
 */
#ifndef STAGES_SHARED_COHORT_H
#define STAGES_SHARED_COHORT_H

#include <stddef.h>
#include <stdint.h>

struct cohort_queue {
    int64_t own, lend, borrow; /* lend is at most own */
    int64_t used;
    int64_t claim; /* of waiting jobs that fit into its own */
};

/* How many more may this queue have now?  Claims do not count.  Never below 0. */
int64_t cohort_room(const struct cohort_queue *queues, size_t count, size_t which);

/* The same for jobs that would borrow: what others claim of their own is left to them. */
int64_t cohort_room_beside_claims(const struct cohort_queue *queues, size_t count, size_t which);

/* How many must those who borrow give back, so that all claims fit?  Never below 0. */
int64_t cohort_shortage(const struct cohort_queue *queues, size_t count);

/* How many does the queue have beyond its own, and how many of its own do others have?  Of several queues that could
 * lend, the first lends first. */
int64_t cohort_borrowed(const struct cohort_queue *queue);
int64_t cohort_lent(const struct cohort_queue *queues, size_t count, size_t which);

#endif
