/* request/sbatch/mail.h - of what somebody is to be told by mail: --mail-type and --mail-user, -m and -M */
#ifndef REQUEST_SBATCH_MAIL_H
#define REQUEST_SBATCH_MAIL_H

#include "request/sbatch/rows.h"

row_reader mail_keep_types;  /* of Slurm: BEGIN,END,FAIL */
row_reader mail_keep_points; /* of PBS: abe */
row_reader mail_keep_users;  /* of both: addresses, with commas between them */

/* Write the field `notify`.  Addresses without events ask for nothing from Slurm, and from PBS for what -m a does. */
void mail_put(struct batch_options *options, struct value *root);

#endif
