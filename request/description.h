/* request/description.h - what a user asked for, whichever dialect it was written in
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

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/value.h"
#include "job/parts.h"
#include "job/sizes.h"

struct environment_variable {
    struct text name, value;
};

struct environment {
    struct environment_variable *variables;
    size_t count;
};

struct task_role {
    struct text role;     /* DNS-1123 label of at most 15 bytes */
    struct text name;     /* the role as the user wrote it; empty: as `role` is */
    int count;            /* tasks of this role, 1 to 10,000 */
    int64_t cpus;         /* thousandths of a processor for each task */
    int64_t memory;       /* bytes for each task */
    int64_t shm;          /* bytes of /dev/shm for each task; 0: the template's choice */
    int gpus;             /* for each task */
    struct text *command; /* words; count 0: the job's program, script or template decides */
    size_t command_count;
    struct environment environment; /* over the job's */
    struct port_request *ports;     /* no two with one label */
    size_t ports_count;
    int64_t storage;   /* bytes of the machine's disk for each task; 0: not given */
    struct text image; /* of this role; empty: the job's */
    /* The role's own program inline, which starts with #!; empty: as the command says.  With
     * `script_secret` it holds what nobody else may read, and `script_masked` is what it looks like
     * to others. */
    struct text script, script_masked;
    bool script_secret;
};

/* How many tasks of a role decide about the job; 0: not given, -1: no number of them does. */
struct completion {
    struct text role;
    int failed;    /* so many failed tasks fail the job; not given: 1 */
    int succeeded; /* so many succeeded tasks make it succeed; not given: all of all
                                   roles */
};

/* What has to have become of another job before this one begins. */
enum condition {
    AFTER_OK,    /* it has finished well */
    AFTER_ANY,   /* it has come to its end, well or not */
    AFTER_NOT_OK /* it has failed for good */
};
struct dependency {
    enum condition condition;
    struct text job; /* its name or its id, as the user wrote it */
};

/* What the owner is told in the job's log: something was understood, and has no effect here. */
struct note {
    struct text field; /* as in a sentence: taskRoles[0].command */
    struct text sentence;
};

struct notes {
    struct note *items;
    size_t count, capacity;
};

/* Of a job that was written for another system: what it takes for granted there.  site.yaml's
 * member of the platform's name says what that is here (stages/prepare/platform.h), and templates give its
 * programs the environment that they know. */
struct platform {
    struct text name;    /* "openpai"; empty: none, and nothing of this is used */
    struct text cluster; /* the virtual cluster that was asked for; empty: the default one */
    /* Where things are, as the user wrote it: URIs in which the platform's variables may stand. */
    struct text data, output, code, credentials;
    bool debug; /* a task that failed keeps its container for a while */
};

/* When a job is to be done. */
struct deadline {
    bool given;
    int64_t time;        /* of day; or */
    int64_t after;       /* milliseconds after the job was accepted; then not 0 */
    struct text written; /* as it stands in the job file, and where */
    uint32_t line, column;
};

/* How a job's progress is counted: in its output or in a file, or (both empty) not at all. */
struct units {
    double total;        /* 0: not given; the output or the file says it */
    struct text pattern; /* job/pattern.h: of lines that the first task of the first role
                                   prints */
    struct text file;    /* absolute path of a file below `output` */
};

/* How a job saves its state, so that it can be stopped and goes on from there. */
struct checkpoint {
    struct text signal; /* "TERM", "USR1", ...; empty: it does not */
    int64_t grace;      /* milliseconds that it needs at most when it is sent that */
    int64_t interval;   /* ... between saving it by itself; 0: not given */
};

/* description.retries beyond numbers. */
enum {
    RETRIES_ENDLESS = -1, /* a failure that may pass is retried, however often */
    RETRIES_ALWAYS = -2,  /* any end, success too, is followed by another attempt */
};

struct description {
    struct text name; /* as the user wrote it */
    struct text library, version, type;
    struct text program; /* absolute path of a directory or file; or empty */
    struct text entry;   /* entry point below program */
    struct text *args;
    size_t args_count;
    struct text script;          /* the program inline; excludes program and entry */
    struct text dataset, output; /* absolute paths; or empty */
    struct task_role *tasks;     /* at least one; one role "main" of one task when not given */
    size_t tasks_count;
    struct environment environment;
    struct text image; /* the user's own choice, where the site allows it */
    struct text gpu_type;
    int priority;       /* -100 to 100, default 0: higher goes first */
    int retries;        /* attempts beyond the first after a failure; or RETRIES_... */
    int64_t time_limit; /* milliseconds of running; 0: none */
    struct text queue;  /* DNS label; or empty */
    int64_t debug;      /* milliseconds that what ran stays at the scheduler after the end */
    struct completion *complete; /* of some of the roles */
    size_t complete_count;
    struct array array;     /* then there is one role, of as many tasks */
    int size_min, size_max; /* of a job of the type elastic, whose one role begins with `count`
                                   tasks and may have from so many to so many; 0: of another type */
    struct sizes sizes;     /* that the job may be given while it is not done; SIZE_FIXED when
                                   it names none */
    int64_t size;           /* of these, what `tasks` has: what it begins with; 0: SIZE_FIXED */
    struct deadline deadline;
    struct text deadline_mode; /* "count", "firm" or "none"; empty without a deadline */
    double weight;             /* of the deadline; 0: not given */
    struct units units;
    struct checkpoint checkpoint;
    struct dependency *after; /* all have to hold before the job begins */
    size_t after_count;
    bool hold; /* it waits until it is released */
    struct platform platform;
    struct registry *registries; /* besides those that the site knows */
    size_t registries_count;
    struct notes notes;
    bool foreign; /* its job file is another system's, which has priorities of its own */
};

/* Put asterisks in place of all that is secret, for what is made of the description to be shown. */
void description_mask(struct description *job);

/* Does it hold anything secret? */
bool description_is_secret(const struct description *job);

/* When the job is to be done, if it was accepted at `accepted`; 0 when it has no deadline.  -1 and
 * a sentence about the job file of this name when that time was over already. */
int description_deadline(const struct description *job, const char *file, int64_t accepted,
                         int64_t *time, struct error *error);

/* Give the job that size, which lies between the least and the most of its sizes: tasks change
 * their number, their GPUs or their processors.  Nothing happens to a job that has none. */
void description_resize(struct description *job, int64_t size);

#endif
