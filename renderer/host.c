/* renderer/host.c - the libraries that this machine's own Python has */
#include "renderer/host.h"

#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/system.h"

const char host_file[] = ".host";

struct host *host_parse(struct arena *arena, struct text source, struct error *error)
{
    const struct value *tree = json_read(arena, source, host_file, &yaml_trusted_limits, error);
    if (!tree)
        return NULL;
    const struct value *libraries = value_get(tree, "libraries");
    if (!libraries || libraries->kind != VALUE_OBJECT) {
        error_set(error, "%s: libraries: expected an object", host_file);
        return NULL;
    }
    struct host *host = arena_allocate(arena, sizeof(*host));
    host->count = libraries->object.count;
    host->libraries = arena_allocate(arena, (host->count + 1) * sizeof(*host->libraries));
    for (size_t i = 0; i < host->count; i++) {
        const struct member *member = &libraries->object.members[i];
        host->libraries[i] = (struct host_library){
            .name = member->key,
            .version = value_get_text(member->value, "version"),
            .gpus = value_get_boolean(member->value, "gpus", false),
        };
    }
    return host;
}

struct host *host_read(struct arena *arena, const char *directory, struct error *error)
{
    struct buffer bytes = {0};
    struct host *host = NULL;
    int spool = sys.openat(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (spool < 0) {
        error_errno(error, "%s could not be opened", directory);
        return NULL;
    }
    if (file_read_at(spool, host_file, HOST_LIMIT, &bytes, error) == 0)
        host = host_parse(arena, arena_text(arena, bytes.data, bytes.length), error);
    buffer_free(&bytes);
    sys.close(spool);
    return host;
}

const struct host_library *host_find(const struct host *host, struct text library)
{
    for (size_t i = 0; i < host->count; i++)
        if (text_equal(host->libraries[i].name, library))
            return &host->libraries[i];
    return NULL;
}

bool host_version_begins(struct text version, struct text asked)
{
    if (asked.length == 0 || text_equal(version, asked))
        return true;
    return version.length > asked.length && memcmp(version.data, asked.data, asked.length) == 0 &&
           (version.data[asked.length] == '.' || version.data[asked.length] == '+');
}
