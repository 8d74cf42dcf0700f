/* stages/submit/opened.h - jobs that stay open from where they are found to where they are handed over
 *
 * A job that has come to rendered/ is opened, and its record read, to know where it belongs in the queue.  Mostly it is
 * handed over a moment later: then neither is done again.  Only this stage moves jobs of rendered/ and writes their
 * records; one that it is going to change is forgotten here, and all are after a moment or the next batch.
 */
#ifndef STAGES_SUBMIT_OPENED_H
#define STAGES_SUBMIT_OPENED_H

#include "base/arena.h"
#include "spool/record.h"

struct opened;

struct opened *opened_new(size_t most);
void opened_free(struct opened *opened); /* NULL is fine */

/* Where the record of the next job is to be read to, whose texts last until opened_clear(); NULL: no more are kept. */
struct arena *opened_arena(const struct opened *opened);
/* The job's directory is this module's from now on. */
void opened_keep(struct opened *opened, const char *id, int job, const struct job_record *record);
/* The job's directory, which is the caller's from now on, and its record; -1 when it is not open. */
int opened_take(struct opened *opened, const char *id, struct job_record *record);
void opened_forget(struct opened *opened, const char *id);
void opened_clear(struct opened *opened);

#endif
