/* spool/spool.h - the spool's directories, and how writes to them become durable
 *
 * A job is a directory named by its id; its state is the directory it is in.  One rename moves
 * it.  Everything is done with descriptors of directories that only the daemon's user can write
 * (all but incoming/), through the table of base/system.h.
 *
 * The write protocol (each step for a whole batch before the next):
 *
 *   1. new files are written completely, in a place that no stage reads (.new/), or by appending;
 *   2. spool_sync() makes them durable; 3. the rename publishes, and spool_sync_state() makes the
 *   directory durable, or the next batch's spool_sync() does; 4. only then is their source removed.
 *
 * Beside the documented directories there are two private ones (mode 0700): `.claims/` holds
 * dropped files from when they are taken out of incoming/ until their job is durable, named
 * `<token>.<dropped name>`; `.new/` holds job directories that are being written.
 */
#ifndef SPOOL_SPOOL_H
#define SPOOL_SPOOL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/system.h"
#include "spool/id.h"

enum state { STATE_RENDERED, STATE_SUBMITTED, STATE_FAILED, STATE_HELD, STATE_DONE, STATE_COUNT };

/* How spool_sync() makes a batch durable. */
enum sync_mode {
    SYNC_FILESYSTEM, /* syncfs: one call for the batch, which also waits for others' writes */
    SYNC_NONE        /* for measuring only: a power cut may lose accepted jobs */
};

struct spool {
    char path[PATH_MAX]; /* absolute, for messages and for podman */
    int root, incoming, claims, new_jobs;
    int states[STATE_COUNT]; /* open directories */
    uid_t owner;             /* the owner of the spool's directory */
    int64_t epoch;           /* of the lease under which this process writes; 0: none */
    enum sync_mode sync_mode;
};

const char *spool_state_name(enum state state); /* "rendered", ... */

/* Make the directories.  Existing ones are left alone. */
int spool_create(const char *path, struct error *error);

/* Open an existing spool.  -1 and a sentence when `path` is not one.  spool_close() ends it; also
 * safe on a zeroed struct. */
int spool_open(struct spool *spool, const char *path, struct error *error);
void spool_close(struct spool *spool);

/* May this process serve the open spool?  0, or -1 and a sentence. */
int spool_check_service(const struct spool *spool, struct error *error);

/* Step 2 and step 3 of the protocol. */
int spool_sync(struct spool *spool, struct error *error);
int spool_sync_state(struct spool *spool, enum state state, struct error *error);
int spool_sync_directory(struct spool *spool, int directory, const char *name, struct error *error);

/* Notify the stage that watches failed/ (and handles held/), or rendered/, that what jobs there
 * wait for may have happened: touch the directory. */
void spool_notify_failed(const struct spool *spool);
void spool_notify_rendered(const struct spool *spool);

#endif
