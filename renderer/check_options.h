/* renderer/check_options.h - how a commit of the templates repository is checked (renderer/check.h)
 */
#ifndef RENDERER_CHECK_OPTIONS_H
#define RENDERER_CHECK_OPTIONS_H

#include "base/error.h"
#include "base/text.h"
#include "base/value.h"

/* Would the executor take this manifest, which `tree` was read from?  -1 and a sentence when not, 1 and a
 * sentence that is a warning when perhaps.
 * `executor` is the first directory of the template.  It is asked in forked processes, and not
 * again about a manifest that it took, so its answer must follow from these alone. */
typedef int check_accept(void *context, const char *executor, struct text manifest,
                         struct value *tree, struct error *error);

struct check_options {
    check_accept *accept; /* may be NULL: manifests are not looked at */
    void *accept_context;
    unsigned processes; /* that render at once; 0: the caller's own does it */
    /* As in check_names.h; NULL: names are not looked at. */
    const char *const *libraries;
    const struct value *site;
};

#endif
