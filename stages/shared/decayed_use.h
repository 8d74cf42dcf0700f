/* stages/shared/decayed_use.h - who has used how much of late, by `shares` of dlspool.yaml, and so who is next
 *
 * What attempts held that have ended is read from the accounts (spool/usage_tail.h), and what runs now from submitted/.
 * Use counts half when it is a half-life old.  It is the larger of GPUs and CPUs, as fair_share_amount() has it,
 * times how long, divided by the weight of the job's queue.  A job at the executor counts as if it had run for as long
 * as others of late, but for ten minutes at most, until it has run for longer or has ended: so an owner is charged for
 * what was just submitted, too.
 *
 * After a restart the same follows from the files; DIR/history/shares (spool/use_sums.h) makes that quick.  When the
 * clock is set back, what is known is made anew from the accounts.
 *
 * Known weaknesses: of an array one task counts while it runs, and all once it has ended; a job that is resized
 * counts with the size that it had when its log was last read.
 */
#ifndef STAGES_SHARED_DECAYED_USE_H
#define STAGES_SHARED_DECAYED_USE_H

#include "spool/record.h"
#include "spool/spool.h"
#include "stages/shared/sharers.h"

struct decayed_use;

/* Both must outlive the result. */
struct decayed_use *decayed_use_new(const struct spool *spool, const struct fair_share *share);
void decayed_use_free(struct decayed_use *use); /* NULL is fine */

/* Look at the accounts and at submitted/ again.  -1 and a sentence when that cannot be read; what was known still
 * counts. */
int decayed_use_look(struct decayed_use *use, struct error *error);

/* Keep the sums in DIR/history/shares, if they have changed. */
int decayed_use_keep(struct decayed_use *use, struct error *error);

/* That user's jobs are of that group. */
void decayed_use_note(struct decayed_use *use, uid_t uid, gid_t gid);

/* The job is about to be submitted, and counts from now on; it is in submitted/, and counts for as long as looks find
 * it there; or it is not submitted after all. */
void decayed_use_charge(struct decayed_use *use, const char *id, const struct job_record *record);
void decayed_use_settle(struct decayed_use *use, const char *id);
void decayed_use_drop(struct decayed_use *use, const char *id);

/* Who is to go first: less than 0 when user a is, who has had less for their weight; more when b is; 0: neither. */
int decayed_use_compare(const struct decayed_use *use, uid_t a, uid_t b);

/* What a job that is submitted now is charged for; and the places of such jobs, as sharers_place() has it. */
double decayed_use_amount(const struct decayed_use *use, const struct job_record *record);
void decayed_use_place(struct decayed_use *use, struct sharing_turn *turns, size_t count);

/* A user who has used something, or whose jobs are there. */
struct decayed_user {
    uid_t uid;
    gid_t gid;
    double used;   /* milliseconds of a GPU, decayed, with what is charged for what is there */
    double weight; /* of the user, within the group ... */
    double group_weight; /* ... and of that; 1 where groups do not share */
};
typedef void decayed_use_visit(void *context, const struct decayed_user *user);
void decayed_use_walk(const struct decayed_use *use, decayed_use_visit *visit, void *context);

#endif
