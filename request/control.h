/* request/control.h - files that ask for something to be done to a job */
#ifndef REQUEST_CONTROL_H
#define REQUEST_CONTROL_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

/* A control file: one line of YAML or JSON that asks for something to be done to a job. */
enum control_verb {
    CONTROL_NONE,
    CONTROL_KILL,
    CONTROL_RETRY,
    CONTROL_HOLD,
    CONTROL_RELEASE,
    CONTROL_VERBS
};

struct control {
    enum control_verb verb; /* CONTROL_NONE: this is a job file */
    struct text id;         /* the job's id */
    struct text tasks; /* of an array: the indexes of the tasks that are meant; empty: the job */
};

/* "kill" and so on. */
const char *request_control_name(enum control_verb verb);

/* Split `sweep/3-5,9`, or `sweep[3-5,9]`, into the job and its tasks; those are empty where the word has
 * neither.  The list is not looked at. */
void request_control_split(struct text word, struct text *job, struct text *tasks);

/* Is this a control file, and which?  `kill: ID`, say, as the only field.  0 with verb
 * CONTROL_NONE when it is anything else; -1 and a sentence when it is a control file gone wrong. */
int request_control_read(struct arena *arena, struct text source, const char *name,
                         struct control *control, struct error *error);

#endif
