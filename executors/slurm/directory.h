/* executors/slurm/directory.h - where the files of Slurm's jobs are kept
 *
 *   DIRECTORY/                         dlspool's own
 *     <id>-a<attempt>/                 dlspool's own, one for each attempt of a job
 *       submission                     what was submitted, so that it can be submitted again
 *       verdict                        how it has ended, where that was decided while tasks still
 *                                      ran
 *       elements                       elements of an array that ended without a file that says so
 *       job/                           belongs to the job's user: DLSPOOL_DIRECTORY
 *     .gone-<id>-a<attempt>/           a directory that is being removed
 *
 * Programs of the job's user, who may be hostile, write below job/: only regular files there are
 * opened, through descriptors, never through a link, and no more is read than is needed.
 */
#ifndef EXECUTORS_SLURM_DIRECTORY_H
#define EXECUTORS_SLURM_DIRECTORY_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

enum { SLURM_NAME_SIZE = 256 }; /* bytes of <id>-a<attempt>, with the final NUL */

void slurm_directory_name(char buffer[static SLURM_NAME_SIZE], const char *id, int attempt);

/* Make the directory if necessary (its parent must exist) and open it.  Returns a descriptor, or -1
 * and a sentence, also when another user owns it or others may write to it. */
int slurm_directory_open(const char *path, struct error *error);

/* What was submitted. */
struct slurm_facts {
    uid_t uid; /* the user that the job runs as */
    gid_t gid;
    struct text user;     /* the user's name */
    int64_t time_limit;   /* milliseconds; 0: none */
    struct text identity; /* of the spool that submitted it (executor.h); may be empty */
    struct text manifest;
};

/* Make a job's directories, and write `submission`.  It is a success if they exist already.  1: the
 * storage failed, which may be temporary; -1: only a change can fix it; both with a sentence. */
int slurm_directory_make(int root, const char *name, const struct slurm_facts *facts,
                         struct error *error);

/* Read it again.  1; 0: there is none; -1 and a sentence.  In the arena. */
int slurm_directory_facts(int root, const char *name, struct arena *arena,
                          struct slurm_facts *facts, struct error *error);

/* Write one of dlspool's own files, durably; or append a line to it.  -1 and a sentence on failure. */
int slurm_directory_note(int root, const char *name, const char *file, struct text content,
                         struct error *error);
int slurm_directory_add(int root, const char *name, const char *file, struct text line,
                        struct error *error);
/* Read one.  1; 0: there is none; -1 and a sentence. */
int slurm_directory_read(int root, const char *name, const char *file, struct buffer *out,
                         struct error *error);

/* Visit every job that has a directory.  -1 with errno on failure. */
typedef void slurm_directory_take(void *context, const char *name);
int slurm_directory_list(int root, slurm_directory_take *take, void *context);

/* Open job/.  Returns a descriptor, or -1, errno and a sentence. */
int slurm_directory_job(int root, const char *name, struct error *error);

/* Remove a job's directories.  It is a success if they do not exist.  What cannot be removed at
 * once (a program still writes there, or there are very many files) is renamed to .gone-NAME, and
 * removed by later calls.  -1 and a sentence on failure. */
int slurm_directory_remove(int root, const char *name, struct error *error);

/* Remove some of the .gone- directories: a few thousand files at most, so that jobs are not delayed
 * for long. */
void slurm_directory_sweep(int root);

#endif
