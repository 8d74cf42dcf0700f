/* executors/kubernetes_settings.c - the part `kubernetes:` of dlspool.yaml */
#include "executors/kubernetes_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/quantity.h"

enum {
    LIVE_MAX_DEFAULT = 1000,
    LIVE_MAX_MOST = 1000000,
    IN_FLIGHT_DEFAULT = 32,
    IN_FLIGHT_MAX = 256,
    REQUEST_TIMEOUT_DEFAULT = 30000,    /* milliseconds */
    CONNECT_TIMEOUT_DEFAULT = 10000,
    LOG_LIMIT_DEFAULT = 100 << 20,      /* bytes */
    NAMESPACE_MOST = 63                 /* bytes of a namespace's name: RFC 1123 */
};

struct field_reader {
    struct kubernetes_settings *kubernetes;
    struct arena *arena;
    struct error *error;
};

static int expected(const struct field_reader *reader, const struct value *value,
                    const char *field, const char *what)
{
    struct error_quote_room room;
    if (value->kind == VALUE_STRING)
        return error_set(reader->error, "dlspool.yaml:%u: kubernetes.%s: found \"%s\", expected %s",
                         value->line, field,
                         error_quote(&room, value->string.data, value->string.length), what);
    char number[NUMBER_TEXT_SIZE];
    const char *found = value_kind_name(value->kind);
    if (value->kind == VALUE_NUMBER) {
        number_format(value->number, number);
        found = number;
    }
    return error_set(reader->error, "dlspool.yaml:%u: kubernetes.%s: found %s, expected %s",
                     value->line, field, found, what);
}

/* ---- kinds of values ---- */

/* Text without control characters, which end up in headers and file names. */
static bool is_plain(const struct value *value)
{
    if (value->kind != VALUE_STRING)
        return false;
    for (size_t i = 0; i < value->string.length; i++)
        if ((unsigned char)value->string.data[i] < ' ' || value->string.data[i] == 0x7f)
            return false;
    return true;
}

static int read_whole(const struct field_reader *reader, const struct value *value,
                      const char *field, int64_t least, int64_t most, int64_t *target)
{
    char what[80];
    snprintf(what, sizeof(what), "a whole number from %lld to %lld", (long long)least,
             (long long)most);
    if (value->kind != VALUE_NUMBER || value->number < (double)least ||
        value->number > (double)most || floor(value->number) != value->number)
        return expected(reader, value, field, what);
    *target = (int64_t)value->number;
    return 0;
}

static int read_duration(const struct field_reader *reader, const struct value *value,
                         const char *field, int64_t *target)
{
    enum { HOUR = 3600 };       /* seconds */
    int64_t duration = 0;
    if (value->kind == VALUE_NUMBER && value->number > 0 && value->number <= HOUR)
        duration = (int64_t)(value->number * 1000);
    else if (value->kind != VALUE_STRING || duration_parse(value->string, &duration))
        duration = 0;
    if (duration < 1 || duration > (int64_t)HOUR * 1000)
        return expected(reader, value, field, "a duration such as 30s, at most one hour");
    *target = duration;
    return 0;
}

/* An absolute path in its normal form, in the arena. */
static int read_path(const struct field_reader *reader, const struct value *value,
                     const char *field, struct text *target)
{
    static const char what[] = "an absolute path without \"..\"";
    if (!is_plain(value) || !text_starts(value->string, "/"))
        return expected(reader, value, field, what);
    struct buffer normal = {0};
    struct text rest = value->string, part;
    bool good = true;
    while (text_next(&rest, '/', &part)) {
        good = good && !text_is(part, "..");
        if (part.length == 0 || text_is(part, "."))
            continue;
        buffer_add_byte(&normal, '/');
        buffer_add_text(&normal, part);
    }
    if (normal.length == 0)
        buffer_add_byte(&normal, '/');
    *target = arena_text(reader->arena, normal.data, normal.length);
    buffer_free(&normal);
    return good ? 0 : expected(reader, value, field, what);
}

/* ---- fields ---- */

static int read_kubeconfig(const struct field_reader *reader, const struct value *value)
{
    if (value->kind == VALUE_STRING && value->string.length == 0)
        return 0;
    return read_path(reader, value, "kubeconfig", &reader->kubernetes->kubeconfig);
}

static int read_context(const struct field_reader *reader, const struct value *value)
{
    if (!is_plain(value))
        return expected(reader, value, "context", "the name of a context of the kubeconfig");
    reader->kubernetes->context =
        arena_text(reader->arena, value->string.data, value->string.length);
    return 0;
}

static int read_namespace(const struct field_reader *reader, const struct value *value)
{
    bool good = value->kind == VALUE_STRING && value->string.length <= NAMESPACE_MOST;
    for (size_t i = 0; good && i < value->string.length; i++) {
        char byte = value->string.data[i];
        bool inner = i > 0 && i + 1 < value->string.length;
        good = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') ||
               (byte == '-' && inner);
    }
    if (!good)
        return expected(reader, value, "namespace",
                        "the name of a namespace: at most 63 of a-z, 0-9 and -");
    reader->kubernetes->namespace =
        arena_text(reader->arena, value->string.data, value->string.length);
    return 0;
}

static int read_live_max(const struct field_reader *reader, const struct value *value)
{
    return read_whole(reader, value, "live_max", 0, LIVE_MAX_MOST, &reader->kubernetes->live_max);
}

static int read_in_flight(const struct field_reader *reader, const struct value *value)
{
    int64_t number = 0;
    if (read_whole(reader, value, "in_flight", 1, IN_FLIGHT_MAX, &number))
        return -1;
    reader->kubernetes->in_flight = (int)number;
    return 0;
}

static int read_request_timeout(const struct field_reader *reader, const struct value *value)
{
    return read_duration(reader, value, "request_timeout", &reader->kubernetes->request_timeout);
}

static int read_connect_timeout(const struct field_reader *reader, const struct value *value)
{
    return read_duration(reader, value, "connect_timeout", &reader->kubernetes->connect_timeout);
}

static int read_proxy(const struct field_reader *reader, const struct value *value)
{
    static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};
    bool good = is_plain(value) && !memchr(value->string.data, ' ', value->string.length);
    bool known = good && (value->string.length == 0 || text_is(value->string, "none"));
    for (size_t i = 0; good && i < sizeof(schemes) / sizeof(schemes[0]); i++)
        known = known || (text_starts(value->string, schemes[i]) &&
                          value->string.length > strlen(schemes[i]));
    if (!known) /* not quoted: it may hold a password */
        return error_set(reader->error,
                         "dlspool.yaml:%u: kubernetes.proxy: found something else, expected a URL "
                         "such as http://proxy:3128, or none",
                         value->line);
    reader->kubernetes->proxy = arena_text(reader->arena, value->string.data, value->string.length);
    return 0;
}

static int read_log_limit(const struct field_reader *reader, const struct value *value)
{
    int64_t bytes = 0;
    if (value->kind == VALUE_NUMBER && value->number >= 1 && value->number < 0x1p62)
        bytes = (int64_t)value->number;
    else if (value->kind != VALUE_STRING || quantity_parse_bytes(value->string, &bytes))
        bytes = 0;
    if (bytes < 1)
        return expected(reader, value, "log_limit", "a size such as \"100Mi\"");
    reader->kubernetes->log_limit = bytes;
    return 0;
}

static int read_allow_host_network(const struct field_reader *reader, const struct value *value)
{
    if (value->kind != VALUE_BOOLEAN)
        return expected(reader, value, "allow_host_network", "true or false");
    reader->kubernetes->allow_host_network = value->boolean;
    return 0;
}

static int read_host_paths(const struct field_reader *reader, const struct value *value)
{
    if (value->kind != VALUE_LIST)
        return expected(reader, value, "host_paths", "a list of directories such as /data");
    struct kubernetes_settings *kubernetes = reader->kubernetes;
    kubernetes->host_path_count = value->list.count;
    kubernetes->host_paths =
        arena_allocate(reader->arena, (value->list.count + 1) * sizeof(*kubernetes->host_paths));
    for (size_t i = 0; i < value->list.count; i++)
        if (read_path(reader, value->list.items[i], "host_paths", &kubernetes->host_paths[i]))
            return -1;
    return 0;
}

static const struct {
    const char *name;
    int (*read)(const struct field_reader *reader, const struct value *value);
} fields[] = {
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

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

static int unknown_field(struct error *error, const struct member *member)
{
    const char *names[FIELD_COUNT + 1] = {NULL};
    for (size_t i = 0; i < FIELD_COUNT; i++)
        names[i] = fields[i].name;
    struct error_quote_room room;
    error_quote(&room, member->key.data, member->key.length);
    const char *nearest = nearest_word(member->key, names);
    return error_set(error, "dlspool.yaml:%u: kubernetes.%s: unknown setting%s%s%s", member->line,
                     room.text, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                     nearest ? "\"?" : "");
}

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
    const struct value *tree = value_get(settings, "kubernetes");
    if (!tree || tree->kind == VALUE_NULL)
        return 0;
    if (tree->kind != VALUE_OBJECT)
        return error_set(error,
                         "dlspool.yaml:%u: kubernetes: found %s, expected an object of settings",
                         tree->line, value_kind_name(tree->kind));
    struct field_reader reader = {kubernetes, arena, error};
    for (size_t i = 0; i < tree->object.count; i++) {
        const struct member *member = &tree->object.members[i];
        size_t at = 0;
        while (at < FIELD_COUNT && !text_is(member->key, fields[at].name))
            at++;
        if (at == FIELD_COUNT)
            return unknown_field(error, member);
        if (member->value->kind != VALUE_NULL && fields[at].read(&reader, member->value))
            return -1;
    }
    return 0;
}
