/* stages/preview/changes.h - the fields in which two manifests differ
 *
 * A field is named by its path, with the places in lists left out (`tasks[].env.LEVEL`), so that the
 * same change to a hundred tasks is one, and the same change to a hundred jobs has one name.
 */
#ifndef STAGES_PREVIEW_CHANGES_H
#define STAGES_PREVIEW_CHANGES_H

#include "base/value.h"

enum { CHANGES_MOST = 32, CHANGES_DEEPEST = 64 };

struct change {
    struct text path;
    const struct value *before, *after; /* of its first place; NULL: not there */
};

struct changes {
    struct change items[CHANGES_MOST]; /* in the order in which they are found */
    size_t count;
    bool more; /* more than fit */
};

/* Compare two trees, whose parts the changes share.  Paths lie in the arena. */
void changes_find(struct arena *arena, const struct value *before, const struct value *after,
                  struct changes *changes);

#endif
