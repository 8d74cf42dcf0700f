/* spool/spool.h - the spool's directories, and moving a job from one to another
 *
 * A job is a directory named by its id; its state is the directory it is in.  One rename moves
 * it.  Everything is done with descriptors of directories that only the daemon's user can write
 * (all but incoming/), through the table of base/system.h.
 *
 * The write protocol (each step for a whole batch before the next):
 *
 *   1. new files are written completely, in a place nobody looks at (.new/) or by appending;
 *   2. spool_sync() makes them durable;
 *   3. the rename publishes, and spool_sync_state() makes the directory durable;
 *   4. only then is what they came from removed, and anybody told.
 *
 * Beside the documented directories there are two private ones (mode 0700): `.claims/` holds
 * dropped files between the moment they are taken out of incoming/ and the moment their job is
 * durable, named `<token>.<dropped name>`; `.new/` holds job directories that are being written.
 */
#ifndef SPOOL_SPOOL_H
#define SPOOL_SPOOL_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/system.h"
#include "spool/id.h"

enum state { STATE_RENDERED, STATE_SUBMITTED, STATE_FAILED, STATE_HELD, STATE_DONE, STATE_COUNT };

/* How spool_sync() makes a batch durable. */
enum sync_mode {
    SYNC_FILESYSTEM, /* syncfs: one call for the batch; waits for others' writes too */
    SYNC_NONE        /* for measuring only: a power cut may lose accepted jobs */
};

struct spool {
    char path[PATH_MAX]; /* absolute, for people and for podman */
    int root, incoming, claims, new_jobs;
    int states[STATE_COUNT]; /* open directories */
    uid_t owner;             /* who owns the spool's directory */
    enum sync_mode sync_mode;
};

const char *state_name(enum state state); /* "rendered", ... */

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

/* A job somewhere in the spool. */
struct job_place {
    enum state state;
    char date[16]; /* YYYY-MM-DD in done/, "" elsewhere */
    char id[ID_SIZE];
};

/* Open a job's directory where it is expected.  A descriptor, or -1 with errno. */
int job_open(const struct spool *spool, const struct job_place *place);

/* "rendered/<id>" or "done/2026-11-21/<id>", for people. */
enum { PLACE_TEXT_SIZE = 96 };
const char *place_text(const struct job_place *place, char buffer[static PLACE_TEXT_SIZE]);

/* Make a new job's directory in .new/ and open it.  -1 and a sentence. */
int job_create(struct spool *spool, const char *id, struct error *error);
/* Publish it: .new/<id> to `state`/<id>. */
int job_publish(struct spool *spool, const char *id, enum state state, struct error *error);

/* spool_sync_state() for the directory that a job is in, which may be a day of done/. */
int spool_sync_place(struct spool *spool, const struct job_place *place, struct error *error);

/* Move a job.  On success `place` says where it is now.  A rename that failed although it
 * happened (a lost NFS reply) counts as success.  Not durable until the directories are synced. */
int job_move(struct spool *spool, struct job_place *place, enum state to, int64_t now,
             struct error *error);

/* Ring the bell: touch the job's directory, so that the stage that watches its state looks. */
void job_ring(const struct spool *spool, const struct job_place *place);
/* Ring for the stage that watches failed/, and sees to held/, or rendered/, when what jobs there wait for
 * may have come. */
void spool_ring_failed(const struct spool *spool);
void spool_ring_rendered(const struct spool *spool);

/* Did the directory change so long ago that what changes it from now on shows in its time, however
 * coarse the file system's clock is? */
bool job_is_settled(const struct stat *status);

/* Find a job by its id, or by a beginning of it that only one job has.  0; 1 and a sentence when
 * there is none or there are several; -1 and a sentence when it cannot be told just now.  Looks in
 * every state, done/ newest day first. */
int job_find(const struct spool *spool, struct text id, struct job_place *place,
             struct error *error);

/* Find a job by its whole id where it is not done: reads no directory. */
bool job_find_whole(const struct spool *spool, struct text id, struct job_place *place);

/* Find a job in done/ by its whole, valid id: 1 and where it is; 0: it is not there; -1 with errno
 * when it cannot be told just now.  Only names of days are read, no day. */
int job_find_done(const struct spool *spool, struct text id, struct job_place *place);

/* Visit every job of a state, in no order; of done/, all days.  The visit stops with the first
 * result that is not 0, which is returned; -1 with errno when a directory cannot be read. */
typedef int job_visit(void *context, const struct job_place *place);
int jobs_walk(const struct spool *spool, enum state state, job_visit *visit, void *context);
/* The same for one day of done/, which need not be there. */
int jobs_walk_day(const struct spool *spool, const char *date, job_visit *visit, void *context);
/* The days of done/, newest first; to be freed with free().  -1 with errno. */
typedef char day_name[16];
int days_list(const struct spool *spool, day_name **days, size_t *count);

/* Write a file of a job directory: a new one (fails when it is there), or in place of an old one
 * (written aside, then renamed over). */
int job_file_create(int job, const char *name, struct text bytes, mode_t mode, struct error *error);
int job_file_replace(int job, const char *name, struct text bytes, mode_t mode,
                     struct error *error);
/* The second for what can be made again, such as a measurement: whole for every reader, but not made
 * durable, so that it costs next to nothing. */
int job_file_renew(int job, const char *name, struct text bytes, mode_t mode, struct error *error);
/* The first two for a file that only the daemon and a group may read (mode 0640): what a user wrote may
 * hold their secrets.  Where the daemon may not give it to the group, its own group has it. */
int job_file_create_private(int job, const char *name, struct text bytes, gid_t group,
                            struct error *error);
int job_file_replace_private(int job, const char *name, struct text bytes, gid_t group,
                             struct error *error);

/* Keep what has the name of one of a job's files and is none as NAME.damaged.  -1 with errno. */
int job_file_damaged(int job, const char *name);

/* Remove a job directory below `parent` with its files, as recovery does with unpublished ones. */
int job_remove(int parent, const char *id, struct error *error);

#endif
