/* request/roles.h - names of roles for dialects that let a role be called anything
 *
 * A role's name becomes a part of host names, so it has to be a short DNS label.  Other dialects
 * allow more; their roles get a label made from the name, and keep the name beside it.
 */
#ifndef REQUEST_ROLES_H
#define REQUEST_ROLES_H

#include "request/description.h"

struct role_names {
    struct value *names;  /* those that were given */
    struct value *labels; /* those that were made */
};

void roles_start(struct arena *arena, struct role_names *names);

/* Is it the first role of that name? */
bool roles_is_new(struct arena *arena, struct role_names *names, struct text name);

/* A label for the role: capitals made small, what no label has made hyphens, cut to 15 bytes, and
 * numbered (worker, worker-2) where another role of the job has that label already.  The same roles
 * in the same order get the same labels, and no two roles get one. */
struct text roles_label(struct arena *arena, struct role_names *names, struct text name);

#endif
