/* stages/preview/preview.h - what another commit of the templates would make of the jobs of the last days
 *
 * Each job is rendered twice, with two commits and by the executor that the settings name now, and
 * what comes of it is counted in groups: the same change to a hundred jobs is one group.
 *
 * What a user wrote is in none of it, as the plan may be shown to anybody who may push templates:
 * there are ids, names of fields, images, sentences as they stand in `why`, and of the values that
 * changed only numbers, booleans and such texts as stand in the templates.
 */
#ifndef STAGES_PREVIEW_PREVIEW_H
#define STAGES_PREVIEW_PREVIEW_H

#include "stages/preview/changes.h"
#include "stages/preview/replay.h"

enum { PREVIEW_EXAMPLES = 3, PREVIEW_MOST_GROUPS = 256 };

enum preview_kind {
    PREVIEW_REFUSED,  /* rendered by the one commit, and refused by the other, or by the
                                   executor for what the other makes of it */
    PREVIEW_CHANGED,  /* rendered by both, to something else */
    PREVIEW_ACCEPTED, /* the other way: refused by the one, and rendered by the other */
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
    int64_t within; /* milliseconds after which no further job is looked at; 0: any */
    void (*progress)(void *context, size_t looked, size_t of); /* after each job; may be NULL */
    void *context;
};

struct preview {
    struct arena *arena;
    size_t found;     /* jobs of these days */
    size_t looked;    /* how many of them were looked at: the newest */
    bool out_of_time; /* then that is why they are fewer */
    size_t same;
    size_t counts[PREVIEW_KINDS]; /* jobs */
    size_t refused_as_before;     /* by both commits */
    size_t forbidden;             /* whoever asks may not read them */
    size_t damaged, without_request, set_aside;
    struct preview_group *groups; /* by kind, the largest first */
    size_t groups_count;
    size_t ungrouped; /* jobs that are in `counts` and in no group, as there are too many */
};

/* Of the jobs that have not ended or failed, all belong to the last days; of others, those that
 * ended well or, if they failed, were accepted then.  -1 and a sentence when the spool cannot be
 * read.  preview_free() ends it. */
int preview_make(const struct preview_request *request, struct preview *preview,
                 struct error *error);
void preview_free(struct preview *preview);

#endif
