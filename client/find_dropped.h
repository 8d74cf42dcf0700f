/* client/find_dropped.h - finds the job that a dropped file has become */
#ifndef CLIENT_FIND_DROPPED_H
#define CLIENT_FIND_DROPPED_H

#include "client/view.h"

struct dropped {
    const char *source; /* the name of the file in incoming/ */
    int64_t
        since; /* jobs that are older are not looked at; clocks of hosts differ by up to a minute */
};

/* Look once, and read the job.  False: there is none yet. */
bool find_dropped(const struct spool *spool, const struct dropped *dropped, struct arena *arena,
                  struct job_view *view);

#endif
