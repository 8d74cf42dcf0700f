/* renderer/check_names.h - find unknown names in images.txt and site.yaml
 *
 * A row for the library `torch` or a member `locall` of site.yaml is well-formed but never used.
 * Known names in images.txt are the libraries and job types of job files and of the repository's
 * templates.  Known names in site.yaml are the members in a new spool's site.yaml and those that a
 * template of the repository reads (site.NAME, "NAME" in site, site["NAME"]), so a site can have
 * members of its own.
 */
#ifndef RENDERER_CHECK_NAMES_H
#define RENDERER_CHECK_NAMES_H

#include "renderer/repository.h"

struct check_names {
    const char *const *libraries, *const *types; /* of job files; each ends with NULL */
    const struct value *site; /* the tree of the site.yaml that a new spool gets; may be NULL */
    /* Called with `file:line:column: sentence` for each unknown name, and with `file:line: warning:
     * sentence` for a name that may be unknown. */
    void (*tell)(void *context, bool fault, const char *line);
    void *context;
};

void check_names_of_images(struct repository *repository, const struct images *images,
                           const struct value *site, const struct check_names *names);
void check_names_of_site(struct repository *repository, const struct value *site,
                         const struct check_names *names);

#endif
