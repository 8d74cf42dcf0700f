/* renderer/check.h - is a commit of the templates repository fit to be served?
 *
 * Everything is looked at, and every problem reported, so that one push fixes them all:
 * images.txt, site.yaml and retry.txt parse; every .yaml file parses and has no fault that can be
 * seen without rendering; what it $includes is there; and every <executor>/<library>/<type>.yaml is
 * rendered with some hundreds of sample jobs, with and without each thing a job may leave out, so
 * that a variable nobody defined is found before a job is.
 *
 * Weakness: a part of a template that no sample job reaches is only checked for its syntax.
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
     * to the executor: the others are the same as one that was. */
    size_t manifests, looked_at;
};

/* Check the served commit of a repository on which repository_serve_faulty() was called.  One line
 * for each finding is appended to the report: `path:line[:column]: sentence`, warnings with
 * `warning: ` before the sentence.  0 when there is no problem (perhaps warnings), else -1. */
int check_repository(struct repository *repository, const struct check_options *options,
                     struct buffer *report, struct check_result *result);

#endif
