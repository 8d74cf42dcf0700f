/* executors/local_storage.h - the local executor's own directory
 *
 * One directory, mode 0700, that belongs to whom dlspool runs as.  Beside podman's files it holds,
 * for each attempt of a job,
 *
 *   jobs/<id>-a<attempt>/files/<role>-<index>/<number>   what is mounted into a task as a file
 *   jobs/<id>-a<attempt>/logs/<role>-<index>             what a task printed, as conmon writes it
 *
 * They are made before the containers, and removed after them.
 */
#ifndef EXECUTORS_LOCAL_STORAGE_H
#define EXECUTORS_LOCAL_STORAGE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

/* Make the directory if need be (its parent must exist) and open it.  A descriptor, or -1 and a
 * sentence, also when it belongs to somebody else. */
int local_storage_open(const char *path, struct error *error);

/* Make jobs/<job>, its files/ and its logs/.  That they are there is success. */
int local_storage_make_job(int storage, const char *job, struct error *error);

/* Write jobs/<job>/files/<task>/<number>.  `owner` and `group` own the file where we are root.
 * What is there already is replaced. */
int local_storage_write_file(int storage, const char *job, const char *task, size_t number,
                             struct text content, mode_t mode, uid_t owner, gid_t group,
                             struct error *error);

/* Remove jobs/<job> with all that is in it.  That it is not there is success. */
int local_storage_remove_job(int storage, const char *job, struct error *error);

/* Open jobs/<job>/logs, or -1 with errno set. */
int local_storage_logs(int storage, const char *job);

#endif
