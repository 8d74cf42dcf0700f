/* tests/crash/scheduler.h - a scheduler that writes down what it was given
 *
 * An executor whose scheduler is a directory outside the spool, as another machine would be: no
 * crash or power cut of dlspool's machine touches it.  For each token there is
 *
 *   <id>-a<attempt>            one line for each time that it was run: the manifest's SHA-256
 *   <id>-a<attempt>.gone       dlspool has told it to forget the job
 *   <id>-a<attempt>.cancelled  it was told to end the job
 *   <id>-a<attempt>.foreign    it was given another manifest under this token
 *   <id>-a<attempt>.signalled  it was told to save its state
 *   <id>-a<attempt>.resized    it was given more of the processors
 *   <id>-a<attempt>.suspended  it was told to stand still ...
 *   <id>-a<attempt>.continued  ... and to go on
 *
 * A token that it knows with the same manifest is adopted, not run again, when the submission says
 * that it is repeated; as with Slurm, which has no tokens of its own, nobody looks for it otherwise.
 * One that it was told to forget is run again if it is submitted again.  How a job
 * fares is decided by the first word of its name: `flaky` and `shaky` fail in their first attempt
 * (with an exit code that retry.txt calls transient, and with one that it does not know), `long`
 * runs until it is ended; `grows` runs until it was resized; `stands` runs until it was told to go on; `moves`, which cannot be resized while it
 * runs, and `yields` run in their first attempt until they were told to save their state, and fail then;
 * all others succeed at once.
 */
#ifndef TESTS_CRASH_SCHEDULER_H
#define TESTS_CRASH_SCHEDULER_H

#include "executors/executor.h"

enum { EXIT_TRANSIENT = 193, EXIT_UNKNOWN = 9, EXIT_CANCELLED = 143, EXIT_SAVED = 75 };

/* What every job prints, in output/main-0.log. */
extern const char scheduler_output[];

/* Make the stages use it.  A naive one does not look whether it knows a token: it runs what it is
 * given. */
void scheduler_install(const char *directory, bool naive);

/* Whether it tells that it has room for more than jobs ask for. */
void scheduler_has_room(bool has);

/* Called when something has been written for a token, before the answer is given; NULL: nothing. */
typedef void scheduler_observer(const char *file, struct text bytes);
void scheduler_observe(scheduler_observer *observer);

struct scheduled { /* a token */
    char id[64];
    int attempt;
    char sha256[65];
    int runs;
    bool gone, foreign;
};

/* All tokens of a scheduler's directory.  To be freed with free(). */
struct scheduled *scheduler_list(const char *directory, size_t *count);

#endif
