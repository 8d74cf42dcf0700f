/* stages/prune/inside.h - what the files of the prune stage share */
#ifndef STAGES_PRUNE_INSIDE_H
#define STAGES_PRUNE_INSIDE_H

#include "archive/parts.h"
#include "base/names.h"
#include "stages/prune/prune.h"
#include "stages/prune/waited.h"

enum { SLICE_JOBS = 16384 };
static const int64_t slice_bytes = (int64_t)1
                                   << 30; /* of files; the job that exceeds it is the last */

/* A job that is to go. */
struct ending {
    struct job_place place;
    char day[11];         /* of its end: which archive it goes to */
    enum prune_rule rule; /* PRUNE_OUTPUT: only its output goes */
    int64_t bytes;        /* as the file system counts them */
    int64_t spared;       /* until when it stays where only other users' jobs wait for it */
};

struct pruner {
    struct stage stage;
    bool dry;
    int64_t now, next; /* time of day; when the next pass is due, of clock_elapsed() */
    struct arena *arena;
    struct waited *waited;
    int archive, removed; /* directories: history/archive/, and .removed in it */
    struct ending *slice;
    size_t count;
    int64_t slice_size; /* bytes */
    struct prune_report report;
    bool failed; /* a slice could not be finished: the pass ends */
};

/* pass.c: a whole pass.  -1 and a sentence when it could not begin. */
int prune_pass_make(struct pruner *pruner, struct error *error);

/* slice.c */
/* May the pass go on?  Shows that the process lives; call it every so many jobs. */
bool prune_slice_goes_on(struct pruner *pruner);
/* Does it stay, as jobs wait for it? */
bool prune_slice_is_waited_for(struct pruner *pruner, const struct ending *ending);
/* Add a job to the slice, which goes when it is full.  False when the pass is to end. */
bool prune_slice_add(struct pruner *pruner, const struct ending *ending);
/* Archive, if need be, and remove what is in the slice.  False when the pass is to end. */
bool prune_slice_flush(struct pruner *pruner);

/* remove.c */
/* Has somebody asked for something to be done with the failed job, or can that not be known?  A hold is for one that
 * comes back, and one that was dropped to be held and was refused has it, too: it keeps none. */
bool prune_remove_must_wait(int job);
/* Open the directories, and finish what a crash has left.  -1 and a sentence. */
int prune_remove_leftovers(struct pruner *pruner, struct error *error);
/* Remove an archived job; of one of failed/ only if nobody has asked for it meanwhile.  Counts it. */
void prune_remove_job(struct pruner *pruner, const struct ending *ending);
/* Remove the output of these jobs, whose logs say so first. */
int prune_remove_outputs(struct pruner *pruner, const struct ending *endings, size_t count,
                         struct error *error);

/* write.c: write the archives and the index of these jobs, which all ended on one day, under hidden names.
 * `written->number` is 0 when all are archived already.  `kept[i]` is set for a job that could not be read and
 * so stays. */
int prune_write_part(struct pruner *pruner, const struct ending *endings, size_t count,
                     struct part *written, bool *kept, struct error *error);
/* Put a part's files into place, the index last.  Not synced.  -1 and a sentence. */
int prune_write_publish(struct pruner *pruner, const struct part *part, struct error *error);

/* measure.c: bytes of the files in a job's directory, as the file system counts them.  `output`: of output/ and
 * output-N/ only.  0 when it is gone. */
int64_t prune_measure_job(int job, bool output);

#endif
