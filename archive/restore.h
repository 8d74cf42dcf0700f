/* archive/restore.h - makes an archived job's directory again, for a command that shows it */
#ifndef ARCHIVE_RESTORE_H
#define ARCHIVE_RESTORE_H

#include "archive/find.h"

/* What is wanted of the files in output/ and output-N/. */
enum restore_output { RESTORE_NAMES /* empty files */, RESTORE_CONTENTS };

/* Make the directory <id> in `directory` with all files of the job that the caller may read.  *denied tells
 * whether there are others.  -1 and a sentence. */
int restore_job(int archive, const struct found *found, int directory, enum restore_output output,
                bool *denied, struct error *error);

#endif
