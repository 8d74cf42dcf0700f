/* base/tally.h - what the processes of a daemon count, in memory that they share
 *
 * The parent calls tally_start() before it forks, and each process tally_use() with a number of its own.  From then on
 * tally_add() costs two additions in memory and no system call; without that it does nothing.  A count has the name
 * of a series as Prometheus writes it: `jobs_ended_total{result="done"}` (labels: base/labels.h).
 *
 * Counts are of one daemon, from its start.  What came before, which somebody has kept in a file, is added by
 * tally_before(), once.
 *
 * Weaknesses: a process counts at most TALLY_NAMES series, and drops what is beyond; its children must not
 * count beside it.  What is read while it is written may lack the last addition.
 */
#ifndef BASE_TALLY_H
#define BASE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum { TALLY_NAMES = 128, TALLY_NAME_SIZE = 160 };

/* Share memory for so many processes with those that will be forked.  -1 and a sentence on failure. */
int tally_start(size_t processes, struct error *error);
void tally_end(void);
/* This process counts as that one. */
void tally_use(size_t process);
/* Forget everything; while no process counts. */
void tally_clear(void);

/* Add 1 to the count of the series, and `amount` to its sum.  `labels`: what labels_add() wrote, or "". */
void tally_add(const char *series, const char *labels, double amount);

bool tally_is_started(void);
/* Is there shared memory, and what came before not in it yet? */
bool tally_wants_before(void);
void tally_before(struct text name, uint64_t count, double sum);
void tally_has_before(void);

/* Visit the counts of all processes, and of what came before: a name comes once for each. */
typedef void tally_visit(void *context, struct text name, uint64_t count, double sum);
void tally_each(tally_visit *visit, void *context);

#endif
