/* commands/drop_file.h - drop a file into incoming/, complete from its first moment */
#ifndef COMMANDS_DROP_FILE_H
#define COMMANDS_DROP_FILE_H

#include "base/error.h"
#include "spool/spool.h"

/* Write the bytes under a hidden name in incoming/, make them durable, and rename.  The name is
 * made from `stem` and `ending` with a token between, so that it is unique; it is put into `name`.
 * The file can be read by everybody who can read what the user makes; the daemon must be able to.
 * -1 and a sentence on failure. */
int drop_file(const struct spool *spool, const char *stem, const char *ending, struct text bytes,
              char name[static NAME_MAX + 1], struct error *error);

#endif
