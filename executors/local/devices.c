/* executors/local/devices.c - do the devices that local.gpus names exist on this machine?
 *
 * Known weakness: a specification that exists may name nodes that are gone, after a change of the
 * driver; podman says so when the task is started.
 */
#include "executors/local/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/directory.h"
#include "base/file.h"
#include "base/json.h"
#include "base/system.h"

enum { SPECIFICATION_LIMIT = 16 << 20, MOST_FOUND = 4096, SHOWN = 8 };

const char *const devices_directories[] = {"/etc/cdi", "/run/cdi", NULL};

struct search {
    struct arena *arena;
    const char *directory;
    int descriptor;
    struct text *found; /* vendor/class=device, of all specifications */
    size_t found_count;
    size_t files;
    const char *problem; /* the first file that cannot be read, with the reason; or NULL */
};

static void note_problem(struct search *search, const char *name, const char *sentence)
{
    if (!search->problem)
        search->problem = arena_printf(search->arena, "%s/%s cannot be used: %s", search->directory,
                                       name, sentence)
                              .data;
}

static void take_devices(struct search *search, const struct value *tree)
{
    const struct value *kind = value_get(tree, "kind"), *devices = value_get(tree, "devices");
    if (!kind || kind->kind != VALUE_STRING || !devices || devices->kind != VALUE_LIST)
        return;
    for (size_t i = 0; i < devices->list.count && search->found_count < MOST_FOUND; i++) {
        const struct value *name = value_get(devices->list.items[i], "name");
        if (name && name->kind == VALUE_STRING)
            search->found[search->found_count++] =
                arena_printf(search->arena, "%s=%s", kind->string.data, name->string.data);
    }
}

/* Read a file of the Container Device Interface.  One that is damaged is noted, and does not
 * hide the devices of others. */
static int read_specification(void *context, const char *name, unsigned char type)
{
    struct search *search = context;
    struct error_quote_buffer buffer;
    struct buffer bytes = {0};
    struct error error;
    struct text file = text_of(name);
    bool json = text_ends(file, ".json");
    (void)type;
    if (!json && !text_ends(file, ".yaml") && !text_ends(file, ".yml"))
        return 0;
    const char *quoted = error_quote(&buffer, name, strlen(name));
    if (file_read_at(search->descriptor, name, SPECIFICATION_LIMIT, &bytes, &error) == 0) {
        struct text source = arena_text(search->arena, bytes.data ? bytes.data : "", bytes.length);
        const struct value *tree =
            json ? json_read(search->arena, source, quoted, &yaml_trusted_limits, &error)
                 : yaml_read(search->arena, source, quoted, &yaml_trusted_limits, &error);
        if (tree)
            take_devices(search, tree);
        else
            note_problem(search, quoted, error.text);
        search->files++;
    } else {
        note_problem(search, quoted, error.text);
    }
    buffer_free(&bytes);
    return 0;
}

static void search_all(struct search *search, const char *const *directories)
{
    for (; *directories; directories++) {
        search->directory = *directories;
        search->descriptor =
            sys.openat(AT_FDCWD, *directories, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
        if (search->descriptor < 0)
            continue;
        directory_walk(search->descriptor, read_specification, search);
        sys.close(search->descriptor);
    }
}

/* A sentence about a device node; NULL when it exists. */
static const char *look_at_node(struct arena *arena, struct text name)
{
    struct stat status;
    struct text path, rest = name;
    text_next(&rest, ':', &path);
    const char *file = arena_text(arena, path.data, path.length).data;
    if (sys.fstatat(AT_FDCWD, file, &status, 0))
        return arena_printf(arena, "%s: %s", file, strerror(errno)).data;
    if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode) && !S_ISDIR(status.st_mode))
        return arena_printf(arena, "%s is no device", file).data;
    return NULL;
}

/* List the names that specifications declare. */
static void list_found(struct buffer *out, const struct search *search)
{
    for (size_t i = 0; i < search->found_count && i < SHOWN; i++)
        buffer_printf(out, "%s%s", i ? ", " : "; they declare ", search->found[i].data);
    if (search->found_count > SHOWN)
        buffer_printf(out, " and %zu more", search->found_count - SHOWN);
}

static const char *look_for_name(const struct search *search, const char *const *directories,
                                 struct text name)
{
    struct buffer sentence = {0};
    for (size_t i = 0; i < search->found_count; i++)
        if (text_equal(search->found[i], name))
            return NULL;
    buffer_printf(&sentence, "%s is declared by no CDI specification in ", name.data);
    for (size_t i = 0; directories[i]; i++)
        buffer_printf(&sentence, "%s%s", i ? " or " : "", directories[i]);
    if (search->files)
        list_found(&sentence, search);
    else if (!search->problem)
        buffer_printf(&sentence, ", where there is none");
    if (search->problem)
        buffer_printf(&sentence, "; %s", search->problem);
    const char *result = arena_text(search->arena, sentence.data, sentence.length).data;
    buffer_free(&sentence);
    return result;
}

size_t devices_find_absent(struct arena *arena, const char *const *directories,
                           const struct text *names, size_t count, const char **absent)
{
    struct search search = {.arena = arena};
    bool searched = false;
    size_t result = 0;
    for (size_t i = 0; i < count; i++) {
        if (text_starts(names[i], "/")) {
            absent[i] = look_at_node(arena, names[i]);
        } else {
            if (!searched) {
                search.found = arena_allocate(arena, MOST_FOUND * sizeof(*search.found));
                search_all(&search, directories);
            }
            searched = true;
            absent[i] = look_for_name(&search, directories, names[i]);
        }
        result += absent[i] != NULL;
    }
    return result;
}
