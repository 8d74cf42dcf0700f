/* renderer/check_options.h - how to check a commit of the template repository (renderer/check.h)
 */
#ifndef RENDERER_CHECK_OPTIONS_H
#define RENDERER_CHECK_OPTIONS_H

#include "base/error.h"
#include "base/text.h"
#include "base/value.h"

/* Would the executor accept this manifest, from which `tree` was read?  0 when it would, -1 and a
 * sentence when not, 1 and a warning when it may not. `executor` is the first directory of the
 * template's path.  It is called in forked processes, and not again for a manifest that it
 * accepted, so the answer must depend on the arguments alone. */
typedef int check_accept(void *context, const char *executor, struct text manifest,
                         struct value *tree, struct error *error);

struct check_options {
    check_accept *accept; /* may be NULL: manifests are not checked */
    void *accept_context;
    unsigned processes; /* rendering in parallel; 0: render in the caller's process */
    /* As in check_names.h; NULL: names are not checked. */
    const char *const *libraries;
    const struct value *site;
};

#endif
