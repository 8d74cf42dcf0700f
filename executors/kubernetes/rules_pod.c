/* executors/kubernetes/rules_pod.c - what a manifest's pods must be beyond their fields' types */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "executors/kubernetes/name.h"
#include "executors/kubernetes/policy.h"
#include "executors/kubernetes/rules.h"

/* The items of a list have distinct names. */
static void check_names(const struct value *list, const char *path, bool labels,
                        struct schema_problems *problems)
{
    struct error_quote_buffer quote;
    for (size_t i = 0; list && i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        struct text name = value_get_text(item, "name");
        const struct value before = {.kind = VALUE_LIST,
                                     .list = {.items = list->list.items, .count = i}};
        const char *quoted = error_quote(&quote, name.data ? name.data : "", name.length);
        if (labels && !kubernetes_name_is_label(name, false))
            kubernetes_schema_problem(
                problems, item,
                "%s[%zu].name: found \"%s\", expected at most 63 small letters, digits "
                "and inner hyphens",
                path, i, quoted);
        else if (labels && value_find(&before, "name", name))
            kubernetes_schema_problem(problems, item, "%s[%zu].name: \"%s\" is there twice", path,
                                      i, quoted);
    }
}

/* Check the mounts of a container as the API server does: of volumes that there are, at absolute
 * paths, each once, and of nothing above the volume. */
static void check_mounts(const struct value *container, const struct value *volumes,
                         const char *path, struct schema_problems *problems)
{
    struct error_quote_buffer quote;
    const struct value *mounts = value_get(container, "volumeMounts");
    for (size_t i = 0; mounts && i < mounts->list.count; i++) {
        const struct value *mount = mounts->list.items[i];
        struct text name = value_get_text(mount, "name");
        struct text target = value_get_text(mount, "mountPath");
        struct text below = value_get_text(mount, "subPath");
        if (!value_find(volumes, "name", name))
            kubernetes_schema_problem(problems, mount,
                                      "%s.volumeMounts[%zu].name: there is no volume \"%s\"", path,
                                      i, error_quote(&quote, name.data, name.length));
        if (!text_starts(target, "/") || memchr(target.data, ':', target.length))
            kubernetes_schema_problem(
                problems, mount,
                "%s.volumeMounts[%zu].mountPath: expected an absolute path without a "
                "colon",
                path, i);
        for (size_t j = 0; j < i; j++)
            if (text_equal(target, value_get_text(mounts->list.items[j], "mountPath")))
                kubernetes_schema_problem(problems, mount,
                                          "%s.volumeMounts[%zu].mountPath: \"%s\" is there twice",
                                          path, i, error_quote(&quote, target.data, target.length));
        if (text_starts(below, "/") || path_climbs(below))
            kubernetes_schema_problem(
                problems, mount,
                "%s.volumeMounts[%zu].subPath: expected a relative path without \"..\"", path, i);
    }
}

static void check_environment(const struct value *container, const char *path,
                              struct schema_problems *problems)
{
    struct error_quote_buffer quote;
    const struct value *env = value_get(container, "env");
    for (size_t i = 0; env && i < env->list.count; i++) {
        const struct value *item = env->list.items[i];
        struct text name = value_get_text(item, "name"), value = value_get_text(item, "value");
        bool bad = name.length == 0;
        for (size_t j = 0; j < name.length; j++)
            bad = bad || name.data[j] < ' ' || name.data[j] > '~' || name.data[j] == '=';
        if (bad)
            kubernetes_schema_problem(problems, item,
                                      "%s.env[%zu].name: \"%s\" cannot be the name of a variable",
                                      path, i, error_quote(&quote, name.data, name.length));
        if (value.length && memchr(value.data, '\0', value.length))
            kubernetes_schema_problem(problems, item, "%s.env[%zu].value: it holds a NUL byte",
                                      path, i);
        if (value.length && value_get(item, "valueFrom"))
            kubernetes_schema_problem(problems, item,
                                      "%s.env[%zu]: it has both value and valueFrom", path, i);
    }
}

/* Requests are not negative, and devices (resources with a slash) are requested as they are limited. */
static void check_resources(const struct value *container, const char *path,
                            struct schema_problems *problems)
{
    const struct value *resources = value_get(container, "resources");
    const struct value *limits = value_get(resources, "limits");
    const struct value *requests = value_get(resources, "requests");
    struct error_quote_buffer quote;
    for (size_t i = 0; requests && i < requests->object.count; i++) {
        const struct member *asked = &requests->object.members[i];
        const struct member *most = value_member(limits, asked->key);
        if (memchr(asked->key.data, '/', asked->key.length) &&
            (!most || !value_equal(most->value, asked->value)))
            kubernetes_schema_problem(problems, asked->value,
                                      "%s.resources.requests.%s: it must be the same as its limit",
                                      path,
                                      error_quote(&quote, asked->key.data, asked->key.length));
    }
    for (int list = 0; list < 2; list++) {
        const struct value *amounts = list ? limits : requests;
        for (size_t i = 0; amounts && i < amounts->object.count; i++) {
            const struct text name = amounts->object.members[i].key;
            const struct value *amount = amounts->object.members[i].value;
            bool negative = amount->kind == VALUE_NUMBER ? amount->number < 0
                                                         : text_starts(amount->string, "-");
            if (negative)
                kubernetes_schema_problem(problems, amount, "%s.resources.%s.%s: it is below 0",
                                          path, list ? "limits" : "requests",
                                          error_quote(&quote, name.data, name.length));
        }
    }
}

static void check_containers(const struct value *pod, const char *list, const char *path,
                             struct schema_problems *problems)
{
    char inner[128];
    const struct value *containers = value_get(pod, list);
    snprintf(inner, sizeof(inner), "%.80s.%s", path, list);
    check_names(containers, inner, true, problems);
    for (size_t i = 0; containers && i < containers->list.count; i++) {
        const struct value *container = containers->list.items[i];
        struct text image = value_get_text(container, "image");
        snprintf(inner, sizeof(inner), "%.80s.%s[%zu]", path, list, i);
        if (image.length == 0 || text_trim(image).length != image.length)
            kubernetes_schema_problem(problems, container,
                                      "%s.image: expected the name of an image", inner);
        if (text_is(image, "host"))
            kubernetes_schema_problem(
                problems, container,
                "%s.image: `host` is for the local executor only; let images.txt name "
                "an image",
                inner);
        check_mounts(container, value_get(pod, "volumes"), inner, problems);
        check_environment(container, inner, problems);
        check_resources(container, inner, problems);
    }
}

void kubernetes_rules_check_pod(const struct value *pod, const char *path,
                                struct schema_problems *problems)
{
    char inner[128];
    const struct value *containers = value_get(pod, "containers");
    if (!text_is(value_get_text(pod, "restartPolicy"), "Never"))
        kubernetes_schema_problem(
            problems, pod, "%s.restartPolicy: expected Never: dlspool itself tries a job again",
            path);
    if (!value_find(containers, "name", TEXT(KUBERNETES_MAIN_CONTAINER)))
        kubernetes_schema_problem(
            problems, pod, "%s.containers: expected one that is called main: it is the task", path);
    double deadline = value_get_number(pod, "activeDeadlineSeconds", 1);
    if (!(deadline >= 1 && deadline <= INT32_MAX))
        kubernetes_schema_problem(problems, pod, "%s.activeDeadlineSeconds: expected 1 to %d", path,
                                  (int)INT32_MAX);
    snprintf(inner, sizeof(inner), "%.80s.volumes", path);
    check_names(value_get(pod, "volumes"), inner, true, problems);
    check_containers(pod, "initContainers", path, problems);
    check_containers(pod, "containers", path, problems);
    struct text subdomain = value_get_text(pod, "subdomain");
    if (subdomain.length && !kubernetes_name_is_label(subdomain, false))
        kubernetes_schema_problem(problems, pod, "%s.subdomain: expected a DNS label", path);
    kubernetes_policy_check(pod, path, NULL, problems);
}
