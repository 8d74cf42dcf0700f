/* spool/job.h - a job's directory, and moving it from one directory of the spool to another */
#ifndef SPOOL_JOB_H
#define SPOOL_JOB_H

#include "spool/spool.h"

/* A job somewhere in the spool. */
struct job_place {
    enum state state;
    char date[16]; /* YYYY-MM-DD in done/, "" elsewhere */
    char id[ID_SIZE];
};

/* Open a job's directory where it is expected.  A descriptor, or -1 with errno. */
int job_open(const struct spool *spool, const struct job_place *place);

/* "rendered/<id>" or "done/2026-11-21/<id>", for messages. */
enum { PLACE_TEXT_SIZE = 96 };
const char *job_place_text(const struct job_place *place, char buffer[static PLACE_TEXT_SIZE]);

/* Make a new job's directory in .new/, where it has a name of this epoch's, and open it.  -1 and a sentence. */
int job_create(struct spool *spool, const char *id, struct error *error);
/* Publish it as `state`/<id>. */
int job_publish(struct spool *spool, const char *id, enum state state, struct error *error);
/* Remove it, unpublished, as far as that can be done. */
void job_discard(struct spool *spool, const char *id);

/* spool_sync_state() for the directory that a job is in, which may be a day of done/. */
int job_sync_place(struct spool *spool, const struct job_place *place, struct error *error);

/* Move a job.  On success `place` says where it is now.  A rename that failed although it
 * happened (a lost NFS reply) counts as success.  Not durable until the directories are synced. */
int job_move(struct spool *spool, struct job_place *place, enum state to, int64_t now,
             struct error *error);

/* A day of done/, kept open while many jobs move there.  Begin with `directory` -1. */
struct job_day {
    int directory;
    char date[16];
};

/* As job_move(), into done/.  Where the day is not the one that is open, that is closed, and this one is opened. */
int job_move_done(struct spool *spool, struct job_place *place, struct job_day *day, int64_t now,
                  struct error *error);
/* Make the day durable, and close it.  Does nothing when none is open.  -1 and a sentence. */
int job_close_day(struct spool *spool, struct job_day *day, struct error *error);

/* Notify the stage that watches the job's state: touch the job's directory, which is open as `job`. */
void job_notify(const struct spool *spool, const struct job_place *place, int job);

/* Did the directory change so long ago that any later change will show in its time, however coarse
 * the file system's clock is? */
bool job_is_settled(const struct stat *status);

/* Remove a job directory below `parent` with its files, as recovery does with unpublished ones. */
int job_remove(int parent, const char *id, struct error *error);

#endif
