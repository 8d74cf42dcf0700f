/* spool/fair_share.h - `shares` of dlspool.yaml: what part of the machine users, groups and queues are to have
 *
 * While several users of one priority have jobs that wait, they share what there is in proportion to their weights.
 * Where a row names a group, the groups (each user's primary one) share first, and then the users of each within it.
 * What a job uses counts divided by the weight of its queue.  Without rows nothing is counted, and users take turns.
 */
#ifndef SPOOL_FAIR_SHARE_H
#define SPOOL_FAIR_SHARE_H

#include "spool/limit_row.h"

struct share_row {
    enum limit_subject subject;
    struct text name; /* as it stands there; "*": each that no other row names */
    id_t id;          /* of that user or group */
    double weight;    /* greater than 0 */
};

struct fair_share {
    int64_t half_life; /* milliseconds: use counts half when it is that old */
    int gpu;           /* a GPU counts as so many CPUs */
    struct share_row *rows;
    size_t row_count; /* 0: users take turns */
    bool has_groups;  /* a row names a group */
};

/* Read `shares.weights` into an array in the section's arena.  -1 and a sentence. */
int fair_share_read_rows(const struct section *section, const struct value *list,
                         struct fair_share *share);

/* The weight of the row that names it, or of "*", or 1. */
double fair_share_of_user(const struct fair_share *share, uid_t uid);
double fair_share_of_group(const struct fair_share *share, gid_t gid);
double fair_share_of_queue(const struct fair_share *share, struct text queue);

/* How much of what is shared CPUs (thousandths) and GPUs are together: as many GPUs as count as the larger of
 * both. */
double fair_share_amount(const struct fair_share *share, double cpus, double gpus);

#endif
