/* renderer/context.h - what a template can read: the context of every rendering
 *
 * The context is an object of three members: `job`, `image` (a string: the image's name) and `site`
 * (the tree of site.yaml).  Functions come from functions.h.  Every member named here always
 * exists, so a template may write `job.dataset` without a check; a member that was not given is
 * null.
 *
 * job:
 *   id            string   the job's id
 *   attempt       number   how often it is being tried, from 1
 *   token         string   <id>-a<attempt>: how its objects at the scheduler are called
 *   name          string   as the user wrote it
 *   owner         string   user name;  uid, gid: numbers
 *   home          string or null    the owner's home directory, by its path on dlspool's machine
 *   library, version, type
 *                 strings  version may be ""
 *   program       string or null    absolute path of a directory, or of a file when entry is null
 *   entry         string or null    entry point below program
 *   args          list of strings   perhaps empty
 *   script        string or null    the program inline; then program and entry are null
 *   dataset, output
 *                 string or null    absolute paths
 *   env           object of strings, in the order given
 *   gpu_type      string or null
 *   features      list of strings   that nodes must have, as the site names them; perhaps empty
 *   spread        string or null    "require": each task on a node of its own; "prefer": where there is room
 *   exclusive     boolean           no other job may be on its nodes
 *   host_network  boolean  a privilege of the job gives it the network of its machines
 *   priority      number
 *   time_limit    number or null    seconds of running
 *   checkpoint    object or null    of a job that saves its state when it is told to: signal, such as
 *                                   "USR1", and grace, the seconds that it needs for that
 *   signal        object or null    of a job with a time_limit that is sent a signal before it: name,
 *                                   such as "USR1", and at, the seconds of running after which
 *   queue         string or null    of the scheduler; a DNS label
 *   debug         number or null    seconds for which the scheduler's objects are kept at the end
 *   complete      object or null    of roles: {failed: N, succeeded: N}, as the user wrote it
 *   array         object or null    of a job of the type array, whose tasks this attempt runs:
 *     count       number   tasks
 *     total       number   tasks of the whole array; a later attempt runs only those that failed
 *     least, greatest  numbers  of the whole array's indexes
 *     at_once     number   of them at most, as many may run at once; at most count
 *     indexes     list of numbers     by rank, ascending
 *     contiguous  boolean  indexes are 0, 1, ... count - 1
 *     choices     list of objects     name, values (list of strings), stride: the task of the index i
 *                 has values[(i / stride) % len(values)]; perhaps empty
 *   size          object or null    of a job of the type elastic: min, max: numbers of tasks, with
 *                 which its one role can work
 *   port          number   a port for the job's own use, 15000 to 31999, the same for the same id;
 *                          the ones that follow are the job's too, one for each task
 *   task_count    number   of all roles
 *   tasks         list of every single task in order:
 *     role        string
 *     index       number   within its role, from 0
 *     count       number   tasks of its role
 *     rank        number   within the job, from 0
 *     cpus        number   processors, such as 0.5
 *     cpus_most   number or null    of a job the processors of which can be changed while it runs:
 *                          the most that it may be given
 *     memory      number   bytes
 *     shm         number or null    bytes of /dev/shm
 *     gpus        number
 *     command     list of strings, or null
 *     env         object of strings: job.env with the role's own laid over it
 *     name        string   the role as the user wrote it, for other platforms' sake
 *     storage     number or null    bytes of the machine's disk
 *     image       string or null    its own; null: the job's
 *     script      string or null    the role's own program inline, which starts with #!
 *     secret      boolean  the script holds what nobody else may read
 *     ports       object   label: list of the task's own port numbers (renderer/ports.h)
 *     array       object or null    of a job of the type array: index (number), values (object of
 *                          strings: this task's choice of each name)
 *   roles         list of objects: role, count, first (the rank of its first task), and cpus,
 *                 cpus_most, memory, shm, gpus, command, env, name, storage, image, script, secret
 *                 as in tasks; and
 *     ports       list     by index: the object `ports` of that task
 *   pull_secrets  list of strings   names of the scheduler's secrets for registries
 *   registries    list of objects   server, user, password: strings; who may fetch images; secret
 *   platform      object or null    of a job that was written for another system:
 *     name        string   "openpai"
 *     cluster     string   the virtual cluster that was asked for, or "default"
 *     data, output, code
 *                 strings  where these were there, perhaps ""; job.dataset, job.output and
 *                          job.program say where they are here
 *     code_name   string   the last part of code
 *     debug       number   seconds for which a task that failed keeps its container, or 0
 */
#ifndef RENDERER_CONTEXT_H
#define RENDERER_CONTEXT_H

#include <stdint.h>
#include <sys/types.h>

#include "base/value.h"
#include "job/parts.h"
#include "renderer/ports.h"

/* What the `job` object is built from.  Empty texts and a NULL `env` mean "not given".  Nothing is
 * copied: all bytes and trees must live as long as the context. */
struct context_role {
    struct text role;
    int count;
    int64_t cpus;      /* thousandths of a processor, for each task, as all below */
    int64_t cpus_most; /* that it may be given while it runs; 0: cpus do not change */
    int64_t memory;    /* bytes */
    int64_t shm;       /* bytes; 0: not given */
    int gpus;
    const struct text *command; /* words; command_count 0: not given */
    size_t command_count;
    struct value *env; /* object of strings: the role's own; may be NULL */
    struct text name;  /* empty: as `role` */
    int64_t storage;   /* bytes; 0: not given */
    const struct port_request *ports;
    size_t ports_count;
    struct text image;  /* empty: the job's */
    struct text script; /* empty: none */
    bool secret;
};

/* What another system's programs expect; `name` empty: not another system's job. */
struct context_platform {
    struct text name, cluster, data, output, code;
    int64_t debug; /* seconds */
};

struct context_job {
    struct text id, name, owner, home;
    uid_t uid;
    gid_t gid;
    struct text library, version, type;
    struct text program, entry, script, dataset, output;
    const struct text *args;
    size_t args_count;
    struct value *env; /* object of strings; may be NULL */
    struct text gpu_type;
    const struct text *features; /* of nodes */
    size_t features_count;
    struct text spread; /* "require", "prefer" or empty */
    bool exclusive;
    bool host_network;
    int priority;
    int64_t time_limit;            /* milliseconds; 0: none */
    struct text checkpoint_signal; /* empty: it cannot save its state on request */
    int64_t checkpoint_grace;      /* milliseconds */
    struct text signal_name;       /* before its time limit; empty: none */
    int64_t signal_before;         /* milliseconds */
    int attempt;                   /* 0: the first */
    struct text queue;
    int64_t debug;          /* milliseconds; 0: not given */
    struct value *complete; /* object; NULL: not given */
    struct array array;     /* of the type array: one role, of as many tasks */
    int size_min, size_max; /* 0: it is not elastic */
    const struct context_role *roles;
    size_t roles_count;
    struct port_range port_range; /* of the ports that are chosen; first 0: the usual one */
    struct context_platform platform;
    const struct text *pull_secrets;
    size_t pull_secrets_count;
    const struct registry *registries;
    size_t registries_count;
};

/* The `job` object as described above. */
struct value *context_job(struct arena *arena, const struct context_job *job);

/* The whole context.  The parts are shared, not copied. */
struct value *context_build(struct arena *arena, const struct value *job, struct text image,
                            const struct value *site);

/* The first port of the job of this id: job.port. */
int context_port(struct text id);

#endif
