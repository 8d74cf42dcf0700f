/* executors/kubernetes/inside.h - the executor for a Kubernetes cluster; its inside
 *
 * Only the executor's own files include this; the way in is executor.h.
 *
 * A job is the objects of its manifest (manifest.h).  Their names are the token,
 * <id>-a<attempt>, or start with it; the first, a Job, is called the owner here: it owns all others
 * by ownerReferences, so that deleting it deletes them and their pods.  An object that is there
 * already is ours when its labels dlspool/spool, dlspool/job and dlspool/attempt say so, and made
 * from the same manifest when its annotation dlspool/manifest-sha256 does.
 *
 * Life of a submission (submit.c), all of a batch together:
 *   1. the owner is created: as it is, when the job has no other object; else suspended
 *   2. all others are created, Jobs suspended, with the owner's uid
 *   3. when all are there, the owner is released: it gets the annotation dlspool/released, and is
 *      no longer suspended, save where the manifest itself suspends it.  A Job for Kueue gets its
 *      queue's label only now, since Kueue may start it as soon as it has that
 *   4. all other Jobs are released in the same way
 * After a crash between any two steps the same submission, repeated, completes the rest.  Nothing runs
 * before the owner is marked, and nothing is created after that, so objects that somebody deleted,
 * suspended or ended meanwhile are never started a second time.
 *
 * Known weakness: somebody who may change objects in the namespace can forge labels; the namespace
 * should be dlspool's own.
 */
#ifndef EXECUTORS_KUBERNETES_INSIDE_H
#define EXECUTORS_KUBERNETES_INSIDE_H

#include "base/sha256.h"
#include "executors/executor.h"
#include "executors/kubernetes/api.h"
#include "executors/kubernetes/manifest.h"
#include "executors/kubernetes/settings.h"

struct kubernetes_follower; /* follow.c */
struct names;               /* base/names.h */

enum {
    KUBERNETES_NAME_SIZE = 256, /* bytes of an object's name, with the final NUL */
    KUBERNETES_LEAST_MINOR = 29 /* older servers refuse or silently drop what jobs need */
};

struct kubernetes {
    struct executor executor;
    struct arena *arena; /* of the settings */
    struct kubernetes_settings settings;
    struct kubernetes_connection *connection;
    void (*run)(struct kubernetes_connection *connection, struct arena *arena,
                struct kubernetes_call *const *calls,
                size_t count);  /* kubernetes_api_run(), or what
                                                                           a test puts here */
    const char *space, *server; /* the connection's namespace and URL */
    char *spool;                /* the value of the label dlspool/spool */
    bool version_known;         /* the server was asked, and is new enough */
    int minor;                  /* ... 1.<minor>; 0: not known */
    struct capacity capacity;   /* as last reported, valid until capacity_until, which is of
                                   clock_elapsed() */
    int64_t capacity_until;
    struct nodes *nodes; /* those that it is of, while it is valid; NULL: none are kept */
    struct kubernetes_follower *follower; /* NULL until the first poll */
    struct names *groups;                 /* struct groups (groups.h) */
    int64_t log_turn;   /* of clock_elapsed(): until when requests for silent logs are given out */
    struct names *logs; /* struct task_log (output.h); NULL until the first output */
    struct names *log_ends; /* struct log_end (output_end.c); NULL until the first */
};

/* ---- kubernetes.c ---- */

struct kubernetes *kubernetes_of(struct executor *executor);

/* Whether an object that the server gave (or an item of a list) belongs to that job of this spool.
 */
bool kubernetes_is_of_job(const struct kubernetes *kubernetes, const struct value *object,
                          const char *id, int attempt);

/* A label or annotation of an object as the server gave it; empty with data NULL when there is
 * none. */
struct text kubernetes_label_of(const struct value *object, const char *name);
struct text kubernetes_annotation_of(const struct value *object, const char *name);

/* Letters, digits, '.' and '-', at least one: what goes into paths and bodies as it is. */
bool kubernetes_is_plain(struct text text);

/* GET the collections' objects of one job: "?labelSelector=dlspool/spool=...,dlspool/job=...,
 * dlspool/attempt=...", escaped; to be put behind a collection's path. */
struct text kubernetes_job_selector(struct arena *arena, const struct kubernetes *kubernetes,
                                    const char *id, int attempt);

/* Of a Job of several objects: that it was released (its value is a time). */
#define KUBERNETES_ANNOTATION_RELEASED "dlspool/released"

/* Is the server's version supported?  Asks once for each connection.  The outcome, and a sentence
 * unless it is KUBERNETES_DONE.  *rest becomes the milliseconds for which the server has put off the
 * question, while it takes others; or 0.  NULL is fine. */
enum kubernetes_outcome kubernetes_check_version(struct kubernetes *kubernetes, int64_t *rest,
                                                 struct error *error);

/* A submission's objects: read, checked and stamped, with the SHA-256 of its manifest.  In the
 * arena; NULL and a sentence, and *remedy when only dlspool.yaml forbids it: what an administrator can
 * change, otherwise NULL. */
struct kubernetes_manifest *kubernetes_submission_objects(const struct kubernetes *kubernetes,
                                                          struct arena *arena,
                                                          const struct submission *submission,
                                                          char hash[static SHA256_HEX_SIZE],
                                                          const char **remedy, struct error *error);

/* Run one call. */
enum kubernetes_outcome kubernetes_ask(struct kubernetes *kubernetes, struct arena *arena,
                                       struct kubernetes_call *call);

/* GET a collection page by page; `path` has a query already.  Each page is handed to take(), which
 * returns false to end that.  Pages lie in the arena; with `arena` NULL each is gone when take()
 * returns.  The outcome of the page that failed, whose HTTP status is in *status, whose Retry-After (0: none)
 * in *rest, and whose sentence in `error`: KUBERNETES_GONE means to begin again, KUBERNETES_UNKNOWN is also that of
 * take()'s end. */
typedef bool kubernetes_take_page(void *context, const struct value *page);
enum kubernetes_outcome kubernetes_list_pages(struct kubernetes *kubernetes, struct arena *arena,
                                              const char *path, kubernetes_take_page *take,
                                              void *context, int *status, int64_t *rest,
                                              struct error *error);

/* ---- bodies of requests ---- */

/* Of a PATCH that tells a Job to end: no pod is made any more, and those that there are get SIGTERM.
 * `uid` NULL: whichever Job has that name. */
struct text kubernetes_cancel_body(struct arena *arena, const char *uid);
/* Of a DELETE of the object with that uid, and in the background of what it owns. */
struct text kubernetes_delete_body(struct arena *arena, const char *uid);

/* Is the object being deleted? */
bool kubernetes_is_leaving(const struct value *object);

/* ---- the operations ---- */

/* submit.c */
void kubernetes_submit(struct executor *executor, struct submission **batch, size_t count);
/* try_out.c */
int kubernetes_weight(struct executor *executor, struct text manifest);
int kubernetes_try_out(struct executor *executor, struct submission *submission,
                       struct buffer *answer, struct error *error);
int kubernetes_sent(struct executor *executor, struct submission *submission, struct buffer *answer,
                    struct error *error);
/* end.c */
void kubernetes_cancel(struct executor *executor, struct job_call **batch, size_t count);
void kubernetes_remove(struct executor *executor, struct job_call **batch, size_t count);
/* capacity.c */
int kubernetes_capacity(struct executor *executor, struct capacity *capacity, struct error *error);
int kubernetes_nodes(struct executor *executor, struct capacity *capacity, struct nodes *nodes,
                     struct error *error);
/* poll.c */
int kubernetes_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                    size_t count, struct error *error);
int kubernetes_list(struct executor *executor, executor_take *take, void *context,
                    struct error *error);

#endif
