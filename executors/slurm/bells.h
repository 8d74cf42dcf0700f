/* executors/slurm/bells.h - scripts say that there is news, so that Slurm is asked about their jobs at once
 *
 * The list of all jobs is expensive on a large cluster, and is then requested once or twice a minute only
 * (slurm_table_rests).  A batch script whose program has run for two seconds (of several tasks at once), and
 * one that ends, makes an empty file of its job's name in .news/ of slurm.directory, where everybody may make
 * files and nobody but dlspool can see them.  Such a bell is a hint, and what it costs is a few looks at the
 * job: Slurm says whether it runs or has ended.
 */
#ifndef EXECUTORS_SLURM_BELLS_H
#define EXECUTORS_SLURM_BELLS_H

#include "executors/slurm/inside.h"

/* Take down the bells of jobs that are remembered, and note in them that they ring.  Others are left: they may
 * be those of another spool that has the same slurm.directory. */
void slurm_bells_take(struct slurm *slurm);

/* Remove the bells of jobs that have no directory any more, and what else is there. */
void slurm_bells_sweep(struct slurm *slurm);

void slurm_bells_close(struct slurm *slurm);

#endif
