/* executors/kubernetes/rules.c - what a manifest's objects must be beyond their fields' types */
#include "executors/kubernetes/rules.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "executors/completion.h"
#include "executors/kubernetes/name.h"

enum {
    ANNOTATIONS_LONGEST = 256 << 10, /* bytes of an object's annotations together */
    DATA_LONGEST = 1 << 20,          /* bytes of a ConfigMap's or Secret's data */
    MOST_COMPLETIONS = 100000,
};

/* ---- metadata ---- */

static void check_labels(const struct value *labels, const char *path,
                         struct schema_problems *problems)
{
    struct error_quote_buffer quote;
    for (size_t i = 0; labels && i < labels->object.count; i++) {
        const struct member *label = &labels->object.members[i];
        const char *key = error_quote(&quote, label->key.data, label->key.length);
        if (!kubernetes_name_is_label_key(label->key))
            kubernetes_schema_problem(
                problems, label->value,
                "%s.labels: \"%s\" is no label: expected name or domain/name, the name "
                "of at most 63 letters, digits, - _ and .",
                path, key);
        else if (!kubernetes_name_is_label_value(label->value->string))
            kubernetes_schema_problem(
                problems, label->value,
                "%s.labels.%s: its value is none of a label: expected at most 63 "
                "letters, digits and inner - _ and .",
                path, key);
        else if (text_starts(label->key, "dlspool/") && !text_is(label->key, KUBERNETES_LABEL_ROLE))
            kubernetes_schema_problem(problems, label->value,
                                      "%s.labels.%s: dlspool sets this itself; leave it out", path,
                                      key);
    }
}

/* Annotations of dlspool that a template may set. */
static bool is_for_templates(struct text key)
{
    return text_is(key, KUBERNETES_ANNOTATION_COMPLETE) ||
           text_is(key, KUBERNETES_ANNOTATION_DEBUG) ||
           text_is(key, KUBERNETES_ANNOTATION_ELASTIC) ||
           text_is(key, KUBERNETES_ANNOTATION_GENERATE);
}

static void check_annotations(const struct value *annotations, const char *path,
                              struct schema_problems *problems)
{
    struct error_quote_buffer quote;
    size_t total = 0;
    for (size_t i = 0; annotations && i < annotations->object.count; i++) {
        const struct member *member = &annotations->object.members[i];
        const char *key = error_quote(&quote, member->key.data, member->key.length);
        total += member->key.length + member->value->string.length;
        if (!kubernetes_name_is_label_key(member->key))
            kubernetes_schema_problem(
                problems, member->value,
                "%s.annotations: \"%s\" is no annotation: expected name or domain/name, "
                "the name of at most 63 letters, digits, - _ and .",
                path, key);
        else if (text_starts(member->key, "dlspool/") && !is_for_templates(member->key))
            kubernetes_schema_problem(problems, member->value,
                                      "%s.annotations.%s: dlspool sets this itself; leave it out",
                                      path, key);
    }
    if (total > ANNOTATIONS_LONGEST)
        kubernetes_schema_problem(problems, annotations,
                                  "%s.annotations: %zu bytes, expected at most %d", path, total,
                                  (int)ANNOTATIONS_LONGEST);
}

static void check_metadata(const struct value *metadata, const char *path, bool has_name,
                           struct schema_problems *problems)
{
    char inner[64];
    snprintf(inner, sizeof(inner), "%.50s.metadata", path);
    for (size_t i = 0; metadata && i < metadata->object.count; i++) {
        const struct member *member = &metadata->object.members[i];
        if (text_is(member->key, "labels") || text_is(member->key, "annotations") ||
            (has_name && text_is(member->key, "name")))
            continue;
        kubernetes_schema_problem(problems, member->value,
                                  "%s.%s: this is not a template's to say; leave it out", inner,
                                  member->key.data);
    }
    check_labels(value_get(metadata, "labels"), inner, problems);
    check_annotations(value_get(metadata, "annotations"), inner, problems);
}

/* ---- Jobs ---- */

static int read_whole_number(const struct value *object, const char *key, int otherwise)
{
    double number = value_get_number(object, key, otherwise);
    return number >= -1 && number <= MOST_COMPLETIONS ? (int)number : -1;
}

/* A pod's host name is <job>-<index>. */
static void check_host_names(const struct kubernetes_object *object, const char *path,
                             struct schema_problems *problems)
{
    char last[16];
    int digits = snprintf(last, sizeof(last), "%d", object->tasks - 1);
    size_t length = object->name.length + 1 + (size_t)digits;
    if (length > KUBERNETES_LABEL_LONGEST)
        kubernetes_schema_problem(
            problems, object->tree,
            "%s.metadata.name: with the index of the last task it has %zu bytes, and a "
            "pod's host name has at most %d; choose a shorter name for the role",
            path, length, (int)KUBERNETES_LABEL_LONGEST);
}

/* Check the fields of a Job that dlspool relies on: that indexes are tasks, that nothing is
 * started a second time but what the rule has tried again (check_again), and that nobody else decides how it
 * ends. */
static void check_job_form(const struct value *spec, const char *path,
                           struct schema_problems *problems)
{
    static const char *const not_theirs[] = {"selector",      "manualSelector",
                                             "managedBy",     "ttlSecondsAfterFinished",
                                             "successPolicy", NULL};
    if (!text_is(value_get_text(spec, "completionMode"), "Indexed"))
        kubernetes_schema_problem(problems, spec, "%s.spec.completionMode: expected Indexed", path);
    if (read_whole_number(spec, "parallelism", 0) < 1 ||
        read_whole_number(spec, "parallelism", 0) > read_whole_number(spec, "completions", 0))
        kubernetes_schema_problem(
            problems, spec,
            "%s.spec: expected completions from 1 to %d, and parallelism from 1 to as "
            "many",
            path, (int)MOST_COMPLETIONS);
    bool by_index = read_whole_number(spec, "backoffLimitPerIndex", -1) >= 0;
    if (!by_index && read_whole_number(spec, "backoffLimit", 1) != 0)
        kubernetes_schema_problem(
            problems, spec,
            "%s.spec.backoffLimit: expected 0 (or backoffLimitPerIndex 0): dlspool "
            "itself tries a job again",
            path);
    if (value_get(spec, "maxFailedIndexes") && !by_index)
        kubernetes_schema_problem(problems, spec,
                                  "%s.spec.maxFailedIndexes: it needs backoffLimitPerIndex", path);
    if (!text_is(value_get_text(spec, "podReplacementPolicy"), "Failed"))
        kubernetes_schema_problem(
            problems, spec,
            "%s.spec.podReplacementPolicy: expected Failed: a task must not run twice at "
            "a time",
            path);
    if (value_get(spec, "activeDeadlineSeconds") &&
        value_get_number(spec, "activeDeadlineSeconds", 0) < 1)
        kubernetes_schema_problem(problems, spec,
                                  "%s.spec.activeDeadlineSeconds: expected at least 1", path);
    for (size_t i = 0; not_theirs[i]; i++)
        if (value_get(spec, not_theirs[i]))
            kubernetes_schema_problem(problems, spec,
                                      "%s.spec.%s: this is not a template's to say; leave it out",
                                      path, not_theirs[i]);
}

static void check_job(struct kubernetes_object *object, const char *path,
                      struct schema_problems *problems)
{
    char inner[64];
    const struct value *spec = value_get(object->tree, "spec");
    const struct value *labels = value_get(value_get(object->tree, "metadata"), "labels");
    if (!spec) {
        kubernetes_schema_problem(problems, object->tree, "%s.spec: missing", path);
        return;
    }
    const struct value *template = value_get(spec, "template");
    object->tasks = read_whole_number(spec, "completions", 0);
    object->role = value_get_text(labels, KUBERNETES_LABEL_ROLE);
    object->suspended = value_get_boolean(spec, "suspend", false);
    object->queued = value_get_text(labels, KUBERNETES_LABEL_QUEUE).length > 0;
    check_job_form(spec, path, problems);
    check_host_names(object, path, problems);
    snprintf(inner, sizeof(inner), "%.32s.spec.template", path);
    check_metadata(value_get(template, "metadata"), inner, false, problems);
    if (!value_get(template, "spec")) {
        kubernetes_schema_problem(problems, object->tree, "%s.spec: missing", inner);
        return;
    }
    snprintf(inner, sizeof(inner), "%.32s.spec.template.spec", path);
    kubernetes_rules_check_pod(value_get(template, "spec"), inner, problems);
}

/* ---- the other kinds ---- */

static void check_service(const struct value *tree, const char *path,
                          struct schema_problems *problems)
{
    const struct value *spec = value_get(tree, "spec"), *ports = value_get(spec, "ports");
    struct text type = value_get_text(spec, "type");
    if (!text_is(value_get_text(spec, "clusterIP"), "None") && !(ports && ports->list.count))
        kubernetes_schema_problem(problems, tree,
                                  "%s.spec.ports: missing, as clusterIP is not None", path);
    if (type.length && !text_is(type, "ClusterIP"))
        kubernetes_schema_problem(
            problems, tree,
            "%s.spec.type: found %s, expected ClusterIP: a job's ports are for its own "
            "tasks",
            path, type.data);
    for (size_t i = 0; ports && i < ports->list.count; i++) {
        double port = value_get_number(ports->list.items[i], "port", 0);
        if (port < 1 || port > 65535)
            kubernetes_schema_problem(problems, ports->list.items[i],
                                      "%s.spec.ports[%zu].port: expected 1 to 65535", path, i);
        if (ports->list.count > 1 &&
            !kubernetes_name_is_label(value_get_text(ports->list.items[i], "name"), false))
            kubernetes_schema_problem(problems, ports->list.items[i],
                                      "%s.spec.ports[%zu].name: expected a DNS label", path, i);
    }
}

static void check_data(const struct value *tree, const char *path, struct schema_problems *problems)
{
    static const char *const members[] = {"data", "binaryData", "stringData", NULL};
    struct error_quote_buffer quote;
    size_t total = 0;
    for (size_t i = 0; members[i]; i++) {
        const struct value *data = value_get(tree, members[i]);
        for (size_t j = 0; data && j < data->object.count; j++) {
            const struct member *member = &data->object.members[j];
            total += member->value->string.length;
            if (!kubernetes_name_is_data_key(member->key))
                kubernetes_schema_problem(
                    problems, member->value,
                    "%s.%s: \"%s\" is no key: expected letters, digits, - _ and .", path,
                    members[i], error_quote(&quote, member->key.data, member->key.length));
        }
    }
    if (total > DATA_LONGEST)
        kubernetes_schema_problem(problems, tree, "%s: %zu bytes of data, expected at most %d",
                                  path, total, (int)DATA_LONGEST);
}

/* A Secret that is filled with keys has that type, and no other data. */
static void check_generated(const struct kubernetes_object *object, const char *path,
                            struct schema_problems *problems)
{
    const struct value *tree = object->tree;
    const struct value *annotations = value_get(value_get(tree, "metadata"), "annotations");
    struct text what = value_get_text(annotations, KUBERNETES_ANNOTATION_GENERATE);
    struct error_quote_buffer quote;
    if (!what.data)
        return;
    if (!text_is(what, KUBERNETES_GENERATE_SSH_KEY) || strcmp(object->kind->kind, "Secret") != 0)
        kubernetes_schema_problem(
            problems, tree,
            "%s.metadata.annotations.%s: found \"%s\" of a %s, expected " KUBERNETES_GENERATE_SSH_KEY
            " of a Secret",
            path, KUBERNETES_ANNOTATION_GENERATE, error_quote(&quote, what.data, what.length),
            object->kind->kind);
    else if (!text_is(value_get_text(tree, "type"), "kubernetes.io/ssh-auth"))
        kubernetes_schema_problem(
            problems, tree, "%s.type: expected kubernetes.io/ssh-auth, as keys are put into it",
            path);
    else if (value_get(tree, "data") || value_get(tree, "stringData"))
        kubernetes_schema_problem(problems, tree,
                                  "%s: it has data, and keys are put into it; leave one out", path);
}

static void check_size(const struct value *tree, const char *path, struct schema_problems *problems)
{
    struct buffer json = {0};
    struct error error;
    if (json_write(&json, tree, false, &error))
        kubernetes_schema_problem(problems, tree, "%s: %s", path, error.text);
    else if (json.length > KUBERNETES_OBJECT_LONGEST)
        kubernetes_schema_problem(
            problems, tree,
            "%s: %zu bytes, and a cluster stores at most %d of one object: shorten the "
            "script, the arguments or the environment",
            path, json.length, (int)KUBERNETES_OBJECT_LONGEST);
    buffer_free(&json);
}

void kubernetes_rules_check_object(struct kubernetes_object *object, const char *path,
                                   struct schema_problems *problems)
{
    const struct value *metadata = value_get(object->tree, "metadata");
    struct error_quote_buffer quote;
    object->name = value_get_text(metadata, "name");
    if (!kubernetes_name_is_label(object->name, true))
        kubernetes_schema_problem(
            problems, metadata ? metadata : object->tree,
            "%s.metadata.name: found \"%s\", expected the job's token or what starts "
            "with it: at most 63 small letters, digits and inner hyphens, a letter first",
            path,
            error_quote(&quote, object->name.data ? object->name.data : "", object->name.length));
    if (value_get(object->tree, "status"))
        kubernetes_schema_problem(problems, object->tree,
                                  "%s.status: this is not a template's to say; leave it out", path);
    check_metadata(metadata, path, true, problems);
    if (object->kind->is_job)
        check_job(object, path, problems);
    else if (strcmp(object->kind->kind, "Service") == 0)
        check_service(object->tree, path, problems);
    else
        check_data(object->tree, path, problems);
    check_generated(object, path, problems);
    check_size(object->tree, path, problems);
}

/* ---- together ---- */

static void check_duplicates(const struct kubernetes_manifest *manifest, size_t index,
                             struct schema_problems *problems)
{
    const struct kubernetes_object *object = &manifest->objects[index];
    for (size_t i = 0; i < index; i++) {
        const struct kubernetes_object *other = &manifest->objects[i];
        if (other->kind == object->kind && text_equal(other->name, object->name))
            kubernetes_schema_problem(
                problems, object->tree,
                "items[%zu].metadata.name: items[%zu] is a %s of that name too", index, i,
                object->kind->kind);
        if (object->kind->is_job && other->kind->is_job && text_equal(other->role, object->role))
            kubernetes_schema_problem(
                problems, object->tree,
                "items[%zu]: items[%zu] is a Job of the same role; each needs a label "
                "dlspool/role of its own",
                index, i);
    }
}

static void check_subdomain(const struct kubernetes_manifest *manifest, size_t index,
                            struct schema_problems *problems)
{
    const struct value *spec = value_get(manifest->objects[index].tree, "spec");
    struct text subdomain =
        value_get_text(value_get(value_get(spec, "template"), "spec"), "subdomain");
    bool found = subdomain.length == 0;
    for (size_t i = 0; i < manifest->count && !found; i++)
        found = strcmp(manifest->objects[i].kind->kind, "Service") == 0 &&
                text_equal(manifest->objects[i].name, subdomain);
    if (!found)
        kubernetes_schema_problem(
            problems, manifest->objects[index].tree,
            "items[%zu].spec.template.spec.subdomain: no Service of that name is in the "
            "manifest",
            index);
}

/* Its Job tries a task again as often as the rule says, or less often. */
static void check_again(const struct kubernetes_object *object, size_t index,
                        const struct completion_rule *rule, struct schema_problems *problems)
{
    const struct value *spec = value_get(object->tree, "spec");
    char role[64];
    snprintf(role, sizeof(role), "%.*s", (int)object->role.length,
             object->role.length ? object->role.data : "");
    int number = read_whole_number(spec, "backoffLimitPerIndex", 0);
    int most = completion_again(rule, role, INT_MAX);
    if (number > most)
        kubernetes_schema_problem(
            problems, spec,
            "items[%zu].spec.backoffLimitPerIndex: found %d, expected at most %d, which is what %s "
            "says of `again` of the role %s; all else dlspool itself tries again",
            index, number, most, KUBERNETES_ANNOTATION_COMPLETE, role);
}

/* Check what the annotations of the first object ask for: the rule of completion, which may name
 * only roles that there are, and the seconds for debugging. */
static void check_owner(const struct kubernetes_manifest *manifest, struct arena *arena,
                        struct schema_problems *problems)
{
    const struct value *tree = manifest->objects[0].tree;
    const struct value *annotations = value_get(value_get(tree, "metadata"), "annotations");
    struct text rule = value_get_text(annotations, KUBERNETES_ANNOTATION_COMPLETE);
    struct text debug = value_get_text(annotations, KUBERNETES_ANNOTATION_DEBUG);
    struct error error;
    struct completion_rule *read = completion_read(arena, rule, &error);
    if (!read)
        kubernetes_schema_problem(problems, tree, "items[0].metadata.annotations.%s: %s",
                                  KUBERNETES_ANNOTATION_COMPLETE, error.text);
    for (size_t i = 0; read && i < read->count; i++) {
        struct error_quote_buffer quote;
        bool found = false;
        for (size_t j = 0; j < manifest->count && !found; j++)
            found = manifest->objects[j].kind->is_job &&
                    text_equal(manifest->objects[j].role, read->roles[i].role);
        if (!found)
            kubernetes_schema_problem(
                problems, tree,
                "items[0].metadata.annotations.%s: there is no Job of the role \"%s\"",
                KUBERNETES_ANNOTATION_COMPLETE,
                error_quote(&quote, read->roles[i].role.data, read->roles[i].role.length));
    }
    for (size_t i = 0; read && i < manifest->count; i++)
        if (manifest->objects[i].kind->is_job)
            check_again(&manifest->objects[i], i, read, problems);
    if (debug.length > 9 || (debug.length && strspn(debug.data, "0123456789") < debug.length))
        kubernetes_schema_problem(problems, tree,
                                  "items[0].metadata.annotations.%s: expected a number of seconds",
                                  KUBERNETES_ANNOTATION_DEBUG);
}

void kubernetes_rules_check_together(const struct kubernetes_manifest *manifest,
                                     struct arena *arena, struct schema_problems *problems)
{
    size_t jobs = 0;
    for (size_t i = 0; i < manifest->count; i++)
        jobs += manifest->objects[i].kind->is_job;
    for (size_t i = 0; i < manifest->count; i++) {
        struct kubernetes_object *object = &manifest->objects[i];
        check_duplicates(manifest, i, problems);
        if (!object->kind->is_job)
            continue;
        if (object->role.length == 0 && jobs == 1)
            object->role = TEXT("main");
        if (!kubernetes_name_is_label(object->role, false))
            kubernetes_schema_problem(
                problems, object->tree,
                "items[%zu].metadata.labels.%s: missing, or no DNS label; it names the "
                "role",
                i, KUBERNETES_LABEL_ROLE);
        check_subdomain(manifest, i, problems);
    }
    check_owner(manifest, arena, problems);
}
