/* archive/job_files.h - goes through the files of one archived job
 *
 * Only what is below the job's own directory is met, whatever names the archive has: <id>/FILE and <id>/DIRECTORY/FILE.
 */
#ifndef ARCHIVE_JOB_FILES_H
#define ARCHIVE_JOB_FILES_H

#include "archive/find.h"
#include "archive/unpack.h"

/* A file, or (with `file` empty) a directory, of the job. */
struct job_file {
    char directory[NAME_MAX + 1]; /* "": the job's own */
    char file[NAME_MAX + 1];
    const struct unpack_member *entry;
    struct unpack *unpack; /* for its bytes: unpack_copy(), unpack_read() */
};

/* Called with each.  -1 and a sentence ends the walk. */
typedef int job_files_take(void *context, const struct job_file *member, struct error *error);

/* Give take() what the caller may read of the job; *denied tells whether there is more.  `archive` is what parts_open()
 * returned.  -1 and a sentence. */
int job_files_walk(int archive, const struct found *found, job_files_take *take, void *context,
                   bool *denied, struct error *error);

#endif
