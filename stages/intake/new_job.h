/* stages/intake/new_job.h - what a claimed file becomes: a whole job directory in .new/
 *
 * A part of stages/intake/accept.c, which decides what is made of a claim, and makes it durable and
 * publishes it afterwards.  Each function writes one directory: item->id, item->fate and
 * item->state then say which, and where it belongs.  -1 and a sentence, and nothing left behind,
 * on failure.
 */
#ifndef STAGES_INTAKE_NEW_JOB_H
#define STAGES_INTAKE_NEW_JOB_H

#include "request/notes.h"
#include "stages/guard.h"
#include "stages/intake/claim.h"
#include "stages/stage.h"
#include "watcher/drop.h"

enum fate {
    ACCEPT_KEEP,   /* not now: the claim stays */
    ACCEPT_JOB,    /* a directory in .new/ waits to be published */
    ACCEPT_FOUND,  /* its job was published before */
    ACCEPT_CONTROL /* it asked for something, which was noted */
};

struct acceptance {
    struct claim *claim;
    const char *refusal;
    struct buffer bytes;
    struct drop drop;
    char id[ID_SIZE];
    enum fate fate;
    enum state state;   /* where the new job goes */
    bool readable;      /* `bytes` is what was dropped */
    struct notes notes; /* for the job's log */
    bool hold;          /* the new job is to wait for a release */
    bool doubtful;      /* publishing it failed; it may be there all the same */
};

struct acceptor {
    struct stage *stage;
    struct repository *repository;
    struct arena *arena;
    struct acceptance *items; /* as many as a batch ... */
    size_t used;              /* ... of which so many were ever used, the first at any rate */
    struct guard *guard;
};

/* The job that the file's bytes ask for: rendered, or failed with the reason.  1, and nothing is
 * written, when no commit of the templates can be read now: the file waits. */
int new_job_make(struct acceptor *acceptor, struct acceptance *item, int64_t now,
                 struct error *error);

/* The file itself cannot be a job, whatever it says. */
int new_job_refuse_file(struct acceptor *acceptor, struct acceptance *item,
                        const struct error *reason, int64_t now, struct error *error);

/* It asks for what cannot be done. */
int new_job_refuse_control(struct acceptor *acceptor, struct acceptance *item,
                           const struct error *reason, int64_t now, struct error *error);

/* Intake has ended over it too often: it is not read again.  Only its owner is looked up. */
int new_job_quarantine(struct acceptor *acceptor, struct acceptance *item, int64_t now,
                       struct error *error);

#endif
