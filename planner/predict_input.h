/* planner/predict_input.h - the input of predictions: past runs, and what is known about a job */
#ifndef PLANNER_PREDICT_INPUT_H
#define PLANNER_PREDICT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* The levels of similarity between jobs, the finest first. */
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
    /* rates are shared only between jobs that request the same type, or none */
    struct text gpu_type;
};

/* A past run: a job, or the part of a job that ran at one size. */
struct predict_run {
    struct predict_key key;
    bool gpus; /* what its size counts; rates are shared only between runs that count the same */
    int size;
    bool finished;  /* a job succeeded with this run */
    double total;   /* units of the whole job, if it has finished and declares units; else 0 */
    double seconds; /* of a finished job that consists of this run only; else 0 */
    double rate;    /* units per second; 0: not known */
    double start_up, restart, resize, tail; /* seconds; negative: not known */
    double use; /* share of its CPUs that it used; negative: not known */
};

struct predict_past; /* runs, by key */

/* The runs are copied, oldest first; predict_past_free() ends it. */
struct predict_past *predict_past_new(const struct predict_run *runs, size_t count);
void predict_past_free(struct predict_past *past);

enum { PREDICT_MOST_LEVELS = 24, PREDICT_MOST_PARTS = 24 };

/* The job's own measurements at one size. */
struct predict_part {
    int size;
    double seconds; /* that it ran at this size and that count, without those that were lost */
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
    double total;    /* units, as declared or as the job reports; 0: not known */
    double done;     /* units; not used for a job without units */
    double limit;    /* time limit of an attempt in seconds; 0: none */
    double interval; /* seconds between two checkpoints; 0: none, or only when told to */
    /* For a job that runs, or ran: */
    int size;                                      /* 0: it does not run */
    double elapsed;                                /* seconds that it has run in this attempt */
    double rate, spread;                           /* measured now; rate 0: not yet */
    int samples;                                   /* that the rate is based on */
    struct predict_part parts[PREDICT_MOST_PARTS]; /* in any order; one or several for a size */
    size_t part_count;
    double start_up, restart; /* seconds, its own; negative: not known */
};

#endif
