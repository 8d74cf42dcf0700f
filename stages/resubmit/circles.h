/* stages/resubmit/circles.h - jobs that would wait for each other in a circle
 *
 * Jobs are numbered in the order in which they came.  A circle is closed by the youngest job in it:
 * without that one the others are none.  So the jobs are gone through by age, and each that closes a
 * circle with older ones is left out; what is left can always go on.  Pure: no job is read.
 */
#ifndef STAGES_RESUBMIT_CIRCLES_H
#define STAGES_RESUBMIT_CIRCLES_H

#include <stdbool.h>
#include <stddef.h>

struct circle_edge { /* the job `from` waits for the job `to` */
    size_t from, to;
};

struct circles;

/* The edges are copied, in any order; each may be there more than once.  circles_free() ends it. */
struct circles *circles_new(size_t jobs, const struct circle_edge *edges, size_t count);
void circles_free(struct circles *circles);

/* Go through the jobs. */
void circles_find(struct circles *circles);

/* Does this job close a circle?  Then *chain is the way from it back to itself, each job waiting for
 * the next one and the last for the first, and *length its length (1: the job waits for itself).  It
 * is valid until the next call. */
bool circles_closes(struct circles *circles, size_t job, const size_t **chain, size_t *length);

#endif
