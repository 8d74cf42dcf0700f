/* renderer/check_samples.h - render templates with sample jobs in several processes
 *
 * A rendered tree that equals one found good for the same executor and job type is not written,
 * read back and shown to the executor again.  The findings do not depend on the number of
 * processes.
 */
#ifndef RENDERER_CHECK_SAMPLES_H
#define RENDERER_CHECK_SAMPLES_H

#include "renderer/check_options.h"
#include "renderer/repository.h"

/* A template <executor>/<library>/<type>.yaml, and the results. */
struct sampled_template {
    const char *path, *executor;
    char library[128], type[128];
    bool host;     /* can tasks use the image `host`? */
    bool unusable; /* it cannot be rendered, and is skipped */

    size_t renderings, wanted;   /* samples rendered, and of these not refused */
    size_t manifests, looked_at; /* how many of these gave a manifest, and how many were
                                  * written, read back and shown to the executor */
    struct buffer findings;      /* for each finding its line and a detail, both ended by a NUL;
                                  * a warning has "warning: " before its sentence */
    bool ended;                  /* the process crashed on it */
    int status;                  /* then its wait status, as from waitpid() */
};

/* Render all samples of each template.  The caller frees the findings. */
void check_samples(struct repository *repository, const struct check_options *options,
                   struct sampled_template *templates, size_t count);

#endif
