/* renderer/samples.h - sample jobs, which show whether a template renders
 *
 * The samples of a job type differ in roles, in what runs, and in the optional parts of a job: any
 * three of these options occur in all their combinations.
 */
#ifndef RENDERER_SAMPLES_H
#define RENDERER_SAMPLES_H

#include "base/value.h"

struct sample {
    const struct value *job; /* `job` of the context */
    struct text image;
    const char *description; /* "a script, a dataset, 2 tasks" */
};

/* How many samples a job type has. */
size_t samples_count(const char *type);

/* Build sample `number` (from 0) of a job type for a library.  All of it lies in the arena. */
struct sample samples_build(struct arena *arena, const char *library, const char *type,
                            size_t number);

#endif
