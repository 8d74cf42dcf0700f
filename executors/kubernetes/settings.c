/* executors/kubernetes/settings.c - the part `kubernetes:` of dlspool.yaml */
#include "executors/kubernetes/settings.h"

#include <stdio.h>
#include <string.h>

#include "executors/section.h"

enum {
    LIVE_MAX_DEFAULT = 1000,
    LIVE_MAX_MOST = 1000000,
    IN_FLIGHT_DEFAULT = 32,
    IN_FLIGHT_MAX = 256,
    REQUEST_TIMEOUT_DEFAULT = 30000, /* milliseconds */
    CONNECT_TIMEOUT_DEFAULT = 10000,
    LOG_LIMIT_DEFAULT = 100 << 20, /* bytes */
    AN_HOUR = 3600,                /* seconds */
    NAMESPACE_MOST = 63            /* bytes of a namespace's name: RFC 1123 */
};

static struct kubernetes_settings *kubernetes_of(const struct section *section)
{
    return section->target;
}

/* ---- fields ---- */

static int read_kubeconfig(const struct section *section, const struct value *value)
{
    if (value->kind == VALUE_STRING && value->string.length == 0)
        return 0;
    return section_path(section, value, "kubeconfig", &kubernetes_of(section)->kubeconfig);
}

static int read_context(const struct section *section, const struct value *value)
{
    if (!section_is_plain(value))
        return section_expected(section, value, "context",
                                "the name of a context of the kubeconfig");
    kubernetes_of(section)->context =
        arena_text(section->arena, value->string.data, value->string.length);
    return 0;
}

static int read_namespace(const struct section *section, const struct value *value)
{
    bool good = value->kind == VALUE_STRING && value->string.length <= NAMESPACE_MOST;
    for (size_t i = 0; good && i < value->string.length; i++) {
        char byte = value->string.data[i];
        bool inner = i > 0 && i + 1 < value->string.length;
        good =
            (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || (byte == '-' && inner);
    }
    if (!good)
        return section_expected(section, value, "namespace",
                                "the name of a namespace: at most 63 of a-z, 0-9 and -");
    kubernetes_of(section)->namespace =
        arena_text(section->arena, value->string.data, value->string.length);
    return 0;
}

static int read_live_max(const struct section *section, const struct value *value)
{
    return section_whole(section, value, "live_max", 0, LIVE_MAX_MOST,
                         &kubernetes_of(section)->live_max);
}

static int read_in_flight(const struct section *section, const struct value *value)
{
    int64_t number = 0;
    if (section_whole(section, value, "in_flight", 1, IN_FLIGHT_MAX, &number))
        return -1;
    kubernetes_of(section)->in_flight = (int)number;
    return 0;
}

static int read_request_timeout(const struct section *section, const struct value *value)
{
    return section_duration(section, value, "request_timeout", AN_HOUR,
                            "a duration such as 30s, at most one hour",
                            &kubernetes_of(section)->request_timeout);
}

static int read_connect_timeout(const struct section *section, const struct value *value)
{
    return section_duration(section, value, "connect_timeout", AN_HOUR,
                            "a duration such as 30s, at most one hour",
                            &kubernetes_of(section)->connect_timeout);
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

static int read_log_limit(const struct section *section, const struct value *value)
{
    return section_bytes(section, value, "log_limit", "a size such as \"100Mi\"",
                         &kubernetes_of(section)->log_limit);
}

static int read_allow_host_network(const struct section *section, const struct value *value)
{
    if (value->kind != VALUE_BOOLEAN)
        return section_expected(section, value, "allow_host_network", "true or false");
    kubernetes_of(section)->allow_host_network = value->boolean;
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

static const struct section_field fields[] = {
    {"kubeconfig", read_kubeconfig},
    {"context", read_context},
    {"namespace", read_namespace},
    {"live_max", read_live_max},
    {"in_flight", read_in_flight},
    {"request_timeout", read_request_timeout},
    {"connect_timeout", read_connect_timeout},
    {"proxy", read_proxy},
    {"log_limit", read_log_limit},
    {"allow_host_network", read_allow_host_network},
    {"host_paths", read_host_paths},
};

int kubernetes_settings_read(struct kubernetes_settings *kubernetes, struct arena *arena,
                             const struct value *settings, struct error *error)
{
    *kubernetes = (struct kubernetes_settings){
        .kubeconfig = TEXT(""),
        .context = TEXT(""),
        .namespace = TEXT(""),
        .proxy = TEXT(""),
        .live_max = LIVE_MAX_DEFAULT,
        .in_flight = IN_FLIGHT_DEFAULT,
        .request_timeout = REQUEST_TIMEOUT_DEFAULT,
        .connect_timeout = CONNECT_TIMEOUT_DEFAULT,
        .log_limit = LOG_LIMIT_DEFAULT,
    };
    const struct section section = {"kubernetes", kubernetes, arena, error};
    return section_read(&section, settings, fields, ARRAY_COUNT(fields));
}
