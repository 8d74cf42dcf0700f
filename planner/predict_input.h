/* planner/predict_input.h - what predictions are made from: runs of the past, and what is known of
 * a job */
#ifndef PLANNER_PREDICT_INPUT_H
#define PLANNER_PREDICT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* By what jobs are alike, the finest first. */
enum similarity {
    SIMILAR_ARGUMENTS,      /* template and its commit, image, arguments */
    SIMILAR_OLDER_TEMPLATE, /* the same, of any commit */
    SIMILAR_IMAGE,          /* template, image, user */
    SIMILAR_USER_TEMPLATE,
    SIMILAR_TEMPLATE,
    SIMILAR_USER,
    SIMILAR_ANY,
    LIKENESSES
};

struct predict_key {
    struct text template_path, commit, image, arguments, owner;
    struct text gpu_type; /* rates are shared only by jobs that ask for the same, or for none */
};

/* A run of the past: a job, or the part of one that it was at one size. */
struct predict_run {
    struct predict_key key;
    bool gpus; /* what its size counts; rates are shared only by those alike in it */
    int size;
    bool finished;  /* with this run a job ended well */
    double total;   /* units of the whole job, if it is finished and counted; else 0 */
    double seconds; /* of a finished job that is this run only; else 0 */
    double rate;    /* units per second; 0: not known */
    double start_up, restart, resize, tail; /* seconds; negative: not known */
    double use; /* share of its CPUs that it used; negative: not known */
};

struct predict_past; /* runs, by key */

/* The runs are copied, oldest first; predict_past_free() ends it. */
struct predict_past *predict_past_new(const struct predict_run *runs, size_t count);
void predict_past_free(struct predict_past *past);

enum { PREDICT_MOST_LEVELS = 24, PREDICT_MOST_PARTS = 24 };

/* What the job itself has shown at one size. */
struct predict_part {
    int size;
    double seconds; /* that it ran there, and that count: without those that were lost */
    double rate;    /* units per second; 0: not known */
    double use;     /* share of its CPUs that it used; negative: not known */
};

/* What is asked. */
struct predict_job {
    struct predict_key key;
    bool gpus;                      /* what sizes count */
    int sizes[PREDICT_MOST_LEVELS]; /* that it can have, ascending; at least one */
    size_t size_count;
    int wanted;      /* the size that its user asked for */
    bool counted;    /* in units */
    double total;    /* units, as declared or as it says itself; 0: not known */
    double done;     /* units; not used of a job that is not counted */
    double limit;    /* seconds that an attempt may run at most; 0: none */
    double interval; /* seconds between two checkpoints; 0: none, or when it is told to */
    /* Of one that runs, or ran: */
    int size;                                      /* 0: it does not run */
    double elapsed;                                /* seconds that it has run in this attempt */
    double rate, spread;                           /* measured now; rate 0: not yet */
    int samples;                                   /* that the rate rests on */
    struct predict_part parts[PREDICT_MOST_PARTS]; /* in any order; one of a size or several */
    size_t part_count;
    double start_up, restart; /* seconds, its own; negative: not known */
};

#endif
