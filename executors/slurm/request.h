/* executors/slurm/request.h - the body of a submission, as each version of slurmrestd has it
 *
 * Pure: asks nobody.  A job is handed in held, with its token as the comment; the update that
 * releases it changes the comment too, so that one look tells whether it was released.
 */
#ifndef EXECUTORS_SLURM_REQUEST_H
#define EXECUTORS_SLURM_REQUEST_H

#include "executors/slurm/manifest.h"
#include "executors/slurm/version.h"

#define SLURM_RELEASED ":released" /* what the comment of a released job ends in */

struct slurm_submission {
    const char *token; /* dlspool:<spool>:<id>:<attempt> */
    const char *id;
    int attempt;
    const char *directory; /* DLSPOOL_DIRECTORY */
    int64_t time_limit;    /* milliseconds; 0: none, or the manifest says */
};

/* Append the body of a submission.  -1 and a sentence that names the field, when this version
 * cannot say it. */
int slurm_request_submit(struct buffer *out, const struct slurm_version *version,
                         const struct slurm_manifest *manifest,
                         const struct slurm_submission *submission, struct error *error);

/* Append the body of the update that releases.  `name` is that of the job at Slurm, <id>-a<attempt>: v0.0.36
 * takes it away from a job unless it is said again. */
void slurm_request_release(struct buffer *out, const struct slurm_version *version,
                           const char *token, const char *name);

/* The number of the job that an answer to a submission tells of; 0: none. */
int64_t slurm_request_number(const struct value *answer);

/* How many jobs Slurm counts for it: the components, or the elements of an array. */
int slurm_request_weight(const struct slurm_manifest *manifest);

#endif
