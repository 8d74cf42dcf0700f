/* tests/unit/kubernetes_templates_test.c - what each task of a job gets to know on a cluster
 *
 * The shipped templates of kubernetes/ are rendered for jobs of every shape, each manifest is read
 * as the executor reads it, and then the part of a cluster is played: a pod's environment, command
 * and arguments are expanded as the kubelet expands them, and the line that starts a task is run by
 * a real shell, with a `getent` that finds every host.  What is looked at is what the program sees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "executors/kubernetes/manifest.h"
#include "renderer/check.h"
#include "renderer/context.h"
#include "renderer/functions.h"
#include "renderer/manifest.h"
#include "tests/unit/kubelet.h"
#include "tests/unit/scratch_repository.h"

static struct scratch scratch;
static struct repository *repository;
static struct arena *arena;
static struct error error;
static enum render_failure failure;

static const char site[] =
    "images: {allow_user: false}\n"
    "env: {SITE: here}\n"
    "local: {path: /bin, network: private, shm: 1, mounts: []}\n"
    "kubernetes:\n"
    "  storage:\n"
    "    - {prefix: /, hostPath: {path: /mnt/all}}\n"
    "    - {prefix: /data, nfs: {server: nas, path: /export/data}}\n"
    "    - {prefix: /data/big, persistentVolumeClaim: {claimName: big, subPath: shared}}\n"
    "    - {prefix: /home, persistentVolumeClaim: {claimName: home}}\n"
    "  home: user\n"
    "  shm: 268435456\n"
    "  gpu_resource: nvidia.com/gpu\n"
    "  gpu_tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]\n"
    "  gpu_label: nvidia.com/gpu.product\n"
    "  gpu_types:\n"
    "    a100: {node_selector: {gpu: a100}}\n"
    "    mi300: {resource: amd.com/gpu, tolerations: [{key: amd, operator: Exists}]}\n"
    "  rdma: {rdma/hca: '1'}\n"
    "  node_selector: {pool: jobs}\n"
    "  tolerations: [{key: jobs, operator: Exists}]\n"
    "  priority_classes: [{from: 10, name: high}, {from: 0, name: normal}]\n"
    "  queues: {night: {kueue: night-queue}, gang: {volcano: gang-queue}}\n"
    "  default_queue: null\n"
    "  image_pull_secrets: [registry]\n"
    "  grace: 30\n"
    "  peer_wait: 5\n";

/* ---- jobs ---- */

enum { MOST_ROLES = 4 };

struct shape {
    struct context_job job;
    struct context_role roles[MOST_ROLES];
};

static struct shape new_shape(const char *type)
{
    return (struct shape){.job = {.id = TEXT("train-0123456789abc"),
                                  .name = TEXT("Train"),
                                  .owner = TEXT("ann"),
                                  .uid = 1234,
                                  .gid = 100,
                                  .library = TEXT("any"),
                                  .type = text_of(type),
                                  .program = TEXT("/data/program"),
                                  .entry = TEXT("train.py"),
                                  .attempt = 2}};
}

static struct context_role *add_role(struct shape *shape, const char *name, int count)
{
    struct context_role *role = &shape->roles[shape->job.roles_count++];
    *role = (struct context_role){
        .role = text_of(name), .count = count, .cpus = 1500, .memory = 1 << 30};
    return role;
}

static struct kubernetes_manifest *try_to_render(const char *path, struct shape *shape)
{
    struct render_result result;
    shape->job.roles = shape->roles;
    error.text[0] = '\0';
    if (manifest_render_with(arena, repository, path, TEXT("docker.io/team/image:1"),
                             context_job(arena, &shape->job), 0, &result, &failure, &error))
        return NULL;
    failure = RENDER_REPOSITORY;
    return kubernetes_manifest_read(arena, result.manifest, &error);
}

static struct kubernetes_manifest *render(const char *path, struct shape *shape)
{
    struct kubernetes_manifest *manifest = try_to_render(path, shape);
    if (!manifest)
        fail_msg("%s: %s", path, error.text);
    return manifest;
}

static const struct kubernetes_object *find(const struct kubernetes_manifest *manifest,
                                            const char *kind, const char *name)
{
    for (size_t i = 0; i < manifest->count; i++)
        if (strcmp(manifest->objects[i].kind->kind, kind) == 0 &&
            text_is(manifest->objects[i].name, name))
            return &manifest->objects[i];
    fail_msg("there is no %s %s", kind, name);
    return NULL;
}

static const struct value *pod_of(const struct kubernetes_object *object)
{
    return value_get(value_get(value_get(object->tree, "spec"), "template"), "spec");
}

static const struct value *main_of(const struct kubernetes_object *object)
{
    return value_get(pod_of(object), "containers")->list.items[0];
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

/* ---- the kubelet's part ---- */

/* What the program of task `index` of a Job sees. */
static struct value *seen(const struct kubernetes_object *object, int index)
{
    return kubelet_seen(arena, main_of(object), index, "getent() { [ \"$1\" = hosts ]; }");
}

static void sees(const struct value *env, const char *name, const char *wanted)
{
    struct text value = value_get_text(env, name);
    if (!value.data || !text_is(value, wanted))
        fail_msg("%s is %s, expected %s", name, value.data ? value.data : "(not there)", wanted);
}

/* ---- tests ---- */

static void one_task_is_one_job(void **state)
{
    (void)state;
    struct shape shape = new_shape("single");
    add_role(&shape, "main", 1);
    shape.job.args = (const struct text[]){TEXT("--rate"), TEXT("$(HOME)$$x$")};
    shape.job.args_count = 2;
    shape.job.dataset = TEXT("/data/big/set");
    shape.job.output = TEXT("/scratch/out");
    shape.job.time_limit = 90500;
    struct kubernetes_manifest *manifest = render("kubernetes/pytorch/single.yaml", &shape);
    assert_int_equal(manifest->count, 1);
    const struct kubernetes_object *job = find(manifest, "Job", "train-0123456789abc-a2");
    const struct value *spec = value_get(job->tree, "spec"), *pod = pod_of(job);
    struct value *env = seen(job, 0);
    assert_true(text_is(job->role, "main"));
    assert_true(value_get_number(pod, "activeDeadlineSeconds", 0) == 91);
    assert_true(value_get_number(spec, "backoffLimit", -1) == 0);
    assert_string_equal(json(kubelet_words(arena, main_of(job), "command", env)),
                        "[\"python3\",\"-u\",\"/job/program/train.py\",\"--rate\","
                        "\"$(HOME)$$x$\"]");
    sees(env, "DLSPOOL_INDEX", "0");
    sees(env, "DLSPOOL_RANK", "0");
    sees(env, "DLSPOOL_PROGRAM", "/job/program");
    sees(env, "USER", "ann");
    sees(env, "SITE", "here");
    sees(env, "NVIDIA_VISIBLE_DEVICES", "void");
    assert_null(value_get(pod, "subdomain"));
    assert_string_equal(
        json(value_get(pod, "volumes")),
        "[{\"name\":\"program\",\"nfs\":{\"path\":\"/export/data/program\",\"readOnly\":false,"
        "\"server\":\"nas\"}},"
        "{\"name\":\"dataset\",\"persistentVolumeClaim\":{\"claimName\":\"big\"}},"
        "{\"hostPath\":{\"path\":\"/mnt/all/scratch/out\"},\"name\":\"output\"},"
        "{\"emptyDir\":{\"medium\":\"Memory\",\"sizeLimit\":\"268435456\"},\"name\":\"shm\"}]");
    assert_string_equal(json(value_get(main_of(job), "volumeMounts")),
                        "[{\"mountPath\":\"/job/program\",\"name\":\"program\",\"readOnly\":false},"
                        "{\"mountPath\":\"/job/dataset\",\"name\":\"dataset\",\"readOnly\":true,"
                        "\"subPath\":\"shared/set\"},"
                        "{\"mountPath\":\"/job/output\",\"name\":\"output\",\"readOnly\":false},"
                        "{\"mountPath\":\"/dev/shm\",\"name\":\"shm\"}]");
    assert_string_equal(json(value_get(main_of(job), "resources")),
                        "{\"limits\":{\"cpu\":\"1.5\",\"memory\":\"1073741824\"},"
                        "\"requests\":{\"cpu\":\"1.5\",\"memory\":\"1073741824\"}}");
}

/* Of a job with one role, in which so many tasks have that script. */
static struct kubernetes_manifest *render_script(const char *template, struct text script,
                                                 int tasks)
{
    static struct shape shape;
    shape = new_shape("single");
    add_role(&shape, "main", tasks);
    shape.job.program = shape.job.entry = TEXT("");
    shape.job.script = script;
    return render(template, &shape);
}

static const struct value *template_of(const struct kubernetes_object *job)
{
    return value_get(value_get(job->tree, "spec"), "template");
}

/* A short one of few tasks is an annotation of their pods, so that no other object is made. */
static void a_script_is_a_file(void **state)
{
    (void)state;
    struct text script = TEXT("#!/bin/sh\necho $(HOME) $$ ${job.id}\n");
    const struct kubernetes_manifest *manifest =
        render_script("kubernetes/any/single.yaml", script, 1);
    const struct kubernetes_object *job = &manifest->objects[0];
    assert_int_equal(manifest->count, 1);
    const struct value *annotations =
        value_get(value_get(template_of(job), "metadata"), "annotations");
    assert_true(text_equal(value_get_text(annotations, "dlspool-script"), script));
    assert_string_equal(json(value_get(main_of(job), "command")), "[\"/job/script\"]");
    assert_string_equal(
        json(value_get(pod_of(job), "volumes")->list.items[1]),
        "{\"downwardAPI\":{\"defaultMode\":365,\"items\":[{\"fieldRef\":{\"fieldPath\":"
        "\"metadata.annotations['dlspool-script']\"},\"path\":\"script\"}]},"
        "\"name\":\"script\"}");
}

static void a_long_script_or_one_of_many_tasks_is_a_config_map(void **state)
{
    (void)state;
    static char bytes[2049];
    memset(bytes, '#', sizeof(bytes));
    static const struct {
        size_t length;
        int tasks;
        bool apart;
    } cases[] = {{2048, 1, false}, {2049, 1, true}, {4, 1000, false}, {5, 1000, true}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct text script = {bytes, cases[i].length};
        const struct kubernetes_manifest *manifest = render_script(
            cases[i].tasks == 1 ? "kubernetes/any/single.yaml" : "kubernetes/any/distributed.yaml",
            script, cases[i].tasks);
        const struct kubernetes_object *map = NULL;
        for (size_t at = 0; at < manifest->count; at++)
            if (text_is(value_get_text(manifest->objects[at].tree, "kind"), "ConfigMap"))
                map = &manifest->objects[at];
        assert_int_equal(map != NULL, cases[i].apart);
        if (!map)
            continue;
        const struct kubernetes_object *job = &manifest->objects[0];
        assert_true(text_equal(value_get_text(value_get(map->tree, "data"), "script"), script));
        assert_string_equal(map->name.data, "train-0123456789abc-a2-script");
        assert_null(value_get(value_get(value_get(template_of(job), "metadata"), "annotations"),
                              "dlspool-script"));
        assert_string_equal(json(value_get(pod_of(job), "volumes")->list.items[1]),
                            "{\"configMap\":{\"defaultMode\":365,"
                            "\"name\":\"train-0123456789abc-a2-script\"},\"name\":\"script\"}");
    }
}

/* The owner's home is HOME, at its own place, where the cluster's storage has it. */
static void home_is_where_the_storage_has_it(void **state)
{
    (void)state;
    size_t notes;
    struct shape shape = new_shape("single");
    add_role(&shape, "main", 1);
    shape.job.program = shape.job.entry = TEXT("");
    shape.job.script = TEXT("true\n");
    shape.job.home = TEXT("/home/ann");
    const struct kubernetes_object *job = &render("kubernetes/any/single.yaml", &shape)->objects[0];
    functions_notes(&notes);
    assert_int_equal(notes, 0);
    sees(seen(job, 0), "HOME", "/home/ann");
    assert_true(text_is(value_get_text(main_of(job), "workingDir"), "/home/ann"));
    assert_string_equal(json(value_get(pod_of(job), "volumes")->list.items[0]),
                        "{\"name\":\"home\",\"persistentVolumeClaim\":{\"claimName\":\"home\"}}");
    assert_string_equal(json(value_get(main_of(job), "volumeMounts")->list.items[0]),
                        "{\"mountPath\":\"/home/ann\",\"name\":\"home\",\"readOnly\":false,"
                        "\"subPath\":\"ann\"}");
    /* A program's directory comes before it. */
    shape.job.script = TEXT("");
    shape.job.program = TEXT("/data/program");
    shape.job.entry = TEXT("train.py");
    job = &render("kubernetes/any/single.yaml", &shape)->objects[0];
    assert_true(text_is(value_get_text(main_of(job), "workingDir"), "/job/program"));
    sees(seen(job, 0), "HOME", "/home/ann");
}

/* Who has none, or none there, is told that HOME does not keep; and so is one whose site says nothing. */
static void a_home_that_does_not_keep_is_told_of(void **state)
{
    (void)state;
    static const char *const sites[] = {"  home: user\n", "  home: none\n", ""};
    for (size_t i = 0; i < ARRAY_COUNT(sites); i++) {
        size_t count;
        char without[sizeof(site)];
        const char *storage = strstr(site, "  storage:"), *after = strstr(site, "  shm: 2684");
        snprintf(without, sizeof(without),
                 "%.*s  storage: [{prefix: /data, hostPath: {path: /data}}]\n%s%s",
                 (int)(storage - site), site, sites[i], after);
        scratch_put(&scratch, "site.yaml", without);
        scratch_commit(&scratch);
        assert_int_equal(repository_refresh(repository, &error), 0);
        struct shape shape = new_shape("single");
        add_role(&shape, "main", 1);
        shape.job.home = i ? TEXT("/data/ann") : TEXT("/home/ann");
        const struct kubernetes_object *job =
            &render("kubernetes/any/single.yaml", &shape)->objects[0];
        sees(seen(job, 0), "HOME", "/tmp");
        const struct template_note *notes = functions_notes(&count);
        assert_int_equal(count, 1);
        assert_string_equal(notes[0].field.text, "HOME");
        assert_string_equal(notes[0].sentence.text,
                            "is /tmp on this cluster, and gone when the job ends; write what is to "
                            "be kept to output");
    }
    scratch_put(&scratch, "site.yaml", site);
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
}

static void torch_finds_its_master(void **state)
{
    (void)state;
    struct shape shape = new_shape("distributed");
    add_role(&shape, "master", 1);
    struct context_role *worker = add_role(&shape, "worker", 3);
    worker->gpus = 2;
    struct kubernetes_manifest *manifest = render("kubernetes/pytorch/distributed.yaml", &shape);
    assert_int_equal(manifest->count, 3);
    assert_int_equal(manifest->tasks, 4);
    const struct kubernetes_object *jobs[] = {
        find(manifest, "Job", "train-0123456789abc-a2-master"),
        find(manifest, "Job", "train-0123456789abc-a2-worker")};
    const struct kubernetes_object *service = find(manifest, "Service", "train-0123456789abc-a2");
    assert_string_equal(json(value_get(service->tree, "spec")),
                        "{\"clusterIP\":\"None\",\"publishNotReadyAddresses\":true,"
                        "\"selector\":{\"dlspool-token\":\"train-0123456789abc-a2\"}}");
    const struct value *template = value_get(value_get(jobs[1]->tree, "spec"), "template");
    assert_true(text_is(
        value_get_text(value_get(value_get(template, "metadata"), "labels"), "dlspool-token"),
        "train-0123456789abc-a2"));
    for (int rank = 0; rank < 4; rank++) {
        char number[8];
        struct value *env = rank ? seen(jobs[1], rank - 1) : seen(jobs[0], 0);
        snprintf(number, sizeof(number), "%d", rank);
        sees(env, "DLSPOOL_RANK", number);
        sees(env, "RANK", number);
        sees(env, "PET_NODE_RANK", number);
        sees(env, "WORLD_SIZE", "4");
        sees(env, "PET_NNODES", "4");
        sees(env, "PET_NPROC_PER_NODE", rank ? "2" : "1");
        sees(env, "MASTER_ADDR", "train-0123456789abc-a2-master-0.train-0123456789abc-a2");
        sees(env, "PET_MASTER_ADDR", "train-0123456789abc-a2-master-0.train-0123456789abc-a2");
        sees(env, "MASTER_PORT", arena_printf(arena, "%d", context_port(shape.job.id)).data);
    }
    assert_true(text_is(value_get_text(pod_of(jobs[1]), "subdomain"), "train-0123456789abc-a2"));
    assert_string_equal(json(value_get(value_get(main_of(jobs[1]), "resources"), "limits")),
                        "{\"cpu\":\"1.5\",\"memory\":\"1073741824\",\"nvidia.com/gpu\":\"2\","
                        "\"rdma/hca\":\"1\"}");
    assert_null(
        value_get(kubelet_environment(arena, main_of(jobs[1]), 0), "NVIDIA_VISIBLE_DEVICES"));
}

static void a_users_own_variables_go_over_the_librarys(void **state)
{
    (void)state;
    struct shape shape = new_shape("distributed");
    add_role(&shape, "a", 1);
    struct context_role *role = add_role(&shape, "b", 1);
    role->env = value_object(arena);
    value_put(arena, role->env, "RANK", value_string(arena, "$(DLSPOOL_INDEX)"));
    value_put(arena, role->env, "MASTER_ADDR", value_string(arena, "elsewhere"));
    struct kubernetes_manifest *manifest = render("kubernetes/pytorch/distributed.yaml", &shape);
    struct value *env = seen(find(manifest, "Job", "train-0123456789abc-a2-b"), 0);
    sees(env, "RANK", "$(DLSPOOL_INDEX)");
    sees(env, "PET_NODE_RANK", "1");
    sees(env, "MASTER_ADDR", "elsewhere");
    sees(seen(find(manifest, "Job", "train-0123456789abc-a2-a"), 0), "RANK", "0");
}

static void all_tasks_of_tensorflow_are_workers(void **state)
{
    (void)state;
    struct shape shape = new_shape("distributed");
    add_role(&shape, "one", 1);
    add_role(&shape, "two", 2);
    int port = context_port(shape.job.id);
    struct kubernetes_manifest *manifest = render("kubernetes/tensorflow/distributed.yaml", &shape);
    for (int rank = 0; rank < 3; rank++) {
        const struct kubernetes_object *job = find(
            manifest, "Job", rank ? "train-0123456789abc-a2-two" : "train-0123456789abc-a2-one");
#define HOST "train-0123456789abc-a2-"
#define SERVICE ".train-0123456789abc-a2"
        struct text wanted = arena_printf(
            arena,
            "{\"cluster\":{\"worker\":[\"" HOST "one-0" SERVICE ":%d\",\"" HOST "two-0" SERVICE
            ":%d\",\"" HOST "two-1" SERVICE ":%d\"]},\"task\":{\"type\":\"worker\",\"index\":%d}}",
            port, port + 1, port + 2, rank);
        sees(seen(job, rank ? rank - 1 : 0), "TF_CONFIG", wanted.data);
    }
}

static void parameter_servers_are_told_of_the_cluster(void **state)
{
    (void)state;
    struct shape shape = new_shape("ps");
    add_role(&shape, "ps", 2);
    add_role(&shape, "worker", 2);
    add_role(&shape, "evaluator", 1);
    int port = context_port(shape.job.id);
    struct kubernetes_manifest *manifest = render("kubernetes/tensorflow/ps.yaml", &shape);
    static const char *const roles[] = {"ps", "ps", "worker", "worker", "evaluator"};
    static const int indexes[] = {0, 1, 0, 1, 0};
    for (size_t i = 0; i < 5; i++) {
        struct text name = arena_printf(arena, HOST "%s", roles[i]);
        struct text wanted = arena_printf(
            arena,
            "{\"cluster\":{\"ps\":[\"" HOST "ps-0" SERVICE ":%d\",\"" HOST "ps-1" SERVICE
            ":%d\"],\"worker\":[\"" HOST "worker-0" SERVICE ":%d\",\"" HOST "worker-1" SERVICE
            ":%d\"]},\"task\":{\"type\":\"%s\",\"index\":%d}}",
            port, port + 1, port + 2, port + 3, roles[i], indexes[i]);
        sees(seen(find(manifest, "Job", name.data), indexes[i]), "TF_CONFIG", wanted.data);
    }
    const struct value *annotations =
        value_get(value_get(manifest->objects[0].tree, "metadata"), "annotations");
    assert_true(
        text_is(value_get_text(annotations, "dlspool/complete"), "{\"worker\":{\"succeeded\":2}}"));
}

static void a_chief_decides(void **state)
{
    (void)state;
    struct shape shape = new_shape("ps");
    add_role(&shape, "chief", 1);
    add_role(&shape, "ps", 1);
    add_role(&shape, "worker", 1);
    struct kubernetes_manifest *manifest = render("kubernetes/tensorflow/ps.yaml", &shape);
    const struct value *metadata = value_get(manifest->objects[0].tree, "metadata");
    assert_true(text_is(value_get_text(value_get(metadata, "annotations"), "dlspool/complete"),
                        "{\"chief\":{\"succeeded\":1}}"));
}

static void what_tensorflow_cannot_run_is_refused(void **state)
{
    (void)state;
    struct shape shape = new_shape("ps");
    add_role(&shape, "ps", 1);
    add_role(&shape, "master", 1);
    assert_null(try_to_render("kubernetes/tensorflow/ps.yaml", &shape));
    assert_int_equal(failure, RENDER_NOT_ALLOWED);
    /* The owner reads the sentence, without the place in the template. */
    assert_string_equal(error.text, "the role master is none of TensorFlow; expected chief, ps, "
                                    "worker and evaluator");
    shape.roles[1].role = TEXT("worker");
    add_role(&shape, "chief", 2);
    assert_null(try_to_render("kubernetes/tensorflow/ps.yaml", &shape));
    assert_non_null(strstr(error.text, "one chief at most"));
    shape.job.roles_count = 2;
    shape.roles[1].role = TEXT("worker");
    shape.roles[0].gpus = 1;
    assert_null(try_to_render("kubernetes/tensorflow/ps.yaml", &shape));
    assert_non_null(strstr(error.text, "no use for GPUs"));
}

static void any_program_can_find_its_peers(void **state)
{
    (void)state;
    struct shape shape = new_shape("distributed");
    add_role(&shape, "worker", 2);
    int port = context_port(shape.job.id);
    struct kubernetes_manifest *manifest = render("kubernetes/any/distributed.yaml", &shape);
    const struct kubernetes_object *job = find(manifest, "Job", "train-0123456789abc-a2");
    struct value *env = seen(job, 1);
    sees(env, "DLSPOOL_RANK", "1");
    sees(env, "DLSPOOL_ROLE", "worker");
    sees(env, "DLSPOOL_HOST", "train-0123456789abc-a2-0.train-0123456789abc-a2");
    sees(env, "DLSPOOL_PEERS",
         arena_printf(arena,
                      "train-0123456789abc-a2-0.train-0123456789abc-a2:%d,"
                      "train-0123456789abc-a2-1.train-0123456789abc-a2:%d",
                      port, port + 1)
             .data);
}

static void the_request_and_the_site_choose_nodes_and_queues(void **state)
{
    (void)state;
    struct shape shape = new_shape("single");
    add_role(&shape, "main", 1)->gpus = 1;
    shape.job.gpu_type = TEXT("a100");
    shape.job.queue = TEXT("night");
    shape.job.priority = 50;
    shape.job.debug = 90 * 1000;
    struct kubernetes_manifest *manifest = render("kubernetes/any/single.yaml", &shape);
    const struct kubernetes_object *job = &manifest->objects[0];
    const struct value *metadata = value_get(job->tree, "metadata"), *pod = pod_of(job);
    assert_true(job->queued);
    assert_true(text_is(value_get_text(value_get(metadata, "labels"), "kueue.x-k8s.io/queue-name"),
                        "night-queue"));
    assert_true(text_is(value_get_text(value_get(metadata, "annotations"), "dlspool/debug"), "90"));
    assert_string_equal(json(value_get(pod, "nodeSelector")),
                        "{\"gpu\":\"a100\",\"pool\":\"jobs\"}");
    assert_string_equal(json(value_get(pod, "tolerations")),
                        "[{\"key\":\"jobs\",\"operator\":\"Exists\"},{\"effect\":\"NoSchedule\","
                        "\"key\":\"gpu\",\"operator\":\"Exists\"}]");
    assert_true(text_is(value_get_text(pod, "priorityClassName"), "high"));
    assert_string_equal(json(value_get(pod, "imagePullSecrets")), "[{\"name\":\"registry\"}]");

    shape.job.gpu_type = TEXT("mi300");
    shape.job.queue = TEXT("gang");
    shape.job.priority = -1;
    manifest = render("kubernetes/any/single.yaml", &shape);
    pod = pod_of(&manifest->objects[0]);
    assert_false(manifest->objects[0].queued);
    assert_string_equal(
        json(value_get(value_get(main_of(&manifest->objects[0]), "resources"), "limits")),
        "{\"amd.com/gpu\":\"1\",\"cpu\":\"1.5\",\"memory\":\"1073741824\"}");
    assert_null(value_get(pod, "priorityClassName"));
    assert_true(text_is(value_get_text(pod, "schedulerName"), "volcano"));
    const struct kubernetes_object *group = find(manifest, "PodGroup", "train-0123456789abc-a2");
    assert_string_equal(json(value_get(group->tree, "spec")),
                        "{\"minMember\":1,\"queue\":\"gang-queue\"}");

    shape.job.gpu_type = TEXT("h100");
    assert_null(try_to_render("kubernetes/any/single.yaml", &shape));
    assert_non_null(strstr(error.text, "no GPUs of type h100; site.yaml"));
    shape.job.gpu_type = TEXT("a100");
    shape.job.queue = TEXT("day");
    assert_null(try_to_render("kubernetes/any/single.yaml", &shape));
    assert_non_null(strstr(error.text, "there is no queue day on this cluster; site.yaml"));
}

static void a_rule_for_more_failures_keeps_the_others_running(void **state)
{
    (void)state;
    struct shape shape = new_shape("distributed");
    add_role(&shape, "worker", 4);
    struct value *rule = value_object(arena), *numbers = value_object(arena);
    value_put(arena, numbers, "failed", value_number(arena, 3));
    value_put(arena, rule, "worker", numbers);
    shape.job.complete = rule;
    struct kubernetes_manifest *manifest = render("kubernetes/any/distributed.yaml", &shape);
    const struct value *spec = value_get(manifest->objects[0].tree, "spec");
    assert_true(value_get_number(spec, "backoffLimitPerIndex", -1) == 0);
    assert_true(value_get_number(spec, "maxFailedIndexes", -1) == 2);
    assert_null(value_get(spec, "backoffLimit"));
    value_put(arena, numbers, "failed", value_number(arena, -1));
    manifest = render("kubernetes/any/distributed.yaml", &shape);
    spec = value_get(manifest->objects[0].tree, "spec");
    assert_null(value_get(spec, "maxFailedIndexes"));
}

/* It is the Job that starts again what an elastic job has lost. */
static void an_elastic_job_has_its_tasks_tried_again(void **state)
{
    (void)state;
    struct shape shape = new_shape("elastic");
    add_role(&shape, "worker", 4);
    shape.job.size_min = 2;
    shape.job.size_max = 4;
    struct kubernetes_manifest *manifest = render("kubernetes/any/elastic.yaml", &shape);
    const struct value *spec = value_get(manifest->objects[0].tree, "spec");
    assert_true(value_get_number(spec, "backoffLimitPerIndex", -1) == 3);
    assert_true(value_get_number(spec, "maxFailedIndexes", -1) == 2);
}

/* What has to be there at the same time for the job to begin. */
static void a_gang_is_as_many_as_start_together(void **state)
{
    (void)state;
    static const struct {
        const char *type, *path, *group;
    } cases[] = {
        {"array", "kubernetes/any/array.yaml", "{\"minMember\":1,\"queue\":\"gang-queue\"}"},
        {"elastic", "kubernetes/any/elastic.yaml", "{\"minMember\":2,\"queue\":\"gang-queue\"}"},
        {"distributed", "kubernetes/any/distributed.yaml",
         "{\"minMember\":4,\"queue\":\"gang-queue\"}"},
        {"serving", "kubernetes/any/serving.yaml", "{\"minMember\":1,\"queue\":\"gang-queue\"}"},
    };
    static const int indexes[] = {0, 1, 2, 3};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct shape shape = new_shape(cases[i].type);
        add_role(&shape, "worker", 4);
        shape.job.queue = TEXT("gang");
        if (strcmp(cases[i].type, "array") == 0)
            shape.job.array = (struct array){.indexes = indexes, .count = 4, .at_once = 2};
        if (strcmp(cases[i].type, "elastic") == 0) {
            shape.job.size_min = 2;
            shape.job.size_max = 4;
        }
        struct kubernetes_manifest *manifest = render(cases[i].path, &shape);
        const struct kubernetes_object *group =
            find(manifest, "PodGroup", "train-0123456789abc-a2");
        assert_string_equal(json(value_get(group->tree, "spec")), cases[i].group);
    }
}

static void paths_on_no_storage_are_refused(void **state)
{
    (void)state;
    struct shape shape = new_shape("single");
    add_role(&shape, "main", 1);
    scratch_import(&scratch, "templates/site.yaml", "site.yaml");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    assert_null(try_to_render("kubernetes/any/single.yaml", &shape));
    assert_int_equal(failure, RENDER_NOT_ALLOWED);
    assert_non_null(strstr(error.text, "the program /data/program lies on no storage that pods can "
                                       "reach; site.yaml"));
    /* The rest of what is shipped fits a bare cluster. */
    shape.job.program = shape.job.entry = TEXT("");
    shape.job.script = TEXT("echo");
    shape.roles[0].gpus = 1;
    shape.job.gpu_type = TEXT("a100");
    struct kubernetes_manifest *manifest = render("kubernetes/any/single.yaml", &shape);
    assert_string_equal(json(value_get(pod_of(&manifest->objects[0]), "nodeSelector")),
                        "{\"nvidia.com/gpu.product\":\"a100\"}");
    scratch_put(&scratch, "site.yaml", site);
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
}

static void names_fit_their_budget(void **state)
{
    (void)state;
    struct shape shape = new_shape("distributed");
    shape.job.id = TEXT("a-very-long-name-that-do-0123456789abc");
    shape.job.attempt = 1;
    add_role(&shape, "role-of-15-byte", 10000);
    add_role(&shape, "role-of-15-bytf", 1);
    assert_non_null(render("kubernetes/pytorch/distributed.yaml", &shape));
    shape.job.attempt = 1000;
    assert_null(try_to_render("kubernetes/pytorch/distributed.yaml", &shape));
    assert_non_null(strstr(error.text, "choose a shorter name for the role"));
}

static int accept_manifest(void *context, const char *executor, struct text manifest,
                           struct value *tree, struct error *reason)
{
    size_t *seen_manifests = context;
    (void)tree;
    if (strcmp(executor, "kubernetes") != 0)
        return 0;
    ++*seen_manifests;
    struct arena *own = arena_new();
    int result = kubernetes_manifest_read(own, manifest, reason) ? 0 : -1;
    arena_free(own);
    return result;
}

/* What a push is checked with. */
static void every_sample_of_every_cell_is_accepted(void **state)
{
    (void)state;
    size_t manifests = 0;
    struct buffer report = {0};
    struct check_result result;
    const struct check_options options = {.accept = accept_manifest, .accept_context = &manifests};
    /* The templates of other executors do not read this part of the site; check_test.c has them. */
    scratch_require(git_index_remove_directory(scratch.index, "local", 0) == 0, "local");
    scratch_require(git_index_remove_directory(scratch.index, "slurm", 0) == 0, "slurm");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    if (check_repository(repository, &options, &report, &result))
        fail_msg("%s", report.data);
    assert_int_equal(result.problems, 0);
    /* Eight cells, a few hundred samples each; and the executor was asked about each that differs. */
    assert_true(result.manifests > 8 * 200);
    assert_int_equal(manifests, result.looked_at);
    buffer_free(&report);
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    scratch_open(&scratch);
    scratch_import_shipped(&scratch);
    scratch_put(&scratch, "site.yaml", site);
    scratch_commit(&scratch);
    repository = repository_open(scratch.path, "HEAD", &error);
    if (!repository || repository_refresh(repository, &error)) {
        print_message("%s\n", error.text);
        return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    repository_close(repository);
    scratch_close(&scratch);
    arena_free(arena);
    return 0;
}

/* An image may have nothing but busybox, whose nslookup does not look into the search list. */
static void peers_are_found_with_busybox_alone(void **state)
{
    (void)state;
    static const char busybox[] =
        "command() { case $2 in getent | python3) return 1 ;; esac; }\n"
        "cat() { printf 'nameserver 10.0.0.1\\n"
        "search jobs.svc.cluster.local svc.cluster.local\\noptions ndots:5\\n'; }\n"
        "nslookup() { case $1 in train-0123456789abc-a2-[01].train-0123456789abc-a2.jobs.svc.cluster"
        ".local.) ;; *) return 1 ;; esac; }";
    struct shape shape = new_shape("distributed");
    add_role(&shape, "worker", 2);
    struct kubernetes_manifest *manifest = render("kubernetes/any/distributed.yaml", &shape);
    const struct kubernetes_object *job = find(manifest, "Job", "train-0123456789abc-a2");
    sees(kubelet_seen(arena, main_of(job), 1, busybox), "DLSPOOL_RANK", "1");
}

/* A claim for a block device is root's when it is new; one that users share is left as it is. */
static void volumes_are_the_groups_where_the_site_says_so(void **state)
{
    (void)state;
    struct shape shape = new_shape("single");
    add_role(&shape, "main", 1);
    for (int i = 0; i < 2; i++) {
        char text[sizeof(site) + 64];
        snprintf(text, sizeof(text), "%s%s", site, i ? "  fs_group: true\n" : "");
        scratch_put(&scratch, "site.yaml", text);
        scratch_commit(&scratch);
        assert_int_equal(repository_refresh(repository, &error), 0);
        const struct value *context =
            value_get(pod_of(find(render("kubernetes/any/single.yaml", &shape), "Job",
                                  "train-0123456789abc-a2")),
                      "securityContext");
        assert_true(i ? value_get_number(context, "fsGroup", -1) == 100 : !context);
    }
    scratch_put(&scratch, "site.yaml", site);
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_task_is_one_job),
        cmocka_unit_test(a_script_is_a_file),
        cmocka_unit_test(a_long_script_or_one_of_many_tasks_is_a_config_map),
        cmocka_unit_test(peers_are_found_with_busybox_alone),
        cmocka_unit_test(home_is_where_the_storage_has_it),
        cmocka_unit_test(a_home_that_does_not_keep_is_told_of),
        cmocka_unit_test(torch_finds_its_master),
        cmocka_unit_test(a_users_own_variables_go_over_the_librarys),
        cmocka_unit_test(all_tasks_of_tensorflow_are_workers),
        cmocka_unit_test(parameter_servers_are_told_of_the_cluster),
        cmocka_unit_test(a_chief_decides),
        cmocka_unit_test(what_tensorflow_cannot_run_is_refused),
        cmocka_unit_test(any_program_can_find_its_peers),
        cmocka_unit_test(the_request_and_the_site_choose_nodes_and_queues),
        cmocka_unit_test(a_rule_for_more_failures_keeps_the_others_running),
        cmocka_unit_test(an_elastic_job_has_its_tasks_tried_again),
        cmocka_unit_test(a_gang_is_as_many_as_start_together),
        cmocka_unit_test(paths_on_no_storage_are_refused),
        cmocka_unit_test(volumes_are_the_groups_where_the_site_says_so),
        cmocka_unit_test(names_fit_their_budget),
        cmocka_unit_test(every_sample_of_every_cell_is_accepted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
