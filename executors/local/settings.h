/* executors/local/settings.h - the part `local:` of dlspool.yaml
 *
 *   socket           absolute path of a podman REST socket; "" (default): dlspool starts podman
 *   storage          absolute path for its files; "" (default): .podman in the spool
 *   cpus             what jobs may use together; null (default): the CPUs we may run on
 *   memory           likewise, such as "16Gi"; null (default): this machine's but 1 GiB
 *   gpus             list of devices, such as nvidia.com/gpu=0 (see devices.h), or where they differ
 *                    of {device: nvidia.com/gpu=0, type: A100}
 *   gpu_type         what those are that name no type, such as A100; "" (default): not told, and
 *                    they are given to no job that asks for a type
 *   locked_memory    bytes that a task's process may lock (ulimit -l), such as "8Gi", or
 *                    unlimited; null (default): what dlspool itself may
 *   runtime          OCI runtime, default runc
 *   user_namespaces  whether what a task runs may make user namespaces, default false
 *   pids             processes of one task, default 4096
 *   request_timeout  of one request to podman, default 30s
 *   pull_timeout     of fetching an image that is not here, default 2m
 *   in_flight        requests under way at a time, default 8
 *   log_limit        of one task's output, default "100Mi"
 *   suspend          whether jobs may be held with their memory, default false
 */
#ifndef EXECUTORS_LOCAL_SETTINGS_H
#define EXECUTORS_LOCAL_SETTINGS_H

#include "base/error.h"
#include "base/value.h"

enum { LOCKED_UNLIMITED = -1 };

struct local_settings {
    struct text socket, storage, runtime; /* socket and storage may be empty */
    int64_t cpus;                         /* thousandths */
    int64_t memory;                       /* bytes */
    struct text *gpus, *gpu_types;        /* types may be empty */
    size_t gpu_count;
    int64_t locked_memory; /* bytes; LOCKED_UNLIMITED; 0: what dlspool has */
    struct text gpu_type;  /* may be empty */
    bool user_namespaces;
    int pids;
    int64_t request_timeout, pull_timeout; /* milliseconds */
    int in_flight;
    int64_t log_limit; /* bytes */
    bool suspend;
};

/* `settings` is the tree of dlspool.yaml, or NULL for all defaults.  What is read lives in the
 * arena.  -1 and a sentence on failure. */
int local_settings_read(struct local_settings *local, struct arena *arena,
                        const struct value *settings, struct error *error);

#endif
