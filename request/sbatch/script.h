/* request/sbatch/script.h - the batch script dialect: a program whose comments carry the fields
 *
 *     #!/bin/bash
 *     #DL library=pytorch
 *     #DL tasks.worker.count=2
 *     #DL args=[--epochs, 3]
 *     torchrun train.py "$@"
 *
 * The file starts with `#!`.  Fields stand in lines `#DL field=value` of the leading block of
 * comments and blank lines; reading stops at the first line that is neither, as sbatch does.  A
 * dot goes one map deeper.  What follows `=` up to the end of the line is YAML in flow style, so
 * one rule tells numbers, texts, lists and maps apart in every dialect.  The whole file, with its
 * comments, is the job's `script`.
 */
#ifndef REQUEST_SBATCH_SCRIPT_H
#define REQUEST_SBATCH_SCRIPT_H

#include "request/problems.h"

/* Read the fields into a tree as YAML would have given it.  Problems go to the reading; the tree
 * then lacks what could not be read.  NULL when the file is too long or is not text. */
struct value *script_read(struct reading *reading, struct text source);

#endif
