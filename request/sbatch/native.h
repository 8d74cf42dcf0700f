/* request/sbatch/native.h - writes wishes as the fields of a native job file
 *
 * A field that a #DL line gives goes before the wish, which is noted.
 */
#ifndef REQUEST_SBATCH_NATIVE_H
#define REQUEST_SBATCH_NATIVE_H

#include "request/sbatch/wishes.h"

/* Add the fields to `root`, which has those of the #DL lines.  Problems are added. */
void native_write(struct wishes *wishes, struct value *root);

#endif
