/* client/share_lines.h - what users and groups have used of late, and what part is to be theirs */
#ifndef CLIENT_SHARE_LINES_H
#define CLIENT_SHARE_LINES_H

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
void share_lines_free(struct share_lines *lines);

/* That user's; NULL when there is none. */
const struct share_line *share_lines_find(const struct share_lines *lines, uid_t uid);

#endif
