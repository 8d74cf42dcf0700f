/* executors/kubernetes/manifest.c - what a template sends to a Kubernetes cluster: reading it */
#include "executors/kubernetes/manifest.h"

#include <stdio.h>
#include <string.h>

#include "base/yaml.h"
#include "executors/kubernetes/name.h"
#include "executors/kubernetes/rules.h"

enum { MOST_OBJECTS = 64 }; /* of one job: a Job for each role, and what they share */

const struct kubernetes_kind kubernetes_kinds[] = {
    {"Job", "batch/v1", "/apis/batch/v1", "jobs", "Job", true},
    {"Service", "v1", "/api/v1", "services", "Service", false},
    {"Secret", "v1", "/api/v1", "secrets", "Secret", false},
    {"ConfigMap", "v1", "/api/v1", "configmaps", "ConfigMap", false},
    {"PodGroup", "scheduling.volcano.sh/v1beta1", "/apis/scheduling.volcano.sh/v1beta1",
     "podgroups", "VolcanoPodGroup", false},
    {0},
};

static const struct kubernetes_kind *find_kind(const struct value *tree)
{
    const struct kubernetes_kind *kind = kubernetes_kinds;
    struct text name = value_get_text(tree, "kind"), version = value_get_text(tree, "apiVersion");
    while (kind->kind && !(text_is(name, kind->kind) && text_is(version, kind->version)))
        kind++;
    return kind->kind ? kind : NULL;
}

static void read_object(struct kubernetes_object *object, struct value *tree, size_t index,
                        struct schema_problems *problems)
{
    char path[32];
    struct error_quote_buffer kind, version;
    snprintf(path, sizeof(path), "items[%zu]", index);
    object->tree = tree;
    object->kind = find_kind(tree);
    if (!object->kind) {
        struct text a = value_get_text(tree, "kind"), b = value_get_text(tree, "apiVersion");
        kubernetes_schema_problem(
            problems, tree,
            "%s: found kind \"%s\" of apiVersion \"%s\", expected Job of batch/v1; "
            "Service, Secret or ConfigMap of v1; or PodGroup of "
            "scheduling.volcano.sh/v1beta1",
            path, error_quote(&kind, a.data, a.length), error_quote(&version, b.data, b.length));
        return;
    }
    size_t before = problems->count;
    kubernetes_schema_check(object->kind->type, tree, path, problems);
    if (problems->count == before)
        kubernetes_rules_check_object(object, path, problems);
}

/* {apiVersion: v1, kind: List, items: [...]}, and nothing else. */
static const struct value *list_items(const struct value *document,
                                      struct schema_problems *problems)
{
    static const char what[] = "expected {apiVersion: v1, kind: List, items: [...]}";
    const struct value *items = value_get(document, "items");
    if (!text_is(value_get_text(document, "apiVersion"), "v1") ||
        !text_is(value_get_text(document, "kind"), "List") || document->object.count > 3 ||
        !items || items->kind != VALUE_LIST) {
        kubernetes_schema_problem(problems, document, "%s", what);
        return NULL;
    }
    if (items->list.count == 0 || items->list.count > MOST_OBJECTS) {
        kubernetes_schema_problem(problems, items, "items: found %zu objects, expected 1 to %d",
                                  items->list.count, (int)MOST_OBJECTS);
        return NULL;
    }
    return items;
}

static void read_document(struct kubernetes_manifest *manifest, struct arena *arena,
                          const struct value *document, struct schema_problems *problems)
{
    const struct value *items = list_items(document, problems);
    if (!items)
        return;
    manifest->count = items->list.count;
    manifest->objects = arena_allocate(arena, manifest->count * sizeof(*manifest->objects));
    for (size_t i = 0; i < manifest->count; i++) {
        read_object(&manifest->objects[i], items->list.items[i], i, problems);
        manifest->tasks += manifest->objects[i].tasks;
    }
    const struct kubernetes_kind *first = manifest->objects[0].kind;
    if (first && !first->is_job)
        kubernetes_schema_problem(
            problems, manifest->objects[0].tree,
            "items[0]: found a %s, expected a Job: the first object owns the others", first->kind);
    if (problems->count == 0)
        kubernetes_rules_check_together(manifest, arena, problems);
}

/* Set an error of several lines, each with the manifest's name; `count` is the number of all problems. */
static void report_lines(struct text lines, size_t count, struct error *report)
{
    struct buffer out = {0};
    struct text line;
    while (text_next(&lines, '\n', &line)) {
        buffer_add_string(&out, out.length ? "\nmanifest.yaml:" : "manifest.yaml:");
        if (line.length && (line.data[0] < '0' || line.data[0] > '9'))
            buffer_add_byte(&out, ' ');
        buffer_add_text(&out, line);
    }
    if (count > SCHEMA_PROBLEMS_SHOWN)
        buffer_printf(&out, "\nand %zu more", count - SCHEMA_PROBLEMS_SHOWN);
    error_set(report, "%s", out.data ? out.data : "");
    buffer_free(&out);
}

int kubernetes_rules_report(const struct schema_problems *problems, struct error *error)
{
    if (problems->count == 0)
        return 0;
    report_lines(buffer_text(&problems->text), problems->count, error);
    return -1;
}

struct kubernetes_manifest *kubernetes_manifest_of(struct arena *arena, struct value *document,
                                                   struct error *error)
{
    struct schema_problems problems = {0};
    struct kubernetes_manifest *manifest = arena_allocate(arena, sizeof(*manifest));
    if (document->kind == VALUE_OBJECT)
        read_document(manifest, arena, document, &problems);
    else
        kubernetes_schema_problem(&problems, document, "found a %s, expected a List of objects",
                                  value_kind_name(document->kind));
    int failed = kubernetes_rules_report(&problems, error);
    if (problems.newer_count) {
        struct error newer;
        report_lines(buffer_text(&problems.newer), problems.newer_count, &newer);
        manifest->newer = arena_text(arena, newer.text, strlen(newer.text));
    }
    buffer_free(&problems.text);
    buffer_free(&problems.newer);
    return failed ? NULL : manifest;
}

struct kubernetes_manifest *kubernetes_manifest_read(struct arena *arena, struct text bytes,
                                                     struct error *error)
{
    struct value *document = yaml_read(arena, bytes, "manifest.yaml", &yaml_trusted_limits, error);
    return document ? kubernetes_manifest_of(arena, document, error) : NULL;
}

struct text kubernetes_manifest_path(struct arena *arena, const struct kubernetes_kind *kind,
                                     const char *space, const char *name)
{
    return arena_printf(arena, "%s/namespaces/%s/%s%s%s", kind->prefix, space, kind->plural,
                        name ? "/" : "", name ? name : "");
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

struct text kubernetes_manifest_label_value(struct arena *arena, struct text text)
{
    char value[KUBERNETES_LABEL_LONGEST];
    size_t length = 0;
    for (size_t i = 0; i < text.length && length < sizeof(value); i++) {
        char c = text.data[i];
        bool other = c == '-' || c == '_' || c == '.';
        if (is_letter_or_digit(c) || (other && length))
            value[length++] = c;
        else if (length)
            value[length++] = '_';
    }
    while (length && !is_letter_or_digit(value[length - 1]))
        length--;
    return arena_text(arena, value, length);
}
