/* executors/kubernetes/stamp.c - writes into objects whose they are, and what their pods may do
 *
 * Trees are not changed: objects on the path to a change are copied, the rest is shared.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "executors/kubernetes/manifest.h"
#include "executors/kubernetes/policy.h"
#include "executors/kubernetes/rules.h"
#include "executors/ssh_key.h"

struct stamping {
    struct arena *arena;
    const struct kubernetes_stamp *stamp;
    struct value *labels; /* what every object and every pod gets */
    struct value *annotations;
};

/* Put a copy of the member `key`, an object, in its place in `parent`, which is a copy itself. */
static struct value *replace_by_copy(struct arena *arena, struct value *parent, const char *key)
{
    struct value *copy = value_copy_members(arena, value_get(parent, key));
    value_put(arena, parent, key, copy);
    return copy;
}

static struct value *copy_list(struct arena *arena, const struct value *list)
{
    struct value *copy = value_list(arena);
    for (size_t i = 0; list && i < list->list.count; i++)
        value_append(arena, copy, list->list.items[i]);
    return copy;
}

static void set_members(struct arena *arena, struct value *into, const struct value *from)
{
    for (size_t i = 0; i < from->object.count; i++)
        value_set(arena, into, from->object.members[i].key, from->object.members[i].value);
}

static void put_if_given(struct arena *arena, struct value *object, const char *key,
                         struct text text)
{
    if (text.length)
        value_put(arena, object, key, value_text(arena, text));
}

static void put_default(struct arena *arena, struct value *object, const char *key,
                        struct value *value)
{
    if (!value_get(object, key))
        value_put(arena, object, key, value);
}

static struct value *number_text(struct arena *arena, long long number)
{
    return value_text(arena, arena_printf(arena, "%lld", number));
}

static void make_labels(struct stamping *stamping)
{
    const struct kubernetes_stamp *stamp = stamping->stamp;
    struct arena *arena = stamping->arena;
    struct value *labels = value_object(arena), *annotations = value_object(arena);
    value_put(arena, labels, KUBERNETES_LABEL_SPOOL, value_string(arena, stamp->spool));
    if (stamp->identity)
        put_if_given(arena, labels, KUBERNETES_LABEL_IDENTITY, text_of(stamp->identity));
    value_put(arena, labels, KUBERNETES_LABEL_JOB, value_string(arena, stamp->id));
    value_put(arena, labels, KUBERNETES_LABEL_ATTEMPT, number_text(arena, stamp->attempt));
    value_put(arena, labels, KUBERNETES_LABEL_UID, number_text(arena, stamp->uid));
    value_put(arena, labels, KUBERNETES_LABEL_OWNER,
              value_text(arena, kubernetes_manifest_label_value(arena, stamp->owner)));
    put_if_given(arena, annotations, KUBERNETES_ANNOTATION_OWNER, stamp->owner);
    put_if_given(arena, annotations, KUBERNETES_ANNOTATION_REQUEST, stamp->request_sha256);
    put_if_given(arena, annotations, KUBERNETES_ANNOTATION_COMMIT, stamp->commit);
    put_if_given(arena, annotations, KUBERNETES_ANNOTATION_IMAGE, stamp->image);
    put_if_given(arena, annotations, KUBERNETES_ANNOTATION_MANIFEST,
                 text_of(stamp->manifest_sha256));
    stamping->labels = labels;
    stamping->annotations = annotations;
}

/* Labels and annotations into a copy of `parent`'s metadata.  `role` may be empty. */
static struct value *stamp_metadata(const struct stamping *stamping, struct value *parent,
                                    struct text role)
{
    struct arena *arena = stamping->arena;
    struct value *metadata = replace_by_copy(arena, parent, "metadata");
    struct value *labels = replace_by_copy(arena, metadata, "labels");
    set_members(arena, labels, stamping->labels);
    put_if_given(arena, labels, KUBERNETES_LABEL_ROLE, role);
    set_members(arena, replace_by_copy(arena, metadata, "annotations"), stamping->annotations);
    return metadata;
}

static struct value *runtime_default(struct arena *arena)
{
    struct value *profile = value_object(arena);
    value_put(arena, profile, "type", value_string(arena, "RuntimeDefault"));
    return profile;
}

static struct value *drop_all(struct arena *arena)
{
    struct value *capabilities = value_object(arena), *drop = value_list(arena);
    value_append(arena, drop, value_string(arena, "ALL"));
    value_put(arena, capabilities, "drop", drop);
    return capabilities;
}

/* No capabilities but those that the job was given. */
static struct value *capabilities_of(struct arena *arena, const struct grant *grant)
{
    struct value *capabilities = drop_all(arena), *added = value_list(arena);
    for (size_t i = 0; i < grant->capability_count; i++)
        value_append(arena, added, value_text(arena, grant->capabilities[i]));
    value_put(arena, capabilities, "add", added);
    return capabilities;
}

static void confine_containers(struct arena *arena, struct value *pod, const char *key,
                               const struct grant *grant)
{
    if (!value_get(pod, key))
        return;
    struct value *list = copy_list(arena, value_get(pod, key));
    value_put(arena, pod, key, list);
    for (size_t i = 0; i < list->list.count; i++) {
        struct value *container = value_copy_members(arena, list->list.items[i]);
        list->list.items[i] = container;
        struct value *context = replace_by_copy(arena, container, "securityContext");
        value_put(arena, context, "allowPrivilegeEscalation", value_boolean(arena, false));
        put_default(arena, context, "capabilities", drop_all(arena));
        if (grant && grant->capability_count)
            value_put(arena, context, "capabilities", capabilities_of(arena, grant));
    }
}

static void confine_pod(const struct stamping *stamping, struct value *pod)
{
    struct arena *arena = stamping->arena;
    const struct kubernetes_stamp *stamp = stamping->stamp;
    struct value *context = replace_by_copy(arena, pod, "securityContext");
    value_put(arena, context, "runAsUser", value_number(arena, stamp->uid));
    value_put(arena, context, "runAsGroup", value_number(arena, stamp->gid));
    value_put(arena, context, "runAsNonRoot", value_boolean(arena, stamp->uid != 0));
    struct value *groups = value_list(arena);
    for (size_t i = 0; i < stamp->group_count; i++)
        value_append(arena, groups, value_number(arena, stamp->groups[i]));
    if (stamp->group_count)
        value_put(arena, context, "supplementalGroups", groups);
    put_default(arena, context, "seccompProfile", runtime_default(arena));
    value_put(arena, pod, "automountServiceAccountToken", value_boolean(arena, false));
    put_default(arena, pod, "enableServiceLinks", value_boolean(arena, false));
    confine_containers(arena, pod, "initContainers", stamp->grant);
    confine_containers(arena, pod, "containers", stamp->grant);
}

/* A new pair of keys into a Secret that asks for one. */
static int fill_keys(struct arena *arena, struct kubernetes_object *object, struct error *error)
{
    const struct value *metadata = value_get(object->tree, "metadata");
    struct ssh_key key;
    if (!value_get(value_get(metadata, "annotations"), KUBERNETES_ANNOTATION_GENERATE))
        return 0;
    if (ssh_key_make(&key, error))
        return -1;
    struct value *tree = value_copy_members(arena, object->tree), *data = value_object(arena);
    value_put(arena, data, "ssh-privatekey", value_string(arena, key.id));
    value_put(arena, data, "ssh-publickey", value_string(arena, key.id_pub));
    value_put(arena, data, "authorized_keys", value_string(arena, key.authorized_keys));
    value_put(arena, data, "known_hosts", value_string(arena, key.known_hosts));
    value_put(arena, tree, "stringData", data);
    object->tree = tree;
    ssh_key_wipe(&key);
    return 0;
}

static void stamp_object(const struct stamping *stamping, struct kubernetes_object *object,
                         bool is_owner)
{
    struct arena *arena = stamping->arena;
    struct value *tree = value_copy_members(arena, object->tree);
    struct value *metadata = stamp_metadata(stamping, tree, object->role);
    value_put(arena, metadata, "namespace", value_string(arena, stamping->stamp->namespace));
    if (is_owner)
        put_default(arena, replace_by_copy(arena, metadata, "annotations"),
                    KUBERNETES_ANNOTATION_COMPLETE, value_string(arena, "{}"));
    if (object->kind->is_job) {
        struct value *template =
            replace_by_copy(arena, replace_by_copy(arena, tree, "spec"), "template");
        stamp_metadata(stamping, template, object->role);
        confine_pod(stamping, replace_by_copy(arena, template, "spec"));
    }
    object->tree = tree;
}

/* Is it the job's token, or does it start with it and a hyphen? */
static bool is_of_token(struct text name, struct text token)
{
    return name.length >= token.length && memcmp(name.data, token.data, token.length) == 0 &&
           (name.length == token.length || name.data[token.length] == '-');
}

static void check_stamp(struct arena *arena, const struct kubernetes_manifest *manifest,
                        const struct kubernetes_stamp *stamp, struct schema_problems *problems)
{
    char path[64];
    struct text token = arena_printf(arena, "%s-a%d", stamp->id, stamp->attempt);
    for (size_t i = 0; i < manifest->count; i++) {
        const struct kubernetes_object *object = &manifest->objects[i];
        const struct value *spec = value_get(object->tree, "spec");
        if (!is_of_token(object->name, token))
            kubernetes_schema_problem(
                problems, object->tree,
                "items[%zu].metadata.name: found \"%s\", expected \"%s\" or what starts "
                "with it and a hyphen; templates have it as job.token",
                i, object->name.data, token.data);
        snprintf(path, sizeof(path), "items[%zu].spec.template.spec", i);
        if (object->kind->is_job)
            kubernetes_policy_check(value_get(value_get(spec, "template"), "spec"), path, stamp,
                                    problems);
    }
}

int kubernetes_manifest_stamp(struct arena *arena, struct kubernetes_manifest *manifest,
                              const struct kubernetes_stamp *stamp, struct error *error)
{
    struct schema_problems problems = {0};
    check_stamp(arena, manifest, stamp, &problems);
    int failed = kubernetes_rules_report(&problems, error);
    manifest->settings_forbid = problems.count > 0 && problems.count == problems.settings_count;
    buffer_free(&problems.text);
    if (failed)
        return -1;
    struct stamping stamping = {.arena = arena, .stamp = stamp};
    make_labels(&stamping);
    for (size_t i = 0; i < manifest->count; i++) {
        stamp_object(&stamping, &manifest->objects[i], i == 0);
        if (fill_keys(arena, &manifest->objects[i], error))
            return -1;
    }
    return 0;
}

static struct value *owner_references(struct arena *arena, const struct kubernetes_object *owner,
                                      const char *uid)
{
    struct value *list = value_list(arena), *reference = value_object(arena);
    value_put(arena, reference, "apiVersion", value_string(arena, owner->kind->version));
    value_put(arena, reference, "kind", value_string(arena, owner->kind->kind));
    value_put(arena, reference, "name", value_text(arena, owner->name));
    value_put(arena, reference, "uid", value_string(arena, uid));
    value_append(arena, list, reference);
    return list;
}

struct text kubernetes_manifest_object_body(struct arena *arena,
                                            const struct kubernetes_object *object,
                                            const struct kubernetes_object *owner,
                                            const char *owner_uid, bool suspend)
{
    struct value *tree = value_copy_members(arena, object->tree);
    if (owner && owner_uid)
        value_put(arena, replace_by_copy(arena, tree, "metadata"), "ownerReferences",
                  owner_references(arena, owner, owner_uid));
    if (suspend && object->kind->is_job)
        value_put(arena, replace_by_copy(arena, tree, "spec"), "suspend",
                  value_boolean(arena, true));
    return json_text(arena, tree); /* what was read from a file holds nothing that JSON cannot */
}
