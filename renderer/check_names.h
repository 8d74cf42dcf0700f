/* renderer/check_names.h - are the names in images.txt and site.yaml known to anybody?
 *
 * A row for the library `torch` and a member `locall` of site.yaml are well-formed, and nothing ever
 * looks at them.  Known is, of images.txt: the libraries and job types of job files, and those for
 * which the repository has templates; of site.yaml: the members of the one that a new spool gets, and
 * what a template of the repository reads (site.NAME, "NAME" in site, site["NAME"]), so that a site
 * can have members of its own.
 */
#ifndef RENDERER_CHECK_NAMES_H
#define RENDERER_CHECK_NAMES_H

#include "renderer/repository.h"

struct check_names {
    const char *const *libraries, *const *types; /* of job files; each ends with NULL */
    const struct value *site; /* the tree of the site.yaml that a new spool gets; may be NULL */
    /* Called with `file:line:column: sentence` for each name that is not known, and with
     * `file:line: warning: sentence` for one that is perhaps not. */
    void (*tell)(void *context, bool fault, const char *line);
    void *context;
};

void check_names_of_images(struct repository *repository, const struct images *images,
                           const struct value *site, const struct check_names *names);
void check_names_of_site(struct repository *repository, const struct value *site,
                         const struct check_names *names);

#endif
