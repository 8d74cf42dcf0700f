/* watcher/turns.h - whose file is looked at next
 *
 * Files that wait stand in lanes, one for what each owner has dropped since we look and one for
 * what a scan found of them.  Lanes take turns, one file at a time, so that a million files of one
 * user delay the one file of another by no more than one look.  An owner's new files do not wait
 * for that backlog either.  Within a lane, what was due first comes first.
 *
 * What waits embeds a struct turn, which belongs to its caller and must stay where it is while it
 * stands in a lane.  Adding, moving and removing take logarithmic time; taking and asking take time
 * in the number of lanes that are not empty, of which each has a file that waits.
 */
#ifndef WATCHER_TURNS_H
#define WATCHER_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lane;

struct turn { /* private, but for `due` to read */
    struct lane *lane;
    int64_t due;
    uint64_t serial; /* in which order they came to be due at the same time */
    size_t at;
};

struct turns;

struct turns *turns_new(void);
void turns_free(struct turns *turns); /* NULL is fine; leaves what waits alone */

void turns_add(struct turns *turns, struct turn *turn, uid_t owner, bool news, int64_t due);
void turns_remove(struct turns *turns, struct turn *turn);
void turns_move(struct turns *turns, struct turn *turn, int64_t due); /* due at another time */

/* The first of the lane whose turn it is, among those where one is due; NULL when none is.  It
 * stays in its lane. */
struct turn *turns_next(struct turns *turns, int64_t now);

/* When the first is due; INT64_MAX when none waits. */
int64_t turns_due(const struct turns *turns);

/* One lane is not to be served before `until`, whatever is due. */
void turns_rest(struct turns *turns, uid_t owner, int64_t until);

/* Who is to make room for one more in that lane: one of the longest lane, about the last of it to
 * be due, or NULL when that lane would then be the longest itself. */
struct turn *turns_longest(const struct turns *turns, uid_t owner, bool news);
/* The same of that lane itself; NULL when it is empty. */
struct turn *turns_last(const struct turns *turns, uid_t owner, bool news);

#endif
