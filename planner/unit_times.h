/* planner/unit_times.h - how long a unit takes: the windowed median, from looks at how many are done
 *
 * The input is moments: at this time, this many were done.  A job that is looked at now and then has done
 * its unit at some time since the look before, so a moment has a doubt; and units that are short
 * against it are taken together until their time is not.  Of these pieces the newest UNIT_PIECES
 * count, by their median, which a straggler or a checkpoint in between does not move.
 *
 * What comes first after a start or a change of size is slower than what follows, and is left out.
 */
#ifndef PLANNER_UNIT_TIMES_H
#define PLANNER_UNIT_TIMES_H

#include <stdbool.h>

enum {
    UNIT_PIECES = 50,
    UNIT_PIECES_LEAST = 3 /* that a median needs */
};

struct unit_piece {
    double seconds, units;
};

struct unit_times {
    double skip; /* units after the first moment that are left out */
    bool begun, counting;
    double first_done;                          /* when it began */
    double start_time, start_done, start_doubt; /* when it began to count */
    double piece_time, piece_done, piece_doubt; /* when the piece that is not complete began */
    double time, done;                          /* the last moment */
    struct unit_piece pieces[UNIT_PIECES];      /* a ring */
    int next, count;
};

struct unit_rate {
    double rate;   /* units per second; 0: not known yet */
    double spread; /* of a piece's time per unit, relative: 1.4826 MAD / median */
    int samples;   /* pieces */
};

/* Forget all; leave out the first `skip` units after the first moment.  (What was before that moment
 * is left out in any case.)  0: units are few and long, so that one says something. */
void unit_times_start(struct unit_times *times, double skip);

/* At `time` (seconds), or up to `doubt` seconds before, `done` units were done.  The same number as
 * before is no moment.  A smaller one (the job went back to a checkpoint) starts again. */
void unit_times_add(struct unit_times *times, double time, double done, double doubt);

/* `now`: when a unit has been overdue for long, the rate falls. */
struct unit_rate unit_times_rate(const struct unit_times *times, double now);

#endif
