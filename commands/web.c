/* commands/web.c - dlspool web */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/duration.h"
#include "base/log.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "web/page.h"
#include "web/porter.h"

static const int64_t usual_idle = 300000; /* milliseconds until a page without connections ends */
static const uid_t least_uid = 1000;

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

static void tell_ready(const char *socket)
{
    char host[256] = "HOST";
    if (options_json()) {
        struct arena *arena = arena_new();
        struct value *tree = value_object(arena);
        value_put(arena, tree, "socket", value_string(arena, socket));
        print_json(tree);
        arena_free(arena);
    } else {
        gethostname(host, sizeof(host) - 1);
        printf("serving at %s; from elsewhere: ssh -L 8080:%s %s, then http://localhost:8080/\n",
               socket, socket, host);
    }
    fflush(stdout);
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

int command_web(int argument_count, char **arguments)
{
    const char *socket = NULL, *page = NULL;
    bool json = false;
    int64_t idle = usual_idle;
    struct spool spool;
    struct error error;
    const struct option_spec options[] = {
        {"socket", 0, OPTION_TEXT, &socket, "PATH", "the socket; default /run/dlspool/NAME.sock"},
        {"idle", 0, OPTION_DURATION, &idle, "TIME",
         "how long a user's process stays without a connection; default 5m"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON: an object with the socket"},
        {"page", 0, OPTION_TEXT, &page, "TIME", NULL},
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
    if (open_spool(&spool))
        return STATUS_FAILED;
    if (!socket && geteuid() == 0)
        mkdir("/run/dlspool", 0755);
    log_name("web");
    log_timestamps(!isatty(STDERR_FILENO));
    struct arena *arena = arena_new();
    const struct porter_settings settings = {
        .spool = spool.path,
        .socket = socket ? socket : usual_socket(arena, spool.path).data,
        .least_uid = least_uid,
        .page_idle = idle};
    int result = porter_run(&settings, tell_ready, &error);
    arena_free(arena);
    spool_close(&spool);
    if (result)
        complain("%s", error.text);
    return result ? STATUS_FAILED : STATUS_DONE;
}
