/* base/fence.h - may this process still change anything outside?
 *
 * A process that was stopped, or starved, for longer than others wait for it has been replaced when it goes on,
 * and does not know it.  What it was about to send would be done a second time.  So it asks just before it
 * sends: once more if its last answer is old, which it is after each such stop.
 */
#ifndef BASE_FENCE_H
#define BASE_FENCE_H

#include <stdbool.h>
#include <stdint.h>

/* From now on fence_may_act() asks `may`, unless a yes is younger than `trust` milliseconds.  NULL: it asks nobody. */
void fence_set(bool (*may)(void *context), void *context, int64_t trust);
/* Stop asking with that context. */
void fence_clear(const void *context);

/* May it?  True where nobody is asked. */
bool fence_may_act(void);

#endif
