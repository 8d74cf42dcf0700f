/* request/sbatch/native.h - writes options as the fields of a native job file
 *
 * A field that a #DL line gives goes before the option, which is noted.
 */
#ifndef REQUEST_SBATCH_NATIVE_H
#define REQUEST_SBATCH_NATIVE_H

#include "request/sbatch/batch_options.h"

/* Add the fields to `root`, which has those of the #DL lines.  Problems are added. */
void native_write(struct batch_options *options, struct value *root);

#endif
