/* commands/web.c - dlspool web */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/notify.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "web/door.h"
#include "web/page.h"
#include "web/porter.h"

/* The usual place of the socket: as root /run/dlspool/NAME.sock, NAME being the spool directory's; else in the
 * user's own directory of that kind, or their home. */
static struct text usual_socket(struct arena *arena, const char *spool)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *home = getenv("HOME");
    const char *name = strrchr(spool, '/');
    name = name ? name + 1 : spool;
    if (geteuid() == 0)
        return arena_printf(arena, "/run/dlspool/%s.sock", name);
    if (runtime && *runtime)
        return arena_printf(arena, "%s/dlspool-%s.sock", runtime, name);
    return arena_printf(arena, "%s/.dlspool-%s.sock", home ? home : "", name);
}

static void tell_ready(const struct porter_settings *settings)
{
    char host[256] = "HOST";
    if (options_json()) {
        struct arena *arena = arena_new();
        struct value *tree = value_object(arena);
        value_put(arena, tree, "socket", value_string(arena, settings->socket));
        value_put(arena, tree, "listen",
                  settings->network.length ? value_text(arena, settings->network)
                                           : value_null(arena));
        print_json(tree);
        arena_free(arena);
    } else {
        gethostname(host, sizeof(host) - 1);
        printf("serving at %s; from elsewhere: ssh -L 8080:%s %s, then http://localhost:8080/\n",
               settings->socket, settings->socket, host);
        if (settings->network.length)
            printf("serving at http://%.*s/ those who have a token (dlspool token)\n",
                   (int)settings->network.length, settings->network.data);
    }
    fflush(stdout);
    notify_open();
    notify_send("READY=1\nSTATUS=serving at %s", settings->socket);
}

/* The users that are proxies.  -1 and a sentence. */
static int find_proxies(const struct web_names *names, struct arena *arena, uid_t **proxies,
                        struct error *error)
{
    *proxies = arena_allocate(arena, (names->count + 1) * sizeof(**proxies));
    for (size_t i = 0; i < names->count; i++) {
        const struct passwd *user = getpwnam(names->items[i].data);
        if (!user)
            return error_set(error, "web.proxies: this machine knows no user %s",
                             names->items[i].data);
        (*proxies)[i] = user->pw_uid;
    }
    return 0;
}

static int run_page(const char *idle)
{
    struct error error;
    struct page_limits limits;
    if (duration_parse(text_of(idle), &limits.idle)) {
        complain("--page: found \"%s\", expected a duration", idle);
        return STATUS_USAGE;
    }
    log_name("page");
    if (page_run(option_spool, PAGE_SOCKET, &limits, &error)) {
        complain("%s", error.text);
        return STATUS_FAILED;
    }
    return STATUS_DONE;
}

/* Serve the spool as its settings and the options say. */
static int run_porter(const struct spool *spool, const struct web_settings *web, const char *socket,
                      struct error *error)
{
    struct arena *arena = arena_new();
    uid_t *proxies = NULL;
    int result = find_proxies(&web->proxies, arena, &proxies, error);
    if (!socket)
        socket = web->socket.length ? web->socket.data : usual_socket(arena, spool->path).data;
    const struct porter_settings settings = {.spool = spool,
                                             .socket = socket,
                                             .network = web->listen,
                                             .least_uid = (uid_t)web->least_uid,
                                             .proxies = proxies,
                                             .proxy_count = web->proxies.count,
                                             .page_idle = web->idle,
                                             .token_longest = web->token_longest};
    if (!result)
        result = porter_run(&settings, tell_ready, error);
    arena_free(arena);
    return result;
}

int command_web(int argument_count, char **arguments)
{
    const char *socket = NULL, *address = NULL, *page = NULL, *door = NULL;
    bool json = false;
    int64_t idle = 0;
    struct spool spool;
    struct settings settings;
    struct error error;
    const struct option_spec options[] = {
        {"socket", 0, OPTION_TEXT, &socket, "PATH",
         "the socket; default web.socket, or else /run/dlspool/NAME.sock"},
        {"listen", 0, OPTION_TEXT, &address, "ADDRESS:PORT",
         "listen there, too, for those who have a token; default web.listen"},
        {"idle", 0, OPTION_DURATION, &idle, "TIME",
         "how long a user's process stays without a connection; default web.idle, 5m"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON: an object with the socket"},
        {"page", 0, OPTION_TEXT, &page, "TIME", NULL},
        {"door", 0, OPTION_TEXT, &door, "KIND", NULL},
        {0}};
    const struct verb_usage usage = {
        "web",
        "",
        0,
        0,
        "Serve the spool over HTTP at a socket, to each user as that user.",
        "Run as root it serves all users, else its own user.  To reach it from elsewhere:\n"
        "    ssh -L 8080:SOCKET HOST, then http://localhost:8080/\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (page)
        return run_page(page);
    if (door)
        return door_run(strcmp(door, "proxy") == 0);
    if (open_spool_and_settings(&spool, &settings))
        return STATUS_FAILED;
    if (idle)
        settings.web.idle = idle;
    if (address)
        settings.web.listen = text_of(address);
    if (!socket && !settings.web.socket.length && geteuid() == 0)
        mkdir("/run/dlspool", 0755);
    log_name("web");
    log_timestamps(!isatty(STDERR_FILENO));
    int result = run_porter(&spool, &settings.web, socket, &error);
    settings_free(&settings);
    spool_close(&spool);
    if (result)
        complain("%s", error.text);
    return result ? STATUS_FAILED : STATUS_DONE;
}
