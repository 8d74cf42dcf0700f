/* executors/registry/registry.c - the executors that there are, by name */
#include "executors/registry/registry.h"

#include <stdint.h>

#include "base/nearest.h"
#include "base/yaml.h"
#include "executors/kubernetes/manifest.h"
#include "executors/kubernetes/settings.h"
#include "executors/local/manifest.h"
#include "executors/local/settings.h"
#include "executors/slurm/manifest.h"
#include "executors/slurm/settings.h"

/* What there is of each kind of executor. */
struct kind {
    const char *name;
    struct executor *(*open)(const struct value *settings, const char *spool, const char *directory,
                             struct error *error);
    int (*check_manifest)(struct arena *arena, struct value *manifest, struct error *error);
    int (*check_grant)(const struct grant *grant, uid_t uid, struct error *error); /* NULL: all */
};

static struct executor *open_null(const struct value *settings, const char *spool,
                                  const char *directory, struct error *error)
{
    (void)spool;
    (void)directory;
    return executor_null_open(settings, error);
}

static int check_local_manifest(struct arena *arena, struct value *manifest, struct error *error)
{
    return local_manifest_of(arena, manifest, error) ? 0 : -1;
}

static int check_kubernetes_manifest(struct arena *arena, struct value *manifest,
                                     struct error *error)
{
    const struct kubernetes_manifest *read = kubernetes_manifest_of(arena, manifest, error);
    if (read && read->newer.length)
        error_set(error, "%s", read->newer.data);
    return !read ? -1 : read->newer.length ? 1 : 0;
}

static int check_slurm_manifest(struct arena *arena, struct value *manifest, struct error *error)
{
    return slurm_manifest_of(arena, manifest, error) ? 0 : -1;
}

static int check_kubernetes_grant(const struct grant *grant, uid_t uid, struct error *error)
{
    if (grant->device_count)
        return error_set(error,
                         "a cluster of Kubernetes gives no device by its path (%s); its "
                         "device plugins give resources, such as kubernetes.rdma of site.yaml",
                         grant->devices[0].data);
    if (grant->capability_count && uid != 0)
        return error_set(error,
                         "Kubernetes gives capabilities such as %s to programs of root alone, and "
                         "the job's run as user %ju",
                         grant->capabilities[0].data, (uintmax_t)uid);
    return 0;
}

static int check_slurm_grant(const struct grant *grant, uid_t uid, struct error *error)
{
    (void)uid;
    if (grant->device_count)
        return error_set(error, "Slurm gives no device by its path (%s)", grant->devices[0].data);
    if (grant->capability_count)
        return error_set(error, "Slurm gives no capabilities such as %s",
                         grant->capabilities[0].data);
    return 0; /* its tasks have their node's network in any case */
}

/* The first is the default.  The null executor takes the local one's manifests, and looks at none of
 * them. */
static const struct kind kinds[] = {
    {"local", executor_local_open, check_local_manifest, NULL},
    {"kubernetes", executor_kubernetes_open, check_kubernetes_manifest, check_kubernetes_grant},
    {"slurm", executor_slurm_open, check_slurm_manifest, check_slurm_grant},
    {"null", open_null, NULL, NULL},
};

enum { KINDS = ARRAY_COUNT(kinds) };

static const struct kind *kind_of(struct text name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (text_is(name, kinds[i].name))
            return &kinds[i];
    return NULL;
}

/* The kind that the settings name; NULL and a sentence when it is none. */
static const struct kind *find_kind(const struct value *settings, struct error *error)
{
    const char *names[KINDS + 1] = {NULL};
    const struct value *named = value_get(settings, "executor");
    if (!named)
        return &kinds[0];
    if (named->kind == VALUE_NULL) /* `executor: null` is YAML's null */
        return kind_of(TEXT("null"));
    if (named->kind != VALUE_STRING) {
        error_set(
            error,
            "dlspool.yaml:%u: executor: found a %s, expected local, kubernetes, slurm or null",
            named->line, value_kind_name(named->kind));
        return NULL;
    }
    const struct kind *kind = kind_of(named->string);
    if (kind)
        return kind;
    struct error_quote_buffer quote;
    for (size_t i = 0; i < KINDS; i++)
        names[i] = kinds[i].name;
    struct nearest_hint hint;
    error_set(
        error,
        "dlspool.yaml:%u: executor: found \"%s\", expected local, kubernetes, slurm or null%s",
        named->line, error_quote(&quote, named->string.data, named->string.length),
        nearest_hint(&hint, named->string, names));
    return NULL;
}

struct executor *registry_open(const struct value *settings, const char *spool,
                               const char *directory, struct error *error)
{
    const struct kind *kind = find_kind(settings, error);
    return kind ? kind->open(settings, spool, directory, error) : NULL;
}

bool registry_ends_tasks(struct text name)
{
    return text_is(name, "local") || text_is(name, "kubernetes") || text_is(name, "slurm");
}

int registry_check_settings(const struct value *settings, struct error *error)
{
    struct local_settings local;
    struct kubernetes_settings kubernetes;
    struct slurm_settings slurm;
    if (!find_kind(settings, error))
        return -1;
    struct arena *arena = arena_new();
    bool failed = local_settings_read(&local, arena, settings, error) ||
                  kubernetes_settings_read(&kubernetes, arena, settings, error) ||
                  slurm_settings_read(&slurm, arena, settings, error);
    arena_free(arena);
    return failed ? -1 : 0;
}

int registry_check_tree(const char *name, struct value *manifest, struct error *error)
{
    const struct kind *kind = kind_of(text_of(name));
    if (!kind || !kind->check_manifest)
        return 0;
    struct arena *arena = arena_new();
    int result = kind->check_manifest(arena, manifest, error);
    arena_free(arena);
    return result;
}

int registry_check_manifest(const char *name, struct text manifest, struct error *error)
{
    const struct kind *kind = kind_of(text_of(name));
    if (!kind || !kind->check_manifest)
        return 0;
    struct arena *arena = arena_new();
    struct value *tree = yaml_read(arena, manifest, "manifest.yaml", &yaml_trusted_limits, error);
    int result = tree ? registry_check_tree(name, tree, error) : -1;
    arena_free(arena);
    return result;
}

int registry_check_grant(struct text name, const struct grant *grant, uid_t uid,
                         struct error *error)
{
    const struct kind *kind = kind_of(name);
    return kind && kind->check_grant ? kind->check_grant(grant, uid, error) : 0;
}
