/* commands/reach.c - the addresses of a running job, and how its owner connects to them */
#include "commands/reach.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "base/file.h"
#include "base/yaml.h"

enum {
    MANIFEST_LIMIT = 16 << 20, /* bytes */
    OUTPUT_LOOKED_AT = 256 << 10,
    PATH_MOST = 400 /* bytes of a path after the port of an address */
};

static void add_address(struct reach *reach, struct text address)
{
    if (reach->count < REACH_MOST)
        reach->addresses[reach->count++] = address;
}

/* ---- addresses in the manifest ---- */

static void take_listen(const struct value *manifest, const struct job_view *view,
                        struct arena *arena, struct reach *reach)
{
    const struct value *ports = value_get(manifest, "listen");
    const char *node = view->situation.node[0] ? view->situation.node : "localhost";
    for (size_t i = 0; ports && ports->kind == VALUE_LIST && i < ports->list.count; i++)
        if (ports->list.items[i]->kind == VALUE_NUMBER)
            add_address(reach,
                        arena_printf(arena, "%s:%d", node, (int)ports->list.items[i]->number));
}

/* Add the address of a Service with its own cluster address.  Headless ones, by which tasks find
 * one another, are skipped. */
static void take_service(const struct value *object, struct text space, struct arena *arena,
                         struct reach *reach)
{
    const struct value *spec = value_get(object, "spec"), *ports = value_get(spec, "ports");
    struct text name = value_get_text(value_get(object, "metadata"), "name");
    if (!text_is(value_get_text(object, "kind"), "Service") || !name.length || !ports ||
        ports->kind != VALUE_LIST || !ports->list.count ||
        text_is(value_get_text(spec, "clusterIP"), "None"))
        return;
    int port = (int)value_get_number(ports->list.items[0], "port", 0);
    add_address(reach, arena_printf(arena, "%.*s%s%.*s:%d", (int)name.length, name.data,
                                    space.length ? "." : "", (int)space.length, space.data, port));
    if (!reach->forward.length)
        reach->forward = arena_printf(arena, "kubectl%s%.*s port-forward service/%.*s %d",
                                      space.length ? " --namespace " : "", (int)space.length,
                                      space.data, (int)name.length, name.data, port);
}

static void take_manifest(int job, const struct job_view *view, struct text space,
                          struct arena *arena, struct reach *reach)
{
    struct buffer bytes = {0};
    const struct value *manifest = NULL;
    if (file_read_at(job, "manifest.yaml", MANIFEST_LIMIT, &bytes, NULL) == 0)
        manifest = yaml_read(arena, arena_text(arena, bytes.data, bytes.length), "manifest.yaml",
                             &yaml_trusted_limits, NULL);
    buffer_free(&bytes);
    if (text_is(view->record.executor, "local"))
        take_listen(manifest, view, arena, reach);
    const struct value *items = value_get(manifest, "items");
    if (text_is(view->record.executor, "kubernetes") && items && items->kind == VALUE_LIST)
        for (size_t i = 0; i < items->list.count; i++)
            take_service(items->list.items[i], space, arena, reach);
}

/* ---- the address that a notebook prints ---- */

static int port_of(struct text address)
{
    const char *colon = address.length ? memrchr(address.data, ':', address.length) : NULL;
    return colon ? (int)strtol(colon + 1, NULL, 10) : 0;
}

/* The path of the first address at that port that has a token: "lab?token=..."; empty when there
 * is none.  The bytes are a user's and go to a terminal: only plain URL characters are accepted. */
static struct text find_path(struct text output, int port)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/?=&_.%-";
    char mark[16];
    int length = snprintf(mark, sizeof(mark), ":%d/", port);
    for (const char *at = output.data, *end = output.data + output.length;
         at && (at = memmem(at, (size_t)(end - at), mark, (size_t)length));) {
        struct text path = {at += length, 0};
        while (path.data + path.length < end && path.length <= PATH_MOST &&
               memchr(plain, path.data[path.length], sizeof(plain) - 1))
            path.length++;
        if (path.length <= PATH_MOST && text_contains(path, TEXT("token=")))
            return path;
    }
    return (struct text){"", 0};
}

struct search {
    int output, port;
    struct arena *arena;
    struct text path;
};

static int search_file(void *context, const char *name, unsigned char type)
{
    struct search *search = context;
    (void)type;
    if (!text_ends(text_of(name), ".log"))
        return 0;
    int file = sys.openat(search->output, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0)
        return 0;
    char *bytes = memory_resize(NULL, OUTPUT_LOOKED_AT);
    ssize_t length = sys.pread(file, bytes, OUTPUT_LOOKED_AT, 0);
    struct text path = length > 0 ? find_path((struct text){bytes, (size_t)length}, search->port)
                                  : (struct text){"", 0};
    search->path = path.length ? arena_text(search->arena, path.data, path.length) : path;
    free(bytes);
    sys.close(file);
    return search->path.length > 0;
}

static void take_url(int job, struct arena *arena, struct reach *reach)
{
    struct text address = reach->addresses[0];
    struct search search = {.port = port_of(address), .arena = arena, .path = {"", 0}};
    if (reach->forward.length)
        address = arena_printf(arena, "127.0.0.1:%d", search.port);
    reach->url = arena_printf(arena, "http://%.*s/", (int)address.length, address.data);
    search.output = sys.openat(job, "output", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (search.output < 0)
        return;
    directory_walk(search.output, search_file, &search);
    sys.close(search.output);
    if (search.path.length)
        reach->secret_url = arena_printf(arena, "%.*s%.*s", (int)reach->url.length, reach->url.data,
                                         (int)search.path.length, search.path.data);
}

/* ---- all of it ---- */

void reach_read(int job, const struct job_view *view, struct text space, struct arena *arena,
                struct reach *reach)
{
    *reach = (struct reach){.count = 0};
    if (view->place.state != STATE_SUBMITTED || !view->situation.started)
        return;
    for (size_t i = 0; i < view->situation.listening_count; i++)
        add_address(reach, text_of(view->situation.listening[i]));
    if (!reach->count)
        take_manifest(job, view, space, arena, reach);
    if (reach->count && text_is(view->record.type, "notebook"))
        take_url(job, arena, reach);
}

void reach_print(const struct reach *reach)
{
    struct text url = reach->secret_url.length ? reach->secret_url : reach->url;
    for (size_t i = 0; i < reach->count; i++)
        printf("%-15s %.*s\n", i ? "" : "address", (int)reach->addresses[i].length,
               reach->addresses[i].data);
    if (reach->forward.length)
        printf("%-15s %.*s\n", "open with", (int)reach->forward.length, reach->forward.data);
    if (url.length)
        printf("%-15s %.*s\n", "open", (int)url.length, url.data);
}

void reach_put(struct arena *arena, struct value *tree, const struct reach *reach)
{
    struct value *list = value_list(arena);
    for (size_t i = 0; i < reach->count; i++)
        value_append(arena, list, value_text(arena, reach->addresses[i]));
    value_put(arena, tree, "addresses", list);
    value_put(arena, tree, "forward",
              reach->forward.length ? value_text(arena, reach->forward) : value_null(arena));
    value_put(arena, tree, "url",
              reach->url.length ? value_text(arena, reach->url) : value_null(arena));
}
