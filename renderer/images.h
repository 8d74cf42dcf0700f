/* renderer/images.h - images.txt: which base image for (library, version, type, accelerator)
 *
 * One row a line, five columns parted by white space: library version type accelerator image.
 * `*` matches anything; `#` at the start of a word starts a comment.  The first row that matches
 * decides.  A row whose image is `host`, the files of the machine that runs the task, serves the
 * executor of this machine, and a cluster whose nodes run jobs without containers; for any other it is
 * passed over.
 */
#ifndef RENDERER_IMAGES_H
#define RENDERER_IMAGES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "base/value.h"

struct image_row {
    struct text library, version, type, accelerator, image;
    int line;                   /* from 1 */
};

struct images {
    struct image_row *rows;
    size_t count;
};

/* NULL and a sentence with file and line: a missing or superfluous column, an image name with
 * bytes that no image reference has.  `name` is the file's name for sentences. */
struct images *images_parse(struct arena *arena, struct text source, const char *name,
                            struct error *error);

/* Append a line `name:line: sentence` for every fault, not only the first, and a line
 * `name:line: warning: sentence` for every row that an earlier one always hides.  Returns the
 * number of faults; adds the number of warnings to *warnings. */
size_t images_report(struct text source, const char *name, struct buffer *report,
                     size_t *warnings);

/* The first row that fits, or NULL.  An empty version fits any row (the first one is the site's
 * preference); an empty accelerator fits `none` and `*`; otherwise a version fits when it is equal
 * or the row's is a prefix of whole parts (row 2.1 fits 2.1.3 and 2.1+cu118, not 2.10).  `host`:
 * rows with that image count. */
const struct image_row *images_find(const struct images *images, struct text library,
                                    struct text version, struct text type,
                                    struct text accelerator, bool host);

/* Does any row serve this (library, type), whatever the version and accelerator? */
bool images_serve(const struct images *images, struct text library, struct text type, bool host);

/* Can a task of this executor have the image `host`?  `site` is the tree of site.yaml. */
bool images_host_counts(const char *executor, const struct value *site);

/* May `image` be the name of an image?  A letter, digit, `.`, `/` or `_` first, then also
 * `: @ + - #`; at most 512 bytes. */
bool image_name_valid(struct text image);

#endif
