/* stages/shared/sharers.h - the users and groups who share by `shares` of dlspool.yaml: what each used for the weight
 *
 * Only arithmetic: stages/shared/decayed_use.h knows what was used.  Where groups do not share, all users are in one.
 */
#ifndef STAGES_SHARED_SHARERS_H
#define STAGES_SHARED_SHARERS_H

#include "spool/fair_share.h"

struct sharing_group {
    gid_t gid;
    double weight, used, due; /* due: used for each of its weight */
};

struct sharer {
    uid_t uid;
    struct sharing_group *group;
    double weight;
    double past;      /* the caller's own: what is behind */
    double used, due; /* as of a group */
};

struct sharers;

struct sharers *sharers_new(const struct fair_share *share); /* which must outlive it */
void sharers_free(struct sharers *sharers);                  /* NULL is fine */

struct sharer *sharers_find(const struct sharers *sharers, uid_t uid); /* NULL: not known */
/* From now on this user is known, and in that group; (gid_t)-1: in the one that is known.  NULL: there are too many. */
struct sharer *sharers_know(struct sharers *sharers, uid_t uid, gid_t gid);

struct sharer *sharers_first(const struct sharers *sharers);
struct sharer *sharers_after(struct sharer *user);
size_t sharers_count(const struct sharers *sharers);

/* Nobody has used anything; the user, and so the group, has used so much more. */
void sharers_clear(struct sharers *sharers);
void sharers_use(struct sharer *user, double amount);

/* A job that waits, and what its owner is charged for it. */
struct sharing_turn {
    uid_t uid;
    double amount;
    struct text age; /* among owners who are owed the same the lesser goes first */
    size_t place;    /* set: how many go before it */
};
/* Place them as if one after another started, each of the owner who has had least then.  The jobs of an owner, who must
 * be known, stand together in their order.  Costs as much as there are jobs times owners. */
void sharers_place(struct sharers *sharers, struct sharing_turn *turns, size_t count);

/* Less than 0 when user a has had less for the weight, more when b has; 0: neither. */
int sharers_compare(const struct sharers *sharers, uid_t a, uid_t b);

#endif
