/* spool/name_index.h - the jobs of all directories by name, read once for many words
 *
 * A name on a control file may be that of any job, so finding it means reading the directories.  A batch of
 * control files reads them once.  Of done/ the files of names are searched (spool/day_names.h), once for each name,
 * until a batch has so many names that reading the whole of it is cheaper.  Jobs may move afterwards; each is then
 * looked for by its id.  What comes afterwards is not found before the index is emptied.  24 bytes of memory for a
 * job.
 */
#ifndef SPOOL_NAME_INDEX_H
#define SPOOL_NAME_INDEX_H

#include "spool/jobs.h"

struct name_index;

/* It is empty; the spool must outlive it. */
struct name_index *name_index_new(const struct spool *spool);
void name_index_free(struct name_index *index); /* NULL is fine */

/* What is in it is too old: the next look reads the directories. */
void name_index_clear(struct name_index *index);

/* Visit the jobs whose ids are `name`, a hyphen and a token, in no order: each where it was when the directories were
 * read.  Some are met twice, and some may never have been.  As jobs_walk(), but -1 with a sentence. */
int name_index_visit(struct name_index *index, struct text name, job_visit *visit, void *context,
                     struct error *error);

#endif
