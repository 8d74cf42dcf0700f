/* tests/unit/kubernetes_executor_test.c - ready, kill, remove, capacity and dry run in a cluster
 *
 * The stand-in's user has the rights of etc/kubernetes-role.yaml and no others, so whatever passes
 * here passes with them; the last test shows that each of them was used by one operation or
 * another.
 *
 * Seen to fail with: tests/mutants/role-may-look-at-no-secrets.patch, role-may-update-jobs.patch,
 * kubernetes-delete-orphans-objects.patch, kubernetes-body-belongs-to-nobody.patch,
 * kubernetes-capacity-forgets-init-containers.patch and kubernetes-sent-is-not-stamped.patch.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "executors/kubernetes/api.h"
#include "executors/nodes.h"
#include "tests/unit/kubernetes_stand_in.h"

static struct executor *executor;

static int start(void **state)
{
    (void)state;
    if (stand_in_start())
        return -1;
    executor = stand_in_executor("");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    if (executor)
        executor->operations->close(executor);
    stand_in_stop();
    return 0;
}

/* ---- what the cluster holds ---- */

static const struct value *objects(const char *kind)
{
    return value_get(order("\"order\": \"dump\", \"what\": \"objects\", \"kind\": \"%s\"", kind),
                     "objects");
}

/* The objects of a kind that are a job's, pods included; the last of them. */
static int count_of(const char *kind, const char *id, const struct value **last)
{
    const struct value *list = objects(kind);
    int count = 0;
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        if (!text_is(
                value_get_text(value_get(value_get(item, "metadata"), "labels"), "dlspool/job"),
                id))
            continue;
        count++;
        if (last)
            *last = item;
    }
    return count;
}

static int all_of(const char *id)
{
    return count_of("jobs", id, NULL) + count_of("services", id, NULL) +
           count_of("secrets", id, NULL) + count_of("pods", id, NULL);
}

static void wait_for(const char *kind, const char *id, int wanted)
{
    int64_t begin = clock_elapsed();
    while (count_of(kind, id, NULL) != wanted) {
        if (clock_elapsed() - begin > STAND_IN_PATIENCE)
            fail_msg("%s of %s: found %d, expected %d", kind, id, count_of(kind, id, NULL), wanted);
        stand_in_pause(20);
    }
}

/* A pod that no node has yet is not ended by a kubelet, but later by the server's own collector. */
static void wait_for_running(const char *id, int wanted)
{
    int64_t begin = clock_elapsed();
    for (int running = 0; running != wanted; stand_in_pause(20)) {
        const struct value *list = objects("pods");
        running = 0;
        for (size_t i = 0; i < list->list.count; i++) {
            const struct value *item = list->list.items[i];
            running += text_is(value_get_text(value_get(value_get(item, "metadata"), "labels"),
                                              "dlspool/job"),
                               id) &&
                       text_is(value_get_text(value_get(item, "status"), "phase"), "Running");
        }
        if (clock_elapsed() - begin > STAND_IN_PATIENCE)
            fail_msg("%s: %d pods run, expected %d", id, running, wanted);
    }
}

static void wait_for_nothing(const char *id)
{
    int64_t begin = clock_elapsed();
    while (all_of(id)) {
        if (clock_elapsed() - begin > STAND_IN_PATIENCE)
            fail_msg("%d objects of %s stay", all_of(id), id);
        stand_in_pause(20);
    }
}

static void submit(const char *pattern, const char *id)
{
    struct submission submission = stand_in_submit(executor, pattern, id);
    if (submission.outcome != SUBMIT_ACCEPTED)
        fail_msg("%s: %s", id, submission.error.text);
}

/* ---- ready ---- */

static void ready_says_what_is_wrong(void **state)
{
    (void)state;
    struct error error;
    if (executor->operations->ready(executor, &error))
        fail_msg("%s", error.text);
    struct executor *other = stand_in_executor("  namespace: nowhere\n");
    assert_int_equal(other->operations->ready(other, &error), -1);
    if (!strstr(error.text, "nowhere") || !strstr(error.text, "kubernetes-role.yaml"))
        fail_msg("%s", error.text);
    other->operations->close(other);
    order("\"order\": \"namespace\", \"name\": \"dlspool\", \"action\": \"make\"");
    /* A server that is too old; and one that is only just new enough. */
    static const struct {
        const char *minor;
        int result;
    } versions[] = {{"20", -1}, {"28+", -1}, {"29+", 0}, {"36", 0}};
    for (size_t i = 0; i < ARRAY_COUNT(versions); i++) {
        order("\"order\": \"version\", \"value\": {\"major\": \"1\", \"minor\": \"%s\"}",
              versions[i].minor);
        other = stand_in_executor("");
        assert_int_equal(other->operations->ready(other, &error), versions[i].result);
        if (versions[i].result && !strstr(error.text, "silently drops"))
            fail_msg("%s", error.text);
        struct submission submission = stand_in_submit(other, stand_in_single, "old-1");
        assert_int_equal(submission.outcome,
                         versions[i].result ? SUBMIT_UNAVAILABLE : SUBMIT_ACCEPTED);
        other->operations->close(other);
    }
    assert_int_equal(executor_remove(executor, "old-1", 1, &error), 0);
}

static void a_credential_that_is_refused_is_read_again(void **state)
{
    (void)state;
    struct error error;
    order("\"order\": \"token\", \"rewrite\": true");
    if (executor->operations->ready(executor, &error))
        fail_msg("%s", error.text);
}

/* ---- cancel ---- */

static void cancel_tells_every_job_to_end(void **state)
{
    (void)state;
    struct error error;
    const struct value *job = NULL, *pod = NULL;
    order("\"order\": \"fate\", \"pattern\": \"/k-\", \"seconds\": 3600, \"count\": 0");
    submit(stand_in_several, "k-1");
    submit(stand_in_several, "k-2");
    wait_for_running("k-1", 2);
    wait_for_running("k-2", 2);
    struct job_call calls[] = {
        {.id = "k-1", .attempt = 1}, {.id = "k-1", .attempt = 2}, {.id = "k-no", .attempt = 1}};
    struct job_call *batch[] = {&calls[0], &calls[1], &calls[2]};
    executor->operations->cancel(executor, batch, 3);
    for (int i = 0; i < 3; i++)
        if (calls[i].result)
            fail_msg("%s", calls[i].error.text);
    assert_int_equal(count_of("jobs", "k-1", &job), 2);
    assert_true(value_get_number(value_get(job, "spec"), "parallelism", 1) < 0.5);
    assert_int_equal(count_of("jobs", "k-2", &job), 2);
    assert_true(value_get_number(value_get(job, "spec"), "parallelism", 0) > 0.5);
    /* With force its pods are told to go at once; the other job's are not. */
    if (executor_cancel(executor, "k-1", 1, true, &error))
        fail_msg("%s", error.text);
    wait_for("pods", "k-1", 0);
    assert_int_equal(count_of("pods", "k-2", &pod), 2);
    assert_null(value_get(value_get(pod, "metadata"), "deletionTimestamp"));
    assert_int_equal(executor_remove(executor, "k-1", 1, &error), 0);
    wait_for_nothing("k-1");
    assert_int_equal(executor_remove(executor, "k-2", 1, &error), 0);
    wait_for_nothing("k-2");
    order("\"order\": \"no_fates\"");
}

/* ---- remove ---- */

static void remove_takes_everything_and_nothing_else(void **state)
{
    (void)state;
    enum { COUNT = 100 }; /* more than are asked about in one request */
    struct job_call calls[COUNT], *batch[COUNT];
    char ids[COUNT][16];
    submit(stand_in_several, "stays");
    for (int i = 0; i < COUNT; i++) {
        snprintf(ids[i], sizeof(ids[i]), "r-%d", i);
        if (i % 2 == 0)
            submit(stand_in_several, ids[i]);
        calls[i] = (struct job_call){.id = ids[i], .attempt = 1};
        batch[i] = &calls[i];
    }
    executor->operations->remove(executor, batch, COUNT);
    for (int i = 0; i < COUNT; i++)
        if (calls[i].result)
            fail_msg("%s", calls[i].error.text);
    for (int i = 0; i < COUNT; i++)
        wait_for_nothing(ids[i]);
    assert_int_equal(count_of("jobs", "stays", NULL), 2);
    struct error error;
    assert_int_equal(executor_remove(executor, "stays", 1, &error), 0);
    wait_for_nothing("stays");
}

#define DEBUG_JOB                                                                                  \
    STAND_IN_LIST STAND_IN_JOB("\"@\"", "main", "    annotations: {dlspool/debug: \"2\"}\n")

static void a_job_that_asks_for_debug_stays_for_that_time(void **state)
{
    (void)state;
    struct error error;
    const struct value *job = NULL;
    order("\"order\": \"fate\", \"pattern\": \"/d-\", \"seconds\": 3600, \"count\": 0");
    submit(DEBUG_JOB, "d-1");
    wait_for_running("d-1", 1);
    int64_t begin = clock_elapsed();
    for (int i = 0; i < 2; i++) /* a second time changes nothing */
        if (executor_remove(executor, "d-1", 1, &error))
            fail_msg("%s", error.text);
    assert_int_equal(count_of("jobs", "d-1", &job), 1);
    const struct value *specification = value_get(job, "spec");
    assert_true(value_get_number(specification, "activeDeadlineSeconds", 0) > 0.5);
    assert_true(value_get_number(specification, "ttlSecondsAfterFinished", 0) > 1.5);
    wait_for_nothing("d-1");
    assert_true(clock_elapsed() - begin > 1500);
    order("\"order\": \"no_fates\"");
}

static void trouble_is_told_to_each_job_of_a_batch(void **state)
{
    (void)state;
    struct error error;
    submit(stand_in_single, "t-1");
    order("\"order\": \"misbehave\", \"action\": \"status\", \"code\": 503, \"count\": 0");
    assert_int_equal(executor_remove(executor, "t-1", 1, &error), -1);
    assert_true(error.text[0]);
    assert_int_equal(executor_cancel(executor, "t-1", 1, true, &error), -1);
    order("\"order\": \"calm\"");
    order(
        "\"order\": \"misbehave\", \"action\": \"status\", \"code\": 500, \"method\": \"DELETE\"");
    assert_int_equal(executor_remove(executor, "t-1", 1, &error), -1);
    assert_int_equal(executor_remove(executor, "t-1", 1, &error), 0);
    wait_for_nothing("t-1");
}

/* ---- capacity ---- */

#define BIG_JOB                                                                                    \
    STAND_IN_LIST                                                                                  \
    "- apiVersion: batch/v1\n  kind: Job\n"                                                        \
    "  metadata:\n    name: \"@\"\n    labels: {dlspool/role: main}\n"                             \
    "  spec:\n    completionMode: Indexed\n    completions: 2\n    parallelism: 2\n"               \
    "    backoffLimit: 0\n    podReplacementPolicy: Failed\n"                                      \
    "    template:\n      spec:\n        restartPolicy: Never\n"                                   \
    "        initContainers:\n"                                                                    \
    "        - name: fetch\n          image: busybox\n"                                            \
    "          resources: {requests: {cpu: 3, memory: 1Gi}}\n"                                     \
    "        containers:\n        - name: main\n          image: busybox\n"                        \
    "          resources: {requests: {cpu: 1500m, memory: 2Gi}, limits: {nvidia.com/gpu: 3}}\n"

static void capacity_is_what_nodes_have_and_pods_leave(void **state)
{
    (void)state;
    struct capacity capacity;
    struct error error;
    order("\"order\": \"fate\", \"pattern\": \"/big-\", \"seconds\": 3600, \"count\": 0");
    order("\"order\": \"node\", \"name\": \"gpus\", \"action\": \"add\", \"capacity\": {\"cpu\": "
          "\"32\", \"memory\": \"64Gi\", \"amd.com/gpu\": \"4\"}, \"labels\": {}");
    order("\"order\": \"node\", \"name\": \"a100\", \"action\": \"add\", \"capacity\": {\"cpu\": "
          "\"1\", \"memory\": \"1Gi\", \"nvidia.com/gpu\": \"2\"}, \"labels\": "
          "{\"nvidia.com/gpu.product\": \"A100\"}");
    order("\"order\": \"node\", \"name\": \"away\", \"action\": \"add\"");
    order("\"order\": \"node\", \"name\": \"away\", \"action\": \"cordon\"");
    if (executor->operations->capacity(executor, &capacity, &error))
        fail_msg("%s", error.text);
    assert_int_equal(capacity.nodes, 5);
    assert_int_equal(capacity.nodes_ready, 4);
    const struct capacity before = capacity;
    submit(BIG_JOB, "big-1");
    wait_for("pods", "big-1", 2);
    int64_t begin = clock_elapsed();
    do {
        if (executor->operations->capacity(executor, &capacity, &error))
            fail_msg("%s", error.text);
    } while (capacity.gpus_free != before.gpus_free - 6 &&
             clock_elapsed() - begin < STAND_IN_PATIENCE);
    assert_int_equal(before.gpus_free - capacity.gpus_free, 6);
    assert_int_equal(before.cpus_free - capacity.cpus_free, 6000);
    assert_int_equal(before.memory_free - capacity.memory_free, 4LL << 30);
    assert_int_equal(capacity.gpu_type_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct gpu_capacity *type = &capacity.gpu_types[i];
        int count = strcmp(type->type, "A100") == 0     ? 2
                    : strcmp(type->type, "amd.com/gpu") ? 16
                                                        : 4;
        assert_int_equal(type->count, count);
        assert_int_equal(type->free, count == 16 ? 10 : count);
    }
    assert_int_equal(executor_remove(executor, "big-1", 1, &error), 0);
    order("\"order\": \"no_fates\"");
}

static const struct node *node_of(const struct nodes *nodes, const char *name)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (text_is(nodes->items[i].name, name))
            return &nodes->items[i];
    fail_msg("there is no node %s", name);
    return NULL;
}

static void nodes_say_how_they_are(void **state)
{
    (void)state;
    struct capacity capacity;
    struct error error;
    struct nodes *nodes = nodes_new();
    order("\"order\": \"node\", \"name\": \"lost\", \"action\": \"add\", \"capacity\": {\"cpu\": "
          "\"8\", \"memory\": \"1Gi\"}, \"labels\": {\"disk\": \"fast\", "
          "\"kubernetes.io/os\": \"linux\"}");
    order("\"order\": \"node\", \"name\": \"lost\", \"action\": \"lose\"");
    if (nodes_survey(executor, &capacity, nodes, &error))
        fail_msg("%s", error.text);
    const struct node *node = node_of(nodes, "lost");
    assert_int_equal(node->state, NODE_UNKNOWN);
    assert_string_equal(node->word.data, "Unknown");
    assert_string_equal(node->reason.data, "Kubelet stopped posting node status.");
    assert_string_equal(node->features.data, "disk=fast");
    assert_true(node->since > 0);
    node = node_of(nodes, "away");
    assert_int_equal(node->state, NODE_DRAINED);
    assert_string_equal(node->word.data, "Ready,SchedulingDisabled");
    assert_string_equal(node->reason.data, "cordoned");
    assert_true(node->since > 0);
    node = node_of(nodes, "a100");
    assert_int_equal(node->state, NODE_READY);
    assert_string_equal(node->gpu_types[0].type, "A100");
    assert_int_equal(node->gpus, 2);
    assert_int_equal(capacity.nodes, (int)nodes->count);
    order("\"order\": \"node\", \"name\": \"lost\", \"action\": \"remove\"");
    nodes_free(nodes);
}

#define FORBIDDEN                                                                                  \
    "\"action\": \"status\", \"code\": 403, \"count\": 0, \"body\": {\"kind\": "                   \
    "\"Status\", \"apiVersion\": \"v1\", \"status\": \"Failure\", \"reason\": "                    \
    "\"Forbidden\", \"message\": \"nodes is forbidden\", \"code\": 403}"

static void without_nodes_the_quota_tells(void **state)
{
    (void)state;
    struct capacity capacity;
    struct error error;
    order("\"order\": \"misbehave\", \"path\": \"/nodes\", " FORBIDDEN);
    assert_int_equal(executor->operations->capacity(executor, &capacity, &error), -1);
    if (!strstr(error.text, "ResourceQuota"))
        fail_msg("%s", error.text);
    struct nodes *nodes = nodes_new();
    assert_int_equal(nodes_survey(executor, &capacity, nodes, &error), -1);
    assert_int_equal(nodes->count, 0);
    nodes_free(nodes);
    order("\"order\": \"calm\"");
    order("\"order\": \"misbehave\", \"path\": \"v1/pods\", " FORBIDDEN);
    if (executor->operations->capacity(executor, &capacity, &error))
        fail_msg("%s", error.text);
    assert_non_null(strstr(capacity.note, "namespace"));
    order("\"order\": \"calm\"");
}

/* ---- what is sent, and dry run ---- */

static bool says(const struct buffer *text, const char *line)
{
    return strstr(text->data, line) != NULL;
}

static void what_is_sent_can_be_shown(void **state)
{
    (void)state;
    struct error error;
    struct buffer sent = {0};
    struct arena *arena = arena_new();
    struct submission submission = {.id = "shown-1",
                                    .attempt = 1,
                                    .uid = 4711,
                                    .gid = 4712,
                                    .owner = text_of("ann"),
                                    .manifest =
                                        stand_in_manifest(arena, stand_in_several, "shown-1")};
    if (executor->operations->sent(executor, &submission, &sent, &error))
        fail_msg("%s", error.text);
    if (!yaml_read(arena, buffer_text(&sent), "sent", &yaml_trusted_limits, &error))
        fail_msg("%s", error.text);
    static const char *const lines[] = {
        "automountServiceAccountToken: false",
        "runAsUser: 4711",
        "runAsGroup: 4712",
        "allowPrivilegeEscalation: false",
        "RuntimeDefault",
        "dlspool/owner",
        "suspend: true",
        "ownerReferences:",
    };
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++)
        if (!says(&sent, lines[i]))
            fail_msg("%s is missing: %s", lines[i], sent.data);
    assert_int_equal(all_of("shown-1"), 0);
    buffer_free(&sent);
    arena_free(arena);
}

static void a_dry_run_says_what_the_server_would_do(void **state)
{
    (void)state;
    struct error error;
    struct buffer answer = {0};
    struct arena *arena = arena_new();
    struct submission submission = {.id = "dry-1",
                                    .attempt = 1,
                                    .uid = 1000,
                                    .gid = 1000,
                                    .manifest =
                                        stand_in_manifest(arena, stand_in_several, "dry-1")};
    if (executor->operations->try_out(executor, &submission, &answer, &error))
        fail_msg("%s", error.text);
    const struct value *list =
        yaml_read(arena, buffer_text(&answer), "answer", &yaml_trusted_limits, &error);
    if (!list)
        fail_msg("%s", error.text);
    assert_int_equal(value_get(list, "items")->list.count, 4);
    assert_true(
        value_get_text(value_get(value_get(list, "items")->list.items[0], "metadata"), "uid")
            .length > 0);
    assert_int_equal(all_of("dry-1"), 0);
    assert_int_equal(executor->operations->weight(executor, submission.manifest), 4);
    buffer_clear(&answer);
    /* What only the server finds wrong. */
    submission.manifest = stand_in_manifest(arena,
                                            STAND_IN_LIST STAND_IN_JOB("\"@\"", "main", "")
                                                STAND_IN_SECRET "  type: kubernetes.io/tls\n",
                                            "dry-1");
    assert_int_equal(executor->operations->try_out(executor, &submission, &answer, &error), -1);
    if (!strstr(error.text, "the Secret dry-1-a1-env"))
        fail_msg("%s", error.text);
    buffer_free(&answer);
    arena_free(arena);
}

#define KEYS                                                                                       \
    "- apiVersion: v1\n  kind: Secret\n  type: kubernetes.io/ssh-auth\n  immutable: true\n"        \
    "  metadata: {name: \"@-ssh\", annotations: {dlspool/generate: ssh-key}}\n"

static void keys_are_made_once_and_shown_nowhere(void **state)
{
    (void)state;
    static const char *const keyed = STAND_IN_LIST STAND_IN_JOB("\"@\"", "main", "") KEYS;
    const struct value *secret = NULL;
    struct error error;
    struct buffer answer = {0};
    struct arena *arena = arena_new();
    struct submission dry = {.id = "keys-1",
                             .attempt = 1,
                             .uid = 1000,
                             .gid = 1000,
                             .manifest = stand_in_manifest(arena, keyed, "keys-1")};
    if (executor->operations->try_out(executor, &dry, &answer, &error))
        fail_msg("%s", error.text);
    assert_non_null(strstr(answer.data, "kubernetes.io/ssh-auth"));
    assert_null(strstr(answer.data, "ssh-privatekey"));
    buffer_free(&answer);
    submit(keyed, "keys-1");
    assert_int_equal(count_of("secrets", "keys-1", &secret), 1);
    struct text key = value_get_text(value_get(secret, "data"), "ssh-privatekey");
    assert_true(key.length > 300);
    char before[1024];
    snprintf(before, sizeof(before), "%s", key.data);
    submit(keyed, "keys-1");
    assert_int_equal(count_of("secrets", "keys-1", &secret), 1);
    key = value_get_text(value_get(secret, "data"), "ssh-privatekey");
    assert_string_equal(key.data, before);
    assert_int_equal(executor_remove(executor, "keys-1", 1, &error), 0);
    wait_for_nothing("keys-1");
    arena_free(arena);
}

/* What the server remarks beside its answer, for people. */
static void warnings_are_passed_on(void **state)
{
    (void)state;
    struct error error;
    char path[128];
    snprintf(path, sizeof(path), "%s/kubeconfig", stand_in.directory);
    struct kubernetes_settings settings;
    assert_int_equal(kubernetes_settings_read(&settings, stand_in.arena, NULL, &error), 0);
    settings.kubeconfig = arena_text(stand_in.arena, path, strlen(path));
    struct kubernetes_connection *connection = kubernetes_api_connect(&settings, &error);
    if (!connection)
        fail_msg("%s", error.text);
    submit(stand_in_single, "w-1");
    struct kubernetes_call call = {.method = "DELETE",
                                   .path = TEXT("/apis/batch/v1/namespaces/dlspool/jobs/w-1-a1")};
    struct kubernetes_call *calls[] = {&call};
    kubernetes_api_run(connection, stand_in.arena, calls, 1);
    assert_int_equal(call.outcome, KUBERNETES_DONE);
    if (!call.warnings.length || !strstr(call.warnings.data, "propagation"))
        fail_msg("%s", call.warnings.length ? call.warnings.data : "no warning");
    kubernetes_api_call_free(&call);
    kubernetes_api_disconnect(connection);
}

/* ---- the Role ---- */

#define EVERY_KIND                                                                                   \
    STAND_IN_LIST STAND_IN_JOB("\"@\"", "main", "") STAND_IN_SERVICE STAND_IN_SECRET                 \
        "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: \"@\"}\n  data: {a: b}\n"           \
        "- apiVersion: scheduling.volcano.sh/v1beta1\n  kind: PodGroup\n  metadata: {name: \"@\"}\n" \
        "  spec: {minMember: 1}\n"

/* A pod that runs is asked to have more processors. */
static void use_resize(void)
{
    struct job_resize job = {.id = "z-1", .attempt = 1, .kind = SIZE_CPUS, .size = 2000};
    struct job_resize *batch[] = {&job};
    struct error error;
    order("\"order\": \"fate\", \"pattern\": \"z-1\", \"seconds\": -1");
    submit(stand_in_single, "z-1");
    wait_for_running("z-1", 1);
    executor->operations->resize(executor, batch, 1);
    if (job.outcome != RESIZE_UNAVAILABLE || !strstr(job.error.text, "has not said"))
        fail_msg("outcome %d: %s", job.outcome, job.error.text);
    assert_int_equal(executor_remove(executor, "z-1", 1, &error), 0);
}

static const struct value *what_was_used(void)
{
    const struct value *users =
        value_get(order("\"order\": \"dump\", \"what\": \"users\""), "users");
    return value_get(value_get(users, "dlspool"), "used");
}

static void use_everything(void)
{
    struct error error;
    struct arena *arena = arena_new();
    use_resize();
    /* All that is made is said to be there already, and so looked at. */
    order("\"order\": \"misbehave\", \"action\": \"twice\", \"method\": \"POST\", \"count\": 0");
    submit(EVERY_KIND, "e-1");
    order("\"order\": \"calm\"");
    int64_t begin = clock_elapsed();
    struct job_poll poll = {.id = "e-1", .attempt = 1}, *polls[] = {&poll};
    do {
        poll = (struct job_poll){.id = "e-1", .attempt = 1};
        if (executor->operations->poll(executor, arena, polls, 1, &error))
            fail_msg("%s", error.text);
        stand_in_pause(20);
        /* A busy machine ends the job before the watch of events has begun. */
    } while ((poll.phase != PHASE_SUCCEEDED || !value_get(what_was_used(), "watch  events")) &&
             clock_elapsed() - begin < STAND_IN_PATIENCE);
    assert_int_equal(poll.phase, PHASE_SUCCEEDED);
    char path[128];
    snprintf(path, sizeof(path), "%s/output", stand_in.directory);
    assert_int_equal(mkdir(path, 0700), 0);
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (executor_output(executor, "e-1", 1, directory, true, &error))
        fail_msg("%s", error.text);
    close(directory);
    assert_int_equal(executor_remove(executor, "e-1", 1, &error), 0);
    arena_free(arena);
}

/* Look in what the user has used for each verb of each rule. */
static int find_unused(const struct value *used, const struct value *rules)
{
    int unused = 0;
    for (size_t i = 0; rules && i < rules->list.count; i++) {
        const struct value *rule = rules->list.items[i], *resources = value_get(rule, "resources");
        const struct value *verbs = value_get(rule, "verbs"),
                           *groups = value_get(rule, "apiGroups");
        for (size_t resource = 0; resource < resources->list.count; resource++)
            for (size_t verb = 0; verb < verbs->list.count; verb++) {
                char key[256];
                snprintf(key, sizeof(key), "%s %s %s", verbs->list.items[verb]->string.data,
                         groups->list.items[0]->string.data,
                         resources->list.items[resource]->string.data);
                if (value_get(used, key))
                    continue;
                print_message("# unused: %s\n", key);
                unused++;
            }
    }
    return unused;
}

static void the_role_is_enough_and_no_more(void **state)
{
    (void)state;
    struct error error;
    struct arena *arena = arena_new();
    use_everything();
    struct buffer text = {0};
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(file_read_at(here, "etc/kubernetes-role.yaml", 1 << 20, &text, &error), 0);
    close(here);
    const struct value *documents =
        yaml_read_all(arena, buffer_text(&text), "role", &yaml_trusted_limits, &error);
    if (!documents)
        fail_msg("%s", error.text);
    const struct value *user =
        value_get(value_get(order("\"order\": \"dump\", \"what\": \"users\""), "users"), "dlspool");
    const struct value *refused = value_get(user, "refused");
    for (size_t i = 0; i < refused->object.count; i++)
        print_message("# refused: %s\n", refused->object.members[i].key.data);
    int unused = 0;
    for (size_t i = 0; i < documents->list.count; i++)
        unused +=
            find_unused(value_get(user, "used"), value_get(documents->list.items[i], "rules"));
    assert_int_equal(unused, 0);
    /* The namespace that is not there was asked for in vain; nothing else was. */
    for (size_t i = 0; i < refused->object.count; i++)
        assert_string_equal(refused->object.members[i].key.data, "get  namespaces");
    buffer_free(&text);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_says_what_is_wrong),
        cmocka_unit_test(a_credential_that_is_refused_is_read_again),
        cmocka_unit_test(cancel_tells_every_job_to_end),
        cmocka_unit_test(remove_takes_everything_and_nothing_else),
        cmocka_unit_test(a_job_that_asks_for_debug_stays_for_that_time),
        cmocka_unit_test(trouble_is_told_to_each_job_of_a_batch),
        cmocka_unit_test(capacity_is_what_nodes_have_and_pods_leave),
        cmocka_unit_test(nodes_say_how_they_are),
        cmocka_unit_test(without_nodes_the_quota_tells),
        cmocka_unit_test(what_is_sent_can_be_shown),
        cmocka_unit_test(a_dry_run_says_what_the_server_would_do),
        cmocka_unit_test(keys_are_made_once_and_shown_nowhere),
        cmocka_unit_test(warnings_are_passed_on),
        cmocka_unit_test(the_role_is_enough_and_no_more),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
