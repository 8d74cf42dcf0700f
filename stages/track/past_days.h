/* stages/track/past_days.h - has the jobs of past days of done/ in files by name, for commands
 *
 * A day's file is written once nothing ends there any more, and again when jobs have left it; one day at a time, with a
 * rest, so that jobs that run do not wait for it (spool/day_names_file.h).
 */
#ifndef STAGES_TRACK_PAST_DAYS_H
#define STAGES_TRACK_PAST_DAYS_H

#include "stages/stage.h"

struct past_days {
    int64_t next;    /* when it looks next, by clock_elapsed(); 0: a while after the first call */
    char looked[16]; /* the oldest day of this look that was dealt with; "": none yet */
};

/* Look at the next days, and write at most one file.  Returns when it is due again. */
int64_t past_days_tend(struct past_days *past, struct stage *stage);

#endif
