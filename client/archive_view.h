/* client/archive_view.h - a job as commands and pages show it, from the line that the index of an archive has of it */
#ifndef CLIENT_ARCHIVE_VIEW_H
#define CLIENT_ARCHIVE_VIEW_H

#include "archive/index.h"
#include "archive/parts.h"
#include "client/view.h"

/* A view of a line of the part's index, for a list: of a job that is readable, with what the line tells.  Texts
 * are in the arena or the line's. */
void archive_view(const struct part *part, const struct archived_job *job, struct arena *arena,
                  struct job_view *view);

#endif
