/* executors/slurm/manifest.h - what a template sends to the Slurm executor
 *
 * manifest.yaml is one YAML document.  Fields marked * must be there.
 *
 *   kind*        dlspool/slurm/v1
 *   job          properties of the whole job, by slurmrestd's names; slurm_properties[] lists them.
 *                time_limit and time_minimum are minutes
 *   array        {count*: N, at_once: K}: a job array with the indexes 0 to N - 1, of which at most K
 *                run at once (default: all).  Then there is one component, of one task
 *   components*  list of 1 to 128 components, one allocation each, in the order of ranks; more than
 *                one make a heterogeneous job
 *     tasks*           whole number, from 1
 *     cpus_per_task*   whole number, from 1
 *     memory_per_task* bytes, or a string such as "2Gi"
 *     gpus_per_task    whole number, default 0
 *     gpu_type         Slurm's name for the type of these GPUs; needs gpus_per_task
 *     nodes            the minimum number of nodes; a whole number, default 1
 *     properties       properties of this component, which override those of `job`
 *   tasks*       list of {role*, count*, beside}, in the order of ranks: who task number N is.  The
 *                tasks of the components are these, one after the other; of an array, its elements
 *                are.  beside: true: tasks of this role have no room of their own: the batch script
 *                starts them beside the others
 *   complete     when the job has ended, by role: {worker: {failed: 1, succeeded: 2}}; see
 *                executors/completion.h
 *   environment  object of strings: of the batch script, from which tasks inherit
 *   listens      true: others than the job's tasks connect to them, and the script says where in
 *                ROLE-INDEX.address
 *   script*      the batch script; starts with #! and has at most 4194303 bytes, which is
 *                slurmctld's default limit
 *
 * The executor adds to the environment: DLSPOOL_DIRECTORY, an absolute path of a directory for this job
 * and attempt that the job's user can write and that all nodes see; DLSPOOL_ID; DLSPOOL_ATTEMPT.  The
 * script promises to keep there (docs/slurm.md):
 *
 *   ROLE-INDEX.log     what the task prints; of an array, the index is that of the element
 *   ROLE-INDEX.ended   the task's exit code, in decimal digits and a newline: 0 to 255, or 128 plus
 *                      the number of a signal.  Behind it there may be a blank and a reason that is
 *                      not the program's: LaunchFailed, NodeRefused, NodeLost or OOMKilled.  Written
 *                      under another name and renamed
 *   ROLE.image         the image that the role's tasks run in, as in task_state.image, and a
 *                      newline; where it is known
 *   ROLE-INDEX.address  of a task that listens for others, where: a host, a colon, a port and a newline
 *   ended              the same of the whole script; of an element of an array ended-INDEX
 *   started            the job's id and the node's name, in two words and a newline; of an element
 *                      started-INDEX.  It is made once: only the run that made it starts the user's
 *                      program; any other run, even of the same id, ends as that one does, or with
 *                      193 NodeLost when that one is dead
 *   alive              changes every ten seconds while the script runs; of an element alive-INDEX
 *   timed-out          exists when the script ended its tasks because the job's time_limit was
 *                      reached; of an element timed-out-INDEX
 *
 * An unknown field, a missing one, or one of another type is an error that gives file, line, field, what
 * was found and what was expected.
 */
#ifndef EXECUTORS_SLURM_MANIFEST_H
#define EXECUTORS_SLURM_MANIFEST_H

#include <stdint.h>

#include "base/error.h"
#include "base/value.h"

enum slurm_property_kind {
    SLURM_TEXT,   /* VALUE_STRING, not empty */
    SLURM_WHOLE,  /* VALUE_NUMBER, whole */
    SLURM_BOOLEAN /* VALUE_BOOLEAN */
};

/* What a manifest may say about a job.  The executor itself sets the job's user, name and output
 * files. */
struct slurm_property_rule {
    const char *name;
    enum slurm_property_kind kind;
    int64_t least, most; /* of SLURM_WHOLE */
    bool component;      /* a component may have its own */
};

extern const struct slurm_property_rule slurm_properties[]; /* ends with a NULL name */

struct slurm_property {
    const struct slurm_property_rule *rule;
    const struct value *value; /* of rule->kind */
};

struct slurm_property_list {
    struct slurm_property *items;
    size_t count;
};

struct slurm_component {
    int tasks, cpus_per_task;
    int64_t memory_per_task; /* bytes */
    int gpus_per_task;
    struct text gpu_type; /* empty: any */
    int nodes;            /* 0: not given */
    struct slurm_property_list properties;
};

struct slurm_tasks {
    struct text role;
    int count;
    bool beside;
};

struct slurm_manifest {
    struct slurm_property_list job;
    int array_count;   /* 0: no array */
    int array_at_once; /* 0: all */
    struct slurm_component *components;
    size_t component_count;
    struct slurm_tasks *tasks;
    size_t tasks_count;        /* roles */
    int task_total;            /* tasks of all roles */
    struct value *complete;    /* NULL: nothing special */
    struct value *environment; /* object of strings; may be NULL */
    bool listens;
    struct text script;
};

/* All in the arena.  NULL and a sentence on failure. */
struct slurm_manifest *slurm_manifest_read(struct arena *arena, struct text source,
                                           struct error *error);
/* The same for one that was read already, with yaml_trusted_limits; it shares the tree. */
struct slurm_manifest *slurm_manifest_of(struct arena *arena, struct value *document,
                                         struct error *error);

/* The property of that name, or NULL. */
const struct value *slurm_manifest_property(const struct slurm_property_list *list,
                                            const char *name);
/* Does the job ask Slurm to put it back into the queue when its node fails? */
bool slurm_manifest_may_requeue(const struct slurm_manifest *manifest);

#endif
