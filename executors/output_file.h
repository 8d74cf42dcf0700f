/* executors/output_file.h - opening the files that what tasks print is copied to
 *
 * What a task prints can hold a secret, such as a notebook's token: its file has mode 0640 and the
 * group of the directory that it is in, as far as we may give files away.
 */
#ifndef EXECUTORS_OUTPUT_FILE_H
#define EXECUTORS_OUTPUT_FILE_H

#include <sys/stat.h>

/* Open `name` in the directory, with `flags` of open(2); O_CREAT makes it.  It must be a file of its
 * own: regular, and without a second name.  A descriptor, and `status` filled in, or -1 and errno
 * (EEXIST: it is something else). */
int output_file_open(int directory, const char *name, int flags, struct stat *status);

#endif
