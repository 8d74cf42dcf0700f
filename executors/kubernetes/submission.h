/* executors/kubernetes/submission.h - a job on its way into the cluster: its objects and its
 * requests
 *
 * Between submit.c, which knows the order of things, submit_make.c and
 * submit_release.c, which have the steps, and submission.c, which makes the
 * requests and reads what is found.  A request is made ready in its part's `call`, and
 * `asked` says so; whoever runs it clears that.
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
    STEP_LOOK_BEGUN, /* an earlier try released the owner: were the others? */
    STEP_RELEASE_OTHERS,
    STEP_UNDO, /* nothing runs yet: delete it */
    STEP_STOP, /* something does: end it as a job that is cancelled */
    STEP_ENDED,
    STEPS
};

struct part { /* an object of a job */
    const struct kubernetes_object *object;
    struct kubernetes_call call;
    bool asked;                      /* the call is one of this round */
    enum kubernetes_outcome created; /* of its POST */
    struct error error;              /* ... */
    const char *remedy;              /* ... */
    bool there;                      /* it exists, is ours and belongs to this owner */
    bool released;
};

struct job {
    struct kubernetes *kubernetes;
    struct arena *arena;
    struct submission *submission;
    struct kubernetes_manifest *manifest;
    struct part *parts;
    size_t count;
    char hash[SHA256_HEX_SIZE];
    const char *uid; /* of the owner, once it is there */
    enum step step;
    int conflicts;
    bool unsure; /* something was not answered, or is in the way for a while */
    struct error doubt;
    bool failed; /* ... for good, or for want of room: */
    enum submit_outcome failure;
    struct error why;
    const char *remedy; /* of SUBMIT_REFUSED: as in struct kubernetes_call */
    size_t gone;        /* Jobs that somebody deleted after they were begun */
};

enum finding {
    FOUND_OURS,    /* of this job, from this manifest */
    FOUND_LEAVING, /* ... but it is being deleted, or belongs to an owner that was */
    FOUND_WRONG    /* somebody else's, or from another manifest */
};

/* What an object of a part's name is to us.  A sentence unless it is FOUND_OURS. */
enum finding job_judge_found(const struct job *job, const struct part *part,
                             const struct value *object, struct error *error);
extern const char remedy_foreign[]; /* of FOUND_WRONG */
bool object_is_released(const struct value *object);
enum { DESCRIPTION_SIZE = 128 };
void part_describe(const struct part *part, char buffer[static DESCRIPTION_SIZE]); /* "the Job x" */

void job_ask_create(struct job *job, struct part *part);
void job_ask_look(struct job *job, struct part *part);
/* Mark a Job as released, and let it run unless the manifest or Kueue has a say in that. */
void job_ask_release(struct job *job, struct part *part);
/* Delete the owner, and with it all. */
void job_ask_undo(struct job *job);
/* Tell all Jobs to end, as kubernetes_cancel() does. */
void job_ask_stop(struct job *job);

/* ---- submit.c: how a submission ends ---- */

void job_end(struct job *job, enum submit_outcome outcome, const struct error *error);
/* SUBMIT_REFUSED; `remedy` as in struct kubernetes_call. */
void job_refuse(struct job *job, const struct error *error, const char *remedy);
void job_accept(struct job *job, const char *remark);
/* It must be undone.  Refusal goes before want of room, and the first sentence before others. */
void job_fail(struct job *job, enum submit_outcome failure, const struct error *why,
              const char *remedy);
void job_doubt(struct job *job, const struct error *doubt);

/* ---- the steps: prepare_ makes the requests ready, judge_ decides which step is next ---- */

/* submit_make.c */
void submit_prepare_create_owner(struct job *job);
void submit_judge_create_owner(struct job *job);
void submit_prepare_look_owner(struct job *job);
void submit_judge_look_owner(struct job *job);
void submit_prepare_create_others(struct job *job);
void submit_judge_create_others(struct job *job);
void submit_prepare_look_others(struct job *job);
void submit_judge_look_others(struct job *job);

/* submit_release.c */
void submit_prepare_release_owner(struct job *job);
void submit_judge_release_owner(struct job *job);
void submit_prepare_look_begun(struct job *job);
void submit_judge_look_begun(struct job *job);
void submit_prepare_release_others(struct job *job);
void submit_judge_release_others(struct job *job);
void submit_judge_undo(struct job *job);
void submit_judge_stop(struct job *job);

#endif
