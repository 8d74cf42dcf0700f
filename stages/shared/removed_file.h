/* stages/shared/removed_file.h - DIR/removed: jobs whose directories somebody removed, and which were
 * ended for that
 *
 * The track stage adds a line when nothing of such a job is left at the executor, so that `dlspool
 * status` can report it later.  The last REMOVED_KEPT lines are kept; they are not synced, since
 * the service's log has them, too.  Lines of `key=value` as in a job's log; docs/spool.md.
 */
#ifndef STAGES_SHARED_REMOVED_FILE_H
#define STAGES_SHARED_REMOVED_FILE_H

#include "spool/spool.h"

enum { REMOVED_KEPT = 100 };

struct removed_job {
    char id[ID_SIZE];
    int attempt;
    int64_t time; /* of day */
};

/* -1 and a sentence. */
int removed_file_note(const struct spool *spool, const struct removed_job *job,
                      struct error *error);

/* The lines since `since`, oldest first; returns their number, at most REMOVED_KEPT. */
size_t removed_file_read(const struct spool *spool, int64_t since,
                         struct removed_job jobs[static REMOVED_KEPT]);

#endif
