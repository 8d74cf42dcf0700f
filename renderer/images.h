/* renderer/images.h - images.txt: which base image for (library, version, type, accelerator)
 *
 * One row a line, five columns parted by white space: library version type accelerator image.
 * `*` matches anything; `#` starts a comment.  The first row that matches decides.
 */
#ifndef RENDERER_IMAGES_H
#define RENDERER_IMAGES_H

#include "base/error.h"
#include "base/text.h"
#include "base/arena.h"

struct image_row {
    struct text library, version, type, accelerator, image;
    int line;
};

struct images {
    struct image_row *rows;
    size_t count;
};

/* NULL and a sentence with file and line: a missing or superfluous column, an image name with
 * bytes that no image reference has. */
struct images *images_parse(struct arena *arena, struct text source, const char *name,
                            struct error *error);

/* The first row that fits, or NULL.  An empty version fits any row (the first one is the site's
 * preference); an empty accelerator fits `none` and `*`; otherwise a version fits when it is equal
 * or the row's is a prefix of whole parts (row 2.1 fits 2.1.3). */
const struct image_row *images_find(const struct images *images, struct text library,
                                    struct text version, struct text type,
                                    struct text accelerator);

#endif
