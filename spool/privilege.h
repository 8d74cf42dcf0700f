/* spool/privilege.h - `privileges` of dlspool.yaml
 *
 * A privilege is a name under which a site gives tasks more than every task has (job/grant.h): a job file asks for
 * it by that name.  Where its row says so, the job waits until one of the approvers has approved it.
 */
#ifndef SPOOL_PRIVILEGE_H
#define SPOOL_PRIVILEGE_H

#include "base/section.h"
#include "job/grant.h"

struct privilege {
    struct text name;
    struct grant grant;
    bool approve; /* a job waits for it until it is approved */
};

struct privileges {
    struct privilege *rows;
    size_t count;
};

/* Read the map of rows into the section's arena.  -1 and a sentence. */
int privilege_read_all(const struct section *section, const struct value *map,
                       struct privileges *privileges);

/* NULL when the site has none of that name. */
const struct privilege *privilege_find(const struct privileges *privileges, struct text name);

/* What all privileges of a list, with spaces between their names, give together; in the arena.  -1 and a sentence
 * that names one which the site does not have. */
int privilege_unite(struct arena *arena, const struct privileges *privileges, struct text names,
                    struct grant *grant, struct error *error);

/* Append what is given, for people: "capability IPC_LOCK, device /dev/fuse, the machine's network". */
void privilege_describe(const struct grant *grant, struct buffer *out);

#endif
