/* archive/zstd_file.h - reads a file that zstd has compressed, from the beginning of a frame on
 *
 * By libzstd alone, which is small: a page of dlspool web opens it before it is confined, and has to stay small.
 */
#ifndef ARCHIVE_ZSTD_FILE_H
#define ARCHIVE_ZSTD_FILE_H

#include <sys/types.h>

#include "base/error.h"

struct zstd_file;

/* Open the library, before a process is confined.  -1 and a sentence. */
int zstd_file_prepare(struct error *error);

/* Open a file at a frame.  NULL, errno and a sentence; EACCES: the caller may not read it. */
struct zstd_file *zstd_file_open(int directory, const char *name, int64_t offset,
                                 struct error *error);
void zstd_file_close(struct zstd_file *file); /* NULL is fine */

/* Some of the bytes that come next: how many, 0 at the end of the file, -1 and a sentence. */
ssize_t zstd_file_read(struct zstd_file *file, char *bytes, size_t most, struct error *error);

/* Say of the file that it could not be read, in these words.  -1. */
int zstd_file_failed(const struct zstd_file *file, const char *words, struct error *error);

#endif
