/* renderer/check.h - check a commit of the template repository
 *
 * Everything is checked and every problem reported, so that one push can fix them all: images.txt,
 * site.yaml and retry.txt parse; every .yaml file parses, has no fault that shows without
 * rendering, and $includes only existing files; and every <executor>/<library>/<type>.yaml is
 * rendered with some hundreds of sample jobs, with and without each optional field, so that an
 * undefined variable is found before a job meets it.
 *
 * Weakness: only the syntax is checked in parts of a template that no sample job reaches.
 */
#ifndef RENDERER_CHECK_H
#define RENDERER_CHECK_H

#include "base/error.h"
#include "base/text.h"
#include "renderer/check_options.h"
#include "renderer/repository.h"

struct check_result {
    size_t problems, warnings, templates, renderings;
    /* How many renderings gave a manifest, and how many of these were written, read back and shown
     * to the executor; the others equal one of these. */
    size_t manifests, looked_at;
};

/* Check the served commit; call repository_serve_faulty() on the repository before.  Appends one
 * line for each finding to the report: `path:line[:column]: sentence`, with `warning: ` before the
 * sentence of a warning.  0 when there is no problem (warnings do not count), otherwise -1. */
int check_repository(struct repository *repository, const struct check_options *options,
                     struct buffer *report, struct check_result *result);

#endif
