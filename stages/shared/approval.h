/* stages/shared/approval.h - approval of a job by another person
 *
 * What a site gives only by approval stands in the record's `wants` (spool/wants.h).  A job with any waits in held/
 * until one of `approvers` whose uid is not the job's has approved it, by a control file; the approval is the file
 * `approve` in the job's directory, and a refusal the file `refuse`.
 *
 * An approval is of the request, of the manifest as the first attempt of the whole job has it, of what is wanted, and
 * of what the site gives for it.  When any of these is another, or its approver is none any more, it is void: the
 * job waits for another one.  A later attempt of the same needs no other approval.
 *
 * Where records are sealed (spool/seal.h), an approval counts for root only with a seal that a root process made
 * when it saw the approver's file itself (stages/intake/witness.h).
 */
#ifndef STAGES_SHARED_APPROVAL_H
#define STAGES_SHARED_APPROVAL_H

#include "spool/record.h"
#include "spool/seal.h"
#include "spool/settings.h"
#include "stages/shared/approval_file.h"

enum approval_answer {
    APPROVAL_UNKNOWN = -1, /* not now */
    APPROVAL_NOT_WANTED,
    APPROVAL_GIVEN,
    APPROVAL_MISSING,
    APPROVAL_VOID /* there is one, which does not count, for the reason in the sentence */
};

/* What the privileges of the job give, in the arena.  -1 and a sentence: the site has none of that name, or its
 * executor cannot give it. */
int approval_find_grant(struct arena *arena, const struct settings *settings,
                        const struct job_record *record, struct grant *grant, struct error *error);

/* Is what the job wants approved?  `key` NULL: the caller cannot know seals, and does not look at them.  With
 * APPROVAL_GIVEN and APPROVAL_VOID *approval is what there is. */
enum approval_answer approval_judge(const struct settings *settings, const struct seal_key *key,
                                    const struct job_record *record, int job,
                                    struct approval *approval, struct error *reason);

/* Must the job wait for an approval?  1, 0, or -1: not known now. */
int approval_is_due(const struct settings *settings, const struct job_record *record, int job);

/* May the user of that name decide about this job?  -1 and a sentence when not. */
int approval_may_decide(const struct settings *settings, const struct job_record *record, uid_t uid,
                        const char *name, struct error *error);

/* What the user of that name approves now. */
void approval_make(const struct settings *settings, const struct job_record *record, uid_t uid,
                   const char *name, int64_t now, struct approval *approval);
/* Seal it. */
void approval_seal(const struct seal_key *key, const struct job_record *record,
                   struct approval *approval);

#endif
