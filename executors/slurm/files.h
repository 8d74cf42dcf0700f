/* executors/slurm/files.h - the files that a job's script keeps, as manifest.h says
 *
 * They belong to the job's user: they may contain anything, and are trusted only about their own
 * job.
 */
#ifndef EXECUTORS_SLURM_FILES_H
#define EXECUTORS_SLURM_FILES_H

#include <sys/stat.h>

#include "executors/slurm/jobs.h"

/* The kinds of files in the directory, by their names. */
enum slurm_file_kind {
    SLURM_FILE_OTHER,
    SLURM_FILE_LOG,        /* ROLE-INDEX.log */
    SLURM_FILE_TASK_ENDED, /* ROLE-INDEX.ended */
    SLURM_FILE_ADDRESS,    /* ROLE-INDEX.address */
    SLURM_FILE_IMAGE,      /* ROLE.image */
    SLURM_FILE_STARTED,
    SLURM_FILE_ENDED,
    SLURM_FILE_ALIVE,
    SLURM_FILE_TIMED_OUT,
    SLURM_FILE_BATCH /* batch.log */
};

struct slurm_file {
    enum slurm_file_kind kind;
    struct text role; /* of a task's, or an image's */
    int index;        /* of a task or an element; -1: of the whole job */
};

struct slurm_file slurm_file_of(const char *name);

/* Open one for reading, if it is a regular file and no link.  -1 when it is none, or cannot be opened. */
int slurm_file_open(int directory, const char *name, struct stat *status);

/* The task of that index in its role; with a role whose data is NULL, of that index in the whole
 * job.  NULL when there is none.  The job must be known. */
struct slurm_task *slurm_file_task(struct slurm_job *job, struct text role, int index);

/* Read the files of a job.  -1 and a sentence when that is not possible now. */
int slurm_files_read(struct slurm *slurm, struct slurm_job *job, struct error *error);

/* Did the script show a heartbeat recently, as of the last look?  Of an array that of the element, which has
 * not ended; NULL: of any other job.  This uses the file server's clock, which also timestamped the heartbeat;
 * touching the job's directory gives its present time. */
bool slurm_files_heartbeat(struct slurm *slurm, const struct slurm_job *job,
                           const struct slurm_task *element);

#endif
