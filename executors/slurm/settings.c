/* executors/slurm/settings.c - the part `slurm:` of dlspool.yaml */
#include "executors/slurm/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/section.h"

enum {
    API_LEAST = 36,        /* v0.0.36: Slurm 20.11 */
    AN_HOUR = 3600000,     /* milliseconds */
    SOCKET_PATH_MOST = 107 /* bytes: what sun_path of unix(7) holds */
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

static bool is_user(struct text name)
{
    return !strpbrk(name.data, " /:");
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

/* clang-format off */
#define AT(member) offsetof(struct slurm_settings, member)
static const struct section_field fields[] = {
    {"address", .read = read_address},
    {"ca_file", SECTION_PATH, AT(ca_file), .what = NULL},
    {"user", SECTION_TEXT, AT(user), .valid = is_user, .what = "the name of a user"},
    {"token_file", SECTION_PATH, AT(token_file), .what = NULL},
    {"token_directory", SECTION_PATH, AT(token_directory), .what = NULL},
    {"directory", SECTION_PATH, AT(directory), .what = NULL},
    {"api", .read = read_api},
    {"live_max", SECTION_WHOLE, AT(live_max), 1000, 0, 1000000, .what = NULL},
    {"in_flight", SECTION_COUNT, AT(in_flight), 8, 1, 64, .what = NULL},
    {"request_timeout", SECTION_DURATION, AT(request_timeout), 30000, 1, AN_HOUR, .what = NULL},
    {"connect_timeout", SECTION_DURATION, AT(connect_timeout), 10000, 1, AN_HOUR, .what = NULL},
    {"log_limit", SECTION_BYTES, AT(log_limit), 100 << 20, .what = "a size such as \"100Mi\""},
};
#undef AT
/* clang-format on */

/* Check settings that depend on each other: one kind of token, and a token on any network address. */
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
    *slurm = (struct slurm_settings){.address = TEXT("unix:/run/slurmrestd/slurmrestd.socket")};
    const struct section section = {"slurm", slurm, arena, error};
    if (section_read(&section, value_get(settings, section.name), fields, ARRAY_COUNT(fields)))
        return -1;
    return check_together(slurm, error);
}
