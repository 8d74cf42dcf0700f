/* executors/local/specification.c - turns a task of the manifest into a request to podman */
#include "executors/local/inside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "executors/local/outer_group.h"
#include "executors/local/ports.h"
#include "executors/local/sources.h"
#include "executors/local/storage.h"

bool local_needs_pod(const struct local_manifest *manifest)
{
    return manifest->task_count > 1 && manifest->network != NETWORK_HOST && !manifest->parallelism;
}

/* ---- small parts ---- */

static void put_string(struct arena *arena, struct value *object, const char *key,
                       const char *string)
{
    value_put(arena, object, key, value_string(arena, string));
}

static void put_number(struct arena *arena, struct value *object, const char *key, int64_t number)
{
    value_put(arena, object, key, value_number(arena, (double)number));
}

static void put_true(struct arena *arena, struct value *object, const char *key)
{
    value_put(arena, object, key, value_boolean(arena, true));
}

static void put_label(struct arena *arena, struct value *labels, const char *name, struct text text)
{
    struct text key = arena_printf(arena, "dlspool.%s", name);
    value_set(arena, labels, key, value_text(arena, text));
}

static void put_number_label(struct arena *arena, struct value *labels, const char *name,
                             int64_t number)
{
    put_label(arena, labels, name, arena_printf(arena, "%lld", (long long)number));
}

/* The rule of completion, as JSON; it was read from YAML, so it can be written. */
static void put_rule(struct arena *arena, struct value *labels, const struct value *rule)
{
    struct buffer json = {0};
    struct error error;
    if (rule && json_write(&json, rule, false, &error) == 0)
        put_label(arena, labels, "complete", arena_text(arena, json.data, json.length));
    buffer_free(&json);
}

static struct value *job_labels(struct arena *arena, const struct specification *spec)
{
    struct value *labels = value_object(arena);
    const struct submission *submission = spec->submission;
    put_label(arena, labels, "spool", text_of(spec->local->spool));
    if (spec->local->executor.identity[0])
        put_label(arena, labels, "identity", text_of(spec->local->executor.identity));
    put_label(arena, labels, "job", text_of(submission->id));
    put_number_label(arena, labels, "attempt", submission->attempt);
    put_number_label(arena, labels, "tasks", (int64_t)spec->manifest->task_count);
    put_label(arena, labels, "manifest", text_of(spec->manifest_hash));
    if (spec->at_once)
        put_number_label(arena, labels, "parallelism", spec->at_once);
    if (spec->manifest->listen_count)
        put_label(arena, labels, "listen", local_ports_label(arena, spec->manifest));
    put_rule(arena, labels, spec->manifest->complete);
    return labels;
}

/* What the task starts, for sentences: the command's first word and, for a file of the manifest, the
 * interpreter in its first line. */
static struct text started_by(struct arena *arena, const struct local_task *task)
{
    enum { MOST = 200 }; /* bytes of each */
    struct text word = task->command->list.items[0]->string;
    word.length = word.length < MOST ? word.length : MOST;
    for (size_t i = 0; i < task->file_count; i++) {
        struct text rest = task->files[i].content, line;
        if (!text_equal(task->files[i].path, word) || !text_starts(rest, "#!") ||
            !text_next(&rest, '\n', &line))
            continue;
        return arena_printf(arena, "%.*s (its first line is %.*s)", (int)word.length, word.data,
                            (int)(line.length < MOST ? line.length : MOST), line.data);
    }
    return arena_text(arena, word.data, word.length);
}

static struct value *task_labels(struct arena *arena, const struct specification *spec,
                                 const struct local_task *task, struct text gpus)
{
    struct value *labels = job_labels(arena, spec);
    put_label(arena, labels, "starts", started_by(arena, task));
    put_label(arena, labels, "role", task->role);
    put_number_label(arena, labels, "index", task->index);
    put_number_label(arena, labels, "cpus", task->cpus);
    put_number_label(arena, labels, "memory", task->memory);
    put_number_label(arena, labels, "gpus", task->gpus);
    put_label(arena, labels, "gpus_assigned", gpus);
    put_number_label(arena, labels, "time_limit", spec->submission->time_limit);
    if (spec->submission->time_limit > 0 && spec->local->settings.suspend)
        put_number_label(arena, labels, "untimed", 1);
    if (sources_are_held())
        put_label(arena, labels, "sources", TEXT("held"));
    return labels;
}

static struct value *namespace_mode(struct arena *arena, const char *mode)
{
    struct value *namespace = value_object(arena);
    put_string(arena, namespace, "nsmode", mode);
    return namespace;
}

static const char *network_mode(enum local_network network)
{
    static const char *const modes[] = {
        [NETWORK_PRIVATE] = "none",
        [NETWORK_HOST] = "host",
        [NETWORK_BRIDGE] = "bridge",
        /* A network stack of its own for each job: no job is in another's network. */
        [NETWORK_OUTGOING] = "slirp4netns",
    };
    return modes[network];
}

/* Map ports of this machine to the same ports of the job. */
static void put_ports(struct arena *arena, struct value *target,
                      const struct local_manifest *manifest)
{
    if (manifest->network != NETWORK_BRIDGE || !manifest->listen_count)
        return;
    struct value *mappings = value_list(arena);
    for (size_t i = 0; i < manifest->listen_count; i++) {
        struct value *mapping = value_object(arena);
        put_number(arena, mapping, "host_port", manifest->listen[i]);
        put_number(arena, mapping, "container_port", manifest->listen[i]);
        put_string(arena, mapping, "protocol", "tcp");
        value_append(arena, mappings, mapping);
    }
    value_put(arena, target, "portmappings", mappings);
}

struct value *local_specify_pod(struct arena *arena, const struct specification *spec)
{
    char name[LOCAL_NAME_SIZE];
    local_job_name(name, spec->submission->id, spec->submission->attempt);
    struct value *pod = value_object(arena);
    put_string(arena, pod, "name", name);
    local_infra_name(name, spec->submission->id, spec->submission->attempt);
    put_string(arena, pod, "infra_name", name);
    value_put(arena, pod, "netns", namespace_mode(arena, network_mode(spec->manifest->network)));
    struct value *shared = value_list(arena);
    value_append(arena, shared, value_string(arena, "net"));
    value_put(arena, pod, "shared_namespaces", shared);
    put_ports(arena, pod, spec->manifest);
    value_put(arena, pod, "labels", job_labels(arena, spec));
    return pod;
}

/* ---- limits ---- */

static struct value *resource_limits(struct arena *arena, const struct specification *spec,
                                     const struct local_task *task)
{
    struct value *limits = value_object(arena), *memory = value_object(arena),
                 *cpu = value_object(arena), *pids = value_object(arena);
    put_number(arena, memory, "limit", task->memory);
    put_number(arena, memory, "swap", task->memory); /* memory and swap together: no swap */
    put_number(arena, cpu, "quota", task->cpus * PODMAN_CPU_PERIOD / 1000);
    put_number(arena, cpu, "period", PODMAN_CPU_PERIOD);
    put_number(arena, pids, "limit", spec->local->settings.pids);
    value_put(arena, limits, "memory", memory);
    value_put(arena, limits, "cpu", cpu);
    value_put(arena, limits, "pids", pids);
    return limits;
}

/* podman counts a container's time in whole seconds. */
static int64_t timeout_seconds(int64_t milliseconds)
{
    return (milliseconds + 999) / 1000;
}

/* ---- the user ---- */

/* Capabilities that the job was given: podman gives them to programs of any user, and no others. */
static void put_capabilities(struct arena *arena, struct value *container,
                             const struct grant *grant)
{
    struct value *added = value_list(arena);
    for (size_t i = 0; grant && i < grant->capability_count; i++)
        value_append(arena, added,
                     value_text(arena, arena_printf(arena, "CAP_%s", grant->capabilities[i].data)));
    if (added->list.count)
        value_put(arena, container, "cap_add", added);
}

static void put_user(struct arena *arena, struct value *container, const struct specification *spec)
{
    put_true(arena, container, "no_new_privileges");
    put_capabilities(arena, container, spec->submission->grant);
    if (geteuid() != 0)
        return; /* root inside is the user who runs dlspool outside */
    const struct submission *submission = spec->submission;
    value_put(arena, container, "user",
              value_text(arena, arena_printf(arena, "%u:%u", submission->uid, submission->gid)));
    if (submission->uid == 0)
        return;
    struct value *dropped = value_list(arena), *groups = value_list(arena);
    value_append(arena, dropped, value_string(arena, "all"));
    value_put(arena, container, "cap_drop", dropped);
    struct text rest = spec->groups, group;
    while (rest.length && text_next(&rest, ' ', &group))
        value_append(arena, groups, value_text(arena, group));
    value_put(arena, container, "groups", groups);
}

/* ---- mounts and files ---- */

static struct value *bind_mount(struct arena *arena, struct text source, struct text target,
                                bool readonly)
{
    struct value *mount = value_object(arena), *options = value_list(arena);
    put_string(arena, mount, "type", "bind");
    value_put(arena, mount, "source", value_text(arena, source));
    value_put(arena, mount, "destination", value_text(arena, target));
    const char *const names[] = {readonly ? "ro" : "rw", "rbind", "nosuid", "nodev"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        value_append(arena, options, value_string(arena, names[i]));
    value_put(arena, mount, "options", options);
    return mount;
}

/* Does the executor write this task's /etc/hosts, with all tasks' names?  It does in a network of the job's
 * own, unless the manifest mounts something there. */
static bool has_own_hosts(const struct local_manifest *manifest, const struct local_task *task)
{
    static const char hosts[] = "/etc/hosts";
    if (manifest->network != NETWORK_PRIVATE && manifest->network != NETWORK_OUTGOING)
        return false;
    for (size_t i = 0; i < task->mount_count; i++)
        if (text_is(task->mounts[i].target, hosts))
            return false;
    for (size_t i = 0; i < task->file_count; i++)
        if (text_is(task->files[i].path, hosts))
            return false;
    return true;
}

static void task_directory(char buffer[static LOCAL_NAME_SIZE], const struct local_task *task)
{
    snprintf(buffer, LOCAL_NAME_SIZE, "%.*s-%d", (int)task->role.length, task->role.data,
             task->index);
}

static struct text file_path(struct arena *arena, const struct specification *spec,
                             const struct local_task *task, size_t number)
{
    char job[LOCAL_NAME_SIZE], directory[LOCAL_NAME_SIZE];
    local_job_name(job, spec->submission->id, spec->submission->attempt);
    task_directory(directory, task);
    return arena_printf(arena, "%s/jobs/%s/files/%s/%zu", spec->local->storage, job, directory,
                        number);
}

static struct text keys_path(struct arena *arena, const struct specification *spec)
{
    char job[LOCAL_NAME_SIZE];
    local_job_name(job, spec->submission->id, spec->submission->attempt);
    return arena_printf(arena, "%s/jobs/%s/ssh", spec->local->storage, job);
}

static void put_mounts(struct arena *arena, struct value *container,
                       const struct specification *spec, const struct local_task *task,
                       const struct text *sources)
{
    struct value *mounts = value_list(arena);
    for (size_t i = 0; i < task->mount_count; i++)
        value_append(
            arena, mounts,
            bind_mount(arena, sources[i], task->mounts[i].target, task->mounts[i].readonly));
    for (size_t i = 0; i < task->file_count; i++)
        value_append(arena, mounts,
                     bind_mount(arena, file_path(arena, spec, task, i), task->files[i].path, true));
    if (has_own_hosts(spec->manifest, task))
        value_append(arena, mounts,
                     bind_mount(arena, file_path(arena, spec, task, task->file_count),
                                TEXT("/etc/hosts"), true));
    if (spec->home.length)
        value_append(arena, mounts, bind_mount(arena, spec->home_source, spec->home, false));
    if (spec->manifest->ssh)
        value_append(arena, mounts,
                     bind_mount(arena, keys_path(arena, spec), TEXT("/job/ssh"), true));
    value_put(arena, container, "mounts", mounts);
}

/* Add the lines of /etc/hosts.  A task that takes turns is alone in its network.  Tasks that share one have an
 * address each, as on a cluster: programs look up their own name and take the answer for theirs alone
 * (torchrun tells its nodes apart by it, and by process numbers, which are the same). */
static void add_hosts(struct buffer *out, const struct local_manifest *manifest,
                      const struct local_task *task)
{
    buffer_add_string(out, "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n");
    for (size_t i = 0; i < manifest->task_count; i++)
        if (!manifest->parallelism || task == &manifest->tasks[i])
            buffer_printf(out, "127.1.%zu.%zu\t%s-%d\n", i / 250, i % 250 + 1,
                          manifest->tasks[i].role.data, manifest->tasks[i].index);
}

int local_write_files(const struct specification *spec, const struct local_task *task,
                      struct error *error)
{
    const struct submission *submission = spec->submission;
    char job[LOCAL_NAME_SIZE], directory[LOCAL_NAME_SIZE];
    local_job_name(job, submission->id, submission->attempt);
    task_directory(directory, task);
    for (size_t i = 0; i < task->file_count; i++)
        if (local_storage_write_file(spec->local->directory, job, directory, i,
                                     task->files[i].content, task->files[i].mode, submission->uid,
                                     submission->gid, error))
            return -1;
    if (!has_own_hosts(spec->manifest, task))
        return 0;
    struct buffer hosts = {0};
    add_hosts(&hosts, spec->manifest, task);
    int result = local_storage_write_file(spec->local->directory, job, directory, task->file_count,
                                          buffer_text(&hosts), 0644, submission->uid,
                                          submission->gid, error);
    buffer_free(&hosts);
    return result;
}

/* ---- the whole ---- */

static void add_device(struct arena *arena, struct value *devices, struct text name)
{
    struct value *device = value_object(arena);
    value_put(arena, device, "path", value_text(arena, name));
    value_append(arena, devices, device);
}

/* GPUs, and the devices that the job was given. */
static void put_devices(struct arena *arena, struct value *container, struct text gpus,
                        const struct grant *grant)
{
    struct value *devices = value_list(arena);
    struct text name;
    while (gpus.length && text_next(&gpus, ',', &name))
        add_device(arena, devices, name);
    for (size_t i = 0; grant && i < grant->device_count; i++)
        add_device(arena, devices, grant->devices[i]);
    if (devices->list.count)
        value_put(arena, container, "devices", devices);
}

static void put_image(struct arena *arena, struct value *container, struct text image)
{
    if (text_is(image, "host")) {
        put_string(arena, container, "rootfs", "/");
        put_true(arena, container, "rootfs_overlay");
    } else {
        value_put(arena, container, "image", value_text(arena, image));
        put_string(arena, container, "image_volume_mode", "ignore");
    }
}

static void put_log(struct arena *arena, struct value *container, const struct specification *spec,
                    const struct local_task *task)
{
    char job[LOCAL_NAME_SIZE], directory[LOCAL_NAME_SIZE];
    local_job_name(job, spec->submission->id, spec->submission->attempt);
    task_directory(directory, task);
    struct value *log = value_object(arena);
    put_string(arena, log, "driver", "k8s-file");
    value_put(arena, log, "path",
              value_text(arena, arena_printf(arena, "%s/jobs/%s/logs/%s", spec->local->storage, job,
                                             directory)));
    value_put(arena, container, "log_configuration", log);
}

static struct text home_of(const struct specification *spec)
{
    return spec->home.length ? spec->home : TEXT("/tmp");
}

static void add_environment(struct arena *arena, struct value *whole, const struct value *part)
{
    for (size_t i = 0; part && i < part->object.count; i++)
        value_set(arena, whole, part->object.members[i].key, part->object.members[i].value);
}

/* Add HOME, the environment of all tasks, and over it that of this task. */
static void put_environment(struct arena *arena, struct value *container,
                            const struct specification *spec, const struct local_task *task)
{
    struct value *whole = value_object(arena);
    if (spec->manifest->home)
        value_put(arena, whole, "HOME", value_text(arena, home_of(spec)));
    add_environment(arena, whole, spec->manifest->env);
    add_environment(arena, whole, task->env);
    if (whole->object.count)
        value_put(arena, container, "env", whole);
}

struct value *local_specify_task(struct arena *arena, const struct specification *spec,
                                 const struct local_task *task, const struct text *sources,
                                 struct text gpus)
{
    const struct submission *submission = spec->submission;
    char name[LOCAL_NAME_SIZE], group[OUTER_GROUP_SIZE];
    local_task_name(name, submission->id, submission->attempt, task->role, task->index);
    struct value *container = value_object(arena);
    put_string(arena, container, "name", name);
    outer_group_path(spec->local, text_of(name), group);
    if (group[0])
        put_string(arena, container, "cgroup_parent", group);
    put_image(arena, container, task->image);
    value_put(arena, container, "command", task->command);
    value_put(arena, container, "entrypoint", value_list(arena));
    put_environment(arena, container, spec, task);
    if (task->workdir.length || spec->manifest->home)
        value_put(arena, container, "work_dir",
                  value_text(arena, task->workdir.length ? task->workdir : home_of(spec)));
    put_true(arena, container, "create_working_dir");
    if (spec->local->has_init)
        put_true(arena, container, "init");
    put_user(arena, container, spec);
    value_put(arena, container, "resource_limits", resource_limits(arena, spec, task));
    if (task->shm)
        put_number(arena, container, "shm_size", task->shm);
    put_mounts(arena, container, spec, task, sources);
    put_devices(arena, container, gpus, submission->grant);
    put_log(arena, container, spec, task);
    if (submission->time_limit > 0 && !spec->local->settings.suspend)
        put_number(arena, container, "timeout", timeout_seconds(submission->time_limit));
    value_put(arena, container, "labels", task_labels(arena, spec, task, gpus));
    if (local_needs_pod(spec->manifest)) {
        char pod[LOCAL_NAME_SIZE];
        local_job_name(pod, submission->id, submission->attempt);
        put_string(arena, container, "pod", pod);
    } else {
        value_put(arena, container, "netns",
                  namespace_mode(arena, network_mode(spec->manifest->network)));
        put_ports(arena, container, spec->manifest);
    }
    if (spec->manifest->network != NETWORK_HOST) {
        char host[LOCAL_NAME_SIZE];
        task_directory(host, task);
        put_string(arena, container, "hostname", host);
    }
    return container;
}
