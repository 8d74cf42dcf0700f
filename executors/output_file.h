/* executors/output_file.h - the files that the output of tasks is copied to
 *
 * The output of a task can hold a secret, such as a notebook's token: the file has mode 0640 and, where
 * dlspool may set it, the group of its directory.
 */
#ifndef EXECUTORS_OUTPUT_FILE_H
#define EXECUTORS_OUTPUT_FILE_H

#include <stdint.h>
#include <sys/stat.h>

/* Open `name` in the directory, with `flags` of open(2); O_CREAT makes it.  It must be a
 * regular file with one name.  A descriptor, with `status` filled in, or -1 and errno (EEXIST: it is
 * something else). */
int output_file_open(int directory, const char *name, int flags, struct stat *status);

/* Note beside the file, in .NAME.times, that everything after its first `size` bytes was copied now or
 * later: a line `SIZE MILLISECONDS`, at most one in OUTPUT_TIMES_APART milliseconds.  A failure is
 * ignored.  `dlspool logs --since` reads it. */
enum { OUTPUT_TIMES_APART = 10000, OUTPUT_TIMES_NAME_SIZE = 288 };
void output_file_note_time(int directory, const char *name, int64_t size);
/* The name of that file.  Returns `buffer`. */
const char *output_file_times_name(const char *name, char buffer[static OUTPUT_TIMES_NAME_SIZE]);

#endif
