/* client/drop_file.h - drops a file into incoming/ atomically */
#ifndef CLIENT_DROP_FILE_H
#define CLIENT_DROP_FILE_H

#include "base/error.h"
#include "spool/spool.h"

/* Write the bytes under a hidden name in incoming/, make them durable, and rename the file.  Its
 * name is `stem`, a token that makes it unique, and `ending`; it is stored in `name`.  Everybody
 * may read the file, since the daemon must be able to.  -1 and a sentence on failure. */
int drop_file(const struct spool *spool, const char *stem, const char *ending, struct text bytes,
              char name[static NAME_MAX + 1], struct error *error);

/* The same under a name of the caller's, in place of a file of that name that is there and may be replaced. */
int drop_file_as(const struct spool *spool, const char *name, struct text bytes,
                 struct error *error);

/* The ending of a file with these bytes, by their beginning: .sh, .json or .yaml. */
const char *drop_file_ending(struct text bytes);

#endif
