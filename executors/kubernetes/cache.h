/* executors/kubernetes/cache.h - what the cluster last said of our Jobs, their Pods and their Events
 *
 * Objects come as trees, from lists and watches in any order and any number of times, and are
 * reduced at once to what a poll needs: a few hundred bytes for a Pod, so that ten thousand take
 * some MiB.  Nobody is asked anything here.  reduce.c reads objects, cache.c
 * keeps them by token, events.c the warnings about them, phase.c answers polls, waiting.c says why a job waits.
 *
 * What objects look like is of k8s.io/api (batch/v1, core/v1) as in Kubernetes 1.36; which reasons
 * the kubelet, the scheduler and the controllers write was read in their sources.
 *
 *   no task's main container has started            WAITING, with the reason in `detail`
 *   completion.h has not decided                    RUNNING
 *   it has                                          SUCCEEDED or FAILED, as it did first: tasks are
 *                                                   looked at in the order in which they ended, so
 *                                                   those that were ended afterwards change nothing
 *   a Job carries dlspool/cancelled                 its tasks end as `Killed` once their pods have
 *
 * A pod that is drained, preempted or evicted by the API leaves the cluster at once when it has
 * ended and its Job has counted it: how it ended is kept here for as long as the Job is.  One that
 * its Job lets go of first (because it was suspended) counts for nothing.
 *
 * A Job that is finished counts only when its pods are seen to be terminal (or gone), so that what
 * they printed can be copied; a pod that the watch still shows as running is believed for a minute.
 *
 * A pod on a node that is lost stays "Running" for ever where nobody removes the node: once it was
 * told to go by the taint manager and its time for that has been over for a minute, it counts as
 * lost.  Kubernetes itself does not know then whether it still runs.
 */
#ifndef EXECUTORS_KUBERNETES_CACHE_H
#define EXECUTORS_KUBERNETES_CACHE_H

#include "executors/executor.h"

enum followed_kind { FOLLOW_JOBS, FOLLOW_PODS, FOLLOW_EVENTS, FOLLOW_KINDS };

/* Why a job waits, the most telling first. */
enum waiting_cause {
    WAITING_NOT,
    WAITING_CREATION, /* the pods are refused: quota, priority class, admission */
    WAITING_IMAGE,
    WAITING_CONFIGURATION, /* a Secret or ConfigMap is missing, or so */
    WAITING_START,         /* the runtime cannot make the container */
    WAITING_VOLUME,
    WAITING_SANDBOX, /* network and the like */
    WAITING_NODE,    /* unschedulable */
    WAITING_GATE,
    WAITING_KUEUE,
    WAITING_SUSPENDED
};

/* Something that is waited for, in the words of the cluster. */
struct waiting {
    enum waiting_cause cause;
    uint64_t meaning; /* hash of the text without what changes by itself */
    char *text;       /* "ErrImagePull: ..."; NULL with WAITING_NOT */
};

enum cached_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED };

struct cached_pod {
    uint64_t uid, version; /* hash of metadata.uid; resourceVersion, 0 when not a number */
    uint32_t seen;         /* the list it was last in, or came after */
    char *name, *role;
    char node[64]; /* that it was bound to; "": none yet */
    int index;
    enum cached_phase phase;
    bool started;           /* the main container has run: it may have a log */
    bool main_ended;        /* ... and runs no more */
    bool image_missing;     /* as far as the registry knows, there is no such image */
    bool lost;              /* told to go because its node does not answer */
    bool counted;           /* its end counts for its Job, which keeps it until it is counted */
    bool gone;              /* it was deleted since; kept for how it ended */
    int grace;              /* seconds that it has to go */
    int64_t deletion_since; /* of clock_elapsed(): since when it is known to be told to go */
    int64_t created, start, end, deletion; /* times of day; 0: not said */
    int64_t image_since; /* of clock_elapsed(): since when its image cannot be had */
    char
        image[IMAGE_RAN_SIZE]; /* digest of the main container's; "": the node does not say (yet) */
    int exit_code;             /* when it failed */
    const char *reason;        /* ... a literal, as in task_state */
    char *message;             /* ... words for the sentence; may be NULL */
    struct waiting waiting;    /* as the pod says */
    struct waiting event;      /* as an Event says */
};

struct cached_job {
    uint64_t uid, version;
    uint32_t seen;
    char *name, *role;
    int completions;       /* tasks */
    int at_once;           /* of them, as many may run at once */
    int finished;          /* pods that have succeeded or failed, as the Job counts them */
    bool owner;            /* owned by no other Job */
    bool complete, failed; /* at its end, or on the way there for certain */
    bool settled;          /* ... and the controller is through with it */
    bool suspended, cancelled, missing, deadline;
    bool removed; /* it is told to go, or the cluster removes it by itself after its end */
    char identity[EXECUTOR_IDENTITY_SIZE]; /* of the spool that made it; "": not said */
    bool retries;  /* it makes a new pod for one that failed by itself ... */
    bool replaces; /* ... or for one that was lost, preempted, evicted */
    int64_t start, end;
    int64_t settled_since;      /* of clock_elapsed() */
    char *queue;                /* of Kueue; NULL: none */
    char *message;              /* of its failure; may be NULL */
    char *completed, *given_up; /* status.completedIndexes, .failedIndexes; may be NULL */
    char *rule;                 /* dlspool/complete; may be NULL */
    struct waiting event;
};

struct kubernetes_cache;

struct kubernetes_cache *kubernetes_cache_new(void);
void kubernetes_cache_free(struct kubernetes_cache *jobs); /* NULL is fine */

/* Take an object as it is now; `deleted`: as it was when it went.  What is no object of ours, or
 * malformed, is passed over.  With `listed`, it is the truth whatever its version. */
void kubernetes_cache_take(struct kubernetes_cache *jobs, enum followed_kind kind,
                           const struct value *object, bool deleted, bool listed);
/* A list begins; and it is whole: what it did not hold is no more. */
void kubernetes_cache_list_begin(struct kubernetes_cache *jobs, enum followed_kind kind);
void kubernetes_cache_list_end(struct kubernetes_cache *jobs, enum followed_kind kind);

enum kubernetes_known {
    KUBERNETES_KNOWN,     /* the poll is filled in */
    KUBERNETES_NOT_KNOWN, /* no Job of that token: ask for it */
    KUBERNETES_DOUBTFUL   /* filled in, but pods are missing that may have printed: ask for
                                   them, and say so by kubernetes_cache_confirm() */
};

/* Fill in `poll`, of which id and attempt are set and all else is zero. */
enum kubernetes_known kubernetes_cache_poll(struct kubernetes_cache *jobs, struct arena *arena,
                                            struct job_poll *poll);
void kubernetes_cache_confirm(struct kubernetes_cache *jobs, const char *id, int attempt);

/* Tell the jobs whose owner the spool of that identity made, and which nobody removes yet. */
void kubernetes_cache_list(const struct kubernetes_cache *jobs, const char *identity,
                           executor_take *take, void *context);

/* Whether the token has a Job. */
bool kubernetes_cache_has(const struct kubernetes_cache *jobs, const char *id, int attempt);
/* Its pods that are there, by role, index and age; in the arena, valid until the next object is taken. */
const struct cached_pod **kubernetes_cache_pods(struct kubernetes_cache *jobs, struct arena *arena,
                                                const char *id, int attempt, size_t *count);
size_t kubernetes_cache_count(const struct kubernetes_cache *jobs); /* tokens */

/* ---- between the files of the cache ---- */

enum {
    WAITING_SAID = 4,       /* meanings that are remembered as said */
    ORPHANS = 64,           /* Events without an object that are remembered */
    CACHED_TOKEN_SIZE = 256 /* bytes of a token, with the final NUL */
};

struct cached_token {
    const char *name; /* its own in the table */
    struct cached_job *jobs;
    size_t job_count;
    struct cached_pod *pods;
    size_t pod_count, pod_capacity;
    bool confirmed;
    struct waiting said; /* what the last polls answered */
    uint64_t said_before[WAITING_SAID];
    struct kept_failure *kept; /* one that does not show for long; or NULL */
};

struct kept_failure {
    int exit_code;
    char reason[64], detail[512];
};

struct orphan { /* an Event that came before its object */
    struct waiting waiting;
    char *name; /* of the object that it is about */
    uint64_t uid;
};

struct kubernetes_cache {
    struct names *tokens;         /* struct cached_token */
    uint32_t lists[FOLLOW_KINDS]; /* number of the last list */
    struct orphan orphans[ORPHANS];
    size_t next_orphan;
};

/* cache.c */
struct cached_token *kubernetes_cache_find_token(const struct kubernetes_cache *jobs,
                                                 struct text name);

/* events.c */
void kubernetes_events_take(struct kubernetes_cache *jobs, const struct value *object);
/* An object of the token is new: is there an Event that came before it? */
void kubernetes_events_place_orphans(struct kubernetes_cache *jobs, const char *token);
void kubernetes_events_free(struct kubernetes_cache *jobs);

/* reduce.c: false when the object is not fit.  `pod` and `job` are zero, or as they were:
 * what is replaced is freed. */
bool kubernetes_reduce_pod(struct cached_pod *pod, const struct value *object);
bool kubernetes_reduce_job(struct cached_job *job, const struct value *object);
void cached_pod_free(struct cached_pod *pod);
void cached_job_free(struct cached_job *job);
/* Copy without control bytes and what is not UTF-8, cut between characters to `limit` bytes. */
char *cached_copy_text(struct text text, size_t limit);

/* waiting.c */
void kubernetes_waiting_set(struct waiting *waiting, enum waiting_cause cause, const char *word,
                            struct text message);
void kubernetes_waiting_clear(struct waiting *waiting);
/* What an Event means; false when nothing that is waited for. */
bool kubernetes_waiting_of_event(struct waiting *waiting, struct text kind, struct text reason,
                                 struct text message);
/* The sentence for a waiting job: the same words for as long as the meaning is. */
const char *kubernetes_waiting_say(struct cached_token *token);

/* phase.c */
enum kubernetes_known kubernetes_phase_poll(struct cached_token *token, struct arena *arena,
                                            struct job_poll *poll);

#endif
