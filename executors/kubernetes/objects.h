/* executors/kubernetes/objects.h - the objects of a manifest for a Kubernetes cluster, once it was
 * read
 *
 * What reading (manifest.h), rules and policy (rules.h) share.
 */
#ifndef EXECUTORS_KUBERNETES_OBJECTS_H
#define EXECUTORS_KUBERNETES_OBJECTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/value.h"
#include "job/grant.h"

/* A kind of object that a manifest may hold. */
struct kubernetes_kind {
    const char *kind;    /* "Job" */
    const char *version; /* the object's apiVersion: "batch/v1" */
    const char *prefix;  /* of its paths: "/apis/batch/v1" or "/api/v1" */
    const char *plural;  /* "jobs": <prefix>/namespaces/<namespace>/<plural>[/<name>] */
    const char *type;    /* its line in the schema */
    bool is_job;
};

struct kubernetes_object {
    const struct kubernetes_kind *kind;
    struct text name;   /* metadata.name */
    struct value *tree; /* the whole object */
    struct text role;   /* of a Job; else empty */
    int tasks;          /* of a Job: completions; else 0 */
    bool suspended;     /* of a Job: the manifest itself says suspend: true */
    bool queued;        /* of a Job: it has a kueue.x-k8s.io/queue-name label, so Kueue
                           lifts the suspension, not dlspool */
};

struct kubernetes_manifest {
    struct kubernetes_object *objects; /* the first is the owner */
    size_t count;
    int tasks; /* of all Jobs */
    struct text
        newer; /* sentences on fields that only a newer server may know (schema.h), as those of
                             an error; empty when there is none */
    bool settings_forbid; /* after kubernetes_manifest_stamp() has failed: only for what the site's
                             dlspool.yaml does not allow */
};

/* What a site lets templates ask for. */
struct kubernetes_policy {
    bool allow_host_network;
    const struct text *host_paths; /* hostPath volumes lie at or below one of these */
    size_t host_path_count;
};

/* Whose the objects are. */
struct kubernetes_stamp {
    const char *spool;    /* a label's value */
    const char *identity; /* of the spool; NULL or "": not known */
    const char *id;
    int attempt;
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* the user's others */
    size_t group_count;
    struct text owner;                         /* user name */
    struct text request_sha256, commit, image; /* each may be empty */
    const char *manifest_sha256;               /* of the bytes of manifest.yaml */
    const char *namespace;
    struct kubernetes_policy policy;
    const struct grant *grant; /* what containers get beyond the usual; NULL: nothing */
};

/* Labels of every object and every pod, and annotations of every object. */
#define KUBERNETES_LABEL_SPOOL "dlspool/spool"
#define KUBERNETES_LABEL_IDENTITY "dlspool/identity" /* of the spool (executor.h) */
#define KUBERNETES_LABEL_JOB "dlspool/job"
#define KUBERNETES_LABEL_ATTEMPT "dlspool/attempt"
#define KUBERNETES_LABEL_OWNER "dlspool/owner" /* made fit for a label */
#define KUBERNETES_LABEL_UID "dlspool/uid"
#define KUBERNETES_LABEL_ROLE "dlspool/role" /* on Jobs and their pods */
#define KUBERNETES_ANNOTATION_OWNER "dlspool/owner"
#define KUBERNETES_ANNOTATION_REQUEST "dlspool/request-sha256"
#define KUBERNETES_ANNOTATION_COMMIT "dlspool/template-commit"
#define KUBERNETES_ANNOTATION_IMAGE "dlspool/image"
#define KUBERNETES_ANNOTATION_MANIFEST "dlspool/manifest-sha256"
/* Of the owner: set by the template where the job asks for it. */
#define KUBERNETES_ANNOTATION_COMPLETE "dlspool/complete" /* JSON; see completion.h */
#define KUBERNETES_ANNOTATION_DEBUG "dlspool/debug"       /* seconds */
#define KUBERNETES_ANNOTATION_ELASTIC                                                              \
    "dlspool/elastic" /* "true": the number of its tasks may                                       \
                         change while it runs */
/* Of a Secret: what it will be filled with. */
#define KUBERNETES_ANNOTATION_GENERATE "dlspool/generate"
#define KUBERNETES_GENERATE_SSH_KEY "ssh-key"
/* Of a Job: that it was cancelled. */
#define KUBERNETES_ANNOTATION_CANCELLED "dlspool/cancelled"

#define KUBERNETES_LABEL_QUEUE "kueue.x-k8s.io/queue-name" /* Kueue starts such a Job */
#define KUBERNETES_MAIN_CONTAINER "main"

#endif
