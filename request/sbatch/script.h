/* request/sbatch/script.h - the batch script dialect: a program whose comments carry the fields
 *
 *     #!/bin/bash
 *     #DL library=pytorch
 *     #DL tasks.worker.count=2
 *     #DL args=[--epochs, 3]
 *     torchrun train.py "$@"
 *
 * The file starts with `#!`.  Fields are lines `#DL field=value` in the leading block of comments
 * and blank lines; reading stops at the first other line, as in sbatch.  A dot descends into a map.
 * The rest of the line after `=` is YAML in flow style, so numbers, texts, lists and maps are
 * recognised by the same rules as in every dialect.  The whole file, with its comments, is the
 * job's `script`.
 *
 * Lines for Slurm and PBS, #SBATCH and #PBS, give fields as well (request/sbatch/batch.h), but for
 * those that #DL lines give.
 */
#ifndef REQUEST_SBATCH_SCRIPT_H
#define REQUEST_SBATCH_SCRIPT_H

#include "request/sbatch/batch.h"

/* Read the fields into a tree as YAML would have given it.  Problems are added to `reading`; the
 * tree lacks the fields that could not be read.  NULL when the file is too long or is not text.
 * *batch, which is for batch_apply(), is set in any case. */
struct value *script_read(struct reading *reading, struct text source, struct batch *batch);

#endif
