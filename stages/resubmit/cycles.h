/* stages/resubmit/cycles.h - jobs that would wait for each other in a cycle
 *
 * Jobs are numbered in the order in which they came.  The youngest job in a cycle closes it:
 * without that job the others form none.  So the jobs are visited from the oldest on, and each that
 * closes a cycle with older ones is left out; the remaining jobs can always go on.  Pure: no job is
 * read.
 */
#ifndef STAGES_RESUBMIT_CYCLES_H
#define STAGES_RESUBMIT_CYCLES_H

#include <stdbool.h>
#include <stddef.h>

struct cycle_edge { /* the job `from` waits for the job `to` */
    size_t from, to;
};

struct cycles;

/* The edges are copied, in any order; each may be there more than once.  cycles_free() ends it. */
struct cycles *cycles_new(size_t jobs, const struct cycle_edge *edges, size_t count);
void cycles_free(struct cycles *cycles);

/* Go through the jobs. */
void cycles_find(struct cycles *cycles);

/* Does this job close a cycle?  Then *chain is the path from it back to itself, each job waiting
 * for the next and the last for the first, and *length the number of its jobs (1: the job waits for
 * itself).  Valid until the next call. */
bool cycles_closes(struct cycles *cycles, size_t job, const size_t **chain, size_t *length);

#endif
