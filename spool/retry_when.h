/* spool/retry_when.h - what a failed job waits for before it is retried */
#ifndef SPOOL_RETRY_WHEN_H
#define SPOOL_RETRY_WHEN_H

/* What must happen before a failed job is retried. */
enum retry_when {
    RETRY_NEVER,    /* only when somebody asks for it */
    RETRY_AT,       /* at a time */
    RETRY_ROOM,     /* when the executor has capacity for it */
    RETRY_EXECUTOR, /* when the executor answers again */
    RETRY_CHANGE    /* when its manifest as rendered anew, or the capacity, has changed */
};

/* As job.yaml has it: "never", "at", "room", "executor" or "change". */
const char *retry_when_name(enum retry_when when);

#endif
