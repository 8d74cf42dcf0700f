/* executors/slurm/user.h - the user that a job runs as at Slurm */
#ifndef EXECUTORS_SLURM_USER_H
#define EXECUTORS_SLURM_USER_H

#include "executors/slurm/inside.h"

/* uid, gid and name, in the arena.  With tokens: slurm.user, or the job's owner.  Without: the
 * owner of the unix socket, as whom slurmrestd submits everything; then the job must belong to that
 * user, or slurm.user must name them.  1: unknown at the moment; -1: only a change can fix it; both
 * with a sentence. */
int slurm_user_of(const struct slurm *slurm, struct arena *arena,
                  const struct submission *submission, struct slurm_facts *facts,
                  struct error *error);

#endif
