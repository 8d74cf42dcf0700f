/* spool/job_state.h - where a job is, in one word
 *
 * The directory that a job is in says which stage has it.  What people want to know is a little more:
 * whether what the scheduler has is running already, and whether it is being stopped.  That follows
 * from the directory, the job's log and the requests beside it; nothing else is kept of it.
 *
 *   waiting    in rendered/: for its turn, for resources, for the executor, for a limit; and in failed/,
 *              if it only waits there until the executor has room or answers
 *   queued     in submitted/: the scheduler has it, and has not started it
 *   running    in submitted/: it was started
 *   stopping   it is being killed, or stopped at its checkpoint to give way or to change its size
 *   done, failed, held    as the directories
 */
#ifndef SPOOL_JOB_STATE_H
#define SPOOL_JOB_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/job.h"
#include "spool/record.h"

enum job_state {
    JOB_WAITING,
    JOB_QUEUED,
    JOB_RUNNING,
    JOB_STOPPING,
    JOB_DONE,
    JOB_FAILED,
    JOB_HELD,
    JOB_STATES
};

const char *job_state_name(enum job_state state); /* "waiting", ... */

enum {
    SITUATION_IMAGES_MOST = 8,
    SITUATION_LISTENING_MOST = 8
}; /* of a job with more, the first */

struct image_of_role {
    char role[64], image[96];
};

struct job_situation {
    enum job_state state;
    /* Times of day of the last attempt; 0: it has not come to that, or it is not known. */
    int64_t queued; /* when the scheduler took it */
    int64_t started, ended;
    char node[64];   /* where it runs or ran; "" when that is not known */
    char waits[256]; /* why the scheduler has not started it, in its words; or "" */
    /* What its roles really ran in: "host", an image's digest, or what tells which file it was. */
    struct image_of_role ran[SITUATION_IMAGES_MOST];
    size_t ran_count;
    /* Where its tasks listen for others, "gpu1:17234", if that was found out when they started. */
    char listening[SITUATION_LISTENING_MOST][96];
    size_t listening_count;
};

/* Read the situation of the job whose directory is `job` and was found at `place`.  What cannot be read is
 * taken for not there: the directory always tells enough for a word. */
void job_state_read_situation(int job, const struct job_place *place,
                              struct job_situation *situation);

/* Only the word: reads no more than it must, which for a job that is done, held or waiting is next to
 * nothing. */
enum job_state job_state_read(int job, const struct job_place *place);

/* Which jobs are meant by a word: of a state, or of a directory ("rendered", "submitted"), as the words
 * were before.  False when it is neither; what it was meant to be is for base/nearest.h to find in
 * job_state_words, which NULL ends. */
struct job_state_filter {
    bool states[JOB_STATES], directories[STATE_COUNT];
};
bool job_state_select(const char *word, struct job_state_filter *filter);
extern const char *const job_state_words[];

/* Is it one of those? */
bool job_state_is_selected(const struct job_state_filter *filter, enum state directory,
                           enum job_state state);
/* May there be any in that directory? */
bool job_state_may_be_in(const struct job_state_filter *filter, enum state directory);

#endif
