/* client/share_lines.h - what users and groups have used of late, and what part is to be theirs */
#ifndef CLIENT_SHARE_LINES_H
#define CLIENT_SHARE_LINES_H

#include "base/value.h"
#include "stages/shared/decayed_use.h"

struct share_line { /* a user or a group */
    struct decayed_user user;
    bool is_group;
    double used, weight;
    double share, theirs; /* parts of all: 0 to 1 */
};

struct share_lines {
    struct share_line
        *items; /* groups, where these share, and users; of each kind the next one first */
    size_t count, capacity;
};

/* Of all that `use` knows.  share_lines_free() ends it. */
void share_lines_make(const struct fair_share *rules, const struct decayed_use *use,
                      struct share_lines *lines);
/* The same, of the spool as it is now: of the accounts, of what runs, and of those whose jobs wait in rendered/.
 * There are none where nobody has a weight.  -1 and a sentence; then there is nothing to free. */
int share_lines_look(const struct spool *spool, const struct fair_share *rules,
                     struct share_lines *lines, struct error *error);
void share_lines_free(struct share_lines *lines);

/* That user's; NULL when there is none. */
const struct share_line *share_lines_find(const struct share_lines *lines, uid_t uid);

/* The name of a user or a group, or the number as text; of the group that a user is in. */
enum { SHARE_LINES_NAME_SIZE = 80 };
const char *share_lines_name(const struct share_line *line,
                             char name[static SHARE_LINES_NAME_SIZE]);
const char *share_lines_group(const struct share_line *line,
                              char name[static SHARE_LINES_NAME_SIZE]);

/* As `dlspool share --json` prints them, dlspool-json(5). */
struct value *share_lines_tree(struct arena *arena, const struct fair_share *rules,
                               const struct share_lines *lines);

#endif
