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
#include "spool/settings.h"
#include "spool/spool.h"
#include "spool/why.h"

struct stage {
    const char *name;
    struct spool spool;
    struct settings settings;
    int signals;                /* signalfd: readable once a signal to stop has come */
    bool stopping;
};

/* Open spool and settings, and take SIGTERM and SIGINT as "stop when the batch is done".  -1 and
 * a sentence; stage_close() ends it. */
int stage_open(struct stage *stage, const char *name, const char *directory,
               struct error *error);
void stage_close(struct stage *stage);

/* Wait until `descriptor` (-1: none) is readable, the time `until` (of clock_elapsed) has come, or
 * the stage is told to stop.  False when it is to stop. */
bool stage_wait(struct stage *stage, int descriptor, int64_t until);

/* The executor and the template repository that the settings name. */
struct executor *stage_executor(struct stage *stage, struct error *error);
struct repository *stage_repository(struct stage *stage, struct error *error);

/* The main functions of the stages; each returns a process's exit status. */
int intake_main(const char *directory);
int submit_main(const char *directory);
int track_main(const char *directory);
int resubmit_main(const char *directory);

/* One pass over failed/, for `dlspool resubmit`: how many jobs went back to rendered/, or -1. */
int resubmit_once(const char *directory, struct error *error);

#endif
