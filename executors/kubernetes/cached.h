/* executors/kubernetes/cached.h - what the cache keeps of Jobs, Pods and Events
 *
 * Only the files of the cache (cache.h) change any of it.
 */
#ifndef EXECUTORS_KUBERNETES_CACHED_H
#define EXECUTORS_KUBERNETES_CACHED_H

#include "executors/executor.h"

enum followed_kind { FOLLOW_JOBS, FOLLOW_PODS, FOLLOW_EVENTS, FOLLOW_KINDS };

/* Why a job waits, the most specific first. */
enum waiting_cause {
    WAITING_NOT,
    WAITING_CREATION, /* pods are refused: quota, priority class, admission */
    WAITING_IMAGE,
    WAITING_CONFIGURATION, /* such as a Secret or ConfigMap that is missing */
    WAITING_START,         /* the runtime cannot make the container */
    WAITING_VOLUME,
    WAITING_SANDBOX, /* network and the like */
    WAITING_NODE,    /* unschedulable */
    WAITING_GATE,
    WAITING_KUEUE,
    WAITING_SUSPENDED
};

/* A reason to wait, in the words of the cluster. */
struct waiting {
    enum waiting_cause cause;
    uint64_t meaning; /* hash of the text without its variable parts */
    char *text;       /* "ErrImagePull: ..."; NULL with WAITING_NOT */
};

enum { CACHED_UID_SIZE = 40 /* bytes of a uid, with the final NUL */ };

enum cached_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED };

struct cached_pod {
    uint64_t uid, version; /* hash of metadata.uid; resourceVersion, 0 when not a number */
    uint32_t seen;         /* number of the last list that it was in, or came after */
    char *name, *role;
    char node[64]; /* that it is bound to; "": none yet */
    int index;
    enum cached_phase phase;
    bool started;           /* the main container has run: it may have a log */
    bool main_ended;        /* ... and has ended */
    bool image_missing;     /* the registry says that there is no such image */
    bool lost;              /* it is being deleted because its node does not answer */
    bool counted;           /* its Job counts its end, and keeps it until it has */
    bool gone;              /* it was deleted; kept for how it ended */
    int grace;              /* seconds between SIGTERM and SIGKILL */
    int64_t deletion_since; /* of clock_elapsed(): when its deletion was first seen */
    int64_t created, start, end, deletion; /* times of day; 0: not known */
    int64_t image_since;        /* of clock_elapsed(): since when its image cannot be pulled */
    char image[IMAGE_RAN_SIZE]; /* digest of the main container's; "": not known (yet) */
    int exit_code;              /* when it failed */
    const char *reason;         /* ... a literal, as in task_state */
    char *message;              /* ... words for the sentence; may be NULL */
    struct waiting waiting;     /* as the pod says */
    struct waiting event;       /* as an Event says */
};

struct cached_job {
    uint64_t uid, version;
    uint32_t seen;
    char *name, *role;
    int completions;                /* tasks */
    int at_once;                    /* parallelism: tasks that may run at once */
    int finished;                   /* pods that have succeeded or failed, as the Job counts them */
    bool owner;                     /* no other Job owns it */
    bool lingers;                   /* it asks for `debug` */
    char uid_text[CACHED_UID_SIZE]; /* metadata.uid; "": it is longer */
    bool complete, failed;          /* it has ended, or certainly will */
    bool settled;                   /* ... and the controller has finished with it */
    bool suspended, cancelled, missing, deadline;
    bool removed; /* it is being deleted, or the cluster deletes it after its end */
    char identity[EXECUTOR_IDENTITY_SIZE]; /* of the spool that made it; "": not known */
    bool retries;                          /* it replaces a pod that failed by itself ... */
    bool replaces;                         /* ... or for one that was lost, preempted, evicted */
    int64_t time_limit;                    /* ms that each of its pods may run; 0: no limit */
    int64_t start, end;
    int64_t settled_since;      /* of clock_elapsed() */
    int64_t suspended_since;    /* of clock_elapsed(), from when that was first seen */
    char *queue;                /* of Kueue; NULL: none */
    char *message;              /* of its failure; may be NULL */
    char *completed, *given_up; /* status.completedIndexes, .failedIndexes; may be NULL */
    char *rule;                 /* dlspool/complete; may be NULL */
    struct waiting event;
};

enum kubernetes_known {
    KUBERNETES_KNOWN,     /* the poll was filled in */
    KUBERNETES_NOT_KNOWN, /* the token has no Job here: ask the server */
    KUBERNETES_DOUBTFUL   /* filled in, but pods with output may be missing: ask the server
                                   for them, and then call kubernetes_cache_confirm() */
};

enum {
    WAITING_SAID = 4,       /* meanings that were reported and are remembered */
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
    struct waiting said; /* the answer of the last polls */
    uint64_t said_before[WAITING_SAID];
    struct kept_failure *kept; /* a failure whose pod will soon be gone; or NULL */
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

/* Free what they own, not the structures themselves. */
void cached_pod_free(struct cached_pod *pod);
void cached_job_free(struct cached_job *job);
void cached_waiting_clear(struct waiting *waiting); /* leaves WAITING_NOT */

/* A copy without control bytes and invalid UTF-8, cut between characters to `limit` bytes.  The caller
 * frees it. */
char *cached_copy_text(struct text text, size_t limit);
/* Replace *to by such a copy; NULL for the empty text. */
void cached_set_text(char **to, struct text text, size_t limit);

#endif
