/* executors/output_file.h - opening the files that what tasks print is copied to
 *
 * What a task prints can hold a secret, such as a notebook's token: its file has mode 0640 and the
 * group of the directory that it is in, as far as we may give files away.
 */
#ifndef EXECUTORS_OUTPUT_FILE_H
#define EXECUTORS_OUTPUT_FILE_H

#include <stdint.h>
#include <sys/stat.h>

/* Open `name` in the directory, with `flags` of open(2); O_CREAT makes it.  It must be a file of its
 * own: regular, and without a second name.  A descriptor, and `status` filled in, or -1 and errno
 * (EEXIST: it is something else). */
int output_file_open(int directory, const char *name, int flags, struct stat *status);

/* The file has just grown from `size` bytes: note beside it, in .NAME.times, that what is behind them was copied
 * now or later, a line `SIZE MILLISECONDS`; no more than one in OUTPUT_TIMES_APART.  When it cannot be, nothing
 * else is lost.  `dlspool logs --since` reads it. */
enum { OUTPUT_TIMES_APART = 10000, OUTPUT_TIMES_NAME_SIZE = 288 };
void output_file_note_time(int directory, const char *name, int64_t size);
/* The name of that file.  Returns `buffer`. */
const char *output_file_times_name(const char *name, char buffer[static OUTPUT_TIMES_NAME_SIZE]);

#endif
