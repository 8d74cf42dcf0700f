/* executors/resources.h - what this machine has for jobs, and how much of it is free
 *
 * Tasks are counted by what they request, not by what they use.  Pure: knows nothing of podman.
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
    const struct text *gpu_types; /* one for each GPU, empty when unknown; NULL: all unknown */
};

enum { GPU_TYPE_SIZE = 64 }; /* bytes, with the final zero; longer ones are truncated */

/* An amount of everything. */
struct demand {
    int64_t cpus, memory;
    int gpus;
    char gpu_type[GPU_TYPE_SIZE]; /* of these GPUs; "": any */
};

/* A demand for GPUs of that type, which is copied. */
struct demand resources_demand(int64_t cpus, int64_t memory, int gpus, struct text gpu_type);

/* Append a type to a comma-separated list, unless it is empty or already there. */
void resources_add_gpu_type(struct buffer *types, const char *type);

/* What is free on a machine.  Negative where more is taken than exists, because the settings were
 * changed while jobs ran. */
struct free_resources {
    const struct machine *machine;
    int64_t cpus, memory;
    struct text gpu_type; /* only GPUs of this type are counted and given; empty: all */
    int gpus;             /* free ones of that type */
    bool *gpu_taken;      /* for each of the machine's GPUs; in the arena */
    struct text
        gpus_wanted;      /* comma-separated types that other jobs wait for, the most urgent first:
                                   resources_assign_gpus() takes GPUs of these types last */
    const char *withheld; /* why a GPU is withheld from all jobs, or NULL */
};

/* Start with the whole machine free. */
void resources_all_free(struct free_resources *available, struct arena *arena,
                        const struct machine *machine);

/* From now on count and give only GPUs of that type; empty: all. */
void resources_want_gpu_type(struct free_resources *available, struct text gpu_type);

/* The number of GPUs of that type (empty: of any), taken or free. */
size_t resources_count_gpus(const struct machine *machine, struct text gpu_type);

/* Take what a task has, or give it back.  `gpus` are its GPUs, comma-separated; those that the
 * machine does not have (any more) are ignored. */
void resources_take(struct free_resources *available, struct demand demand, struct text gpus);
void resources_give_back(struct free_resources *available, struct demand demand, struct text gpus);

/* Take a GPU that is missing from the machine, by its index, away from all jobs.  `why` is a
 * sentence that lives as long as `available`. */
void resources_withhold_gpu(struct free_resources *available, size_t gpu, const char *why);

/* Choose `count` free GPUs, take them, and return their names, comma-separated, in the arena.  The
 * caller has made sure that as many are free. */
struct text resources_assign_gpus(struct free_resources *available, struct arena *arena, int count);

/* 0 when the whole machine is large enough for the demand; otherwise -1 and a sentence that names
 * every resource that is too small. */
int resources_fit_ever(const struct machine *machine, struct demand demand, struct error *error);

/* 0 when the demand fits into what is free now; otherwise -1 and such a sentence. */
int resources_fit_now(const struct free_resources *available, struct demand demand,
                      struct error *error);

#endif
