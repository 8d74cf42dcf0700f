/* executors/local/podman.h - podman's REST interface, as typed calls
 *
 * The interface is libpod's, version 4.0.0 as podman 4 serves it, over a unix socket.  A call is
 * prepared by one of the podman_call_... functions, run with others in a batch by podman_run(), and
 * freed by podman_call_free(). dlspool gives containers and pods names that are DNS labels, so they
 * need no escaping.
 *
 * podman reports most failures by status 500 and a text; podman_outcome is derived from both.
 */
#ifndef EXECUTORS_LOCAL_PODMAN_H
#define EXECUTORS_LOCAL_PODMAN_H

#include <sys/types.h>

#include "base/value.h"
#include "executors/http/http.h"

enum podman_outcome {
    PODMAN_DONE,    /* it is so now */
    PODMAN_ALREADY, /* it was already so: name taken, running, ended */
    PODMAN_MISSING, /* no such container, pod or image */
    PODMAN_REFUSED, /* podman or the OCI runtime refuses it */
    PODMAN_TROUBLE, /* no space, no memory, too many files ...: temporary */
    PODMAN_DOWN,    /* no connection: nothing was sent */
    PODMAN_UNKNOWN  /* sent, and no answer */
};

enum { PODMAN_CPU_PERIOD = 100000 }; /* microseconds: the kernel's default */

struct podman_call {
    struct http_request http;
    struct buffer path, body;
    void *context; /* the caller's own */
    /* filled in by podman_run(): */
    enum podman_outcome outcome;
    struct error error; /* podman's own words, quoted, for every outcome but DONE */
};

enum podman_state {
    PODMAN_STATE_UNKNOWN,
    PODMAN_STATE_CREATED, /* not started; also after a restart of the machine */
    PODMAN_STATE_RUNNING, /* or paused, or about to stop */
    PODMAN_STATE_ENDED,
    PODMAN_STATE_GONE /* was listed, but has been removed since */
};

struct podman_container {
    struct text id, name;
    struct text image; /* its image's id, of a container from a list; empty: it has none */
    enum podman_state state;
    int exit_code;   /* when ended; -1: podman killed it at its time limit, or does not know */
    int64_t created; /* time of day, from a list; 0: not known */
    int64_t started, ended; /* times of day, 0 when not (yet); whole seconds from a list */
    pid_t process;          /* its first process, while it runs; else 0 */
    bool infra;             /* a pod's own container */
    bool paused;            /* it runs, and stands still */
    bool out_of_memory;     /* as podman reports it, often wrongly: see kernel_log.h */
    const struct value *labels;
};

struct podman;

/* `socket` is an absolute path.  NULL and a sentence on failure. */
struct podman *podman_open(const char *socket, int64_t timeout, int in_flight, struct error *error);
void podman_close(struct podman *podman);

void podman_call_ping(struct podman_call *call, int64_t timeout);
void podman_call_create_pod(struct podman_call *call, const struct value *specification);
void podman_call_create(struct podman_call *call, const struct value *specification);
void podman_call_start(struct podman_call *call, const char *container);
void podman_call_kill(struct podman_call *call, const char *container, const char *signal);
/* Freeze all its processes, or have them go on. */
void podman_call_pause(struct podman_call *call, const char *container, bool pause);
/* Removing a running container kills it. */
void podman_call_remove(struct podman_call *call, const char *container);
void podman_call_remove_pod(struct podman_call *call, const char *pod);
void podman_call_inspect(struct podman_call *call, const char *container);
/* Change the CPU limit (thousandths) of a running container; podman 4.3 and later. */
void podman_call_update(struct podman_call *call, const char *container, int64_t cpus);
void podman_call_inspect_pod(struct podman_call *call, const char *pod);
void podman_call_image(struct podman_call *call, struct text image); /* is it there? */
void podman_call_inspect_image(struct podman_call *call, struct text id);
void podman_call_pull(struct podman_call *call, struct text image, int64_t timeout);
void podman_call_free(struct podman_call *call);

void podman_run(struct podman *podman, struct podman_call *calls, size_t count);

/* All containers, in every state, that have a label: `label` is "name" or "name=value".  An array
 * in the arena; -1 and a sentence on failure. */
int podman_list(struct podman *podman, struct arena *arena, const char *label,
                struct podman_container **containers, size_t *count, struct error *error);

/* Parse the answer to podman_call_inspect().  -1 and a sentence when it is invalid. */
int podman_read_inspection(const struct podman_call *call, struct arena *arena,
                           struct podman_container *container, struct error *error);

/* The digest, "sha256:...", from the answer to podman_call_inspect_image(); empty when it has none. */
struct text podman_read_digest(const struct podman_call *call, struct arena *arena);

/* Labels from the answer to podman_call_inspect_pod(), NULL when it has none.  -1 and a sentence
 * when it is no pod. */
int podman_read_pod(const struct podman_call *call, struct arena *arena,
                    const struct value **labels, struct error *error);

/* The warnings in the answer to podman_call_create(), "; " between them, appended to `out`. */
void podman_read_warnings(const struct podman_call *call, struct buffer *out);

#endif
