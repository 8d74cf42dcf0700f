/* executors/local/storage.h - the local executor's own directory
 *
 * It is one directory, mode 0700, that belongs to the user that dlspool runs as.  Besides podman's
 * files it contains, for each attempt of a job,
 *
 *   jobs/<id>-a<attempt>/files/<role>-<index>/<number>   what is mounted into a task as a file
 *   jobs/<id>-a<attempt>/logs/<role>-<index>             what a task printed, as conmon writes it
 *   jobs/<id>-a<attempt>/ssh/<file>                      the job's keys for ssh, where it wants them
 *   jobs/<id>-a<attempt>/sources                         what tasks mount that wait for their turn
 *   jobs/<id>-a<attempt>/refused                         why it was refused after tasks had run
 *   mounts/<id>-a<attempt>/<number>                      what tasks mount, while they are started
 *
 * They are made before the containers and removed after them, except `refused`, which stays until
 * the job is retried or forgotten.  mounts/ is staging.h's, and must never be removed as a tree.
 */
#ifndef EXECUTORS_LOCAL_STORAGE_H
#define EXECUTORS_LOCAL_STORAGE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

/* Make the directory if necessary (its parent must exist) and open it.  Returns a descriptor, or -1
 * and a sentence, also when it belongs to somebody else. */
int local_storage_open(const char *path, struct error *error);

/* Make jobs/<job>, its files/ and its logs/.  It is a success if they exist already. */
int local_storage_make_job(int storage, const char *job, struct error *error);

/* Write jobs/<job>/files/<task>/<number>. `owner` and `group` own the file when this process is
 * root.  An existing file is replaced. */
int local_storage_write_file(int storage, const char *job, const char *task, size_t number,
                             struct text content, mode_t mode, uid_t owner, gid_t group,
                             struct error *error);

/* Make jobs/<job>/ssh with a new pair of keys: id, id.pub, authorized_keys, known_hosts, for
 * `owner` and `group` when this process is root.  It appears as a whole and durably; an existing
 * one is complete, and stays, because tasks that were made with it have its keys. */
int local_storage_write_keys(int storage, const char *job, uid_t owner, gid_t group,
                             struct error *error);

/* Write jobs/<job>/<name>, durably, over what is there. */
int local_storage_write_note(int storage, const char *job, const char *name, struct text content,
                             struct error *error);
/* 1: it is there, and has `content`, of `limit` bytes at most; 0: it is not; -1 and a sentence: it cannot
 * be read. */
int local_storage_read_note(int storage, const char *job, const char *name, size_t limit,
                            struct buffer *content, struct error *error);

/* Note in jobs/<job>/refused, durably, that the job is refused, and why. */
int local_storage_note_refusal(int storage, const char *job, const char *sentence,
                               struct error *error);

/* 1: the job was noted as refused, and `sentence` says why; 0: it was not; -1 and a sentence in
 * `error`: it cannot be read. */
int local_storage_read_refusal(int storage, const char *job, struct buffer *sentence,
                               struct error *error);

/* Remove that note, durably, if it exists: the job is retried. */
int local_storage_forget_refusal(int storage, const char *job, struct error *error);

/* Remove jobs/<job> except such a note.  It is a success if it does not exist. */
int local_storage_empty_job(int storage, const char *job, struct error *error);

/* Remove jobs/<job> with everything in it.  It is a success if it does not exist. */
int local_storage_remove_job(int storage, const char *job, struct error *error);

/* Open jobs/<job>/logs, or -1 with errno set. */
int local_storage_logs(int storage, const char *job);

#endif
