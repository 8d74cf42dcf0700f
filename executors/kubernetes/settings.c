/* executors/kubernetes/settings.c - the part `kubernetes:` of dlspool.yaml */
#include "executors/kubernetes/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/section.h"

enum {
    AN_HOUR = 3600000,  /* milliseconds */
    NAMESPACE_MOST = 63 /* bytes of a namespace's name: RFC 1123 */
};

static struct kubernetes_settings *kubernetes_of(const struct section *section)
{
    return section->target;
}

/* ---- fields ---- */

static bool is_namespace(struct text name)
{
    return name.length == 0 || text_is_label(name, NAMESPACE_MOST);
}

static int read_proxy(const struct section *section, const struct value *value)
{
    static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};
    bool good = section_is_plain(value) && !memchr(value->string.data, ' ', value->string.length);
    bool known = good && (value->string.length == 0 || text_is(value->string, "none"));
    for (size_t i = 0; good && i < ARRAY_COUNT(schemes); i++)
        known = known || (text_starts(value->string, schemes[i]) &&
                          value->string.length > strlen(schemes[i]));
    if (!known) /* not quoted: it may hold a password */
        return error_set(section->error,
                         "dlspool.yaml:%u: kubernetes.proxy: found something else, expected a URL "
                         "such as http://proxy:3128, or none",
                         value->line);
    kubernetes_of(section)->proxy =
        arena_text(section->arena, value->string.data, value->string.length);
    return 0;
}

static int read_host_paths(const struct section *section, const struct value *value)
{
    if (value->kind != VALUE_LIST)
        return section_expected(section, value, "host_paths",
                                "a list of directories such as /data");
    struct kubernetes_settings *kubernetes = kubernetes_of(section);
    kubernetes->host_path_count = value->list.count;
    kubernetes->host_paths =
        arena_allocate(section->arena, (value->list.count + 1) * sizeof(*kubernetes->host_paths));
    for (size_t i = 0; i < value->list.count; i++)
        if (section_path(section, value->list.items[i], "host_paths", &kubernetes->host_paths[i]))
            return -1;
    return 0;
}

/* clang-format off */
#define AT(member) offsetof(struct kubernetes_settings, member)
static const struct section_field fields[] = {
    {"kubeconfig", SECTION_PATH, AT(kubeconfig), .what = NULL},
    {"context", SECTION_TEXT, AT(context), .what = "the name of a context of the kubeconfig"},
    {"namespace", SECTION_TEXT, AT(namespace), .valid = is_namespace,
     .what = "the name of a namespace: at most 63 of a-z, 0-9 and -"},
    {"live_max", SECTION_WHOLE, AT(live_max), 1000, 0, 1000000, .what = NULL},
    {"in_flight", SECTION_COUNT, AT(in_flight), 32, 1, 256, .what = NULL},
    {"request_timeout", SECTION_DURATION, AT(request_timeout), 30000, 1, AN_HOUR, .what = NULL},
    {"connect_timeout", SECTION_DURATION, AT(connect_timeout), 10000, 1, AN_HOUR, .what = NULL},
    {"proxy", .read = read_proxy},
    {"log_limit", SECTION_BYTES, AT(log_limit), 100 << 20, .what = "a size such as \"100Mi\""},
    {"log_requests", SECTION_COUNT, AT(log_requests), 5, 1, 1000, .what = NULL},
    {"allow_host_network", SECTION_BOOLEAN, AT(allow_host_network), .what = NULL},
    {"host_paths", .read = read_host_paths},
};
#undef AT
/* clang-format on */

int kubernetes_settings_read(struct kubernetes_settings *kubernetes, struct arena *arena,
                             const struct value *settings, struct error *error)
{
    *kubernetes = (struct kubernetes_settings){.proxy = TEXT("")};
    const struct section section = {"kubernetes", kubernetes, arena, error};
    return section_read(&section, value_get(settings, section.name), fields, ARRAY_COUNT(fields));
}
