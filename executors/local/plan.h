/* executors/local/plan.h - what to do about each submission of a batch
 *
 * The part of a submission that needs no change at podman: reading the manifest, recognising what
 * an earlier try has made, counting, looking at the user's paths, writing files.  A plan whose
 * outcome is decided takes no further part.  Plans live in the batch's arena.
 */
#ifndef EXECUTORS_LOCAL_PLAN_H
#define EXECUTORS_LOCAL_PLAN_H

#include "base/sha256.h"
#include "executors/local/access.h"
#include "executors/local/inside.h"

enum progress { TASK_ABSENT, TASK_CREATED, TASK_STARTED };

struct plan_task {
    const struct local_task *task;
    char name[LOCAL_NAME_SIZE];
    enum progress progress;
    bool pulled;               /* the image was asked for once */
    struct text gpus;          /* devices assigned to it */
    struct text *sources;      /* resolved paths of its mounts */
    struct access_path *paths; /* within the plan's */
};

struct plan {
    struct submission *submission;
    struct local_manifest *manifest;
    char hash[SHA256_HEX_SIZE];
    struct specification specification;
    struct plan_task *tasks;
    struct access_check access;
    bool decided;
    bool made;     /* something of it is, or may be, at podman */
    bool started;  /* podman was asked to start a task of it */
    bool refused;  /* ... by an earlier try, and it was refused then */
    size_t starts; /* of its tasks, how many are started first: all of them, or, where
                                   they take turns, those for which there is room */
    struct buffer note;
};

struct batch {
    struct local *local;
    struct arena *arena;
    struct plan *plans;
    size_t count;
    bool silent; /* podman did not answer a request that was made on its own */
};

void plan_decide(struct plan *plan, enum submit_outcome outcome);
void plan_refuse(struct plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Who can fix what it was refused for, and how ("" when nothing better is known). */
void plan_mender(struct plan *plan, enum submit_mender mender, const char *remedy);
void plan_note(struct plan *plan, const char *sentence); /* for the job's log */

/* Set the submission's outcome to SUBMIT_UNKNOWN, and read its manifest. */
void plan_read(struct batch *batch, struct plan *plan, struct submission *submission);

/* Whether a container or pod with these labels was made for the plan's submission. */
bool plan_made(const struct plan *plan, const struct podman_container *container);

/* Take a container of the task's name for the task's, or refuse the job because it is not. */
void plan_adopt(struct plan *plan, struct plan_task *task, const struct podman_container *container,
                struct arena *arena);

/* The steps, for all undecided plans of a batch.  `containers` are all there are of dlspool. */
void plan_look(struct batch *batch, struct podman_container *containers, size_t count);
void plan_take_room(struct batch *batch, const struct podman_container *containers, size_t count);
void plan_check_access(struct batch *batch);
void plan_write_files(struct batch *batch);

bool plan_any_left(const struct batch *batch);
bool plan_has_started(const struct plan *plan); /* a task of it runs, or has run */

#endif
