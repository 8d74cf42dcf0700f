/* executors/slurm/settings.c - the part `slurm:` of dlspool.yaml */
#include "executors/slurm/settings.h"

#include <stdlib.h>
#include <string.h>

#include "executors/section.h"

enum {
    API_LEAST = 36, /* v0.0.36: Slurm 20.11 */
    LIVE_MAX_DEFAULT = 1000,
    LIVE_MAX_MOST = 1000000,
    IN_FLIGHT_DEFAULT = 8,
    IN_FLIGHT_MAX = 64,
    REQUEST_TIMEOUT_DEFAULT = 30000, /* milliseconds */
    CONNECT_TIMEOUT_DEFAULT = 10000,
    LOG_LIMIT_DEFAULT = 100 << 20, /* bytes */
    AN_HOUR = 3600,                /* seconds */
    SOCKET_PATH_MOST = 107         /* bytes: what sun_path of unix(7) holds */
};

static struct slurm_settings *slurm_of(const struct section *section)
{
    return section->target;
}

/* ---- fields ---- */

static int read_address(const struct section *section, const struct value *value)
{
    static const char what[] =
        "unix:/PATH, http://HOST:PORT or https://HOST:PORT, without a path or a password";
    struct text address = value->kind == VALUE_STRING ? value->string : TEXT("");
    const char *host = NULL;
    if (text_starts(address, "http://"))
        host = address.data + strlen("http://");
    else if (text_starts(address, "https://"))
        host = address.data + strlen("https://");
    bool good = section_is_plain(value);
    if (good && text_starts(address, "unix:/"))
        good = address.length - strlen("unix:") <= SOCKET_PATH_MOST;
    else
        good = good && host && *host && !strpbrk(host, "/@?# ");
    if (!good) /* not quoted: it may hold a password */
        return error_set(section->error,
                         "dlspool.yaml:%u: slurm.address: found something else, "
                         "expected %s",
                         value->line, what);
    slurm_of(section)->address = arena_text(section->arena, address.data, address.length);
    return 0;
}

static int read_optional_path(const struct section *section, const struct value *value,
                              const char *field, struct text *target)
{
    if (value->kind == VALUE_STRING && value->string.length == 0)
        return 0;
    return section_path(section, value, field, target);
}

static int read_ca_file(const struct section *section, const struct value *value)
{
    return read_optional_path(section, value, "ca_file", &slurm_of(section)->ca_file);
}

static int read_user(const struct section *section, const struct value *value)
{
    if (!section_is_plain(value) || strpbrk(value->string.data, " /:"))
        return section_expected(section, value, "user", "the name of a user");
    slurm_of(section)->user = arena_text(section->arena, value->string.data, value->string.length);
    return 0;
}

static int read_token_file(const struct section *section, const struct value *value)
{
    return read_optional_path(section, value, "token_file", &slurm_of(section)->token_file);
}

static int read_token_directory(const struct section *section, const struct value *value)
{
    return read_optional_path(section, value, "token_directory",
                              &slurm_of(section)->token_directory);
}

static int read_directory(const struct section *section, const struct value *value)
{
    return read_optional_path(section, value, "directory", &slurm_of(section)->directory);
}

static int read_api(const struct section *section, const struct value *value)
{
    static const char prefix[] = "v0.0.";
    if (value->kind == VALUE_STRING && value->string.length == 0)
        return 0;
    long number = 0;
    char *end = NULL;
    if (value->kind == VALUE_STRING && text_starts(value->string, prefix))
        number = strtol(value->string.data + strlen(prefix), &end, 10);
    if (!end || *end || number < API_LEAST || number > 999)
        return section_expected(section, value, "api",
                                "a version such as v0.0.38, from v0.0.36 on");
    slurm_of(section)->api = (int)number;
    return 0;
}

static int read_live_max(const struct section *section, const struct value *value)
{
    return section_whole(section, value, "live_max", 0, LIVE_MAX_MOST,
                         &slurm_of(section)->live_max);
}

static int read_in_flight(const struct section *section, const struct value *value)
{
    int64_t number = 0;
    if (section_whole(section, value, "in_flight", 1, IN_FLIGHT_MAX, &number))
        return -1;
    slurm_of(section)->in_flight = (int)number;
    return 0;
}

static int read_request_timeout(const struct section *section, const struct value *value)
{
    return section_duration(section, value, "request_timeout", AN_HOUR,
                            "a duration such as 30s, at most one hour",
                            &slurm_of(section)->request_timeout);
}

static int read_connect_timeout(const struct section *section, const struct value *value)
{
    return section_duration(section, value, "connect_timeout", AN_HOUR,
                            "a duration such as 30s, at most one hour",
                            &slurm_of(section)->connect_timeout);
}

static int read_log_limit(const struct section *section, const struct value *value)
{
    return section_bytes(section, value, "log_limit", "a size such as \"100Mi\"",
                         &slurm_of(section)->log_limit);
}

static const struct section_field fields[] = {
    {"address", read_address},
    {"ca_file", read_ca_file},
    {"user", read_user},
    {"token_file", read_token_file},
    {"token_directory", read_token_directory},
    {"directory", read_directory},
    {"api", read_api},
    {"live_max", read_live_max},
    {"in_flight", read_in_flight},
    {"request_timeout", read_request_timeout},
    {"connect_timeout", read_connect_timeout},
    {"log_limit", read_log_limit},
};

/* A token over a network that everybody can listen to is everybody's. */
static int check_together(const struct slurm_settings *slurm, struct error *error)
{
    bool token = slurm->token_file.length || slurm->token_directory.length;
    if (slurm->token_file.length && slurm->token_directory.length)
        return error_set(error, "dlspool.yaml: slurm: found both token_file and token_directory, "
                                "expected one of them");
    if (!text_starts(slurm->address, "unix:") && !token)
        return error_set(error,
                         "dlspool.yaml: slurm: found an address on the network and no token, "
                         "expected token_file or token_directory beside it: slurmrestd knows "
                         "callers without a token only on a unix socket");
    return 0;
}

int slurm_settings_read(struct slurm_settings *slurm, struct arena *arena,
                        const struct value *settings, struct error *error)
{
    *slurm = (struct slurm_settings){
        .address = TEXT("unix:/run/slurmrestd.socket"),
        .ca_file = TEXT(""),
        .user = TEXT(""),
        .token_file = TEXT(""),
        .token_directory = TEXT(""),
        .directory = TEXT(""),
        .live_max = LIVE_MAX_DEFAULT,
        .in_flight = IN_FLIGHT_DEFAULT,
        .request_timeout = REQUEST_TIMEOUT_DEFAULT,
        .connect_timeout = CONNECT_TIMEOUT_DEFAULT,
        .log_limit = LOG_LIMIT_DEFAULT,
    };
    const struct section section = {"slurm", slurm, arena, error};
    if (section_read(&section, settings, fields, ARRAY_COUNT(fields)))
        return -1;
    return check_together(slurm, error);
}
