/* watcher/turns.h - whose file is looked at next
 *
 * Each owner has two lanes: one for files dropped while we watch, one for files that a scan found.
 * Lanes take turns, one file at a time, so a million files of one user delay another user's file by
 * no more than one look, and an owner's new files do not wait for that owner's backlog.  Within a
 * lane the file due first comes first.
 *
 * A waiting file embeds a struct turn, which belongs to the caller and must not move in memory
 * while it is in a lane.  Adding, moving and removing take logarithmic time; turns_next() and the
 * other queries take time linear in the number of lanes that are not empty.
 */
#ifndef WATCHER_TURNS_H
#define WATCHER_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lane;

struct turn { /* private, except that `due` may be read */
    struct lane *lane;
    int64_t due;
    uint64_t serial; /* orders turns that are due at the same time */
    size_t at;
};

struct turns;

struct turns *turns_new(void);
void turns_free(struct turns *turns); /* NULL is fine; the turns are the caller's */

void turns_add(struct turns *turns, struct turn *turn, uid_t owner, bool news, int64_t due);
void turns_remove(struct turns *turns, struct turn *turn);
void turns_move(struct turns *turns, struct turn *turn, int64_t due); /* change its time */

/* The first turn of the next lane that has one due; NULL when none has.  It stays in its lane. */
struct turn *turns_next(struct turns *turns, int64_t now);

/* The time at which the first turn is due; INT64_MAX when there is none. */
int64_t turns_due(const struct turns *turns);

/* Do not serve the lanes that this owner has now before `until`, whatever is due. */
void turns_rest(struct turns *turns, uid_t owner, int64_t until);

/* The turn to remove to make room for one more in that lane: about the last due in the longest
 * lane, or NULL when that lane would itself become the longest. */
struct turn *turns_longest(const struct turns *turns, uid_t owner, bool news);
/* About the last due in that lane itself; NULL when it is empty. */
struct turn *turns_last(const struct turns *turns, uid_t owner, bool news);

#endif
