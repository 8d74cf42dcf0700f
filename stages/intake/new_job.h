/* stages/intake/new_job.h - what a claimed file becomes: a whole job directory in .new/
 *
 * Part of stages/intake/accept.c, which decides what a claim becomes, and afterwards makes it
 * durable and publishes it.  Each function writes one directory; item->id, item->fate and
 * item->state then say which one, and where it belongs.  On failure: -1 and a sentence, and nothing
 * is left behind.
 */
#ifndef STAGES_INTAKE_NEW_JOB_H
#define STAGES_INTAKE_NEW_JOB_H

#include "request/notes.h"
#include "spool/name_index.h"
#include "spool/subscription.h"
#include "stages/guard.h"
#include "stages/intake/backlog.h"
#include "stages/intake/claim.h"
#include "stages/stage.h"
#include "watcher/drop.h"

enum fate {
    ACCEPT_KEEP,   /* not now: the claim stays */
    ACCEPT_JOB,    /* a directory in .new/ waits to be published */
    ACCEPT_FOUND,  /* its job was published before */
    ACCEPT_CONTROL /* it was a control file, and its request was written down */
};

struct acceptance {
    struct claim *claim;
    const char *refusal;
    struct buffer bytes;
    struct drop drop;
    char id[ID_SIZE];
    enum fate fate;
    enum state state;                 /* where the new job goes */
    bool readable;                    /* `bytes` is what was dropped */
    struct notes notes;               /* for the job's log */
    bool hold;                        /* the new job is held until somebody releases it */
    struct subscription subscription; /* of what its owner is told; events 0: nothing */
};

struct acceptor {
    struct stage *stage;
    struct repository *repository;
    struct arena *arena;
    struct acceptance *items; /* as many as a batch ... */
    size_t used;              /* ... and how many of them, from the first on, were ever used */
    struct guard *guard;
    struct backlog *backlog;  /* NULL: any number of jobs may wait */
    struct name_index *names; /* for the control files of a batch */
    struct publisher *publisher;
};

/* Make the job that the file asks for: rendered, or failed with the reason.  1, with nothing
 * written, when no commit of the templates can be read now: the file waits. */
int new_job_make(struct acceptor *acceptor, struct acceptance *item, int64_t now,
                 struct error *error);

/* Make a failed job for a file that cannot be a job, whatever it says. */
int new_job_refuse_file(struct acceptor *acceptor, struct acceptance *item,
                        const struct error *reason, int64_t now, struct error *error);

/* Make a failed job for a control file that asks for something impossible. */
int new_job_refuse_control(struct acceptor *acceptor, struct acceptance *item,
                           const struct error *reason, int64_t now, struct error *error);

/* Make a failed job for a file over which intake has crashed too often.  The file is not read
 * again; only its owner is looked up. */
int new_job_quarantine(struct acceptor *acceptor, struct acceptance *item, int64_t now,
                       struct error *error);

#endif
