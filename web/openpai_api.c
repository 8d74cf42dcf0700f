/* web/openpai_api.c - /rest-server/api/v1 and v2: what OpenPAI's own clients ask of its REST server */
#include "web/openpai_api.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/system.h"
#include "base/yaml.h"
#include "spool/settings.h"
#include "web/openpai_job.h"
#include "web/openpai_list.h"
#include "web/openpai_reply.h"
#include "web/openpai_submit.h"
#include "web/own_name.h"

enum { REQUEST_LIMIT = 1 << 20 };

/* ---- the server ---- */

static void tell_health(struct exchange *exchange)
{
    exchange_reply_text(exchange, HTTP_OK, "text/plain; charset=utf-8", TEXT("ok\n"));
}

static void tell_info(struct exchange *exchange)
{
    struct arena *arena = exchange->arena;
    struct value *tree = value_object(arena);
    value_put(arena, tree, "name", value_string(arena, "dlspool"));
    value_put(arena, tree, "version", value_string(arena, DLSPOOL_VERSION));
    value_put(arena, tree, "launcherType", value_string(arena, "k8s"));
    value_put(arena, tree, "authnMethod", value_string(arena, "basic"));
    exchange_reply_json(exchange, HTTP_OK, tree);
}

static void tell_storages(struct exchange *exchange)
{
    struct value *tree = value_object(exchange->arena);
    value_put(exchange->arena, tree, "storages", value_list(exchange->arena));
    exchange_reply_json(exchange, HTTP_OK, tree);
}

static void tell_no_api(struct exchange *exchange)
{
    struct error_quote_buffer buffer;
    struct error error;
    error_set(&error, "API %s is not found.",
              error_quote(&buffer, exchange->path.data, exchange->path.length));
    openpai_reply_error(exchange, HTTP_NOT_FOUND, "NoApiError", error.text);
}

/* ---- signing in ---- */

static bool is_administrator(const struct exchange *exchange)
{
    struct settings settings;
    if (settings_read(&settings, exchange->spool, NULL))
        return false;
    bool result = settings_is_administrator(&settings, exchange->spool, getuid());
    settings_free(&settings);
    return result;
}

/* A token for who is at the other end of the connection anyway.  A token of dlspool may be given as the password, and
 * is what clients send with later requests. */
static void sign_in(struct exchange *exchange)
{
    struct arena *arena = exchange->arena;
    struct text user, password;
    struct value *tree = openpai_submit_fields(exchange);
    if (!tree)
        return;
    user = value_get_text(tree, "username");
    password = value_get_text(tree, "password");
    if (!own_name_is(user)) {
        struct error_quote_buffer buffer;
        struct error error;
        error_set(&error, "User %s is not found: this connection is %s's.",
                  error_quote(&buffer, user.data, user.length), own_name().data);
        openpai_reply_error(exchange, HTTP_BAD_REQUEST, "NoUserError", error.text);
        return;
    }
    tree = value_object(arena);
    value_put(arena, tree, "user", value_text(arena, own_name()));
    value_put(arena, tree, "token",
              value_text(arena, password.length ? password : TEXT("connection")));
    value_put(arena, tree, "admin", value_boolean(arena, is_administrator(exchange)));
    value_put(arena, tree, "hasGitHubPAT", value_boolean(arena, false));
    exchange_reply_json(exchange, HTTP_OK, tree);
}

/* The token that the request has, as one for an application. */
static void tell_token(struct exchange *exchange)
{
    struct text token = exchange_header(exchange, "Authorization"), scheme;
    struct value *tree = value_object(exchange->arena);
    if (!text_next(&token, ' ', &scheme) || !token.length) {
        openpai_reply_error(exchange, HTTP_UNAUTHORIZED, "UnauthorizedUserError",
                            "Guest is not allowed to do this operation.");
        return;
    }
    value_put(exchange->arena, tree, "token", value_text(exchange->arena, token));
    value_put(exchange->arena, tree, "application", value_boolean(exchange->arena, true));
    exchange_reply_json(exchange, HTTP_OK, tree);
}

/* ---- jobs ---- */

static void list(struct exchange *exchange, struct text user)
{
    struct text json;
    struct error error;
    int status = openpai_list_read(exchange, user, &json, &error);
    if (status == HTTP_OK)
        exchange_reply_text(exchange, status, "application/json", json);
    else
        openpai_reply_error(exchange, status,
                            status == HTTP_BAD_REQUEST ? "InvalidParametersError" : "UnknownError",
                            error.text);
}

static void list_jobs(struct exchange *exchange)
{
    list(exchange, TEXT(""));
}

static void list_of_user(struct exchange *exchange)
{
    list(exchange, exchange->parts[0]);
}

/* Find the job USER~NAME of version 2. */
static bool find_framework(struct exchange *exchange, struct job_view *view)
{
    struct text name = exchange->parts[0], user = TEXT("");
    if (!memchr(name.data, '~', name.length))
        return openpai_reply_find(exchange, own_name(), name, view);
    text_next(&name, '~', &user);
    return openpai_reply_find(exchange, user, name, view);
}

static bool find_of_user(struct exchange *exchange, struct job_view *view)
{
    return openpai_reply_find(exchange, exchange->parts[0], exchange->parts[1], view);
}

static void show(struct exchange *exchange, const struct job_view *view)
{
    exchange_reply_json(exchange, HTTP_OK,
                        openpai_job_detail(exchange->spool, exchange->arena, view));
}

static void show_framework(struct exchange *exchange)
{
    struct job_view view;
    if (find_framework(exchange, &view))
        show(exchange, &view);
}

static void show_of_user(struct exchange *exchange)
{
    struct job_view view;
    if (find_of_user(exchange, &view))
        show(exchange, &view);
}

/* The job file.  False after a reply when it cannot be read. */
static bool read_config(struct exchange *exchange, const struct job_view *view, struct text *config)
{
    struct text name = view->record.request_file;
    struct buffer bytes = {0};
    struct error error;
    bool good = name.length && !memchr(name.data, '/', name.length);
    int job = good ? job_open(exchange->spool, &view->place) : -1;
    int result = job >= 0
                     ? file_read_at(job, arena_text(exchange->arena, name.data, name.length).data,
                                    REQUEST_LIMIT, &bytes, &error)
                     : error_set(&error, "the job has no job file that can be read");
    bool forbidden = result && job >= 0 && errno == EACCES;
    if (job >= 0)
        sys.close(job);
    *config = arena_take(exchange->arena, &bytes);
    if (result)
        openpai_reply_error(exchange, forbidden ? HTTP_FORBIDDEN : HTTP_NOT_FOUND,
                            forbidden ? "ForbiddenUserError" : "NoJobConfigError", error.text);
    return result == 0;
}

static void show_config(struct exchange *exchange)
{
    struct job_view view;
    struct text config;
    if (find_framework(exchange, &view) && read_config(exchange, &view, &config))
        exchange_reply_text(exchange, HTTP_OK, "text/yaml; charset=utf-8", config);
}

/* Version 1 has it as JSON. */
static void show_config_of_user(struct exchange *exchange)
{
    struct job_view view;
    struct text config;
    struct error error;
    if (!find_of_user(exchange, &view) || !read_config(exchange, &view, &config))
        return;
    config = json_blank_comments(exchange->arena, config, &(const char *){NULL});
    struct value *tree = yaml_read(exchange->arena, config, "config", &yaml_request_limits, &error);
    if (tree)
        exchange_reply_json(exchange, HTTP_OK, tree);
    else
        openpai_reply_error(exchange, HTTP_NOT_FOUND, "NoJobConfigError", error.text);
}

static void show_ssh_of_user(struct exchange *exchange)
{
    struct job_view view;
    if (!find_of_user(exchange, &view))
        return;
    openpai_reply_error(exchange, HTTP_NOT_FOUND, "NoJobSshInfoError",
                        arena_printf(exchange->arena,
                                     "SSH info of job %s is not found: no task runs an ssh server.",
                                     view.place.id)
                            .data);
}

static void change_execution(struct exchange *exchange)
{
    struct job_view view;
    if (find_framework(exchange, &view))
        openpai_submit_execute(exchange, &view);
}

/* Addresses of OpenPAI's pages that its clients open: the job that the query names, or the list. */
static void follow_link(struct exchange *exchange)
{
    struct text user = exchange_query(exchange, "username");
    struct text name = exchange_query(exchange, "jobName");
    struct job_view view;
    struct text place = TEXT("/jobs");
    if (name.length && !openpai_reply_find(exchange, user, name, &view))
        return;
    if (name.length)
        place = arena_printf(exchange->arena, "/jobs/%s", view.place.id);
    exchange_add_header(exchange, "Location", place);
    exchange_reply_text(exchange, HTTP_SEE_OTHER, "text/plain", TEXT(""));
}

#define API "/rest-server/api"
const struct route openpai_api_routes[] = {
    {"GET", "/healthz", tell_health},
    {"GET", "/view.html", follow_link},
    {"GET", "/job-list.html", follow_link},
    {"GET", "/job-detail.html", follow_link},
    {"GET", API "/v2/info", tell_info},
    {"GET", API "/v2/storages", tell_storages},
    {"POST", API "/v1/token", sign_in},
    {"POST", API "/v2/authn/basic/login", sign_in},
    {"POST", API "/v2/tokens/application", tell_token},
    {"GET", API "/v1/jobs", list_jobs},
    {"GET", API "/v2/jobs", list_jobs},
    {"GET", API "/v1/user/{}/jobs", list_of_user},
    {"GET", API "/v1/user/{}/jobs/{}", show_of_user},
    {"GET", API "/v1/user/{}/jobs/{}/config", show_config_of_user},
    {"GET", API "/v1/user/{}/jobs/{}/ssh", show_ssh_of_user},
    {"GET", API "/v2/jobs/{}", show_framework},
    {"GET", API "/v2/jobs/{}/config", show_config},
    {"PUT", API "/v2/jobs/{}/executionType", change_execution},
    {"POST", API "/v1/user/{}/jobs", openpai_submit_of_user},
    {"POST", API "/v2/jobs", openpai_submit_job},
    {NULL, "/rest-server/**", tell_no_api},
    {.pattern = NULL}};
