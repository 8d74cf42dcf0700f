/* renderer/images.h - images.txt: which base image for (library, version, type, accelerator)
 *
 * One row a line, five columns parted by white space: library version type accelerator image.  `*`
 * matches anything, but in the version column only jobs that name no version, since the version in
 * such an image is unknown.  `#` at the start of a word starts a comment.  The first row that
 * matches decides.  A row with the image `host` (the files of the machine that runs the task) is
 * for the local executor and for clusters that run jobs without containers; others skip it.  Where
 * it is known what this machine has (host.h), such a row fits only that.
 */
#ifndef RENDERER_IMAGES_H
#define RENDERER_IMAGES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "base/value.h"
#include "renderer/host.h"

struct image_row {
    struct text library, version, type, accelerator, image;
    int line; /* from 1 */
};

struct images {
    struct image_row *rows;
    size_t count;
};

/* NULL and a sentence with file and line: a missing or superfluous column, an image name with
 * bytes that no image reference has.  `name` is the file's name for sentences. */
struct images *images_parse(struct arena *arena, struct text source, const char *name,
                            struct error *error);

/* Append a line `name:line: sentence` for every fault, not only the first, and a line `name:line:
 * warning: sentence` for every row that can never match because of an earlier one.  Returns the
 * number of faults; adds the number of warnings to *warnings. */
size_t images_report(struct text source, const char *name, struct buffer *report, size_t *warnings);

/* A query for an image. */
struct image_query {
    struct text library, type;
    struct text version;        /* empty: the job names none, any will do */
    struct text accelerator;    /* empty: none */
    bool host;                  /* rows with the image `host` count ... */
    const struct host *machine; /* ... for what this machine has; NULL: it is not known */
};

/* The first row that fits, or NULL.  A version fits when it equals the row's or is a prefix of it
 * in whole parts (2.1 fits the rows 2.1, 2.1.3 and 2.1+cu118, not 2.10, nor 2); `*` and `none` fit
 * an empty accelerator. */
const struct image_row *images_find(const struct images *images, const struct image_query *query);

/* The version of the library in that row's image; empty: unknown. */
struct text images_version(const struct image_row *row, const struct image_query *query);

/* For a query that no row fits, append which versions of the library exist; nothing when none
 * does. */
void images_tell_versions(const struct images *images, const struct image_query *query,
                          struct buffer *out);

/* Does any row serve this (library, type), whatever the version and accelerator? */
bool images_serve(const struct images *images, struct text library, struct text type, bool host);

/* Can a task of this executor use the image `host`?  `site` is the tree of site.yaml. */
bool images_host_counts(const char *executor, const struct value *site);

/* May `image` be the name of an image?  A letter, digit, `.`, `/` or `_` first, then also
 * `: @ + - #`; at most 512 bytes. */
bool images_name_valid(struct text image);

#endif
