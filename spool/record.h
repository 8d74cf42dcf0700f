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
    struct text
        capacity; /* RETRY_CHANGE, asked for too much: what there was (stages/shared/growth.h) */
};

/* A job that this one waits for, under a condition. */
struct awaited {
    struct text condition; /* "afterok", "afterany" or "afternotok" */
    struct text job;       /* its name or its id, as the user wrote it */
    struct text id;        /* which job that is; empty: not known yet */
};

struct job_record {
    struct text id, name, owner;
    struct text home; /* the owner's home directory; empty: none that a task could have */
    uid_t uid;
    gid_t gid;
    int64_t accepted;         /* when the file was taken out of incoming/ */
    struct text source;       /* the dropped file's name */
    struct text request_file; /* "request.yaml", "request.json" or "request.sh" */
    struct text request_sha256;
    struct text library, version, type;
    struct text library_version; /* that the chosen image has; empty: it cannot be told */
    int priority, retries;
    int retried;          /* of the retries, how many are used up */
    int64_t backoff;      /* the last back-off, milliseconds; 0 before the first */
    int64_t time_limit;   /* milliseconds; 0: none */
    int64_t cpus, memory; /* of all tasks together: thousandths, bytes */
    int gpus;
    struct text executor;
    struct text commit, template_path;
    struct text image;
    int image_line; /* of images.txt; 0: the user's own choice */
    struct text manifest_sha256;
    struct text array;        /* of a job of the type array: the indexes that this attempt runs,
                                   in the order of its tasks: 0-99 */
    struct text array_left;   /* ... of which so many had not succeeded when it failed */
    struct text array_killed; /* ... of which somebody has ended these */
    struct text
        array_aside; /* those of earlier attempts that did not succeed and do not run again in
                                   this one: they were killed, or are not among those to be retried */
    struct text array_held; /* ... and those that wait until somebody releases them */
    int attempt;            /* from 1; 0 before the first rendering */
    struct text dlspool;    /* the version that wrote this */
    struct awaited *after;  /* in the order of the job file */
    size_t after_count;
    int64_t released;          /* when all of `after` held; 0: the job has to wait for it */
    int64_t held;              /* when it last came to held/; 0: never */
    int64_t deadline;          /* when the job is to be done; 0: it has no deadline */
    struct text deadline_mode; /* "count", "firm" or "none"; empty without a deadline */
    double weight;             /* of the deadline; 0 is 1 */
    double units_total;        /* how its progress is counted; 0: the job says it itself, or not */
    struct text units_file, units_pattern; /* at most one; empty: it is not counted */
    struct sizes sizes;                    /* that it can have */
    /* Each of these is 0 or from sizes.least to sizes.most, or the record is damaged. */
    int64_t size;                  /* that its manifest is rendered at; 0: SIZE_FIXED */
    int64_t size_asked;            /* that its user asked for; 0: SIZE_FIXED */
    int64_t size_now;              /* that it was given since, while it runs; 0: none */
    int64_t size_next;             /* that it is to be rendered at next; 0: as it is */
    int resizes;                   /* how often its size was changed, or it was stopped for that */
    int64_t resized;               /* when last; 0: never */
    struct text checkpoint_signal; /* "TERM", "USR1", ...; empty: it cannot be stopped */
    int64_t checkpoint_grace, checkpoint_interval; /* milliseconds; interval 0: only on signal */
    struct text gpu_type;                          /* that was asked for */
    struct text queue;            /* of the scheduler, that was asked for; may be empty */
    struct text arguments_sha256; /* of what decides how much there is to do: program, entry,
                                           arguments, script, dataset, environment */
    bool failed;                  /* the job is in failed/, and `failure` says why */
    struct failure failure;
    int64_t change_since; /* RETRY_CHANGE: when the wait for a change began, which being refused
                                   again after one does not restart; 0: it does not wait for one */
};

/* Read job.yaml of the job directory `job` into `record`, whose texts live in the arena.  -1 and a
 * sentence when it is missing or damaged, which file_is_damaged() of errno says, or when it could
 * not be read just now. */
int record_read(int job, struct arena *arena, struct job_record *record, struct error *error);

/* The same from the bytes of a job.yaml, and the other way: append it as job.yaml has it.  What was
 * written reads back as the same. */
int record_parse(struct arena *arena, struct text source, struct job_record *record,
                 struct error *error);
int record_format(const struct job_record *record, struct buffer *out, struct error *error);

/* Write it: `create` for a new job's directory, otherwise in place of the old one. */
int record_create(int job, const struct job_record *record, struct error *error);
int record_replace(int job, const struct job_record *record, struct error *error);

#endif
