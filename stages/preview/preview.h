/* stages/preview/preview.h - what another commit of the templates would make of the jobs of the last days
 *
 * Each job is rendered twice, with two commits and by the executor that the settings name now, and
 * what comes of it is counted in groups: the same change to a hundred jobs is one group.
 *
 * The result contains nothing that a user wrote, since anybody who may push templates can see it:
 * only ids, names of fields, images, sentences as in `why`, and, of the values that changed,
 * numbers, booleans and texts that occur in the templates.
 */
#ifndef STAGES_PREVIEW_PREVIEW_H
#define STAGES_PREVIEW_PREVIEW_H

#include "stages/preview/changes.h"
#include "stages/preview/replay.h"

enum { PREVIEW_EXAMPLES = 3, PREVIEW_MOST_GROUPS = 256 };

enum preview_kind {
    /* rendered by the first commit, and refused by the second, or by the executor as the second
     * renders it */
    PREVIEW_REFUSED,
    PREVIEW_CHANGED,  /* rendered differently by the two */
    PREVIEW_ACCEPTED, /* the reverse: refused by the first, and rendered by the second */
    PREVIEW_KINDS
};

/* A field that changed. */
struct preview_field {
    struct text path;
    bool was_there, is_there;
    struct text before, after; /* as JSON; empty when they are not shown */
};

struct preview_group {
    enum preview_kind kind;
    size_t count;                             /* jobs */
    char examples[PREVIEW_EXAMPLES][ID_SIZE]; /* the newest of them; "" when there are fewer */
    struct text key;                          /* what the jobs of a group have in common */
    struct text sentence; /* why they are, or were, refused; empty when they changed */
    /* When they changed: */
    struct text template_before, template;
    struct text image_before, image; /* empty when it is the same */
    struct preview_field *fields;    /* with the values of the first example */
    size_t fields_count;
    bool more_fields;
};

struct preview_request {
    const struct spool *spool;
    struct repository *before, *after; /* refreshed */
    struct text executor;              /* followed by a NUL */
    int64_t now;
    int days;
    size_t most;    /* jobs looked at, newest first; at least 1 */
    int64_t within; /* milliseconds after which no further job is looked at; 0: no limit */
    void (*progress)(void *context, size_t looked, size_t of); /* after each job; may be NULL */
    void *context;
};

struct preview {
    struct arena *arena;
    size_t found;     /* jobs of these days */
    size_t looked;    /* how many of them, the newest, were looked at */
    bool out_of_time; /* then that is why fewer were looked at */
    size_t same;
    size_t counts[PREVIEW_KINDS]; /* jobs */
    size_t refused_as_before;     /* by both commits */
    size_t forbidden;             /* the caller may not read them */
    size_t damaged, without_request, set_aside;
    struct preview_group *groups; /* by kind, the largest first */
    size_t groups_count;
    size_t ungrouped; /* in `counts` but in no group: too many groups */
};

/* The last days include all jobs that have neither ended nor failed, those that succeeded in these
 * days, and those that failed and were accepted in them.  -1 and a sentence when the spool cannot
 * be read. preview_free() ends it. */
int preview_make(const struct preview_request *request, struct preview *preview,
                 struct error *error);
void preview_free(struct preview *preview);

#endif
