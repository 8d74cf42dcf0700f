/* archive/unpack.h - reads an archive that archive/pack.h has written, from the beginning of a frame on */
#ifndef ARCHIVE_UNPACK_H
#define ARCHIVE_UNPACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

struct unpack;

/* Open the library that reading needs, before a process is confined.  -1 and a sentence. */
int unpack_prepare(struct error *error);

struct unpack_member {
    const char *path; /* valid until the next call */
    bool directory;
    mode_t mode;
    int64_t size;
    int64_t changed; /* seconds since 1970 */
};

/* Open the archive `name` at a frame.  NULL, errno and a sentence; EACCES: the caller may not read it. */
struct unpack *unpack_open(int directory, const char *name, int64_t offset, struct error *error);
void unpack_close(struct unpack *unpack); /* NULL is fine */

/* The next entry: 1; 0 at the end of the archive; -1 and a sentence. */
int unpack_next(struct unpack *unpack, struct unpack_member *member, struct error *error);
/* Read on in the bytes of the entry: how many, 0 at their end, -1 and a sentence. */
ssize_t unpack_read(struct unpack *unpack, char *bytes, size_t most, struct error *error);
/* Write the bytes of the entry to an open file.  -1 and a sentence. */
int unpack_copy(struct unpack *unpack, int file, struct error *error);

#endif
