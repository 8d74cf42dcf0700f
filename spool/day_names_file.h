/* spool/day_names_file.h - a file of history/names: its first line, opening it, and writing it */
#ifndef SPOOL_DAY_NAMES_FILE_H
#define SPOOL_DAY_NAMES_FILE_H

#include <sys/types.h>

#include "spool/spool.h"

/* A file that is as new as its day. */
struct names_file {
    int file;
    int64_t jobs;
    off_t start, size; /* of the lines; of all */
};

/* Open the file of a day, unless it is missing or older than the directory; names->file is to be closed. */
bool day_names_file_open(const struct spool *spool, const char *day, struct names_file *names);

/* Write the file of a day, if it has many jobs, has not been changed within the last seconds, and the file is missing
 * or old.  1: written; 0: there was nothing to write; -1 and a sentence. */
int day_names_file_write(const struct spool *spool, const char *day, struct error *error);

/* Remove the files of days that done/ no longer has. */
void day_names_file_sweep(const struct spool *spool);

#endif
