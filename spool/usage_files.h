/* spool/usage_files.h - the inside of the accounts: where their lines are
 *
 * Only usage.c, usage_scan.c, usage_tail.c and their tests include this.
 */
#ifndef SPOOL_USAGE_FILES_H
#define SPOOL_USAGE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "spool/spool.h"

enum { USAGE_FILE_NAME_SIZE = 8 }; /* "2026-11" */

/* Open DIR/history/usage, and make it first if requested.  Returns a descriptor, or -1 with errno and a
 * sentence. */
int usage_files_open(const struct spool *spool, bool make, struct error *error);

/* The name of the file with the lines of that time; returns `name`. */
const char *usage_files_name(int64_t time, char name[static USAGE_FILE_NAME_SIZE]);

/* Is that a name of such a file? */
bool usage_files_is_month(const char *name);

#endif
