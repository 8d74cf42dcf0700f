/* planner/predict.h - how long a job will take, from what is known of it and of those before it
 *
 * Pure, as all of planner/.  In the order in which they are believed: what the job itself shows while
 * it runs (units and their windowed median); runs of the past, at the finest level of similarity of which enough
 * have finished; and a pessimistic guess.  Quantiles are those of the logarithm: median, and median
 * absolute deviation times 1.4826 as its spread.  Runs of the past weigh half as much for each twenty
 * that came after them.
 *
 * Sizes are those of plans: GPUs in all, or thousandths of a CPU in all where there are none,
 * so that jobs whose sizes are counted in other things teach each other.
 *
 * A job that is not counted in units is counted in seconds at the size that its user asked for: its
 * rate there is 1.  They run from its start to its end, so starting up is part of them.
 */
#ifndef PLANNER_PREDICT_H
#define PLANNER_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "planner/state.h"

/* By what jobs are alike, the finest first. */
enum likeness {
    LIKE_ARGUMENTS,             /* template and its commit, image, arguments */
    LIKE_OLDER_TEMPLATE,        /* the same, of any commit */
    LIKE_IMAGE,                 /* template, image, user */
    LIKE_USER_TEMPLATE,
    LIKE_TEMPLATE,
    LIKE_USER,
    LIKE_ANY,
    LIKENESSES
};
const char *likeness_name(enum likeness likeness);      /* "the same arguments", ... for people */

struct predict_key {
    struct text template_path, commit, image, arguments, owner;
    struct text gpu_type;       /* rates are shared only by jobs that ask for the same, or for none */
};

/* A run of the past: a job, or the part of one that it was at one size. */
struct predict_run {
    struct predict_key key;
    bool gpus;                  /* what its size counts; rates are shared only by those alike in it */
    int size;
    bool finished;              /* with this run a job ended well */
    double total;               /* units of the whole job, if it is finished and counted; else 0 */
    double seconds;             /* of a finished job that is this run only; else 0 */
    double rate;                /* units per second; 0: not known */
    double start_up, restart, resize, tail;     /* seconds; negative: not known */
    double use;                 /* share of its CPUs that it used; negative: not known */
};

struct predict_past;            /* runs, by key */

/* The runs are copied, oldest first; predict_past_free() ends it. */
struct predict_past *predict_past_new(const struct predict_run *runs, size_t count);
void predict_past_free(struct predict_past *past);

enum { PREDICT_MOST_LEVELS = 24, PREDICT_MOST_PARTS = 24 };

/* What the job itself has shown at one size. */
struct predict_part {
    int size;
    double seconds;             /* that it ran there, and that count: without those that were lost */
    double rate;                /* units per second; 0: not known */
    double use;                 /* share of its CPUs that it used; negative: not known */
};

/* What is asked. */
struct predict_job {
    struct predict_key key;
    bool gpus;                  /* what sizes count */
    int sizes[PREDICT_MOST_LEVELS];     /* that it can have, ascending; at least one */
    size_t size_count;
    int wanted;                 /* the size that its user asked for */
    bool counted;               /* in units */
    double total;               /* units, as declared or as it says itself; 0: not known */
    double done;                /* units; not used of a job that is not counted */
    double limit;               /* seconds that an attempt may run at most; 0: none */
    double interval;            /* seconds between two checkpoints; 0: none, or when it is told to */
    /* Of one that runs, or ran: */
    int size;                   /* 0: it does not run */
    double elapsed;             /* seconds that it has run in this attempt */
    double rate, spread;        /* measured now; rate 0: not yet */
    int samples;                /* that the rate rests on */
    struct predict_part parts[PREDICT_MOST_PARTS];      /* in any order; one of a size or several */
    size_t part_count;
    double start_up, restart;   /* seconds, its own; negative: not known */
};

struct prediction {
    bool known;                 /* otherwise there is nothing but a guess, on the safe side */
    bool live;                  /* it rests on what the job itself shows */
    enum likeness likeness;     /* of the runs that it rests on, if it does not */
    size_t runs;                /* how many they are */
    double left, left_late;     /* units: median, and the quantile 0.8; more than 0 */
    struct plan_level levels[PREDICT_MOST_LEVELS];      /* for struct plan_job; only those at which it
                                                           is faster; at least one */
    size_t level_count;
    double start_up;            /* seconds from its start to its first unit */
    double restart;             /* seconds that stopping and starting again cost, with what is done
                                   again since the last checkpoint */
    double resize;              /* seconds that another size costs where it is had in place */
};

/* `past` NULL: there is none. */
void predict(const struct predict_past *past, const struct predict_job *job,
             struct prediction *prediction);

/* Seconds that are left at the largest level of at most that size, start or restart not included;
 * `late`: at the quantile 0.8. */
double prediction_seconds(const struct prediction *prediction, int size, bool late);

#endif
