/* archive/pack.h - writes an archive: a tar file compressed by zstd, in frames that can be read alone
 *
 * A frame is a zstd frame of whole tar entries, so that a job is found without unpacking what is before it:
 * by the offset at which its frame begins.  Together the frames are an ordinary archive, for
 * `tar --zstd -xf`.  The file is written where it is created, by the table of base/system.h, and is
 * good only after pack_finish().
 */
#ifndef ARCHIVE_PACK_H
#define ARCHIVE_PACK_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"

struct pack;

/* Who may read the archive. */
struct pack_readers {
    mode_t mode; /* 0644, 0640 or 0600 */
    gid_t group; /* of 0640; where it cannot be given, the mode becomes 0600 */
};

/* Make the file `name`, which replaces one that is there.  `durable`: pack_finish() makes it so.  NULL and
 * a sentence. */
struct pack *pack_create(int directory, const char *name, struct pack_readers readers, bool durable,
                         struct error *error);

/* Begin a frame, if none is open, and return its offset.  -1 and a sentence. */
int64_t pack_begin(struct pack *pack, struct error *error);
/* Add a directory, or a regular file that is open as `file`: as many bytes as `status` says, filled up with
 * zeros if it has become shorter.  1 and a sentence when the file cannot be read: then the entry is not all
 * there, and others can be added.  -1 and a sentence: the pack is only good for being freed. */
int pack_add(struct pack *pack, const char *path, const struct stat *status, int file,
             struct error *error);
/* How many bytes were added to the open frame. */
int64_t pack_frame_bytes(const struct pack *pack);
/* End the open frame, if any. */
int pack_end(struct pack *pack, struct error *error);

/* End the last frame and close the file, which is complete then; the pack is freed in any case.  Returns its
 * size, or -1 and a sentence. */
int64_t pack_finish(struct pack *pack, struct error *error);
/* Free it without finishing.  NULL is fine. */
void pack_free(struct pack *pack);

#endif
