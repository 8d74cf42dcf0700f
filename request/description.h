/* request/description.h - what a user asked for, whichever dialect he wrote it in
 *
 * Every dialect is read into one struct description; from there on nothing knows which it was.
 * It lives in the arena it was read into.  All texts are valid UTF-8 without NUL bytes; absent
 * texts have length 0 (data may be NULL), absent numbers are 0 where 0 cannot be asked for.
 * Sizes are bytes, durations milliseconds, CPUs thousandths of a processor.
 *
 * A field that a later version will implement is refused with "not yet supported", so what is
 * here is acted upon.
 */
#ifndef REQUEST_DESCRIPTION_H
#define REQUEST_DESCRIPTION_H

#include <stdint.h>

#include "base/error.h"
#include "base/value.h"

struct environment_variable {
    struct text name, value;
};

struct environment {
    struct environment_variable *variables;
    size_t count;
};

struct task_role {
    struct text role;           /* DNS-1123 label of at most 15 bytes */
    int count;                  /* tasks of this role, 1 to 10,000 */
    int64_t cpus;               /* thousandths of a processor for each task */
    int64_t memory;             /* bytes for each task */
    int64_t shm;                /* bytes of /dev/shm for each task; 0: the template's choice */
    int gpus;                   /* for each task */
    struct text *command;       /* words; count 0: the job's program, script or template decides */
    size_t command_count;
    struct environment environment;     /* over the job's */
};

struct description {
    struct text name;           /* as the user wrote it */
    struct text library, version, type;
    struct text program;        /* absolute path of a directory or file; or empty */
    struct text entry;          /* boot file below program */
    struct text *args;
    size_t args_count;
    struct text script;         /* the program inline; excludes program and entry */
    struct text dataset, output;        /* absolute paths; or empty */
    struct task_role *tasks;    /* at least one; one role "main" of one task when not given */
    size_t tasks_count;
    struct environment environment;
    struct text image;          /* the user's own choice, where the site allows it */
    struct text gpu_type;
    int priority;               /* -100 to 100, default 0: higher goes first */
    int retries;                /* 0 to 100: attempts beyond the first after a failure */
    int64_t time_limit;         /* milliseconds of running; 0: none */
};

/* Read a job file.  `name` is the dropped file's name: its ending and the first bytes decide the
 * dialect (YAML, JSON, batch script).  NULL and a sentence with file, line, column, field, what
 * was found and what was expected, on failure. */
struct description *request_read(struct arena *arena, struct text source, const char *name,
                                 struct error *error);

/* A control file: one line of YAML or JSON that asks for something to be done to a job. */
enum control_verb { CONTROL_NONE, CONTROL_KILL, CONTROL_RETRY };

struct control {
    enum control_verb verb;     /* CONTROL_NONE: this is a job file */
    struct text id;             /* the job's id */
};

/* Is this a control file, and which?  `kill: ID` or `retry: ID` as the only field.  0 with verb
 * CONTROL_NONE when it is anything else; -1 and a sentence when it is a control file gone wrong. */
int request_read_control(struct arena *arena, struct text source, const char *name,
                         struct control *control, struct error *error);

#endif
