/* stages/stage.h - what the four stages have in common
 *
 * A stage is a process with one job: it watches one directory of the spool and moves jobs on to
 * the next.  Stages meet only at directories, so each can crash, be restarted, or be looked at
 * alone.  A stage opens the spool and reads the settings itself.
 */
#ifndef STAGES_STAGE_H
#define STAGES_STAGE_H

#include "base/error.h"
#include "executors/executor.h"
#include "renderer/repository.h"
#include "spool/record.h"
#include "spool/seal.h"
#include "spool/settings.h"
#include "spool/spool.h"
#include "spool/why.h"

/* Whether days of done/ are there, while that counts (stages/shared/duplicate.h). */
struct known_days {
    bool counts;
    size_t count;
    struct known_day {
        int64_t time;
        bool is_there;
    } days[4];
};

struct stage {
    const char *name;
    struct spool spool;
    struct settings settings;
    int signals;         /* signalfd: readable once a signal to stop has come */
    char host[65];       /* this machine's name */
    int64_t epoch;       /* of the lease under which it works; 0: none */
    struct seal_key key; /* of submit and track, by which records are believed; elsewhere none */
    struct known_days days;
    bool stopping;
    bool failed;   /* it stops because of an error */
    bool confined; /* requests are read in a confined process; not so in tests */
};

/* Open spool and settings, and take SIGTERM and SIGINT as "stop when the batch is done".  -1 and
 * a sentence; stage_close() ends it. */
int stage_open(struct stage *stage, const char *name, const char *directory, struct error *error);
void stage_close(struct stage *stage);

/* Keep two passes over the spool apart, by a file of that name in its directory: in none that a stage watches, since
 * closing it would notify that stage.  0 and *lock, to be closed; 1 when another pass is under way; -1 and a
 * sentence. */
int stage_lock_pass(const struct stage *stage, const char *name, int *lock, struct error *error);

/* The most milliseconds between two scans of rendered/, submitted/, failed/ or held/, to which only dlspool writes
 * (watcher/watch.h): how late a job is found at the latest whose notification was lost. */
extern const int64_t stage_longest_scan;

/* Wait until `descriptor` (-1: none) is readable, the time `until` (of clock_elapsed) has come, or
 * the stage is told to stop.  False when it was told to stop. */
bool stage_wait(struct stage *stage, int descriptor, int64_t until);

/* Set the epoch of stages that are opened from now on. */
void stage_set_epoch(int64_t epoch);

/* Has another daemon taken over?  Call this before anything the stage does can be seen by others.
 * When another daemon has, or when that cannot be determined, it logs that and sets stage->failed:
 * the stage is then restarted. */
bool stage_is_fenced(struct stage *stage);

/* The executor and the template repository that the settings name.  Where the stage has an epoch, each request
 * that changes something outside asks first whether it is still in force, until stage_close(); elsewhere `stage` need
 * not outlive the call. */
struct executor *stage_executor(struct stage *stage, struct error *error);
/* The function by which stage_executor() opens an executor: registry_open(), unless a test sets its
 * own. */
typedef struct executor *executor_opener(const struct value *settings, const char *spool,
                                         const char *directory, struct error *error);
extern executor_opener *stage_open_executor;
struct repository *stage_repository(struct stage *stage, struct error *error);

/* A stage as a table of functions.  Its state begins with a struct stage.  A round does everything
 * that can be done now and returns, so a test can drive stages round by round. */
struct stage_operations {
    const char *name;
    /* NULL and a sentence on failure. */
    struct stage *(*open)(const char *directory, struct error *error);
    /* Drop the privileges that rounds do not need.  Called once before the first round, but not by
     * tests. */
    int (*confine)(struct stage *stage, struct error *error); /* may be NULL */
    /* Returns when the next round is due, of clock_elapsed().  Sets stage->failed when the stage
     * cannot go on. */
    int64_t (*round)(struct stage *stage);
    /* A descriptor that becomes readable when a round is due earlier; -1: there is none. */
    int (*descriptor)(const struct stage *stage);
    void (*close)(struct stage *stage);
};

extern const struct stage_operations intake_stage, submit_stage, track_stage, resubmit_stage,
    notify_stage;

/* Serve as that stage until told to stop.  Returns the exit status of the process. */
int stage_run(const struct stage_operations *operations, const char *directory);

/* One pass over failed/ and held/, for `dlspool resubmit`: how many jobs went back to rendered/, or -1. */
int stage_resubmit_once(const char *directory, struct error *error);

#endif
