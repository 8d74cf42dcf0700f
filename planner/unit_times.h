/* planner/unit_times.h - how long a unit takes: the windowed median, from repeated counts of units
 * done
 *
 * The input is moments: at this time, this many units were done.  Since a job is looked at only now
 * and then, a unit was done at some time since the previous look, so a moment has a doubt; units
 * that are short compared to the doubt are grouped into pieces that are not.  The result is the
 * median of the newest UNIT_PIECES pieces, which a straggler or a checkpoint in between does not
 * move.
 *
 * The first units after a start or a resize are slower than the following ones, and are left out.
 */
#ifndef PLANNER_UNIT_TIMES_H
#define PLANNER_UNIT_TIMES_H

#include <stdbool.h>

enum {
    UNIT_PIECES = 50,
    UNIT_PIECES_LEAST = 3 /* pieces that a median needs */
};

struct unit_piece {
    double seconds, units;
};

struct unit_times {
    double skip; /* units after the first moment that are left out */
    bool begun, counting;
    double first_done;                          /* when it began */
    double start_time, start_done, start_doubt; /* when counting began */
    double piece_time, piece_done, piece_doubt; /* when the incomplete piece began */
    double time, done;                          /* the last moment */
    struct unit_piece pieces[UNIT_PIECES];      /* a ring */
    int next, count;
};

struct unit_rate {
    double rate;   /* units per second; 0: not known yet */
    double spread; /* of a piece's time per unit, relative: 1.4826 MAD / median */
    int samples;   /* pieces */
};

/* Forget everything, and leave out the first `skip` units after the first moment. (Units before
 * that moment are left out in any case.) 0: units are few and long, so that a single one counts. */
void unit_times_start(struct unit_times *times, double skip);

/* Add a moment: at `time` (seconds), or up to `doubt` seconds before, `done` units were done.  An
 * unchanged number is no moment.  A smaller one (the job went back to a checkpoint) restarts the
 * measurement. */
void unit_times_add(struct unit_times *times, double time, double done, double doubt);

/* `now` matters because the rate falls when a unit has been overdue for long. */
struct unit_rate unit_times_rate(const struct unit_times *times, double now);

#endif
