/* executors/local/layout.h - what to do about each submission of a batch
 *
 * The part of a submission before anything is made at podman: reading the manifest, recognising what an
 * earlier try has made, allocating resources, holding what is at the user's paths, writing files.  A layout
 * whose outcome is decided takes no further part.  Layouts live in the batch's arena.
 */
#ifndef EXECUTORS_LOCAL_LAYOUT_H
#define EXECUTORS_LOCAL_LAYOUT_H

#include "base/sha256.h"
#include "executors/local/inside.h"
#include "executors/local/sources.h"

enum progress { TASK_ABSENT, TASK_CREATED, TASK_STARTED };

struct layout_task {
    const struct local_task *task;
    char name[LOCAL_NAME_SIZE];
    enum progress progress;
    bool pulled;          /* its image was requested once */
    struct text gpus;     /* devices assigned to it */
    struct text *sources; /* what podman is told of its mounts */
};

struct layout {
    struct submission *submission;
    struct local_manifest *manifest;
    char hash[SHA256_HEX_SIZE];
    struct specification specification;
    struct layout_task *tasks;
    struct sources sources;
    bool decided;
    bool made;    /* part of it exists, or may exist, at podman */
    bool started; /* podman was asked to start a task of it */
    bool refused; /* ... by an earlier try, and it was refused then */
    /* how many of its tasks are started first: all, or, when they take turns, those that fit */
    size_t starts;
    struct buffer note;
};

struct batch {
    struct local *local;
    struct arena *arena;
    struct layout *layouts;
    size_t count;
    bool silent; /* podman did not answer a request that was sent separately */
};

void layout_decide(struct layout *layout, enum submit_outcome outcome);
void layout_refuse(struct layout *layout, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Who can fix the cause of the refusal, and how ("" when nothing better is known). */
void layout_mender(struct layout *layout, enum submit_mender mender, const char *remedy);
void layout_note(struct layout *layout, const char *sentence); /* for the job's log */

/* Set the submission's outcome to SUBMIT_UNKNOWN, and read its manifest. */
void layout_read(struct batch *batch, struct layout *layout, struct submission *submission);

/* Whether a container or pod with these labels was made for the layout's submission. */
bool layout_has_made(const struct layout *layout, const struct podman_container *container);

/* Accept an existing container of the task's name as the task's, or refuse the job if it is not. */
void layout_adopt(struct layout *layout, struct layout_task *task,
                  const struct podman_container *container, struct arena *arena);

/* The steps, for all undecided layouts of a batch.  `containers` are all of dlspool's.  The first step removes
 * containers of a job that never ran when they were made from another manifest; the third mounts the job's
 * sources in the storage (sources.h). */
void layout_match_containers(struct batch *batch, struct podman_container *containers,
                             size_t count);
void layout_take_resources(struct batch *batch, const struct podman_container *containers,
                           size_t count);
void layout_hold_sources(struct batch *batch);
void layout_write_files(struct batch *batch);

bool layout_any_left(const struct batch *batch);
bool layout_has_started(const struct layout *layout); /* a task of it runs, or has run */

#endif
