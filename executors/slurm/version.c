/* executors/slurm/version.c - the versions of slurmrestd's interface, and how they differ */
#include "executors/slurm/version.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The N of a path that is PREFIX, N and SUFFIX; 0 when it is none. */
static int version_in(struct text path, const char *prefix, const char *suffix)
{
    size_t at = strlen(prefix);
    int number = 0;
    if (!text_starts(path, prefix))
        return 0;
    while (at < path.length && is_digit(path.data[at]) && number < 10000)
        number = 10 * number + (path.data[at++] - '0');
    return text_is((struct text){path.data + at, path.length - at}, suffix) ? number : 0;
}

static bool is_better(int number, int than)
{
    if (number < SLURM_API_OLDEST)
        return false;
    if (than == 0)
        return true;
    if (number > SLURM_API_NEWEST)
        return than > SLURM_API_NEWEST && number < than;
    return than > SLURM_API_NEWEST || number > than;
}

static void choose_number(const struct value *paths, const char *prefix, const char *suffix,
                          int wanted, int *chosen)
{
    for (size_t i = 0; paths && paths->kind == VALUE_OBJECT && i < paths->object.count; i++) {
        int number = version_in(paths->object.members[i].key, prefix, suffix);
        if (number && wanted ? number == wanted : is_better(number, *chosen))
            *chosen = number;
    }
}

/* "Slurm 23.11.4" or "dbv0.0.39" and others: of Slurm's own releases the first two numbers. */
static int release_of(const struct value *document)
{
    const struct value *info = value_get(document, "info");
    const struct value *release = value_get(value_get(info, "x-slurm"), "release");
    struct text text = release && release->kind == VALUE_STRING ? release->string
                                                                : value_get_text(info, "version");
    if (!text.length || (!text_starts(text, "Slurm-") && !release))
        return 0;
    const char *at = text.data;
    while (*at && !is_digit(*at))
        at++;
    char *end;
    long major = strtol(at, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major >= 20 && major < 100 && minor >= 0 && minor < 100 ? (int)(major * 100 + minor) : 0;
}

int slurm_version_choose(const struct value *document, int wanted, struct slurm_version *version,
                         struct error *error)
{
    const struct value *paths = value_get(document, "paths");
    *version = (struct slurm_version){0};
    choose_number(paths, "/slurm/v0.0.", "/job/submit", wanted, &version->api);
    if (!version->api && wanted)
        return error_set(error,
                         "slurmrestd does not serve v0.0.%d of its interface, which slurm.api "
                         "names (see its option -s, and -d from 23.02 on)",
                         wanted);
    if (!version->api)
        return error_set(error,
                         "slurmrestd serves no version of its interface from v0.0.%d on: start "
                         "it with the plugin loaded, such as -s openapi/v0.0.38",
                         SLURM_API_OLDEST);
    choose_number(paths, "/slurmdb/v0.0.", "/jobs", version->api, &version->database);
    if (!version->database)
        choose_number(paths, "/slurmdb/v0.0.", "/jobs/", version->api, &version->database);
    version->release = release_of(document);
    return 0;
}

bool slurm_version_is_structured(const struct slurm_version *version)
{
    return version->api >= 39;
}

const char *slurm_version_gpu_tres(const struct slurm_version *version)
{
    bool slash = version->release ? version->release >= 2405 : version->api >= 41;
    return slash ? "gres/gpu" : "gres:gpu";
}
