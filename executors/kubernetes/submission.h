/* executors/kubernetes/submission.h - a job that is being submitted: its objects and requests
 *
 * submit.c runs the steps, submission_create.c and submission_release.c are the steps, and
 * submission.c prepares requests, identifies objects that are found, and ends a submission.  A
 * request is prepared in its part's `call`, and `asked` is set; submit.c sends it and clears that.
 */
#ifndef EXECUTORS_KUBERNETES_SUBMISSION_H
#define EXECUTORS_KUBERNETES_SUBMISSION_H

#include "executors/kubernetes/inside.h"

enum step {
    STEP_CREATE_OWNER,
    STEP_LOOK_OWNER,
    STEP_CREATE_OTHERS,
    STEP_LOOK_OTHERS,
    STEP_RELEASE_OWNER,
    STEP_LOOK_BEGUN, /* an earlier try released the owner: find out whether the others were */
    STEP_RELEASE_OTHERS,
    STEP_UNDO, /* nothing runs yet: delete the owner */
    STEP_STOP, /* something runs: end it as a cancelled job */
    STEP_ENDED,
    STEPS
};

struct submission_part { /* an object of a job */
    const struct kubernetes_object *object;
    struct kubernetes_call call;
    bool asked;                      /* the call belongs to this round */
    enum kubernetes_outcome created; /* of its POST */
    struct error error;              /* ... */
    const char *remedy;              /* ... */
    bool there;                      /* it exists, is ours and has this owner */
    bool released;
};

struct kubernetes_submission {
    struct kubernetes *kubernetes;
    struct arena *arena;
    struct submission *submission;
    struct kubernetes_manifest *manifest;
    struct submission_part *parts;
    size_t count;
    char hash[SHA256_HEX_SIZE];
    const char *uid; /* of the owner, once it exists */
    enum step step;
    int conflicts;
    bool unsure; /* an answer is missing, or an obstacle is temporary */
    struct error doubt;
    bool failed; /* ... it was refused or does not fit now: */
    enum submit_outcome failure;
    struct error why;
    const char *remedy; /* of SUBMIT_REFUSED: as in struct kubernetes_call */
    size_t gone;        /* Jobs that somebody deleted after they were released */
};

enum finding {
    FOUND_OURS,    /* of this job, from this manifest */
    FOUND_LEAVING, /* ... but it is being deleted, or belongs to an owner that was */
    FOUND_WRONG    /* somebody else's, or from another manifest */
};

/* Whose object is it that has a part's name?  A sentence unless it is FOUND_OURS. */
enum finding submission_identify(const struct kubernetes_submission *job,
                                 const struct submission_part *part, const struct value *object,
                                 struct error *error);
extern const char submission_foreign_remedy[]; /* of FOUND_WRONG */
bool submission_is_released(const struct value *object);
enum { SUBMISSION_PART_SIZE = 128 };
void submission_describe_part(const struct submission_part *part,
                              char buffer[static SUBMISSION_PART_SIZE]); /* "the Job x" */

/* What is sent to create an object: of several, Jobs are suspended and in no queue until all are there, and all but
 * the first belong to it, by its uid. */
struct text submission_body(struct arena *arena, const struct kubernetes_manifest *manifest,
                            size_t which, const char *owner_uid);
void submission_ask_create(struct kubernetes_submission *job, struct submission_part *part);
void submission_ask_look(struct kubernetes_submission *job, struct submission_part *part);
/* Mark a Job as released, and resume it unless the manifest suspends it or Kueue decides. */
void submission_ask_release(struct kubernetes_submission *job, struct submission_part *part);
/* Delete the owner, and with it all that it owns. */
void submission_ask_undo(struct kubernetes_submission *job);
/* Tell all Jobs to end, as kubernetes_cancel() does. */
void submission_ask_stop(struct kubernetes_submission *job);

/* ---- how a submission ends ---- */

void submission_end(struct kubernetes_submission *job, enum submit_outcome outcome,
                    const struct error *error);
/* SUBMIT_REFUSED; `remedy` as in struct kubernetes_call. */
void submission_refuse(struct kubernetes_submission *job, const struct error *error,
                       const char *remedy);
void submission_accept(struct kubernetes_submission *job, const char *remark);
/* It must be undone.  SUBMIT_REFUSED takes precedence over SUBMIT_NO_ROOM, and the first sentence over
 * later ones. */
void submission_fail(struct kubernetes_submission *job, enum submit_outcome failure,
                     const struct error *why, const char *remedy);
void submission_doubt(struct kubernetes_submission *job, const struct error *doubt);

/* ---- the steps: prepare_ prepares the requests, judge_ chooses the next step ---- */

/* submission_create.c */
void submission_prepare_create_owner(struct kubernetes_submission *job);
void submission_judge_create_owner(struct kubernetes_submission *job);
void submission_prepare_look_owner(struct kubernetes_submission *job);
void submission_judge_look_owner(struct kubernetes_submission *job);
void submission_prepare_create_others(struct kubernetes_submission *job);
void submission_judge_create_others(struct kubernetes_submission *job);
void submission_prepare_look_others(struct kubernetes_submission *job);
void submission_judge_look_others(struct kubernetes_submission *job);

/* submission_release.c */
void submission_prepare_release_owner(struct kubernetes_submission *job);
void submission_judge_release_owner(struct kubernetes_submission *job);
void submission_prepare_look_begun(struct kubernetes_submission *job);
void submission_judge_look_begun(struct kubernetes_submission *job);
void submission_prepare_release_others(struct kubernetes_submission *job);
void submission_judge_release_others(struct kubernetes_submission *job);
void submission_judge_undo(struct kubernetes_submission *job);
void submission_judge_stop(struct kubernetes_submission *job);

#endif
