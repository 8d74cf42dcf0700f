/* stages/resubmit/inside.h - what the parts of the resubmit stage share
 *
 *   resubmit.c     walks failed/, pass by pass, and is the stage
 *   due.c          decides which jobs of failed/ are due, and for what
 *   held_act.c     handles held/
 *
 * stages/prepare/reread.h reads the requests of due jobs again.
 */
#ifndef STAGES_RESUBMIT_INSIDE_H
#define STAGES_RESUBMIT_INSIDE_H

#include <time.h>

#include "base/names.h"
#include "stages/prepare/requeue.h"
#include "stages/resubmit/held.h"
#include "stages/shared/growth.h"
#include "stages/stage.h"
#include "watcher/watch.h"

struct waiting {             /* what is remembered of a failed job between passes */
    struct timespec changed; /* mtime of its directory when its record was read */
    enum retry_when when;
    int64_t next, delay;
    int64_t change_since; /* when its wait for a change began */
    bool array;           /* how much it requests at once is not known */
    bool too_much;        /* it requests more than there was, */
    int capacity_seen;    /* and, at this count of changes of the capacity, than there is */
    int64_t cpus, memory;
    int gpus;
    int priority;
    int stops;     /* how often the process that read its request has crashed over it */
    bool is_asked; /* somebody has asked for something of it: a file of its directory says so */
    char commit[48];
    char settings[SHA256_HEX_SIZE];
};

struct resubmitter {
    struct stage stage;
    struct repository *repository;
    struct executor *executor;
    struct names *jobs; /* of failed/: id -> struct waiting */
    struct held_jobs *held;
    struct arena *arena;
    /* The executor is asked at most once in a pass, and only if a job waits for it. */
    bool asked_ready, ready, asked_capacity, have_capacity;
    struct capacity capacity;
    char capacity_text[GROWTH_TEXT_SIZE]; /* the last capacity that was compared for growth, */
    int capacity_changes;                 /* how often it has changed, */
    int64_t capacity_due;                 /* and when, of clock_elapsed(), it is looked at again */
    char settings[SHA256_HEX_SIZE];       /* of dlspool.yaml as it is now */
    size_t requeued;
    struct watch *watch;
    bool more;          /* the last pass left something for the next */
    bool is_notified;   /* while it rests: a pass is due when that is over */
    int64_t rest_until; /* of clock_elapsed: no pass before then */
};

struct candidate {
    struct requeue_action action;
    int priority;
    int stops;
};

struct pass {
    struct resubmitter *resubmitter;
    struct candidate *candidates;
    size_t count, capacity;
    int64_t now;
};

/* resubmit.c: add a job to the candidates of this pass. */
void resubmit_pass_add(struct pass *pass, enum state from, const char *id, int priority, int stops);

/* held_act.c: look at held/, write down what was found, and end the wait of jobs whose conditions
 * can no longer be met.  Jobs that go on are added to the pass with their action. */
void held_act(struct resubmitter *resubmitter, struct pass *pass);

/* due.c: can anything be due for a job of failed/, by what is known of it?  Then decide what to do with it. */
bool due_may_be(const struct resubmitter *resubmitter, const struct waiting *waiting, int64_t now);
void due_decide(struct resubmitter *resubmitter, struct requeue_action *action, int64_t now);

#endif
