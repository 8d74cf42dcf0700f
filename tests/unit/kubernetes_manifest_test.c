/* tests/unit/kubernetes_manifest_test.c - manifests for a cluster: what is taken, refused, stamped */
#include "tests/unit/unit_arena.h"

#include "base/json.h"
#include "executors/kubernetes/manifest.h"

static struct error error;

/* A manifest of one Job, parts of which a test replaces. */
struct parts {
    const char *name, *labels, *annotations, *job, *pod, *container, *others;
};

static struct text manifest_of(struct parts parts)
{
#define OR(text, otherwise) ((text) ? (text) : (otherwise))
    return arena_printf(arena,
                        "apiVersion: v1\nkind: List\nitems:\n"
                        "- apiVersion: batch/v1\n  kind: Job\n"
                        "  metadata: {name: %s, labels: {%s}, annotations: {%s}}\n"
                        "  spec:\n    %s\n"
                        "    template:\n      metadata: {labels: {mine: x}}\n      spec:\n"
                        "        restartPolicy: Never\n        %s\n"
                        "        containers: [{name: main, image: i, %s}]\n%s",
                        OR(parts.name, "job-1-a2"), OR(parts.labels, ""), OR(parts.annotations, ""),
                        parts.job, OR(parts.pod, ""), OR(parts.container, ""),
                        OR(parts.others, ""));
#undef OR
}

/* The fields of the Job's spec, one a line. */
#define JOB                                                                                        \
    "completionMode: Indexed\n    completions: 2\n    parallelism: 2\n    backoffLimit: 0\n"       \
    "    podReplacementPolicy: Failed"

static struct kubernetes_manifest *read(struct parts parts)
{
    error.text[0] = '\0';
    if (!parts.job)
        parts.job = JOB;
    return kubernetes_manifest_read(arena, manifest_of(parts), &error);
}

static struct kubernetes_manifest *good(struct parts parts)
{
    struct kubernetes_manifest *manifest = read(parts);
    if (!manifest)
        fail_msg("%s", error.text);
    return manifest;
}

static void refuses(struct parts parts, const char *sentence)
{
    if (read(parts))
        fail_msg("it was taken; expected: %s", sentence);
    if (!strstr(error.text, sentence))
        fail_msg("got: %s\nexpected: %s", error.text, sentence);
}

static const char *json(const struct value *value)
{
    struct buffer out = {0};
    assert_non_null(value);
    assert_int_equal(json_write(&out, value, true, &error), 0);
    const char *text = arena_text(arena, out.data, out.length).data;
    buffer_free(&out);
    return text;
}

static void a_job_is_read(void **state)
{
    (void)state;
    struct kubernetes_manifest *manifest = good((struct parts){0});
    assert_int_equal(manifest->count, 1);
    assert_int_equal(manifest->tasks, 2);
    assert_true(text_is(manifest->objects[0].name, "job-1-a2"));
    assert_true(text_is(manifest->objects[0].role, "main"));
    assert_true(manifest->objects[0].kind->is_job);
    assert_false(manifest->objects[0].suspended || manifest->objects[0].queued);
    manifest = good((struct parts){.labels = "dlspool/role: w, kueue.x-k8s.io/queue-name: q",
                                   .job = JOB "\n    suspend: true"});
    assert_true(text_is(manifest->objects[0].role, "w"));
    assert_true(manifest->objects[0].suspended && manifest->objects[0].queued);
}

static void the_frame_is_a_list(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"", "manifest.yaml:1:1: found a null, expected a List"},
        {"[]", "found a list, expected a List"},
        {"{apiVersion: v1, kind: List}", "expected {apiVersion: v1, kind: List, items: [...]}"},
        {"{apiVersion: v1, kind: List, items: [], metadata: {}}", "expected {apiVersion: v1"},
        {"{apiVersion: v1, kind: List, items: []}", "items: found 0 objects, expected 1 to 64"},
        {"{apiVersion: v1, kind: List, items: [1]}",
         "items[0]: found kind \"\" of apiVersion \"\", expected Job of batch/v1"},
        {"{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod}]}",
         "items[0]: found kind \"Pod\" of apiVersion \"v1\", expected Job of batch/v1; Service"},
        {"{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "
         "a}}]}",
         "items[0]: found a ConfigMap, expected a Job: the first object owns the others"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        assert_null(kubernetes_manifest_read(arena, text_of(wrong[i][0]), &error));
        if (!strstr(error.text, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], error.text);
    }
}

static void fields_are_checked_with_line_and_path(void **state)
{
    (void)state;
    refuses((struct parts){.container = "comand: [x]"},
            "manifest.yaml:18:45: items[0].spec.template.spec.containers[0].comand: unknown field; "
            "did you mean command?");
    refuses((struct parts){.job = JOB "\n    paralelism: 2"},
            "items[0].spec.paralelism: unknown field; did you mean parallelism?");
    refuses((struct parts){.container = "resources: {limits: {cpu: many}}"},
            "resources.limits.cpu: found \"many\", expected a quantity");
}

static void a_field_that_resembles_none_may_be_that_of_a_newer_server(void **state)
{
    (void)state;
    assert_int_equal(good((struct parts){0})->newer.length, 0);
    struct kubernetes_manifest *manifest = good(
        (struct parts){.container = "xylophone: {a: 1}", .job = JOB "\n    quorumPolicy: {b: 2}"});
    assert_string_equal(
        manifest->newer.data,
        "manifest.yaml:13:5: items[0].spec.quorumPolicy: unknown field; Kubernetes 1.36 has none "
        "of that name, and a server that does not know it refuses the job\n"
        "manifest.yaml:19:45: items[0].spec.template.spec.containers[0].xylophone: unknown field; "
        "Kubernetes 1.36 has none of that name, and a server that does not know it refuses the "
        "job");
    /* What could give a pod more than the policy lets it have. */
    refuses((struct parts){.pod = "hostXylophone: true"}, "spec.hostXylophone: unknown field");
    refuses((struct parts){.container = "securityContext: {xylophone: true}"},
            "securityContext.xylophone: unknown field");
    refuses((struct parts){.pod = "securityContext: {xylophone: true}"},
            "securityContext.xylophone: unknown field");
    refuses((struct parts){.pod = "volumes: [{name: a, xylophone: {path: /}}]"},
            "volumes[0].xylophone: unknown field");
}

static void names_labels_and_annotations_have_their_form(void **state)
{
    (void)state;
    refuses((struct parts){.name = "Job"}, "items[0].metadata.name: found \"Job\", expected");
    refuses((struct parts){.name = "1job"}, "items[0].metadata.name: found \"1job\", expected");
    refuses(
        (struct parts){.name = "a23456789012345678901234567890123456789012345678901234567890abc"},
        "with the index of the last task it has 65 bytes, and a pod's host name has at most 63");
    refuses((struct parts){.name = "x, namespace: y"},
            "items[0].metadata.namespace: this is not a template's to say");
    refuses((struct parts){.name = "x, ownerReferences: []"},
            "items[0].metadata.ownerReferences: this is not");
    refuses((struct parts){.name = "x, finalizers: [a]"},
            "items[0].metadata.finalizers: this is not");
    refuses((struct parts){.labels = "a b: c"}, "items[0].metadata.labels: \"a b\" is no label");
    refuses((struct parts){.labels = "a/b/c: c"}, "\"a/b/c\" is no label");
    refuses((struct parts){.labels = "UP/b: c"}, "\"UP/b\" is no label");
    refuses((struct parts){.labels = "a: b c"}, "items[0].metadata.labels.a: its value is none");
    refuses((struct parts){.labels = "a: b-"}, "items[0].metadata.labels.a: its value is none");
    refuses((struct parts){.labels = "dlspool/job: x"}, "dlspool/job: dlspool sets this itself");
    refuses((struct parts){.annotations = "dlspool/owner: x"},
            "dlspool/owner: dlspool sets this itself");
    refuses((struct parts){.annotations = "'a b': x"}, "\"a b\" is no annotation");
    refuses((struct parts){.annotations = "dlspool/debug: 1h"},
            "dlspool/debug: expected a number of seconds");
    refuses((struct parts){.annotations = "dlspool/complete: '{\"w\":{}}'"},
            "dlspool/complete: there is no Job of the role \"w\"");
    refuses((struct parts){.annotations = "dlspool/complete: '{\"main\":1}'"},
            "dlspool/complete: main: expected {failed: N, succeeded: N}");
    good((struct parts){.annotations = "dlspool/complete: '{\"main\":{\"succeeded\":1}}', "
                                       "dlspool/debug: '60', x.org/any: thing"});
}

static void a_job_starts_its_tasks_once(void **state)
{
    (void)state;
#define COUNTS "completionMode: Indexed\n    completions: 2\n    parallelism: 2\n    "
    refuses((struct parts){.job = COUNTS "podReplacementPolicy: Failed"},
            "items[0].spec.backoffLimit: expected 0");
    refuses((struct parts){.job = COUNTS "backoffLimit: 0"},
            "items[0].spec.podReplacementPolicy: expected Failed");
    refuses((struct parts){.job = "completionMode: NonIndexed\n    completions: 1\n"
                                  "    parallelism: 1\n    backoffLimit: 0\n"
                                  "    podReplacementPolicy: Failed"},
            "items[0].spec.completionMode: expected Indexed");
    refuses((struct parts){.job =
                               "completionMode: Indexed\n    completions: 2\n    parallelism: 3\n"
                               "    backoffLimit: 0\n    podReplacementPolicy: Failed"},
            "expected completions from 1 to 100000, and parallelism from 1 to as many");
    refuses((struct parts){.job =
                               "completionMode: Indexed\n    completions: 2\n    parallelism: 0\n"
                               "    backoffLimit: 0\n    podReplacementPolicy: Failed"},
            "expected completions from 1 to 100000, and parallelism from 1 to as many");
    /* A sweep: some at a time, and a failed one ends nothing. */
    good((struct parts){.job = "completionMode: Indexed\n    completions: 6\n    parallelism: 2\n"
                               "    backoffLimitPerIndex: 0\n    podReplacementPolicy: Failed"});
    refuses((struct parts){.job = JOB "\n    ttlSecondsAfterFinished: 1"},
            "items[0].spec.ttlSecondsAfterFinished: this is not");
    refuses((struct parts){.job = JOB "\n    activeDeadlineSeconds: 0"},
            "items[0].spec.activeDeadlineSeconds: expected at least 1");
    refuses((struct parts){.job = JOB "\n    maxFailedIndexes: 1"},
            "maxFailedIndexes: it needs backoffLimitPerIndex");
    good((struct parts){.job = COUNTS "backoffLimitPerIndex: 0\n    maxFailedIndexes: 1\n"
                                      "    podReplacementPolicy: Failed"});
    /* But for what its rule has tried again. */
#define TRIES(number) COUNTS "backoffLimitPerIndex: " number "\n    podReplacementPolicy: Failed"
    refuses((struct parts){.job = TRIES("2")},
            "items[0].spec.backoffLimitPerIndex: found 2, expected at most 0, which is what "
            "dlspool/complete says of `again` of the role main");
    static const char again[] = "dlspool/complete: '{\"main\":{\"failed\":2,\"again\":2}}'";
    good((struct parts){.job = TRIES("2"), .annotations = again});
    good((struct parts){.job = TRIES("0"), .annotations = again});
    refuses((struct parts){.job = TRIES("3"), .annotations = again},
            "items[0].spec.backoffLimitPerIndex: found 3, expected at most 2");
}

static void pods_are_checked_as_the_server_would(void **state)
{
    (void)state;
    refuses((struct parts){.container = "volumeMounts: [{name: v, mountPath: /v}]"},
            "volumeMounts[0].name: there is no volume \"v\"");
    refuses((struct parts){.pod = "volumes: [{name: v, emptyDir: {}}]",
                           .container = "volumeMounts: [{name: v, mountPath: v}]"},
            "volumeMounts[0].mountPath: expected an absolute path");
    refuses((struct parts){.pod = "volumes: [{name: v, emptyDir: {}}]",
                           .container = "volumeMounts: [{name: v, mountPath: /v}, {name: v, "
                                        "mountPath: /v}]"},
            "volumeMounts[1].mountPath: \"/v\" is there twice");
    refuses((struct parts){.pod = "volumes: [{name: v, emptyDir: {}}]",
                           .container = "volumeMounts: [{name: v, mountPath: /v, subPath: ../x}]"},
            "volumeMounts[0].subPath: expected a relative path");
    refuses((struct parts){.pod = "volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]"},
            "volumes[1].name: \"v\" is there twice");
    refuses((struct parts){.container = "env: [{name: 'A=B', value: x}]"},
            "env[0].name: \"A=B\" cannot be the name of a variable");
    refuses((struct parts){.container = "resources: {limits: {x/gpu: 2}, requests: {x/gpu: 1}}"},
            "resources.requests.x/gpu: it must be the same as its limit");
    refuses((struct parts){.container = "resources: {limits: {cpu: '-1'}}"}, "it is below 0");
    refuses((struct parts){.pod = "subdomain: other"},
            "items[0].spec.template.spec.subdomain: no Service of that name");
    refuses((struct parts){.others = "        initContainers: [{name: main, image: i}]\n"
                                     "        restartPolicy: Always\n"},
            "the key \"restartPolicy\" is given twice");
}

static void other_objects_are_checked_too(void **state)
{
    (void)state;
#define MAP(name, rest) "- {apiVersion: v1, kind: ConfigMap, metadata: {name: " name "}" rest "}\n"
    refuses((struct parts){.others = MAP("job-1-a2-x", "") MAP("job-1-a2-x", "")},
            "items[2].metadata.name: items[1] is a ConfigMap of that name too");
    refuses((struct parts){.others = MAP("job-1-a2-x", ", data: {'a b': x}")},
            "items[1].data: \"a b\" is no key");
    refuses((struct parts){.others = MAP("job-1-a2-x", ", data: {a: 1}")},
            "items[1].data.a: found 1, expected a string");
    refuses((struct parts){.others = "- {apiVersion: v1, kind: Service, metadata: {name: s}, spec: "
                                     "{type: LoadBalancer, ports: [{port: 80}]}}\n"},
            "items[1].spec.type: found LoadBalancer, expected ClusterIP");
    refuses((struct parts){.others = "- {apiVersion: v1, kind: Service, metadata: {name: s}, spec: "
                                     "{}}\n"},
            "items[1].spec.ports: missing");
    good((struct parts){.pod = "subdomain: job-1-a2",
                        .others = "- {apiVersion: v1, kind: Service, metadata: {name: job-1-a2}, "
                                  "spec: {clusterIP: None}}\n" MAP("job-1-a2", "")});
}

static void too_much_is_refused(void **state)
{
    (void)state;
    struct buffer script = {0};
    for (size_t i = 0; i < (1 << 20) + 1; i++)
        buffer_add_byte(&script, 'x');
    struct text others = arena_printf(
        arena, "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {s: %s}}\n",
        script.data);
    refuses((struct parts){.others = others.data},
            "items[1]: 1048577 bytes of data, expected at most 1048576");
    struct text long_word = arena_printf(arena, "args: [%s, %s]", script.data, "y");
    struct text longer = arena_printf(arena, "args: [%s%s]", script.data, script.data);
    good((struct parts){.container = long_word.data});
    refuses((struct parts){.container = longer.data}, "a cluster stores at most 1400000");
    buffer_free(&script);
}

static void what_no_stamp_allows_is_refused_at_once(void **state)
{
    (void)state;
    refuses((struct parts){.pod = "hostPID: true"}, "hostPID: found true, expected false");
    refuses((struct parts){.pod = "hostIPC: true"}, "hostIPC: found true, expected false");
    refuses((struct parts){.pod = "nodeName: n"}, "nodeName: no template may set this");
    refuses((struct parts){.pod = "automountServiceAccountToken: true"},
            "automountServiceAccountToken: found true, expected false");
    refuses((struct parts){.pod = "securityContext: {sysctls: []}"},
            "securityContext.sysctls: no template may set this");
    refuses((struct parts){.pod = "securityContext: {supplementalGroups: [0]}"},
            "securityContext.supplementalGroups: no template may set this");
    refuses((struct parts){.pod = "securityContext: {seccompProfile: {type: Unconfined}}"},
            "securityContext.seccompProfile: expected {type: RuntimeDefault}");
#define CONTEXT "containers[0].securityContext."
    refuses((struct parts){.container = "securityContext: {privileged: true}"},
            CONTEXT "privileged: found true, expected false");
    refuses((struct parts){.container = "securityContext: {allowPrivilegeEscalation: true}"},
            CONTEXT "allowPrivilegeEscalation: found true, expected false");
    refuses((struct parts){.container = "securityContext: {capabilities: {add: [SYS_ADMIN]}}"},
            CONTEXT "capabilities: expected {drop: [ALL]}");
    refuses((struct parts){.container = "securityContext: {capabilities: {drop: [ALL], add: [X]}}"},
            CONTEXT "capabilities: expected {drop: [ALL]}");
    refuses((struct parts){.container = "securityContext: {procMount: Unmasked}"},
            CONTEXT "procMount: no template may set this");
    refuses((struct parts){.container = "ports: [{containerPort: 80, hostPort: 80}]"},
            "ports: a hostPort needs hostNetwork: true");
    refuses((struct parts){.pod = "volumes: [{name: v, gitRepo: {repository: x}}]"},
            "volumes[0].gitRepo: a volume of this kind is not allowed");
    refuses((struct parts){.pod = "volumes: [{name: v, projected: {sources: "
                                  "[{serviceAccountToken: {path: t}}]}}]"},
            "a pod gets no credential of the cluster");
    refuses((struct parts){.pod = "volumes: [{name: v, hostPath: {path: /a/../b}}]"},
            "hostPath: \"/a/../b\" is at or below none");
    refuses((struct parts){.pod = "initContainers: [{name: i, image: x, securityContext: "
                                  "{privileged: true}}]"},
            "initContainers[0].securityContext.privileged: found true");
}

/* ---- stamps ---- */

static const struct text roots[] = {{"/scratch", 8}, {"/srv/data/", 10}};

static struct kubernetes_stamp stamp_of(void)
{
    return (struct kubernetes_stamp){
        .spool = "spool-x",
        .id = "job-1",
        .attempt = 2,
        .uid = 1234,
        .gid = 100,
        .owner = TEXT("J\xc3\xb6rg"),
        .request_sha256 = TEXT("aa"),
        .commit = TEXT("bb"),
        .image = TEXT("docker.io/x:1"),
        .manifest_sha256 = "cc",
        .namespace = "jobs",
        .policy = {.host_paths = roots, .host_path_count = 2},
    };
}

static struct kubernetes_manifest *stamped(struct parts parts)
{
    struct kubernetes_manifest *manifest = good(parts);
    struct kubernetes_stamp stamp = stamp_of();
    if (kubernetes_manifest_stamp(arena, manifest, &stamp, &error))
        fail_msg("%s", error.text);
    return manifest;
}

static bool settings_forbid; /* what stamp_refuses() refused last */

static void stamp_refuses(struct parts parts, struct kubernetes_stamp stamp, const char *sentence)
{
    struct kubernetes_manifest *manifest = good(parts);
    assert_int_equal(kubernetes_manifest_stamp(arena, manifest, &stamp, &error), -1);
    if (!strstr(error.text, sentence))
        fail_msg("got: %s\nexpected: %s", error.text, sentence);
    settings_forbid = manifest->settings_forbid;
}

static void objects_say_whose_they_are(void **state)
{
    (void)state;
    struct kubernetes_manifest *manifest =
        stamped((struct parts){.labels = "dlspool/role: w", .others = MAP("job-1-a2-x", "")});
    const struct kubernetes_object *job = &manifest->objects[0];
#define LABELS "\"dlspool/attempt\":\"2\",\"dlspool/job\":\"job-1\",\"dlspool/owner\":\"J__rg\""
    const struct value *metadata = value_get(job->tree, "metadata");
    assert_string_equal(json(value_get(metadata, "labels")),
                        "{" LABELS ",\"dlspool/role\":\"w\",\"dlspool/spool\":\"spool-x\","
                        "\"dlspool/uid\":\"1234\"}");
    assert_string_equal(json(value_get(metadata, "annotations")),
                        "{\"dlspool/complete\":\"{}\",\"dlspool/image\":\"docker.io/x:1\","
                        "\"dlspool/manifest-sha256\":\"cc\",\"dlspool/owner\":\"J\xc3\xb6rg\","
                        "\"dlspool/request-sha256\":\"aa\",\"dlspool/template-commit\":\"bb\"}");
    assert_true(text_is(value_get_text(metadata, "namespace"), "jobs"));
    const struct value *template = value_get(value_get(job->tree, "spec"), "template");
    assert_string_equal(json(value_get(value_get(template, "metadata"), "labels")),
                        "{" LABELS ",\"dlspool/role\":\"w\",\"dlspool/spool\":\"spool-x\","
                        "\"dlspool/uid\":\"1234\",\"mine\":\"x\"}");
    metadata = value_get(manifest->objects[1].tree, "metadata");
    assert_string_equal(json(value_get(metadata, "labels")),
                        "{" LABELS ",\"dlspool/spool\":\"spool-x\",\"dlspool/uid\":\"1234\"}");
    assert_null(value_get(value_get(metadata, "annotations"), "dlspool/complete"));
}

static void pods_run_as_the_user_and_can_be_no_more(void **state)
{
    (void)state;
    struct kubernetes_manifest *manifest =
        stamped((struct parts){.pod = "initContainers: [{name: i, image: x}]"});
    const struct value *spec = value_get(manifest->objects[0].tree, "spec");
    const struct value *pod = value_get(value_get(spec, "template"), "spec");
    static const char wanted[] = "{\"allowPrivilegeEscalation\":false,\"capabilities\":{\"drop\":["
                                 "\"ALL\"]}}";
    assert_string_equal(json(value_get(pod, "securityContext")),
                        "{\"runAsGroup\":100,\"runAsNonRoot\":true,\"runAsUser\":1234,"
                        "\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}");
    assert_false(value_get_boolean(pod, "automountServiceAccountToken", true));
    assert_string_equal(
        json(value_get(value_get(pod, "containers")->list.items[0], "securityContext")), wanted);
    assert_string_equal(
        json(value_get(value_get(pod, "initContainers")->list.items[0], "securityContext")),
        wanted);
}

static const struct value *pod_of(const struct kubernetes_manifest *manifest)
{
    const struct value *spec = value_get(manifest->objects[0].tree, "spec");
    return value_get(value_get(spec, "template"), "spec");
}

/* What the user's other groups may read, their pods may. */
static void a_pod_has_the_groups_of_its_user(void **state)
{
    (void)state;
    static const gid_t groups[] = {27, 4711};
    struct kubernetes_stamp stamp = stamp_of();
    struct kubernetes_manifest *manifest = good((struct parts){.name = NULL});
    stamp.groups = groups;
    stamp.group_count = 2;
    assert_int_equal(kubernetes_manifest_stamp(arena, manifest, &stamp, &error), 0);
    assert_string_equal(json(value_get(pod_of(manifest), "securityContext")),
                        "{\"runAsGroup\":100,\"runAsNonRoot\":true,\"runAsUser\":1234,"
                        "\"seccompProfile\":{\"type\":\"RuntimeDefault\"},"
                        "\"supplementalGroups\":[27,4711]}");
    assert_null(
        value_get(value_get(pod_of(stamped((struct parts){.name = NULL})), "securityContext"),
                  "supplementalGroups"));
}

/* What the site gives to a job, its containers have, and no more. */
static void a_container_has_what_its_job_was_given(void **state)
{
    (void)state;
    static const struct text names[] = {{"IPC_LOCK", 8}, {"PERFMON", 7}};
    const struct grant grant = {.capabilities = names, .capability_count = 2};
    struct kubernetes_stamp stamp = stamp_of();
    struct kubernetes_manifest *manifest = good((struct parts){.name = NULL});
    stamp.grant = &grant;
    assert_int_equal(kubernetes_manifest_stamp(arena, manifest, &stamp, &error), 0);
    const struct value *container = value_get(pod_of(manifest), "containers")->list.items[0];
    assert_string_equal(
        json(value_get(container, "securityContext")),
        "{\"allowPrivilegeEscalation\":false,\"capabilities\":{\"add\":[\"IPC_LOCK\","
        "\"PERFMON\"],\"drop\":[\"ALL\"]}}");
}

static void a_template_that_wants_more_is_refused(void **state)
{
    (void)state;
    struct kubernetes_stamp stamp = stamp_of();
    stamp_refuses((struct parts){.pod = "securityContext: {runAsUser: 0}"}, stamp,
                  "securityContext.runAsUser: a pod runs as the user who asked");
    stamp_refuses((struct parts){.container = "securityContext: {runAsUser: 1}"}, stamp,
                  CONTEXT "runAsUser: a pod runs as the user who asked");
    stamp_refuses((struct parts){.pod = "securityContext: {runAsGroup: 0}"}, stamp,
                  "securityContext.runAsGroup: a pod runs as the user who asked");
    stamp_refuses((struct parts){.pod = "securityContext: {fsGroup: 0}"}, stamp,
                  "securityContext.fsGroup: expected the group of the user");
    stamp_refuses((struct parts){.pod = "securityContext: {runAsNonRoot: false}"}, stamp,
                  "securityContext.runAsNonRoot: leave it out");
    stamp_refuses((struct parts){.pod = "hostNetwork: true"}, stamp,
                  "hostNetwork: dlspool.yaml does not allow it");
    assert_true(settings_forbid);
    static const char *const outside[] = {"/", "/scratchy", "/srv", "/srv/database", "/etc"};
    for (size_t i = 0; i < ARRAY_COUNT(outside); i++)
        stamp_refuses(
            (struct parts){
                .pod = arena_printf(arena, "volumes: [{name: v, hostPath: {path: %s}}]", outside[i])
                           .data},
            stamp, "is at or below none of the directories that dlspool.yaml's");
    assert_true(settings_forbid);
    stamp_refuses(
        (struct parts){.pod = "hostNetwork: true\n        securityContext: {runAsUser: 7}"}, stamp,
        "hostNetwork: dlspool.yaml does not allow it");
    assert_false(settings_forbid); /* the template is wrong, too */
    stamped((struct parts){.pod = "volumes: [{name: v, hostPath: {path: /scratch}}, {name: w, "
                                  "hostPath: {path: /srv/data/x}}]"});
    stamped((struct parts){.pod = "securityContext: {runAsUser: 1234, runAsGroup: 100, fsGroup: "
                                  "100, runAsNonRoot: true}"});
    stamp.policy.allow_host_network = true;
    assert_int_equal(kubernetes_manifest_stamp(
                         arena, good((struct parts){.pod = "hostNetwork: true"}), &stamp, &error),
                     0);
}

static void names_are_this_jobs_and_this_attempts(void **state)
{
    (void)state;
    struct kubernetes_stamp stamp = stamp_of();
    static const char *const others[] = {"job-1-a1", "job-1-a22", "job-1", "x"};
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        stamp_refuses(
            (struct parts){.name = others[i]}, stamp,
            "expected \"job-1-a2\" or what starts with it and a hyphen; templates have it "
            "as job.token");
    stamp_refuses((struct parts){.others = MAP("job-1-a23", "")}, stamp, "items[1].metadata.name");
}

#define KEYS(more)                                                                                 \
    "- apiVersion: v1\n  kind: Secret\n"                                                           \
    "  metadata: {name: job-1-a2-ssh, annotations: {dlspool/generate: ssh-key}}\n" more
#define SSH_AUTH "  type: kubernetes.io/ssh-auth\n"

static void a_secret_is_filled_with_new_keys(void **state)
{
    (void)state;
    const struct value *first = stamped((struct parts){.others = KEYS(SSH_AUTH)})->objects[1].tree;
    const struct value *second = stamped((struct parts){.others = KEYS(SSH_AUTH)})->objects[1].tree;
    const struct value *data = value_get(first, "stringData");
    static const char *const keys[][2] = {
        {"ssh-privatekey", "-----BEGIN OPENSSH PRIVATE KEY-----\n"},
        {"ssh-publickey", "ssh-ed25519 "},
        {"authorized_keys", "ssh-ed25519 "},
        {"known_hosts", "* ssh-ed25519 "}};
    assert_int_equal(data->object.count, 4);
    for (size_t i = 0; i < 4; i++) {
        struct text one = value_get_text(data, keys[i][0]);
        struct text other = value_get_text(value_get(second, "stringData"), keys[i][0]);
        assert_true(one.data && text_starts(one, keys[i][1]));
        assert_false(text_equal(one, other));
    }
}

static void only_a_secret_for_keys_asks_for_them(void **state)
{
    (void)state;
    good((struct parts){.others = KEYS(SSH_AUTH "  immutable: true\n")});
    refuses((struct parts){.others = KEYS("")},
            "items[1].type: expected kubernetes.io/ssh-auth, as keys are put into it");
    refuses((struct parts){.others = KEYS(SSH_AUTH "  stringData: {ssh-privatekey: x}\n")},
            "items[1]: it has data, and keys are put into it; leave one out");
    refuses((struct parts){.others = KEYS(SSH_AUTH "  data: {ssh-privatekey: eA==}\n")},
            "items[1]: it has data, and keys are put into it; leave one out");
    refuses((struct parts){.annotations = "dlspool/generate: ssh-key"},
            "items[0].metadata.annotations.dlspool/generate: found \"ssh-key\" of a Job, expected "
            "ssh-key of a Secret");
    refuses((struct parts){.others = "- apiVersion: v1\n  kind: Secret\n  metadata: {name: "
                                     "job-1-a2-ssh, annotations: {dlspool/generate: password}}\n"},
            "found \"password\" of a Secret, expected ssh-key of a Secret");
}

static void bodies_are_json_with_owner_and_suspension(void **state)
{
    (void)state;
    struct kubernetes_manifest *manifest = stamped(
        (struct parts){.labels = "dlspool/role: a", .others = MAP("job-1-a2-x", ", data: {k: v}")});
    const struct kubernetes_object *job = &manifest->objects[0], *map = &manifest->objects[1];
    struct text body = kubernetes_manifest_object_body(arena, job, NULL, NULL, true);
    struct value *tree = json_read(arena, body, "body", &yaml_trusted_limits, &error);
    assert_non_null(tree);
    assert_true(value_get_boolean(value_get(tree, "spec"), "suspend", false));
    assert_null(value_get(value_get(tree, "metadata"), "ownerReferences"));
    assert_null(value_get(value_get(job->tree, "spec"), "suspend"));
    body = kubernetes_manifest_object_body(arena, map, job, "uid-1", true);
    tree = json_read(arena, body, "body", &yaml_trusted_limits, &error);
    assert_string_equal(json(value_get(value_get(tree, "metadata"), "ownerReferences")),
                        "[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"job-1-a2\","
                        "\"uid\":\"uid-1\"}]");
    assert_string_equal(json(value_get(tree, "data")), "{\"k\":\"v\"}");
    assert_true(text_is(kubernetes_manifest_path(arena, job->kind, "jobs", NULL),
                        "/apis/batch/v1/namespaces/jobs/jobs"));
    assert_true(text_is(kubernetes_manifest_path(arena, map->kind, "jobs", "x"),
                        "/api/v1/namespaces/jobs/configmaps/x"));
}

static void label_values_are_made_fit(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"ann", "ann"},
        {"a@b.org", "a_b.org"},
        {"_x_", "x"},
        {"", ""},
        {"\xc3\xb6", ""},
        {"DOMAIN\\u", "DOMAIN_u"},
        {"0123456789012345678901234567890123456789012345678901234567890123456789",
         "012345678901234567890123456789012345678901234567890123456789012"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(kubernetes_manifest_label_value(arena, text_of(cases[i][0])).data,
                            cases[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_read),
        cmocka_unit_test(the_frame_is_a_list),
        cmocka_unit_test(fields_are_checked_with_line_and_path),
        cmocka_unit_test(a_field_that_resembles_none_may_be_that_of_a_newer_server),
        cmocka_unit_test(names_labels_and_annotations_have_their_form),
        cmocka_unit_test(a_job_starts_its_tasks_once),
        cmocka_unit_test(pods_are_checked_as_the_server_would),
        cmocka_unit_test(other_objects_are_checked_too),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(what_no_stamp_allows_is_refused_at_once),
        cmocka_unit_test(objects_say_whose_they_are),
        cmocka_unit_test(pods_run_as_the_user_and_can_be_no_more),
        cmocka_unit_test(a_pod_has_the_groups_of_its_user),
        cmocka_unit_test(a_container_has_what_its_job_was_given),
        cmocka_unit_test(a_template_that_wants_more_is_refused),
        cmocka_unit_test(names_are_this_jobs_and_this_attempts),
        cmocka_unit_test(bodies_are_json_with_owner_and_suspension),
        cmocka_unit_test(a_secret_is_filled_with_new_keys),
        cmocka_unit_test(only_a_secret_for_keys_asks_for_them),
        cmocka_unit_test(label_values_are_made_fit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
