/* base/descriptors.h - how many files this process may have open */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

#include <stddef.h>

/* Let this process have so many descriptors at a time, where it may raise its limit.  Returns how many it may have,
 * `wanted` or fewer. */
size_t descriptors_allow(size_t wanted);

#endif
