/* executors/slurm/inside.h - the executor for a Slurm cluster; its inside
 *
 * Only the executor's own files include this; others use executors/executor.h.
 *
 * A job is a batch job, heterogeneous job or job array of Slurm, identified by its comment, the
 * token (records.h).  Slurm itself has no tokens: submitting the same job twice makes two.  So
 *
 *   1. its directory is made, with what will be submitted, and made durable (directory.h)
 *   2. it is submitted, so that it begins at once if the number that it will get is in no doubt
 *      (numbers.h), else held; when it is unknown whether that happened, its comment is searched for
 *      first, and what is submitted again is held
 *   3. a held job is released, by an update that also changes the comment
 *
 * When slurmctld has forgotten a job (it writes its state every few seconds, and when it is killed
 * it loses what came since), poll() submits it again under the same token; when it has only
 * forgotten the release, poll() releases the job again.  If two jobs of Slurm's run under one token,
 * their batch scripts both try to make the file `started` (manifest.h), and only one of them runs
 * the user's program; poll() cancels the other one.
 *
 * The tasks' output and exit codes are files in the job's directory, so they are known even after
 * Slurm has forgotten a job, as it does some minutes after its end (MinJobAge).
 */
#ifndef EXECUTORS_SLURM_INSIDE_H
#define EXECUTORS_SLURM_INSIDE_H

#include "executors/executor.h"
#include "executors/slurm/api.h"
#include "executors/slurm/directory.h"
#include "executors/slurm/records.h"
#include "executors/slurm/request.h"
#include "executors/slurm/settings.h"

struct names; /* base/names.h */

struct slurm {
    struct executor executor;
    struct arena *arena; /* of the settings */
    struct slurm_settings settings;
    struct slurm_connection *connection;
    char *spool;         /* in tokens */
    char *path;          /* of the directory */
    int directory;       /* descriptor of it; -1: not opened yet */
    int bells;           /* ... of its directory of bells (bells.h); -1: not opened yet, or none */
    struct names *lists; /* Slurm's lists, by user (table.h); NULL: none yet */
    struct names *jobs;  /* struct slurm_job (jobs.h); NULL: none yet */
    /* the last job number that Slurm has given to one of dlspool's jobs; 0: unknown */
    int64_t largest;
    int64_t largest_kept; /* ... as it was written down */
    bool numbers_again;   /* it is smaller than what is written down, for Slurm counts again */
    /* when the slurmctld started that gives larger numbers, in seconds; 0: unknown (numbers.h) */
    int64_t numbers_from;
    int64_t numbers_from_kept; /* ... as it was written down */
    int64_t sweep_due;         /* of clock_elapsed(): when to sweep next (directory.h) */
    int64_t
        usage_rest; /* of clock_elapsed(): until when slurmdbd, which failed, is not asked what jobs used */
    int64_t orphans_due; /* of clock_elapsed(): when to look next for directories without a job */
    /* as reported last, valid until capacity_until, which is of clock_elapsed() */
    struct capacity capacity;
    int64_t capacity_until;
    struct capacity everywhere; /* GPUs and their types of all nodes, also of unavailable ones */
};

struct slurm *slurm_of(struct executor *executor);

/* Open the directory, unless it is open.  -1 and a sentence on failure. */
int slurm_ensure_directory(struct slurm *slurm, struct error *error);

/* The absolute path of DLSPOOL_DIRECTORY of a job, in the arena. */
const char *slurm_path_of_job(const struct slurm *slurm, struct arena *arena, const char *name);

/* Run one call. */
enum slurm_outcome slurm_ask(struct slurm *slurm, struct arena *arena, struct slurm_call *call);

/* The answer to GET /slurm/v0.0.N/<what> as that user (NULL: nobody in particular), in the arena.  NULL
 * and a sentence on failure. */
const struct value *slurm_get(struct slurm *slurm, struct arena *arena, const char *what,
                              const char *user, struct error *error);

/* "/slurm/v0.0.38/<rest>", in the arena. */
struct text slurm_path(struct arena *arena, const struct slurm_version *version, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));

/* A DELETE of a job, or of an element of an array ("12_3"). */
void slurm_call_cancel(struct slurm_call *call, struct arena *arena,
                       const struct slurm_version *version, const struct slurm_record *record);

/* ---- for submit.c ---- */

/* user.c: the uid, gid and name of the user that the job runs as at Slurm, in the arena.  With tokens:
 * slurm.user, or the job's owner.  Without: the owner of the unix socket, as whom slurmrestd submits
 * everything; then the job must belong to that user, or slurm.user must name them.  1: unknown at the
 * moment; -1: only a change can fix it; both with a sentence. */
int slurm_user_of(const struct slurm *slurm, struct arena *arena,
                  const struct submission *submission, struct slurm_facts *facts,
                  struct error *error);

/* codes.c: the outcome of a refused submission. *hint is what the sentence says besides Slurm's own
 * message, namely which field is concerned and what to do; or "". */
enum submit_outcome slurm_code_outcome(int code, const char **hint);
/* Does the code that comes with a job's number only say why the job has to wait? */
bool slurm_code_waits(int code);
/* Who can fix the cause of the refusal. */
enum submit_mender slurm_code_mender(int code);

/* ---- the operations ---- */

void slurm_submit(struct executor *executor, struct submission **batch, size_t count);
int slurm_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs, size_t count,
               struct error *error);
void slurm_signal(struct executor *executor, struct job_call **batch, size_t count);
void slurm_cancel(struct executor *executor, struct job_call **batch, size_t count);
void slurm_remove(struct executor *executor, struct job_call **batch, size_t count);
int slurm_list(struct executor *executor, executor_take *take, void *context, struct error *error);
void slurm_output(struct executor *executor, struct job_call **batch, size_t count);
int slurm_capacity(struct executor *executor, struct capacity *capacity, struct error *error);
int slurm_nodes(struct executor *executor, struct capacity *capacity, struct nodes *nodes,
                struct error *error);
/* Does no node, not even an unavailable one, have GPUs of that type?  Then the existing types are
 * appended to `there`.  Also false when no node is visible. */
bool slurm_lacks_gpu_type(struct slurm *slurm, struct text type, struct buffer *there);

#endif
