/* web/jobs_api.c - /dlspool/v1/jobs: jobs as `--json` prints them, their files, and what is asked of them */
#include "web/jobs_api.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/system.h"
#include "client/array_tasks.h"
#include "client/outlook.h"
#include "spool/meant.h"
#include "web/archived_api.h"
#include "web/archived_jobs.h"
#include "web/job_list.h"
#include "web/job_output.h"
#include "web/list_memo.h"

static const char plain_type[] = "text/plain; charset=utf-8";

/* ---- lists ---- */

static struct value *job_tree(const struct exchange *exchange, const struct job_view *view)
{
    struct value *tree = outlook_job(exchange->spool, exchange->arena, view);
    array_tasks_put(exchange->arena, tree, view);
    return tree;
}

/* The address of the list of jobs that are older than the last one, with the same query. */
static void add_next(struct exchange *exchange, const char *last)
{
    struct buffer link = {0};
    buffer_printf(&link, "</dlspool/v1/jobs?after=%s", last);
    for (size_t i = 0; i < exchange->query_count; i++) {
        const struct web_field *field = &exchange->query[i];
        if (text_is(field->name, "after"))
            continue;
        buffer_add_byte(&link, '&');
        exchange_add_encoded(&link, field->name);
        buffer_add_byte(&link, '=');
        exchange_add_encoded(&link, field->value);
    }
    buffer_add_string(&link, ">; rel=\"next\"");
    exchange_add_header(exchange, "Link", arena_take(exchange->arena, &link));
}

/* List the jobs; the header Link names the next page. */
static void list_jobs(struct exchange *exchange)
{
    struct job_list list;
    struct list_mark mark;
    struct error error;
    if (list_memo_reply(exchange, &mark))
        return;
    struct value *trees = value_list(exchange->arena);
    int status = job_list_read(exchange, &list, &error);
    if (status != HTTP_OK) {
        exchange_reply_problem(exchange, status, error.text);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        value_append(exchange->arena, trees, job_tree(exchange, &list.views[i]));
    if (list.more)
        add_next(exchange, list.views[list.count - 1].place.id);
    exchange_reply_json(exchange, HTTP_OK, trees);
    list_memo_keep(exchange, &mark);
}

/* ---- one job ---- */

int jobs_api_look(struct exchange *exchange, struct job_view *view, struct error *error)
{
    struct meant meant;
    const struct meaning meaning = {
        .spool = exchange->spool, .word = exchange->parts[0], .asker = getuid()};
    int result = meant_job(&meaning, &meant, error);
    if (result)
        return result > 0 ? HTTP_NOT_FOUND : HTTP_INTERNAL_ERROR;
    if (view_read(exchange->spool, &meant.places[0], exchange->arena, view) && errno != EACCES) {
        error_set(error, "the job has moved; ask again");
        return HTTP_NOT_FOUND;
    }
    return HTTP_OK;
}

int jobs_api_look_anywhere(struct exchange *exchange, struct job_view *view, struct error *error)
{
    int status = jobs_api_look(exchange, view, error);
    struct error ignored;
    if (status == HTTP_NOT_FOUND &&
        archived_jobs_find(exchange, exchange->parts[0], view, &ignored) == HTTP_OK)
        status = HTTP_OK;
    return status;
}

bool jobs_api_find(struct exchange *exchange, struct job_view *view)
{
    struct error error;
    int status = jobs_api_look(exchange, view, &error);
    if (status != HTTP_OK)
        exchange_reply_problem(exchange, status, error.text);
    return status == HTTP_OK;
}

static void show_job(struct exchange *exchange)
{
    struct job_view view;
    struct error error;
    int status = jobs_api_look_anywhere(exchange, &view, &error);
    if (status != HTTP_OK)
        exchange_reply_problem(exchange, status, error.text);
    else
        exchange_reply_json(exchange, HTTP_OK, job_tree(exchange, &view));
}

static void refuse_by_errno(struct exchange *exchange, const char *what)
{
    struct error error;
    int status = errno == EACCES   ? HTTP_FORBIDDEN
                 : errno == ENOENT ? HTTP_NOT_FOUND
                                   : HTTP_CONFLICT;
    error_errno(&error, "%s could not be read", what);
    exchange_reply_problem(exchange, status, error.text);
}

/* Reply with a file of an open directory, which is closed. */
static void reply_file(struct exchange *exchange, int directory, const char *name)
{
    int file = directory < 0
                   ? -1
                   : sys.openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0)
        refuse_by_errno(exchange, name);
    else
        exchange_reply_file(exchange, plain_type, file);
    if (directory >= 0)
        sys.close(directory);
}

/* Find the job, also an archived one.  False after a reply. */
static bool find_anywhere(struct exchange *exchange, struct job_view *view)
{
    struct error error;
    int status = jobs_api_look_anywhere(exchange, view, &error);
    if (status != HTTP_OK)
        exchange_reply_problem(exchange, status, error.text);
    return status == HTTP_OK;
}

static void show_named(struct exchange *exchange, const char *name)
{
    struct job_view view;
    if (!find_anywhere(exchange, &view))
        return;
    if (view.archive.length)
        archived_api_file(exchange, "", name, 0);
    else
        reply_file(exchange, job_open(exchange->spool, &view.place), name);
}

static void show_log(struct exchange *exchange)
{
    show_named(exchange, "log");
}

static void show_manifest(struct exchange *exchange)
{
    show_named(exchange, "manifest.yaml");
}

static void show_request(struct exchange *exchange)
{
    struct job_view view;
    if (!find_anywhere(exchange, &view))
        return;
    struct text name = view.record.request_file;
    if (view.archive.length)
        archived_api_file(exchange, "", "request", 0);
    else if (!name.length || memchr(name.data, '/', name.length))
        exchange_reply_problem(exchange, HTTP_NOT_FOUND, "the job has no request that can be read");
    else
        reply_file(exchange, job_open(exchange->spool, &view.place),
                   arena_text(exchange->arena, name.data, name.length).data);
}

static void show_why(struct exchange *exchange)
{
    struct job_view view;
    if (!find_anywhere(exchange, &view))
        return;
    if (view.archive.length && view.place.state == STATE_FAILED)
        archived_api_file(exchange, "", "why", 0);
    else
        exchange_reply_text(exchange, HTTP_OK, plain_type, view.why);
}

/* ---- output ---- */

/* Find the job, and the name of the directory with the output of the attempt that the query means.  False after a
 * reply. */
static bool find_output(struct exchange *exchange, struct job_view *view,
                        char name[static JOB_OUTPUT_NAME_SIZE])
{
    struct error error;
    if (!find_anywhere(exchange, view))
        return false;
    if (job_output_directory(exchange, view, name, &error) == 0)
        return true;
    exchange_reply_problem(exchange, HTTP_BAD_REQUEST, error.text);
    return false;
}

/* Open that directory.  -1 after a reply. */
static int open_output(struct exchange *exchange, const struct job_view *view, const char *name)
{
    int job = job_open(exchange->spool, &view->place);
    int output =
        job < 0 ? -1 : sys.openat(job, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (output < 0)
        refuse_by_errno(exchange, name);
    if (job >= 0)
        sys.close(job);
    return output;
}

struct files {
    struct exchange *exchange;
    struct value *list;
    int directory;
};

/* What tasks printed; hidden files are notes about it. */
static int add_file(void *context, const char *name, unsigned char type)
{
    (void)type;
    struct files *files = context;
    struct arena *arena = files->exchange->arena;
    struct stat status;
    if (name[0] == '.' || sys.fstatat(files->directory, name, &status, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(status.st_mode))
        return 0;
    struct value *file = value_object(arena);
    value_put(arena, file, "name", value_string(arena, name));
    value_put(arena, file, "size", value_number(arena, (double)status.st_size));
    value_append(arena, files->list, file);
    return 0;
}

static void list_output(struct exchange *exchange)
{
    char directory[JOB_OUTPUT_NAME_SIZE];
    struct job_view view;
    if (!find_output(exchange, &view, directory))
        return;
    if (view.archive.length) {
        archived_api_list(exchange, directory);
        return;
    }
    int output = open_output(exchange, &view, directory);
    if (output < 0)
        return;
    struct files files = {exchange, value_list(exchange->arena), output};
    directory_walk(output, add_file, &files);
    exchange_reply_json(exchange, HTTP_OK, files.list);
    sys.close(output);
}

static void reply_output(struct exchange *exchange, int output, const char *name, int64_t start)
{
    reply_file(exchange, output, name);
    if (exchange->file >= 0 && start) {
        start = start < exchange->length ? start : exchange->length;
        lseek(exchange->file, start, SEEK_SET);
        exchange->length -= start;
    }
}

/* Reply with a file of output/; `from` of the query: from that byte on. */
static void show_output(struct exchange *exchange)
{
    char directory[JOB_OUTPUT_NAME_SIZE];
    struct job_view view;
    struct text from = exchange_query(exchange, "from");
    int64_t start = from.length ? text_number(from, INT64_MAX) : 0;
    if (start < 0) {
        exchange_reply_problem(exchange, HTTP_BAD_REQUEST, "from: expected the number of a byte");
        return;
    }
    if (!find_output(exchange, &view, directory))
        return;
    const char *name =
        arena_text(exchange->arena, exchange->parts[1].data, exchange->parts[1].length).data;
    int output = view.archive.length ? -1 : open_output(exchange, &view, directory);
    if (view.archive.length)
        archived_api_file(exchange, directory, name, start);
    else if (output >= 0)
        reply_output(exchange, output, name, start);
}

const struct route jobs_api_routes[] = {
    {"GET",
     "/dlspool/v1/jobs?mine=true|false archived=true|false owner name state queue since q limit after",
     list_jobs},
    {"GET", "/dlspool/v1/jobs/{}?", show_job},
    {"GET", "/dlspool/v1/jobs/{}/log?", show_log},
    {"GET", "/dlspool/v1/jobs/{}/why?", show_why},
    {"GET", "/dlspool/v1/jobs/{}/request?", show_request},
    {"GET", "/dlspool/v1/jobs/{}/manifest?", show_manifest},
    {"GET", "/dlspool/v1/jobs/{}/output?attempt", list_output},
    {"GET", "/dlspool/v1/jobs/{}/output/{}?attempt from", show_output},
    {.pattern = NULL}};
