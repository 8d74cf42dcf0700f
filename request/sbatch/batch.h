/* request/sbatch/batch.h - the lines of a script that are for Slurm or PBS
 *
 * Lines #SBATCH and #PBS count where sbatch and qsub read them: at the head of the script, before
 * its first command, and from the first column.  Where both are there the #SBATCH lines count.
 * What is not read is noted.
 */
#ifndef REQUEST_SBATCH_BATCH_H
#define REQUEST_SBATCH_BATCH_H

#include "request/sbatch/batch_options.h"

struct batch_system;

struct batch {
    const struct batch_system *system; /* whose lines are read; NULL: none */
    struct batch_options options;
    struct notes notes;
    size_t last;     /* the byte at which the last line for that system at the head begins */
    uint32_t unread; /* the first line for a system that nobody reads; 0: none */
    struct text word;
};

/* Find out whose lines the script has. */
void batch_start(struct batch *batch, struct reading *reading, struct text source);

/* Read a line of the head; false when it is for no such system. */
bool batch_line(struct batch *batch, struct text line, uint32_t number);

/* Note what stands after the first command: `rest` begins with the line `number`. */
void batch_rest(struct batch *batch, struct text rest, uint32_t number);

/* Write what was read as fields into `root`, which has those of the #DL lines. */
void batch_finish(struct batch *batch, struct value *root);

/* Give the notes and what the site decides to the job that was made of the fields. */
void batch_apply(struct batch *batch, struct description *job);

#endif
