/* executors/resources.h - what this machine has for jobs, and what they have taken
 *
 * Counting is by what tasks asked for, not by what they use.  Pure: knows nothing of podman.
 */
#ifndef EXECUTORS_RESOURCES_H
#define EXECUTORS_RESOURCES_H

#include "base/error.h"
#include "base/value.h"

/* What a machine has; all of it is shared with the caller. */
struct machine {
    int64_t cpus;            /* thousandths */
    int64_t memory;          /* bytes */
    const struct text *gpus; /* device names */
    size_t gpu_count;
    const struct text *gpu_types; /* of each; one that is empty is not told.  NULL: none is */
};

enum { GPU_TYPE_SIZE = 64 }; /* bytes, with the final zero; longer ones are cut off */

/* An amount of everything. */
struct demand {
    int64_t cpus, memory;
    int gpus;
    char gpu_type[GPU_TYPE_SIZE]; /* of these GPUs; "": any */
};

/* An amount with GPUs of that type; it is copied. */
struct demand demand_typed(int64_t cpus, int64_t memory, int gpus, struct text gpu_type);

/* Add a type to a list with commas between them, unless it is there or is "". */
void gpu_types_add(struct buffer *types, const char *type);

/* What is left of a machine.  Below zero where more is taken than there is (the settings were
 * changed while jobs ran). */
struct free_resources {
    const struct machine *machine;
    int64_t cpus, memory;
    struct text gpu_type; /* that is wanted: the others count for nothing; empty: any */
    int gpus;             /* of those */
    bool *gpu_taken;      /* one for each of the machine's; in the arena */
    struct text
        gpus_wanted;      /* types, with commas between them, that others wait for, the most urgent
                                   first: resources_assign() gives their GPUs last */
    const char *withheld; /* why a device is not given to anybody, or NULL */
};

void resources_empty(struct free_resources *available, struct arena *arena,
                     const struct machine *machine);

/* From now on only GPUs of that type are counted and given; empty: all are. */
void resources_want(struct free_resources *available, struct text gpu_type);

/* How many GPUs of the type there are, taken or not; of an empty one: all. */
size_t machine_gpus_of(const struct machine *machine, struct text gpu_type);

/* Take away, or give back, what a task has.  `gpus` names its devices with commas between them;
 * those that the machine does not have (any more) are not counted. */
void resources_take(struct free_resources *available, struct demand demand, struct text gpus);
void resources_give(struct free_resources *available, struct demand demand, struct text gpus);

/* Take the device of that index away, as it is not there.  `why` is a sentence that lives as long as the
 * room. */
void resources_withhold(struct free_resources *available, size_t gpu, const char *why);

/* Choose `count` free devices, take them, and return their names with commas between them, in the
 * arena.  There must be as many. */
struct text resources_assign(struct free_resources *available, struct arena *arena, int count);

/* 0 when the machine is large enough for the demand; else -1 and a sentence that names every
 * resource that is short. */
int resources_fits_ever(const struct machine *machine, struct demand demand, struct error *error);

/* 0 when there is room now; else -1 and such a sentence. */
int resources_fits_now(const struct free_resources *available, struct demand demand,
                       struct error *error);

#endif
