/* renderer/check_samples.h - templates are rendered with sample jobs, by several processes at once
 *
 * A rendered tree that is the same as one that was found good, of the same executor and job type,
 * is not written, read back and shown to the executor again: it would be found good again.  What is
 * found does not depend on how many processes there are.
 */
#ifndef RENDERER_CHECK_SAMPLES_H
#define RENDERER_CHECK_SAMPLES_H

#include "renderer/check_options.h"
#include "renderer/repository.h"

/* A template <executor>/<library>/<type>.yaml, and what came of it. */
struct sampled_template {
    const char *path, *executor;
    char library[128], type[128];
    bool host;     /* can tasks have this machine's own files for an image? */
    bool unusable; /* it cannot be rendered at all, and is not */

    size_t renderings, wanted;   /* how many samples were rendered, and how many not refused */
    size_t manifests, looked_at; /* how many of these gave a manifest, and how many were
                                  * written, read back and shown to the executor */
    struct buffer findings;      /* for each finding its line and a detail, both ended by a NUL;
                                  * a warning has "warning: " before its sentence */
    bool ended;                  /* the process ended over it */
    int status;                  /* then: with what, as waitpid() tells */
};

/* Render all samples of each.  Whoever calls frees the findings. */
void check_samples(struct repository *repository, const struct check_options *options,
                   struct sampled_template *templates, size_t count);

#endif
