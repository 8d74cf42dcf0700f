/* base/fence.h - may this process still change anything outside?
 *
 * A process that is stopped or starved for longer than the lease lasts is replaced without knowing
 * it.  When it continues, it would send a request that its successor has already sent.  So it asks
 * just before it sends, and again if the answer is old, as it is after each such stop.
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
