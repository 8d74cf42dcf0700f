/* executors/slurm/polling.h - one poll of jobs: what is asked about each, and requests beside the list */
#ifndef EXECUTORS_SLURM_POLLING_H
#define EXECUTORS_SLURM_POLLING_H

#include "executors/slurm/assess.h"

enum { REPAIRS_MOST = 256 }; /* requests of one poll beside the list */

struct slurm_asked {
    struct job_poll *poll;
    struct slurm_job *job;
    const char *user; /* in whose list to look for it */
    struct slurm_records records;
    struct slurm_need need;
    bool missing;
    bool listed; /* its list was answered, now or some seconds ago */
    bool fresh;  /* ... now */
};

struct slurm_polling {
    struct slurm *slurm;
    struct arena *arena; /* for answers */
    struct arena *scratch;
    struct slurm_asked *asked;
    size_t count;
    struct slurm_call *calls; /* room for REPAIRS_MOST */
    struct slurm_call **batch;
    struct slurm_job **resubmitted; /* of each call that submits a job again; else NULL */
    size_t repairs;
};

/* One more request beside the list.  NULL when there are REPAIRS_MOST: the next poll does the rest. */
struct slurm_call *slurm_polling_add_call(struct slurm_polling *polling,
                                          const struct slurm_asked *asked);

#endif
