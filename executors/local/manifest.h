/* executors/local/manifest.h - what a template sends to the local executor
 *
 * manifest.yaml is one YAML document.  Fields marked * must be there.
 *
 *   kind*      dlspool/local/v1
 *   network    private (default): the job's tasks have 127.0.0.1 for themselves and reach nothing
 *              else; outgoing: the same, and they reach what this machine reaches (but its 127.0.0.1),
 *              while nobody reaches them; host: this machine's network; bridge: podman's default bridge
 *   home       true: where the user has a home directory here that is their own, tasks see it at its
 *              place and can write to it, and it is HOME; otherwise HOME is /tmp.  Root's is not
 *              shown.  A HOME in `env` goes over it
 *   complete   when the job has ended, by role: {worker: {failed: 1, succeeded: 2}}; see
 *              completion.h
 *   parallelism  how many tasks run at once at most, from 1; the others wait, and are started in
 *              the order of their indexes as those before them end.  The tasks are then taken to be
 *              independent of one another: all ask for the same cpus, memory and gpus, and in a
 *              private network each has one of its own, without names of the others
 *   env        object of strings: what all tasks have in their environment, below their own `env`
 *   ssh        true: every task finds a pair of keys for ssh below /job/ssh, the same for all tasks,
 *              made for this attempt: id, id.pub, authorized_keys, known_hosts
 *   listen     list of 1 to 512 port numbers, 1024 to 65535, of this machine that the job is to
 *              have for itself: network host or bridge.  With host, tasks listen on them; with
 *              bridge, what arrives there goes to the same port of the job
 *   tasks*     a list of 1 to 512 of
 *     role*      DNS label of at most 15 bytes
 *     index      of the task in its role, 0 to 9999, default 0; no two tasks have role and index
 *                in common
 *     image*     `host`: this machine's own files under an overlay that is thrown away; else an
 *                image reference as podman knows them
 *     command*   list of words, at least one; nothing is a shell line
 *     env        object of strings
 *     cpus*      CPUs: a number such as 2 or 0.5
 *     memory*    bytes, or a string such as "2Gi"
 *     shm        size of /dev/shm in the same way; counts against memory; default 64 MiB
 *     gpus       whole number, default 0
 *     workdir    absolute path inside the container; default /, or with `home` what is HOME
 *     mounts     list of {source*, target*, readonly, must_write}: absolute paths; the user who asked must be
 *                able to read the source (readonly: true, the default) or to write it (false), and it
 *                may not lie on a file system of the kernel, nor be dlspool's own (mountable.h);
 *                with must_write: false, one that they may only read will do: tasks can write to it
 *                what the user can;
 *                entry, a path below the source: a file that has to be there, for the command starts
 *                it; executable, default false: it, or without an entry a source that is a file, is
 *                started by itself, so its mode has to allow that
 *     files      list of {path*, content*, mode}: small files that are put into the container,
 *                which cannot change them; content is data; mode is a string of octal digits,
 *                default "0644"
 *
 * In a private or outgoing network the names <role>-<index> of all tasks resolve to addresses below 127.1.0.0/16,
 * one for each; all of them, and 127.0.0.1, are the job's own, and lead to whichever task listens.
 *
 * An unknown field, a missing one, or one of another type is an error that gives file, line,
 * field, what was found and what was expected.
 */
#ifndef EXECUTORS_LOCAL_MANIFEST_H
#define EXECUTORS_LOCAL_MANIFEST_H

#include "base/error.h"
#include "base/value.h"

enum local_network { NETWORK_PRIVATE, NETWORK_HOST, NETWORK_BRIDGE, NETWORK_OUTGOING };

struct local_mount {
    struct text source, target;
    bool readonly;
    bool must_write;   /* unless it is readonly: the user must be able to write to it */
    struct text entry; /* may be empty */
    bool executable;
};

struct local_file {
    struct text path, content;
    unsigned int mode;
};

struct local_task {
    struct text role;
    int index;
    struct text image;
    struct value *command; /* list of strings */
    struct value *env;     /* object of strings; may be NULL */
    int64_t cpus;          /* thousandths */
    int64_t memory, shm;   /* bytes; shm 0: not given */
    int gpus;
    struct text workdir; /* may be empty */
    struct local_mount *mounts;
    size_t mount_count;
    struct local_file *files;
    size_t file_count;
};

struct local_manifest {
    enum local_network network;
    struct value *complete; /* NULL: nothing special */
    int parallelism;        /* 0: all at once */
    struct value *env;      /* object of strings; may be NULL */
    bool ssh, home;
    int *listen; /* ports */
    size_t listen_count;
    struct local_task *tasks;
    size_t task_count;
};

/* All in the arena.  NULL and a sentence on failure. */
struct local_manifest *local_manifest_read(struct arena *arena, struct text source,
                                           struct error *error);
/* The same of one that was read already, with yaml_trusted_limits; it shares the tree. */
struct local_manifest *local_manifest_of(struct arena *arena, struct value *document,
                                         struct error *error);

#endif
