/* tests/unit/kubernetes_submit_test.c - submissions against a cluster of a few lines, with faults
 *
 * The cluster here is a list of objects behind struct kubernetes' `run`.  It judges quotas before
 * names, as the real one does, starts a Job the moment that it is not suspended (and Kueue's the
 * moment that they have their queue), and lets what a deleted owner owned go a little later.
 *
 * Each test of faults learns the exchanges of an undisturbed submission, and then disturbs each in
 * every way there is; and each pair of exchanges in every pair of ways.  The submission is made
 * again under its token as the stages do, until it is accepted or refused.  Then every object is
 * there once and every Job has been started once, or nothing is there.  At no time was a Job
 * started before all objects were there, and nothing was made after one was started.
 *
 * Seen to fail with: tests/mutants/submission-*.patch and kubernetes-delete-orphans-objects.patch.
 */
#include "tests/unit/unit.h"

#include "base/json.h"
#include "base/names.h"
#include "executors/kubernetes/groups.h"
#include "executors/kubernetes/inside.h"

#define JOB_OF(name, role, more)                                                                   \
    "- apiVersion: batch/v1\n"                                                                     \
    "  kind: Job\n"                                                                                \
    "  metadata: {name: " name ", labels: {dlspool/role: " role "}}\n"                             \
    "  spec:\n"                                                                                    \
    "    completionMode: Indexed\n    completions: 1\n    parallelism: 1\n"                        \
    "    backoffLimit: 0\n    podReplacementPolicy: Failed\n" more "    template:\n"               \
    "      spec:\n        restartPolicy: Never\n"                                                  \
    "        containers:\n        - {name: main, image: busybox, command: [\"true\"]}\n"
#define QUEUED_JOB(name, role)                                                                     \
    "- apiVersion: batch/v1\n"                                                                     \
    "  kind: Job\n"                                                                                \
    "  metadata:\n    name: " name "\n"                                                            \
    "    labels: {kueue.x-k8s.io/queue-name: team, dlspool/role: " role "}\n"                      \
    "  spec:\n"                                                                                    \
    "    completionMode: Indexed\n    completions: 1\n    parallelism: 1\n"                        \
    "    backoffLimit: 0\n    podReplacementPolicy: Failed\n"                                      \
    "    template:\n"                                                                              \
    "      spec:\n        restartPolicy: Never\n"                                                  \
    "        containers:\n        - {name: main, image: busybox, command: [\"true\"]}\n"
#define LIST "apiVersion: v1\nkind: List\nitems:\n"
#define SERVICE                                                                                    \
    "- apiVersion: v1\n  kind: Service\n  metadata: {name: j-1-a1}\n"                              \
    "  spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {dlspool/job: j-1}}\n"
#define SECRET                                                                                     \
    "- apiVersion: v1\n  kind: Secret\n  metadata: {name: j-1-a1-env}\n"                           \
    "  stringData: {TOKEN: abc}\n"

static const char *const single = LIST JOB_OF("j-1-a1", "main", "");
static const char *const single_other =
    LIST JOB_OF("j-1-a1", "main", "    activeDeadlineSeconds: 900\n");
static const char *const several =
    LIST JOB_OF("j-1-a1-master", "master", "") SERVICE SECRET JOB_OF("j-1-a1-worker", "worker", "");
static const char *const queued =
    LIST QUEUED_JOB("j-1-a1-master", "master") SERVICE QUEUED_JOB("j-1-a1-worker", "worker");
static const char *const held = LIST JOB_OF("j-1-a1-master", "master", "    suspend: true\n")
    SERVICE JOB_OF("j-1-a1-worker", "worker", "");
static const char *const with_secret = LIST JOB_OF("j-1-a1", "main", "") SECRET;

/* ---- the cluster ---- */

enum { MOST_OBJECTS = 16, MOST_EXCHANGES = 256 };

struct object {
    char path[300]; /* of the object */
    struct value *tree;
    char uid[24], owner[24];
    bool started;
};

struct starts {
    char path[300];
    int made, started;
};

enum fault {
    FAULT_NONE,
    FAULT_NOT_SENT,
    FAULT_LOST_BEFORE, /* sent, never seen, no answer */
    FAULT_LOST_AFTER,  /* done, no answer */
    FAULT_LATE,        /* no answer; done later, when another thing has been asked */
    FAULT_TWICE,       /* done, and answered as if for a second time */
    FAULT_NO_ROOM,
    FAULT_CONFLICT,
    FAULT_REFUSED,
    FAULT_THROTTLED,
    FAULT_MISSING,       /* somebody deletes the object just before */
    FAULT_KILLED_BEFORE, /* dlspool dies, and nothing more is asked until it starts again */
    FAULT_KILLED_AFTER,
    FAULT_FOR_GOOD, /* what asks for a change is refused from now on; nothing else */
    FAULTS
};

static const char *const fault_names[FAULTS] = {
    "none",    "not sent",      "lost before",  "lost after",      "late",
    "twice",   "no room",       "conflict",     "refused",         "throttled",
    "missing", "killed before", "killed after", "refused for good"};

static struct cluster {
    struct arena *arena;
    struct object objects[MOST_OBJECTS];
    size_t count;
    struct starts starts[MOST_OBJECTS];
    size_t start_count;
    int uids;
    size_t wanted; /* objects of the job's manifest */
    long exchange;
    struct {
        long exchange;
        enum fault fault;
    } faults[2];
    bool dead, forbidden;
    bool meddled;       /* somebody deleted something: what follows is their doing */
    const char *remedy; /* of what is refused */
    bool quota;         /* room for one Job and no more, used by what is there */
    struct kubernetes_call late;
    char late_body[8192], late_path[256];
    bool is_late;
    char complaint[512];
    char methods[MOST_EXCHANGES][8];
    long requests; /* since the last submission began */
} cluster;

static struct kubernetes kubernetes;

static struct starts *starts_of(const char *path)
{
    for (size_t i = 0; i < cluster.start_count; i++)
        if (strcmp(cluster.starts[i].path, path) == 0)
            return &cluster.starts[i];
    struct starts *starts = &cluster.starts[cluster.start_count++];
    *starts = (struct starts){0};
    snprintf(starts->path, sizeof(starts->path), "%s", path);
    return starts;
}

static struct object *find(const char *path)
{
    for (size_t i = 0; i < cluster.count; i++)
        if (strcmp(cluster.objects[i].path, path) == 0)
            return &cluster.objects[i];
    return NULL;
}

static void complain(const char *what, const char *path)
{
    if (!cluster.complaint[0])
        snprintf(cluster.complaint, sizeof(cluster.complaint), "%s: %s", what, path);
}

static struct object *must_find(const char *path)
{
    struct object *object = find(path);
    if (!object) {
        print_error("%s is not there\n", path);
        abort();
    }
    return object;
}

static struct value *member(struct value *object, const char *key)
{
    struct value *found = value_get(object, key);
    if (!found) {
        found = value_object(cluster.arena);
        value_put(cluster.arena, object, key, found);
    }
    return found;
}

/* Controllers: what is not suspended starts; Kueue lifts the suspension of what is in its queue. */
static void control(struct object *object)
{
    struct value *metadata = value_get(object->tree, "metadata");
    bool is_job = strstr(object->path, "/jobs/") != NULL;
    bool is_queued = value_get(value_get(metadata, "labels"), KUBERNETES_LABEL_QUEUE) != NULL;
    bool suspended = value_get_boolean(value_get(object->tree, "spec"), "suspend", false);
    if (!is_job || object->started || (suspended && !is_queued))
        return;
    object->started = true;
    starts_of(object->path)->started++;
    size_t alive = 0;
    for (size_t i = 0; i < cluster.count; i++)
        alive += !strstr(cluster.objects[i].path, "foreign");
    if (alive < cluster.wanted && !cluster.meddled)
        complain("started before all was there", object->path);
}

/* What a deleted owner owned goes when this is called. */
static void collect_garbage(void)
{
    for (size_t i = 0; i < cluster.count;) {
        const char *owner = cluster.objects[i].owner;
        bool there = !owner[0];
        for (size_t at = 0; at < cluster.count; at++)
            there = there || strcmp(cluster.objects[at].uid, owner) == 0;
        if (there)
            i++;
        else
            cluster.objects[i] = cluster.objects[--cluster.count];
    }
}

static void answer(struct kubernetes_call *call, enum kubernetes_outcome outcome, int status)
{
    call->outcome = outcome;
    call->status = status;
    call->remedy = outcome == KUBERNETES_REFUSED ? cluster.remedy : NULL;
    if (outcome != KUBERNETES_DONE)
        snprintf(call->error.text, sizeof(call->error.text), "%s %s: outcome %d", call->method,
                 call->path.data, outcome);
}

static void serve_post(struct kubernetes_call *call, const char *collection)
{
    struct error error;
    struct value *tree = json_read(cluster.arena, call->body, "body", &yaml_trusted_limits, &error);
    if (!tree)
        fail_msg("%s", error.text);
    struct value *metadata = value_get(tree, "metadata");
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", collection, value_get_text(metadata, "name").data);
    bool is_job = strstr(path, "/jobs/") != NULL;
    for (size_t i = 0; i < cluster.count; i++)
        if (cluster.quota && is_job && strstr(cluster.objects[i].path, "/jobs/")) {
            answer(call, KUBERNETES_NO_ROOM, 403);
            return;
        }
    if (find(path)) {
        answer(call, KUBERNETES_EXISTS, 409);
        return;
    }
    struct object *object = &cluster.objects[cluster.count++];
    *object = (struct object){.tree = tree};
    snprintf(object->path, sizeof(object->path), "%s", path);
    snprintf(object->uid, sizeof(object->uid), "uid-%d", ++cluster.uids);
    const struct value *owners = value_get(metadata, "ownerReferences");
    if (owners && owners->list.count)
        snprintf(object->owner, sizeof(object->owner), "%s",
                 value_get_text(owners->list.items[0], "uid").data);
    value_put(cluster.arena, metadata, "uid", value_string(cluster.arena, object->uid));
    starts_of(path)->made++;
    for (size_t i = 0; i < cluster.count; i++)
        if (cluster.objects[i].started && !cluster.meddled)
            complain("made after something was started", path);
    control(object);
    answer(call, KUBERNETES_DONE, 201);
    if (!call->raw)
        call->answer = tree;
}

static void merge(struct value *into, const struct value *from)
{
    for (size_t i = 0; i < from->object.count; i++) {
        const struct member *change = &from->object.members[i];
        if (change->value->kind == VALUE_OBJECT)
            merge(member(into, change->key.data), change->value);
        else
            value_set(cluster.arena, into, change->key, change->value);
    }
}

static void serve_object(struct kubernetes_call *call, const char *path)
{
    struct error error;
    struct object *object = find(path);
    if (!object) {
        answer(call, KUBERNETES_MISSING, 404);
        return;
    }
    struct value *body =
        call->body.data ? json_read(cluster.arena, call->body, "body", &yaml_trusted_limits, &error)
                        : NULL;
    if (strcmp(call->method, "PATCH") == 0) {
        struct text uid = value_get_text(value_get(body, "metadata"), "uid");
        if (uid.length && !text_is(uid, object->uid)) {
            answer(call, KUBERNETES_REFUSED, 422);
            return;
        }
        merge(object->tree, body);
        control(object);
    } else if (strcmp(call->method, "DELETE") == 0) {
        if (!text_is(value_get_text(value_get(body, "preconditions"), "uid"), object->uid)) {
            answer(call, KUBERNETES_CONFLICT, 409);
            return;
        }
        if (!text_is(value_get_text(body, "propagationPolicy"), "Background"))
            complain("deleted without its dependents", path);
        *object = cluster.objects[--cluster.count];
    }
    answer(call, KUBERNETES_DONE, 200);
    if (!call->raw)
        call->answer = object && find(path) ? find(path)->tree : NULL;
}

static void serve(struct kubernetes_call *call)
{
    char path[256];
    snprintf(path, sizeof(path), "%s", call->path.data);
    char *query = strchr(path, '?');
    if (query)
        *query = '\0';
    if (strcmp(call->method, "GET") != 0 && cluster.forbidden)
        answer(call, KUBERNETES_REFUSED, 403);
    else if (strcmp(call->method, "POST") == 0)
        serve_post(call, path);
    else
        serve_object(call, path);
}

static void delete_before(const struct kubernetes_call *call)
{
    char path[256];
    snprintf(path, sizeof(path), "%s", call->path.data);
    char *query = strchr(path, '?');
    if (query)
        *query = '\0';
    struct object *object = find(path);
    cluster.meddled = true;
    if (object)
        *object = cluster.objects[--cluster.count];
}

static void serve_late(void)
{
    if (cluster.is_late) {
        cluster.is_late = false;
        serve(&cluster.late);
    }
}

static void keep_late(const struct kubernetes_call *call)
{
    cluster.late = *call;
    cluster.late.raw = false;
    assert_true(call->body.length < sizeof(cluster.late_body));
    if (call->body.data)
        memcpy(cluster.late_body, call->body.data, call->body.length + 1);
    snprintf(cluster.late_path, sizeof(cluster.late_path), "%s", call->path.data);
    if (call->body.data)
        cluster.late.body.data = cluster.late_body;
    cluster.late.path.data = cluster.late_path;
    cluster.is_late = true;
}

static void disturb(struct kubernetes_call *call, enum fault fault)
{
    switch (fault) {
    case FAULT_NOT_SENT:
        answer(call, KUBERNETES_UNAVAILABLE, 0);
        return;
    case FAULT_LATE:
        keep_late(call);
        answer(call, KUBERNETES_UNKNOWN, 0);
        return;
    case FAULT_KILLED_AFTER:
    case FAULT_LOST_AFTER:
        serve(call);
        /* fall through */
    case FAULT_KILLED_BEFORE:
    case FAULT_LOST_BEFORE:
        cluster.dead = fault == FAULT_KILLED_BEFORE || fault == FAULT_KILLED_AFTER;
        call->answer = NULL;
        answer(call, KUBERNETES_UNKNOWN, 0);
        return;
    case FAULT_TWICE:
        serve(call);
        call->answer = NULL;
        call->error.text[0] = '\0';
        serve(call);
        return;
    case FAULT_NO_ROOM:
        answer(call, KUBERNETES_NO_ROOM, 403);
        return;
    case FAULT_CONFLICT:
        answer(call, KUBERNETES_CONFLICT, 409);
        return;
    case FAULT_REFUSED:
        answer(call, KUBERNETES_REFUSED, 422);
        return;
    case FAULT_THROTTLED:
        answer(call, KUBERNETES_UNAVAILABLE, 429);
        return;
    case FAULT_MISSING:
        delete_before(call);
        serve(call);
        return;
    case FAULT_FOR_GOOD:
        cluster.forbidden = true;
        /* fall through */
    default:
        serve(call);
    }
}

static void fake_run(struct kubernetes_connection *connection, struct arena *arena,
                     struct kubernetes_call *const *calls, size_t count)
{
    (void)connection;
    (void)arena;
    for (size_t i = 0; i < count; i++) {
        struct kubernetes_call *call = calls[i];
        enum fault fault = FAULT_NONE;
        if (cluster.dead) {
            answer(call, KUBERNETES_UNKNOWN, 0);
            continue;
        }
        long exchange = cluster.exchange++;
        assert_true(exchange < MOST_EXCHANGES);
        snprintf(cluster.methods[exchange], sizeof(cluster.methods[exchange]), "%s", call->method);
        cluster.requests++;
        for (int at = 0; at < 2; at++)
            if (cluster.faults[at].exchange == exchange)
                fault = cluster.faults[at].fault;
        disturb(call, fault);
        if (fault != FAULT_LATE)
            serve_late();
    }
}

/* ---- submissions ---- */

static struct names *groups; /* of users, remembered over all tests */

static void reset(size_t wanted)
{
    if (!groups)
        groups = names_new(10, sizeof(struct groups));
    if (cluster.arena)
        arena_free(cluster.arena);
    cluster = (struct cluster){.arena = arena_new(), .wanted = wanted};
    cluster.faults[0].exchange = cluster.faults[1].exchange = -1;
    kubernetes = (struct kubernetes){.run = fake_run,
                                     .space = "ml",
                                     .server = "https://server:6443",
                                     .version_known = true,
                                     .groups = groups};
    static char spool[] = "test";
    kubernetes.spool = spool;
}

static size_t count_objects(const char *manifest)
{
    size_t count = 0;
    for (const char *at = manifest; (at = strstr(at, "apiVersion")); at++)
        count++;
    return count - 1;
}

static struct submission submit(const char *manifest)
{
    struct submission submission = {.id = "j-1",
                                    .attempt = 1,
                                    .uid = 1000,
                                    .gid = 1000,
                                    .manifest = text_of(manifest),
                                    .owner = TEXT("ann"),
                                    .mender = MENDER_OWNER,
                                    .remedy = "of another time"};
    struct submission *batch[] = {&submission};
    cluster.dead = false;
    cluster.requests = 0;
    kubernetes_submit(&kubernetes.executor, batch, 1);
    if (submission.outcome != SUBMIT_ACCEPTED && !submission.error.text[0])
        fail_msg("no sentence with outcome %d", submission.outcome);
    return submission;
}

/* A job of which a part could not be let run has been told to end. */
static bool is_ended(void)
{
    for (size_t i = 0; i < cluster.count; i++)
        if (kubernetes_annotation_of(cluster.objects[i].tree, KUBERNETES_ANNOTATION_CANCELLED).data)
            return true;
    return false;
}

static void expect(const char *where, const char *manifest, bool there)
{
    if (cluster.complaint[0])
        fail_msg("%s: %s", where, cluster.complaint);
    if (there ? cluster.count != count_objects(manifest) : cluster.count != 0)
        fail_msg("%s: %zu objects are there", where, cluster.count);
    for (size_t i = 0; i < cluster.start_count; i++) {
        struct starts *starts = &cluster.starts[i];
        bool is_job = strstr(starts->path, "/jobs/") != NULL;
        bool is_held = manifest == held && strstr(starts->path, "master");
        if (starts->started > 1)
            fail_msg("%s: %s was started %d times", where, starts->path, starts->started);
        if (there && !is_ended() && starts->started != (is_job && !is_held))
            fail_msg("%s: %s was started %d times", where, starts->path, starts->started);
    }
}

/* As the stages do it: again under the same token while it is unknown, or while it is out of reach
 * after it was unknown; again when there is no room, and then nothing may be there. */
static void submit_until_settled(const char *manifest, const char *where)
{
    bool unknown = false;
    for (int tries = 0; tries < 12; tries++) {
        struct submission submission = submit(manifest);
        collect_garbage();
        switch (submission.outcome) {
        case SUBMIT_ACCEPTED:
            serve_late();
            if (!cluster.meddled)
                expect(where, manifest, true);
            return;
        case SUBMIT_UNKNOWN:
            unknown = true;
            continue;
        case SUBMIT_UNAVAILABLE:
            if (!unknown)
                expect(where, manifest, false);
            continue;
        case SUBMIT_NO_ROOM:
            expect(where, manifest, false);
            for (size_t i = 0; i < cluster.start_count; i++)
                if (cluster.starts[i].started)
                    fail_msg("%s: no room, after %s was started", where, cluster.starts[i].path);
            continue;
        case SUBMIT_REFUSED:
            if (unknown && submission.unsettled)
                continue;
            if (!cluster.is_late && !cluster.meddled)
                expect(where, manifest, false);
            return;
        default:
            fail_msg("%s: outcome %d", where, submission.outcome);
        }
    }
    if (!cluster.forbidden)
        fail_msg("%s: not settled", where);
}

static long learn(const char *manifest)
{
    reset(count_objects(manifest));
    struct submission submission = submit(manifest);
    if (submission.outcome != SUBMIT_ACCEPTED)
        fail_msg("undisturbed: %s", submission.error.text);
    expect("undisturbed", manifest, true);
    return cluster.exchange;
}

static void disturb_twice(const char *manifest, long first, enum fault first_fault, long second,
                          enum fault second_fault)
{
    char where[200];
    snprintf(where, sizeof(where), "%zu objects, exchange %ld %s, exchange %ld %s",
             count_objects(manifest), first, fault_names[first_fault], second,
             fault_names[second_fault]);
    reset(count_objects(manifest));
    cluster.faults[0].exchange = first;
    cluster.faults[0].fault = first_fault;
    cluster.faults[1].exchange = second;
    cluster.faults[1].fault = second_fault;
    submit_until_settled(manifest, where);
}

static const char *const manifests[] = {single, several, queued, held, with_secret};
enum { MANIFESTS = ARRAY_COUNT(manifests) };

static void each_object_is_made_once_whatever_fails(void **state)
{
    (void)state;
    enum { BEHIND = 6 }; /* exchanges that only a disturbed submission has */
    long cases = 0;
    for (size_t i = 0; i < MANIFESTS; i++) {
        long exchanges = learn(manifests[i]) + BEHIND;
        for (long first = 0; first < exchanges; first++)
            for (int fault = 1; fault < FAULTS; fault++, cases++)
                disturb_twice(manifests[i], first, (enum fault)fault, -1, FAULT_NONE);
    }
    print_message("# %ld cases\n", cases);
}

static void each_object_is_made_once_whatever_fails_twice(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    const int step = 7;
#else
    const int step = 1;
#endif
    long cases = 0, number = 0;
    for (size_t i = 0; i < MANIFESTS; i++) {
        long exchanges = learn(manifests[i]);
        for (long first = 0; first < exchanges; first++)
            for (int fault = 1; fault < FAULTS; fault++)
                for (long second = first + 1; second < first + 8; second++)
                    for (int other = 1; other < FAULTS; other++)
                        if (number++ % step == 0) {
                            disturb_twice(manifests[i], first, (enum fault)fault, second,
                                          (enum fault)other);
                            cases++;
                        }
    }
    print_message("# %ld cases\n", cases);
}

static void a_job_of_one_object_costs_one_request(void **state)
{
    (void)state;
    assert_int_equal(learn(single), 1);
    assert_int_equal(learn(several), 6); /* four objects, and two Jobs to release */
    assert_int_equal(submit(several).outcome, SUBMIT_ACCEPTED);
    struct submission submission = submit(several);
    assert_string_equal(submission.note, "4 objects at https://server:6443, namespace ml");
}

static void what_the_manifest_suspends_stays_so(void **state)
{
    (void)state;
    learn(held);
    struct object *master = must_find("/apis/batch/v1/namespaces/ml/jobs/j-1-a1-master");
    assert_true(value_get_boolean(value_get(master->tree, "spec"), "suspend", false));
    assert_true(kubernetes_annotation_of(master->tree, KUBERNETES_ANNOTATION_RELEASED).data);
    assert_false(master->started);
}

/* The object that was made with the last room is there when it is asked for again. */
static void a_quota_that_the_job_itself_fills_is_no_want_of_room(void **state)
{
    (void)state;
    reset(1);
    cluster.quota = true;
    cluster.faults[0].exchange = 0;
    cluster.faults[0].fault = FAULT_LOST_AFTER;
    assert_int_equal(submit(single).outcome, SUBMIT_UNKNOWN);
    assert_int_equal(submit(single).outcome, SUBMIT_ACCEPTED);
    expect("quota", single, true);
    /* Of a job of several, the second finds none: then nothing stays. */
    reset(4);
    cluster.quota = true;
    assert_int_equal(submit(several).outcome, SUBMIT_NO_ROOM);
    collect_garbage();
    expect("quota", several, false);
}

static void another_manifest_under_the_token_is_refused(void **state)
{
    (void)state;
    learn(single);
    struct submission submission = submit(single_other);
    assert_int_equal(submission.outcome, SUBMIT_REFUSED);
    assert_non_null(strstr(submission.error.text, "was submitted from another manifest already"));
    assert_int_equal(cluster.count, 1);
}

static void what_is_foreign_is_refused_and_left_alone(void **state)
{
    (void)state;
    static const char *const paths[] = {"/apis/batch/v1/namespaces/ml/jobs/j-1-a1-master",
                                        "/api/v1/namespaces/ml/services/j-1-a1",
                                        "/apis/batch/v1/namespaces/ml/jobs/j-1-a1-worker"};
    for (size_t i = 0; i < 3; i++) {
        reset(4);
        cluster.meddled = true;
        struct object *object = &cluster.objects[cluster.count++];
        snprintf(object->path, sizeof(object->path), "%s", paths[i]);
        snprintf(object->uid, sizeof(object->uid), "foreign");
        object->tree = value_object(cluster.arena);
        struct submission submission = submit(several);
        collect_garbage();
        assert_int_equal(submission.outcome, SUBMIT_REFUSED);
        assert_non_null(strstr(submission.error.text, "was not made for this job"));
        assert_int_equal(submission.mender, MENDER_SITE);
        assert_non_null(strstr(submission.remedy, "Remove that object"));
        assert_int_equal(cluster.count, 1);
        assert_string_equal(cluster.objects[0].uid, "foreign");
    }
}

static void leave(const char *path)
{
    struct object *object = must_find(path);
    value_put(cluster.arena, value_get(object->tree, "metadata"), "deletionTimestamp",
              value_string(cluster.arena, "2026-11-21T00:00:00Z"));
}

static void what_is_being_deleted_is_not_begun_twice(void **state)
{
    (void)state;
    learn(several);
    leave("/apis/batch/v1/namespaces/ml/jobs/j-1-a1-master");
    struct submission submission = submit(several);
    assert_int_equal(submission.outcome, SUBMIT_ACCEPTED);
    assert_non_null(strstr(submission.note, "being deleted"));
    learn(single);
    leave("/apis/batch/v1/namespaces/ml/jobs/j-1-a1");
    assert_int_equal(submit(single).outcome, SUBMIT_ACCEPTED);
    /* Not begun yet: it is made again when it is gone. */
    reset(4);
    cluster.faults[0].exchange = 1;
    cluster.faults[0].fault = FAULT_KILLED_BEFORE;
    assert_int_equal(submit(several).outcome, SUBMIT_UNKNOWN);
    leave("/apis/batch/v1/namespaces/ml/jobs/j-1-a1-master");
    assert_int_equal(submit(several).outcome, SUBMIT_UNKNOWN);
    cluster.count = 0;
    assert_int_equal(submit(several).outcome, SUBMIT_ACCEPTED);
    expect("begun", several, true);
}

/* Somebody deleted the owner of a running job, and its dependents are not collected yet. */
static void dependents_of_a_deleted_owner_are_not_taken_over(void **state)
{
    (void)state;
    learn(several);
    cluster.meddled = true;
    struct object *master = must_find("/apis/batch/v1/namespaces/ml/jobs/j-1-a1-master");
    *master = cluster.objects[--cluster.count];
    struct submission submission = submit(several);
    assert_int_equal(submission.outcome, SUBMIT_REFUSED);
    assert_non_null(strstr(submission.error.text, "not begun a second time"));
    collect_garbage();
    assert_int_equal(cluster.count, 0);
}

/* Somebody suspended, or deleted, a part of a job that runs. */
static void what_somebody_did_to_a_running_job_stays_done(void **state)
{
    (void)state;
    learn(several);
    struct object *worker = must_find("/apis/batch/v1/namespaces/ml/jobs/j-1-a1-worker");
    value_put(cluster.arena, value_get(worker->tree, "spec"), "suspend",
              value_boolean(cluster.arena, true));
    assert_int_equal(submit(several).outcome, SUBMIT_ACCEPTED);
    assert_true(value_get_boolean(value_get(worker->tree, "spec"), "suspend", false));
    *worker = cluster.objects[--cluster.count];
    struct submission submission = submit(several);
    assert_int_equal(submission.outcome, SUBMIT_ACCEPTED);
    assert_non_null(strstr(submission.note, "1 of its Jobs were deleted by somebody"));
    assert_int_equal(cluster.count, 3);
}

static void an_undoing_that_is_not_answered_is_made_again(void **state)
{
    (void)state;
    /* The Service is refused; the DELETE is lost before it is seen, and then not. */
    reset(4);
    cluster.faults[0].exchange = 1;
    cluster.faults[0].fault = FAULT_REFUSED;
    cluster.faults[1].exchange = 5;
    cluster.faults[1].fault = FAULT_LOST_BEFORE;
    struct submission submission = submit(several);
    assert_string_equal(cluster.methods[5], "DELETE");
    assert_int_equal(submission.outcome, SUBMIT_UNKNOWN);
    assert_non_null(strstr(submission.error.text, "could not be deleted"));
    assert_int_equal(submit(several).outcome, SUBMIT_ACCEPTED);
    expect("undone", several, true);
}

/* Whichever of its requests is refused, the last ones being those that let it begin. */
static void who_can_mend_a_refusal_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *manifest;
        long exchange;
    } requests[] = {{single, 0}, {several, 0}, {several, 1}, {several, 3}, {several, 4}};
    static const char *const remedies[] = {"Ask an administrator for that right", NULL};
    for (size_t i = 0; i < ARRAY_COUNT(requests); i++)
        for (int other = 0; other < 2; other++) {
            reset(count_objects(requests[i].manifest));
            cluster.faults[0].exchange = requests[i].exchange;
            cluster.faults[0].fault = FAULT_REFUSED;
            cluster.remedy = remedies[other];
            struct submission submission = submit(requests[i].manifest);
            assert_int_equal(submission.outcome, SUBMIT_REFUSED);
            assert_int_equal(submission.mender, other ? MENDER_MANIFEST : MENDER_SITE);
            assert_string_equal(submission.remedy, other ? "" : remedies[0]);
        }
    reset(4);
    cluster.forbidden = true;
    cluster.remedy = remedies[0];
    struct submission submission = submit(several);
    assert_int_equal(submission.outcome, SUBMIT_REFUSED);
    assert_int_equal(submission.mender, MENDER_SITE);
    cluster.forbidden = false;
    submission = submit("what is no manifest");
    assert_int_equal(submission.outcome, SUBMIT_REFUSED);
    assert_int_equal(submission.mender, MENDER_MANIFEST);
    assert_string_equal(submission.remedy, "");

    /* What dlspool.yaml does not allow, an administrator can allow. */
    char text[4096];
    const char *pod = strstr(single, "restartPolicy: Never");
    snprintf(text, sizeof(text), "%.*shostNetwork: true\n        %s", (int)(pod - single), single,
             pod);
    submission = submit(text);
    assert_int_equal(submission.outcome, SUBMIT_REFUSED);
    assert_int_equal(submission.mender, MENDER_SITE);
    assert_non_null(strstr(submission.remedy, "Ask an administrator to allow it in dlspool.yaml"));
}

static void a_batch_goes_phase_by_phase(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    static char texts[COUNT][4096];
    static const char *const ids[COUNT] = {"j-1", "k-1", "l-1", "m-1"};
    struct submission submissions[COUNT], *batch[COUNT];
    reset(0);
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%s", several);
        for (char *at = texts[i]; (at = strstr(at, "j-1")); at++)
            *at = ids[i][0];
        submissions[i] = (struct submission){
            .id = ids[i], .attempt = 1, .uid = 1000, .gid = 1000, .manifest = text_of(texts[i])};
        batch[i] = &submissions[i];
    }
    kubernetes_submit(&kubernetes.executor, batch, COUNT);
    for (int i = 0; i < COUNT; i++)
        if (submissions[i].outcome != SUBMIT_ACCEPTED)
            fail_msg("%s", submissions[i].error.text);
    for (int i = 0; i < 6 * COUNT; i++)
        assert_string_equal(cluster.methods[i], i < 4 * COUNT ? "POST" : "PATCH");
    assert_int_equal(cluster.exchange, 6 * COUNT);
}

/* The owner runs when the other Job's release is refused for good. */
static void a_job_that_can_only_half_run_is_ended(void **state)
{
    (void)state;
    reset(4);
    cluster.faults[0].exchange = 5;
    cluster.faults[0].fault = FAULT_REFUSED;
    struct submission submission = submit(several);
    assert_int_equal(submission.outcome, SUBMIT_ACCEPTED);
    assert_non_null(strstr(submission.note, "ended at once"));
    for (size_t i = 0; i < cluster.count; i++) {
        struct value *specification = value_get(cluster.objects[i].tree, "spec");
        if (strstr(cluster.objects[i].path, "/jobs/"))
            assert_true(value_get_number(specification, "parallelism", -1) < 0.5);
    }
    assert_int_equal(submit(several).outcome, SUBMIT_ACCEPTED);
    assert_int_equal(starts_of("/apis/batch/v1/namespaces/ml/jobs/j-1-a1-worker")->started, 0);
}

static int stop(void **state)
{
    (void)state;
    arena_free(cluster.arena);
    cluster.arena = NULL;
    names_free(groups);
    groups = NULL;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_of_one_object_costs_one_request),
        cmocka_unit_test(a_batch_goes_phase_by_phase),
        cmocka_unit_test(who_can_mend_a_refusal_is_told),
        cmocka_unit_test(what_the_manifest_suspends_stays_so),
        cmocka_unit_test(a_quota_that_the_job_itself_fills_is_no_want_of_room),
        cmocka_unit_test(another_manifest_under_the_token_is_refused),
        cmocka_unit_test(what_is_foreign_is_refused_and_left_alone),
        cmocka_unit_test(what_is_being_deleted_is_not_begun_twice),
        cmocka_unit_test(dependents_of_a_deleted_owner_are_not_taken_over),
        cmocka_unit_test(what_somebody_did_to_a_running_job_stays_done),
        cmocka_unit_test(an_undoing_that_is_not_answered_is_made_again),
        cmocka_unit_test(a_job_that_can_only_half_run_is_ended),
        cmocka_unit_test(each_object_is_made_once_whatever_fails),
        cmocka_unit_test(each_object_is_made_once_whatever_fails_twice),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
