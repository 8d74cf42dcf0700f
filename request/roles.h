/* request/roles.h - labels for roles in dialects that allow any name
 *
 * A role's name becomes part of host names, so it must be a short DNS label.  Other dialects allow
 * more; their roles get a label made from the name, and keep the name beside it.
 */
#ifndef REQUEST_ROLES_H
#define REQUEST_ROLES_H

#include "request/description.h"

struct role_names {
    struct value *names;  /* names seen so far */
    struct value *labels; /* labels made so far */
};

void roles_start(struct arena *arena, struct role_names *names);

/* Is it the first role of that name? */
bool roles_is_new(struct arena *arena, struct role_names *names, struct text name);

/* A label for the role: in lower case, with hyphens for bytes that labels cannot have, cut to 15
 * bytes, and numbered (worker, worker-2) when another role of the job has that label.  Labels are
 * unique, and the same roles in the same order get the same labels. */
struct text roles_label(struct arena *arena, struct role_names *names, struct text name);

#endif
