/* client/manifest_diff.h - how rendering a job anew would change its manifest
 *
 * Compared are the job's manifest.yaml and its request as rendered by the templates of another revision for the
 * executor of today's settings.  The job keeps its id, owner, attempt and time of acceptance.  Nothing is changed.
 *
 * Secrets are never in what is compared: for a job with secrets, both sides are rendered with asterisks in
 * their place, the older one by the commit that it was rendered with.  If that commit is gone, no lines are there.
 */
#ifndef CLIENT_MANIFEST_DIFF_H
#define CLIENT_MANIFEST_DIFF_H

#include "spool/settings.h"
#include "stages/preview/replay.h"

struct manifest_diff {
    /* Of the caller: */
    struct arena *arena;
    const struct spool *spool;
    /* Of manifest_diff_make(): */
    struct settings settings;
    struct repository *repository; /* at the revision */
    struct replay replay;
    struct preparation understood; /* masked */
    struct job_record was;         /* the record of the last rendering */
    struct replay_rendering
        today;          /* not `rendered`: its request is refused now, and `error` says why */
    struct text before; /* the manifest of the last rendering; empty: there was none */
    bool before_hidden; /* it cannot be shown without secrets */
    bool changed;
    struct buffer lines;  /* as `diff -u` */
    struct error warning; /* about how it was compared; "": none */
};

/* Compare the job `id` with what that revision makes of it.  -1 and a sentence when that cannot be done. */
int manifest_diff_make(struct manifest_diff *diff, const char *id, const char *revision,
                       struct error *error);
void manifest_diff_free(struct manifest_diff *diff);

/* The image of a rendering, and the line of images.txt that selected it. */
struct text manifest_diff_image(struct arena *arena, const struct job_record *record);

#endif
