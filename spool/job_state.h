/* spool/job_state.h - where a job is, in one word
 *
 * The directory that a job is in says which stage has it.  Users want to know a little more:
 * whether a job that the scheduler has is running yet, and whether it is being stopped.  That
 * follows from the directory, the job's log and the control requests beside it; it is stored
 * nowhere else.
 *
 *   waiting    in rendered/: for its turn, for resources, for the executor, for a limit; and in
 *              failed/, if it only waits there until the executor has capacity or answers
 *   queued     in submitted/: the scheduler has it but has not started it
 *   running    in submitted/: it was started
 *   stopping   it is being killed, or stopped at its checkpoint to be preempted or resized
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
}; /* if a job has more, the first ones */

struct image_of_role {
    char role[64], image[96];
};

struct job_situation {
    enum job_state state;
    /* Times of day of the last attempt; 0: not reached yet, or unknown. */
    int64_t queued; /* when the scheduler took it */
    int64_t started, ended;
    char node[64];     /* where it runs or ran; "" when unknown */
    char waits[256];   /* why the scheduler has not started it, in the scheduler's words; or "" */
    int64_t suspended; /* since when it stands still, held with its memory; 0: it does not */
    char suspended_by[64];
    /* The tasks that have failed while the job went on without them, and did not return:
     * "main-2, main-5"; if there are more than fit, the first ones. */
    char lost[256];
    /* What its roles really ran in: "host", an image's digest, or what tells which file it was. */
    struct image_of_role ran[SITUATION_IMAGES_MOST];
    size_t ran_count;
    /* Where its tasks listen for others, "gpu1:17234", if that was found out when they started. */
    char listening[SITUATION_LISTENING_MOST][96];
    size_t listening_count;
};

/* Read the situation of the job whose directory is `job` and was found at `place`.  Files that
 * cannot be read count as missing: the directory alone is always enough for a state. */
void job_state_read_situation(int job, const struct job_place *place,
                              struct job_situation *situation);

/* Only the state: reads no more than necessary, which is next to nothing for a job that is done,
 * held or waiting. */
enum job_state job_state_read(int job, const struct job_place *place);

/* The jobs that a word selects: the name of a state, or of a directory ("rendered", "submitted"),
 * as used formerly.  False when it is neither; base/nearest.h can suggest one from job_state_words,
 * which ends with NULL. */
struct job_state_filter {
    bool states[JOB_STATES], directories[STATE_COUNT];
};
bool job_state_select(const char *word, struct job_state_filter *filter);
extern const char *const job_state_words[];

/* Is the job one of those? */
bool job_state_is_selected(const struct job_state_filter *filter, enum state directory,
                           enum job_state state);
/* Can that directory contain any of those? */
bool job_state_may_be_in(const struct job_state_filter *filter, enum state directory);

#endif
