/* stages/notify/letter.h - what the owner of a job is told, as a mail and as JSON for a webhook
 *
 * The same occasion always gives the same Message-ID, by which a mail that is sent a second time after a crash can be
 * known.
 */
#ifndef STAGES_NOTIFY_LETTER_H
#define STAGES_NOTIFY_LETTER_H

#include "spool/job_state.h"
#include "stages/notify/occasions.h"

struct letter_facts {
    const char *spool;  /* its directory */
    struct text domain; /* of Message-ID; may be empty */
    struct text from;   /* an address */
    struct text to;     /* valid addresses, with ", " between them */
    const struct job_place *place;
    const struct job_record *record;
    const struct job_situation *situation;
    const struct occasion *occasion;
    struct text why; /* the file beside the job, if it is of this occasion; or empty */
};

struct letter {
    struct text id;      /* "digits-0123456789abc.end.1.0" */
    struct text subject; /* one line */
    struct text text;    /* of the body */
    struct text mail;    /* all of it, with headers */
    struct text json;
    struct text environment; /* NAME=VALUE, each followed by NUL */
};

/* All of it in the arena. */
void letter_write(struct arena *arena, const struct letter_facts *facts, struct letter *letter);

#endif
