/* request/control.h - control files: what to do to a job */
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
    CONTROL_SUSPEND, /* a hold of a running job that keeps its memory: `hold: {job: ID, keep_memory: true}` */
    CONTROL_RELEASE,
    CONTROL_TOP,      /* before its owner's other jobs of its priority */
    CONTROL_PRIORITY, /* `value` is its priority from now on */
    CONTROL_PAUSE,    /* the whole spool; `words` say why */
    CONTROL_RESUME,   /* ... goes on */
    CONTROL_APPROVE,
    CONTROL_REFUSE, /* to approve it; `words` say why */
    CONTROL_TOKEN,  /* `words` is what access_token_parse() (spool/access_token.h) reads */
    CONTROL_REVOKE, /* the access token whose SHA-256 is `words` */
    CONTROL_VERBS
};

enum { CONTROL_WORDS_LONGEST = 200 }; /* bytes of a reason */

struct control {
    enum control_verb verb; /* CONTROL_NONE: this is a job file */
    struct text id;         /* the job's id */
    struct text tasks;      /* of an array: the indexes of the tasks; empty: the whole job */
    struct text value;      /* of priority: a number, or the name of a class ... */
    int number;             /* ... and what that is, once the site's classes are known */
    struct text
        words; /* of pause, resume, token and revoke, which name no job: what else stands there; of refuse */
    struct text
        manifest; /* of approve: the SHA-256 of the manifest that is meant; empty: the present one */
};

/* "kill" and so on. */
const char *request_control_name(enum control_verb verb);

/* Can this be the name of a class of priority? */
bool request_control_is_value(struct text word);

/* Split `sweep/3-5,9`, or `sweep[3-5,9]`, into the job and its tasks; `tasks` is empty when the
 * word has neither form.  The list is not checked. */
void request_control_split(struct text word, struct text *job, struct text *tasks);

/* Read a control file, such as `kill: ID` as the only field.  0 with verb CONTROL_NONE when it is
 * not a control file; -1 and a sentence when it is a faulty one. */
int request_control_read(struct arena *arena, struct text source, const char *name,
                         struct control *control, struct error *error);

#endif
