/* archive/index.h - a line for each job of an archive, in the file *.index beside it
 *
 * Lines of `key=value` as in a job's log, each `archived`; docs/spool.md.  Everybody may read them, as
 * they have nothing that is not in job.yaml or log.
 */
#ifndef ARCHIVE_INDEX_H
#define ARCHIVE_INDEX_H

#include "spool/job_state.h"
#include "spool/record.h"

struct archived_job {
    int64_t archived; /* when */
    struct text id, name, owner;
    uid_t uid;
    struct text state; /* "done" or "failed" */
    int64_t accepted, queued, started, ended;
    int attempt, exit_code;    /* -1: no task decided */
    struct text reason, class; /* of failure */
    struct text retry;
    struct text why; /* the first sentence of the log */
    struct text node, library, type, version, queue, gpu_type, executor, image;
    int priority;
    int64_t cpus, memory, gpus;
    int64_t bytes;  /* of its files */
    int64_t offset; /* of the frame in the archive that everybody may read */
    struct text
        others; /* the archives for fewer people that have files of it: "group-1000:8899,private:0" */
};

/* Fill in what the job's directory tells; texts are in the arena or the record's.  `record` is NULL when job.yaml
 * cannot be read. */
void index_describe(int job, const struct job_place *place, const struct job_record *record,
                    struct arena *arena, struct archived_job *archived);

void index_format(const struct archived_job *job, struct buffer *out);
/* Cut the next job off `rest`; what is no such line is skipped.  False at the end. */
bool index_next(struct text *rest, struct arena *arena, struct archived_job *job);

/* The line that has this whole id, without reading others: false when there is none. */
bool index_find_id(struct text lines, struct text id, struct arena *arena,
                   struct archived_job *job);

/* Cut the next archive off job->others: its kind, "group-1000", and the offset. */
bool index_next_other(struct text *others, struct text *kind, int64_t *offset);

/* Add job->others to a line of index_format() that has none. */
void index_add_others(struct buffer *line, struct text others);

/* What tells one end of a job from another, after a retry by hand: returns `buffer`. */
enum { INDEX_END_SIZE = 128 };
const char *index_end_key(const struct archived_job *job, char buffer[static INDEX_END_SIZE]);

#endif
