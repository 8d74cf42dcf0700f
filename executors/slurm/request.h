/* executors/slurm/request.h - the body of a submission, as each version of slurmrestd has it
 *
 * Pure: sends nothing.  The comment of a job that is submitted held is its token.  That of one which may
 * begin at once says so, as the update does that releases a job: one look shows whether it may run.
 */
#ifndef EXECUTORS_SLURM_REQUEST_H
#define EXECUTORS_SLURM_REQUEST_H

#include "executors/slurm/manifest.h"
#include "executors/slurm/version.h"

#define SLURM_RELEASED ":released" /* the end of a released job's comment */

struct slurm_submission {
    const char *token; /* dlspool:<spool>:<id>:<attempt> */
    const char *id;
    int attempt;
    const char *directory; /* DLSPOOL_DIRECTORY */
    int64_t time_limit;    /* milliseconds; 0: none, or the manifest says */
    bool held;
};

/* Append the body of a submission.  -1 and a sentence that names the field, when this version
 * cannot say it. */
int slurm_request_submit(struct buffer *out, const struct slurm_version *version,
                         const struct slurm_manifest *manifest,
                         const struct slurm_submission *submission, struct error *error);

/* Append the body of the update that releases.  `name` is the job's name at Slurm, <id>-a<attempt>:
 * v0.0.36 removes it from a job unless it is repeated. */
void slurm_request_release(struct buffer *out, const struct slurm_version *version,
                           const char *token, const char *name);

/* Append the body of the update that holds a released job, and takes the mark from its comment.  One that
 * has begun goes on. */
void slurm_request_take_back(struct buffer *out, const struct slurm_version *version,
                             const char *token, const char *name);

/* The number of the job in an answer to a submission; 0: none. */
int64_t slurm_request_number(const struct value *answer);

/* How many jobs it counts as at Slurm: the components, or the elements of an array. */
int slurm_request_weight(const struct slurm_manifest *manifest);

#endif
