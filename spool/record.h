/* spool/record.h - <id>/job.yaml: the facts of a job
 *
 * Written when the job is made, and again when it fails or is retried; always as a whole,
 * beside the old one, then renamed over it.  The format is documented in docs/spool.md and is
 * stable: fields are added, never changed.
 */
#ifndef SPOOL_RECORD_H
#define SPOOL_RECORD_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/value.h"
#include "job/sizes.h"
#include "spool/id.h"
#include "spool/retry_when.h"

struct failure {
    enum retry_when when;
    struct text reason;   /* one word: BadRequest, NoTemplate, NoRoom, Exited, Killed, ... */
    struct text class;    /* transient, permanent or unknown */
    int exit_code;        /* of the task that decided; -1 when there was none */
    int64_t failed;       /* when */
    int64_t next;         /* RETRY_AT: when it is due; 0 otherwise */
    int64_t delay;        /* RETRY_AT: the back-off, milliseconds */
    struct text commit;   /* RETRY_CHANGE: of templates.git when it was last rendered */
    struct text settings; /* RETRY_CHANGE: SHA-256 of dlspool.yaml when it was last rendered */
    /* RETRY_CHANGE after requesting too much: the capacity then (stages/shared/growth.h) */
    struct text capacity;
};

/* A job that this one waits for, under a condition. */
struct awaited {
    struct text condition; /* "afterok", "afterany" or "afternotok" */
    struct text job;       /* its name or its id, as the user wrote it */
    struct text id;        /* the id of that job; empty: not known yet */
};

struct job_record {
    struct text id, name, owner;
    struct text home; /* the owner's home directory; empty: none that a task can use */
    uid_t uid;
    gid_t gid;
    int64_t accepted;         /* when the file was taken out of incoming/ */
    struct text source;       /* the dropped file's name */
    struct text request_file; /* "request.yaml", "request.json" or "request.sh" */
    struct text request_sha256;
    struct text seal; /* spool/seal.h; empty: nobody has sealed it */
    struct text library, version, type;
    struct text library_version; /* the chosen image's; empty: unknown */
    int priority, retries;
    struct text priority_class; /* by which it has that; empty: it was a number */
    struct text priority_from; /* "owner" or "administrator": who has set it; empty: the job file */
    int64_t top;               /* when it was put on top of its owner's jobs; 0: it was not */
    int64_t ordered;           /* what was asked of both until then is in this record; 0: never */
    int retried;               /* number of retries used up */
    int64_t backoff;           /* the last back-off, milliseconds; 0 before the first */
    int64_t time_limit;        /* milliseconds; 0: none */
    int64_t cpus, memory;      /* of all tasks together: thousandths, bytes */
    int gpus;
    struct text executor;
    struct text commit, template_path;
    struct text image;
    int image_line; /* of images.txt; 0: the user's own choice */
    struct text manifest_sha256;
    struct text array; /* of a job of the type array: the indexes that this attempt runs,
                                   in the order of its tasks: 0-99 */
    int array_at_once; /* ... and how many of them run at a time at most; 0: not known, or it is none */
    struct text array_left;   /* ... and those of them that had not succeeded when it failed */
    struct text array_killed; /* ... and those of them that somebody has killed */
    /* those of earlier attempts that did not succeed and do not run again in this one: they were
     * killed, or were left out of a retry */
    struct text array_aside;
    struct text array_held; /* ... and those that wait until somebody releases them */
    int attempt;            /* from 1; 0 before the first rendering */
    struct text dlspool;    /* the version that wrote this */
    struct awaited *after;  /* in the order of the job file */
    size_t after_count;
    int64_t released; /* when all conditions of `after` were met; 0: the job must wait for them */
    int64_t held;     /* when it last moved to held/; 0: never */
    int64_t begin;    /* it does not begin before this; 0: at once, or it has been released */
    int64_t deadline; /* the deadline; 0: the job has none */
    struct text deadline_mode; /* "count", "firm" or "none"; empty without a deadline */
    double weight;             /* of the deadline; 0 is 1 */
    double units_total;        /* its total number of units; 0: the job itself reports it, or not */
    /* at most one is set; both empty: the job has no units */
    struct text units_file, units_pattern;
    struct sizes sizes; /* that it can have */
    /* Each of these is 0 or between sizes.least and sizes.most; otherwise the record is damaged. */
    int64_t size;                  /* the size of its manifest; 0: SIZE_FIXED */
    int64_t size_asked;            /* the size that its user asked for; 0: SIZE_FIXED */
    int64_t size_now;              /* the size that it was given later, while it runs; 0: none */
    int64_t size_next;             /* the size of its next rendering; 0: unchanged */
    int resizes;                   /* how often it was resized, or stopped for that */
    int64_t resized;               /* when last; 0: never */
    struct text checkpoint_signal; /* "TERM", "USR1", ...; empty: it cannot be stopped */
    int64_t checkpoint_grace, checkpoint_interval; /* milliseconds; interval 0: only on signal */
    struct text signal_name;                       /* before its time limit; empty: none */
    int64_t signal_before;                         /* milliseconds */
    struct text gpu_type;                          /* that was asked for */
    struct text privileges; /* that were asked for, names with spaces between them */
    int host_network;       /* 1: one of them is the machine's network */
    struct text unlisted;   /* images that the site allows by approval only, with spaces */
    struct text wants;      /* what of it has to be approved (spool/wants.h); empty: nothing */
    /* with `wants`: the SHA-256 of the manifest as the first attempt of all of the job has it */
    struct text first_manifest_sha256;
    struct text queue; /* the requested queue of the scheduler; may be empty */
    /* a digest of what decides the amount of work: program, entry, arguments, script, dataset,
     * environment */
    struct text arguments_sha256;
    bool failed; /* the job is in failed/, and `failure` says why */
    struct failure failure;
    /* RETRY_CHANGE: when the wait for a change began, which a further refusal does not restart;
     * 0: it does not wait for one */
    int64_t change_since;
};

/* How many times cpus, memory and gpus the job has at most at a time: an array has those of one task in its record. */
static inline int record_at_once(const struct job_record *record)
{
    return record->array_at_once > 0 ? record->array_at_once : 1;
}

/* Read job.yaml of the job directory `job` into `record`, whose texts live in the arena.  -1 and a
 * sentence when it is missing or damaged (file_is_damaged() of errno tells), or when it could not
 * be read now. */
int record_read(int job, struct arena *arena, struct job_record *record, struct error *error);

/* The same from the bytes of a job.yaml; and the reverse: append the record in the form of
 * job.yaml.  Reading back what was written gives the same record. */
int record_parse(struct arena *arena, struct text source, struct job_record *record,
                 struct error *error);
int record_format(const struct job_record *record, struct buffer *out, struct error *error);

/* Write it: `create` for a new job's directory, otherwise in place of the old one. */
int record_create(int job, const struct job_record *record, struct error *error);
int record_replace(int job, const struct job_record *record, struct error *error);

#endif
