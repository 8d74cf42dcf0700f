/* executors/slurm/inside.h - the executor for a Slurm cluster; its inside
 *
 * Only the executor's own files include this; the way in is executors/executor.h.
 *
 * A job is a batch job, heterogeneous job or job array of Slurm's, known by its comment, the token
 * (records.h).  Slurm itself knows no token: handing in the same job twice makes two.  So
 *
 *   1. its directory is made, with what is handed in, and this is made durable (directory.h)
 *   2. it is submitted held; when it is unknown whether that happened, its comment is looked for first
 *   3. it is released, by an update that changes the comment too
 *
 * A job that is held twice runs once, because one of them is never released, and poll() ends it.  A
 * job that slurmctld has forgotten (it writes its state every few seconds, and loses what came
 * since when it is killed) is handed in again by poll(), under the same token; one that is there,
 * and whose release was forgotten, is released again.  Should a forgotten job run for all that, its
 * batch script and the second one's meet at the file `started` (manifest.h), and only one of
 * them runs the user's program.
 *
 * What tasks print and what they end with are files in the job's directory, so it is told as well
 * after Slurm has forgotten a job, as it does some minutes after its end (MinJobAge).
 */
#ifndef EXECUTORS_SLURM_INSIDE_H
#define EXECUTORS_SLURM_INSIDE_H

#include "executors/executor.h"
#include "executors/slurm/api.h"
#include "executors/slurm/directory.h"
#include "executors/slurm/records.h"
#include "executors/slurm/request.h"
#include "executors/slurm/settings.h"

struct slurm_table; /* table.h */
struct slurm_jobs;  /* jobs.h */

struct slurm {
    struct executor executor;
    struct arena *arena; /* of the settings */
    struct slurm_settings settings;
    struct slurm_connection *connection;
    char *spool;   /* in tokens */
    char *path;    /* of the directory */
    int directory; /* descriptor of it; -1: not opened yet */
    struct slurm_table *table;
    struct slurm_jobs *jobs;
    int64_t largest;      /* number of a job that Slurm has given to one of ours; 0: not known */
    int64_t largest_kept; /* ... as it was written down */
    bool numbers_again;   /* it is smaller than what is written down, for Slurm counts again */
    int64_t sweep_due;    /* of clock_elapsed(): when what was put aside is removed next */
    int64_t orphans_due;  /* of clock_elapsed(): when what waits for nobody is looked for next */
    struct capacity capacity; /* as it was told last, good until capacity_until, which is of
                                 clock_elapsed() */
    int64_t capacity_until;
    struct capacity everywhere; /* GPUs and their types of all nodes, also of those that are away */
};

struct slurm *slurm_of(struct executor *executor);

/* Open the directory, if that is still to be done.  -1 and a sentence. */
int slurm_ensure_directory(struct slurm *slurm, struct error *error);

/* The absolute path of DLSPOOL_DIRECTORY of a job, in the arena. */
const char *slurm_path_of_job(const struct slurm *slurm, struct arena *arena, const char *name);

/* Run one call. */
enum slurm_outcome slurm_ask(struct slurm *slurm, struct arena *arena, struct slurm_call *call);

/* "/slurm/v0.0.38/<rest>", in the arena. */
struct text slurm_path(struct arena *arena, const struct slurm_version *version, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));

/* A DELETE of a job, or of an element of an array ("12_3"). */
void slurm_call_cancel(struct slurm_call *call, struct arena *arena,
                       const struct slurm_version *version, const struct slurm_record *record);

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
/* Is there no node, not even one that is away, with GPUs of that type?  Then what there is, is
 * appended to `there`.  False, too, when no node is seen. */
bool slurm_lacks_gpu_type(struct slurm *slurm, struct text type, struct buffer *there);

#endif
