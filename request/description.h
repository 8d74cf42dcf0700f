/* request/description.h - what a user asked for, whichever dialect it was written in
 *
 * Every dialect is read into one struct description, which lives in the arena it was read into. All
 * texts are valid UTF-8 without NUL bytes; absent texts have length 0 (data may be NULL), absent
 * numbers are 0 where 0 is not a valid request.  Sizes are bytes, durations milliseconds, CPUs
 * thousandths of a processor.
 *
 * A field that a later version will implement is refused with "not yet supported", so everything
 * here has an effect.
 */
#ifndef REQUEST_DESCRIPTION_H
#define REQUEST_DESCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/value.h"
#include "job/messages.h"
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
    struct text name;     /* the role as the user wrote it; empty: the same as `role` */
    int count;            /* tasks of this role, 1 to 10,000 */
    int64_t cpus;         /* thousandths of a processor for each task */
    int64_t memory;       /* bytes for each task */
    int64_t shm;          /* bytes of /dev/shm for each task; 0: the template's choice */
    int gpus;             /* for each task */
    struct text *command; /* words; count 0: the job's program, script or template decides */
    size_t command_count;
    struct environment environment; /* overrides the job's */
    struct port_request *ports;     /* no two with one label */
    size_t ports_count;
    int64_t storage;   /* bytes of the machine's disk for each task; 0: not given */
    struct text image; /* of this role; empty: the job's */
    /* The role's own program inline, which starts with #!; empty: as the command says.  With
     * `script_secret` it contains secrets, and `script_masked` is the version shown to others. */
    struct text script, script_masked;
    bool script_secret;
};

/* How many tasks of a role decide how the job ends; 0: not given, -1: no number does. */
struct completion {
    struct text role;
    int failed;    /* failed tasks that fail the job; not given: 1 */
    int succeeded; /* succeeded tasks that make it succeed; not given: all of all
                                   roles */
};

/* What must have become of another job before this one begins. */
enum condition {
    AFTER_OK,       /* it succeeded */
    AFTER_ANY,      /* it ended, successfully or not */
    AFTER_NOT_OK,   /* it has failed for good */
    AFTER_BEGUN,    /* it has begun, or ended; not how it ended */
    AFTER_SINGLETON /* all earlier jobs of the owner that have this job's name have ended */
};
struct dependency {
    enum condition condition;
    struct text job; /* its name or its id, as the user wrote it; empty with AFTER_SINGLETON */
};

/* A note for the owner in the job's log: something was understood but has no effect here. */
struct note {
    struct text field; /* as in a sentence: taskRoles[0].command */
    struct text sentence;
};

struct notes {
    struct note *items;
    size_t count, capacity;
};

/* An option of a batch script about which the site's rules decide, such as an account. */
struct platform_option {
    struct text name, value; /* "account", "physics" */
    struct text shown;       /* as a sentence calls it: "--account" */
    uint32_t line;           /* in the script */
};

/* What a job that was written for another system takes for granted there.  site.yaml's member with
 * the platform's name maps it to this site (stages/prepare/platform.h), and templates give its
 * programs their usual environment. */
struct platform {
    struct text name;    /* "openpai"; empty: none; the other members are unused */
    struct text cluster; /* the virtual cluster requested; empty: the default one */
    /* Locations as the user wrote them: URIs that may contain the platform's variables. */
    struct text data, output, code, credentials;
    bool debug;                      /* a task that failed keeps its container for a while */
    struct platform_option *options; /* of "sbatch" and "pbs" */
    size_t options_count;
};

/* When a job must be finished. */
struct deadline {
    bool given;
    int64_t time;        /* of day; or */
    int64_t after;       /* milliseconds after the job was accepted; then not 0 */
    struct text written; /* as in the job file, and its position there */
    uint32_t line, column;
};

/* When a job begins at the earliest. */
struct begin {
    bool given;
    int64_t time;  /* of day; or */
    int64_t after; /* milliseconds after the job was accepted; or */
    bool local;    /* a day and a second of it where dlspool runs; no day (year 0): the next one */
    int year, month, day, second;
    struct text written; /* as in the job file, and its position there */
    uint32_t line, column;
};

/* How a job's progress is counted: from its output or from a file, or (both empty) not at all. */
struct units {
    double total;        /* 0: not given; read from the output or the file */
    struct text pattern; /* job/pattern.h: of lines that the first task of the first role
                                   prints */
    struct text file;    /* absolute path of a file below `output` */
};

/* How a job saves its state, so that it can be stopped and continued. */
struct checkpoint {
    struct text signal; /* "TERM", "USR1", ...; empty: it does not save it */
    int64_t grace;      /* milliseconds that it needs at most after the signal */
    int64_t interval;   /* milliseconds between its own saves; 0: not given */
};

/* A signal to the job's programs before its time limit ends. */
struct limit_signal {
    struct text name; /* "USR1", ...; empty: none */
    int64_t before;   /* milliseconds */
};

/* What the owner is told of the job. */
struct wanted_messages {
    unsigned int events; /* a set (job/messages.h) */
    struct text mail;    /* valid addresses, with ", " between them; empty: the owner's own */
};

/* description.retries beyond numbers. */
enum {
    RETRIES_ENDLESS = -1, /* a transient failure is retried without limit */
    RETRIES_ALWAYS = -2,  /* every end, even success, is followed by another attempt */
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
    struct text *features; /* of nodes, as the site names them; all are wanted */
    size_t features_count;
    struct text spread;         /* "require" or "prefer"; empty: where there is room */
    bool exclusive;             /* no other job on its nodes */
    int priority;               /* -100 to 100, default 0: higher goes first */
    struct text priority_class; /* a class of the site, instead of the number; or empty */
    bool has_priority;          /* one of them is given */
    int retries;                /* attempts beyond the first after a failure; or RETRIES_... */
    int64_t time_limit;         /* milliseconds of running; 0: none */
    struct text queue;          /* DNS label; or empty */
    bool usual_queue;           /* the request names none: `queue` is the site's choice */
    int64_t debug; /* milliseconds that the scheduler's objects are kept after the end */
    struct completion *complete; /* for some of the roles */
    size_t complete_count;
    struct array array;     /* if given, there is one role with as many tasks */
    int size_min, size_max; /* type elastic: the least and most tasks of its one role, which
                                   begins with `count`; 0: another type */
    struct sizes sizes;     /* to which the job may be resized until it ends; SIZE_FIXED when
                                   it names none */
    int64_t size;           /* the size that it begins with, as in `tasks`; 0: SIZE_FIXED */
    struct deadline deadline;
    struct text deadline_mode; /* "count", "firm" or "none"; empty without a deadline */
    double weight;             /* of the deadline; 0: not given */
    struct units units;
    struct checkpoint checkpoint;
    struct limit_signal signal;
    struct dependency *after; /* all have to hold before the job begins */
    size_t after_count;
    struct text privileges; /* of the site, names with spaces between them; or empty */
    bool
        host_network; /* one of them gives it the machine's network; whoever knows the site sets it */
    bool hold;        /* it waits until it is released */
    struct begin begin;
    struct wanted_messages messages;
    struct platform platform;
    struct registry *registries; /* in addition to the site's */
    size_t registries_count;
    struct notes notes;
    bool foreign; /* its job file is another system's, with that system's priorities */
};

/* Replace all secrets by asterisks, so that what is made from the description can be shown. */
void description_mask(struct description *job);

/* Does it hold anything secret? */
bool description_is_secret(const struct description *job);

/* Set the deadline of a job that was accepted at `accepted`, or 0 when it has none.  -1 and a
 * sentence that names `file` when the deadline had passed by then. */
int description_deadline(const struct description *job, const char *file, int64_t accepted,
                         int64_t *time, struct error *error);

/* Set the time at which a job that was accepted at `accepted` begins at the earliest, which may be
 * over, or 0 when it names none.  -1 and a sentence that names `file` when that is after its
 * deadline (0: it has none), or too far away. */
int description_begin(const struct description *job, const char *file, int64_t accepted,
                      int64_t deadline, int64_t *time, struct error *error);

/* Give the job that size, which must lie within its sizes, by changing the number of tasks, their
 * GPUs or their processors.  Does nothing when the job has a fixed size. */
void description_resize(struct description *job, int64_t size);

#endif
