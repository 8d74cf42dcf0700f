/* web/dlworkspace_api.c - /dlws: what DLWorkspace's clients read of jobs and of the cluster */
#include "web/dlworkspace_api.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/system.h"
#include "client/gather.h"
#include "client/job_tasks.h"
#include "spool/settings.h"
#include "web/dlworkspace_arguments.h"
#include "web/dlworkspace_cluster.h"
#include "web/dlworkspace_job.h"
#include "web/jobs_api.h"
#include "web/own_name.h"

enum { USUAL_NUMBER = 20, LARGEST_NUMBER = 1000 }; /* of jobs that have ended, in a list */
enum { LOG_FILES = 20, LOG_BYTES = 64 * 1024 };    /* of a reply of GetJobLog */

/* ---- lists ---- */

struct lists {
    struct value *queued, *running, *finished;
};

static void add_job(struct arena *arena, struct lists *lists, const struct job_view *view)
{
    const char *status = dlworkspace_job_status(view);
    bool queued = strcmp(status, "queued") == 0 || strcmp(status, "scheduling") == 0 ||
                  strcmp(status, "unapproved") == 0;
    struct value *list = strcmp(status, "running") == 0 ? lists->running
                         : queued                       ? lists->queued
                                                        : lists->finished;
    value_append(arena, list, dlworkspace_job_tree(arena, view));
}

/* All jobs that have not ended, and so many of those that have; of one user and virtual cluster, unless these are
 * empty. */
static int gather(struct exchange *exchange, struct text owner, struct text cluster, int64_t number,
                  struct lists *lists)
{
    struct job_filter filter = {.mine = false};
    struct job_place place;
    struct job_view view;
    int64_t ended = 0;
    int result = 0;
    struct gathering *gathering = gather_open(exchange->spool, &filter);
    while (gathering && (result = gather_next(gathering, &place)) > 0) {
        if (view_read(exchange->spool, &place, exchange->arena, &view) || !view.readable ||
            (owner.length && !text_equal(owner, view.record.owner)) ||
            (cluster.length && !text_equal(cluster, dlworkspace_job_cluster(&view))))
            continue;
        if (view_has_ended(&view) && ended++ >= number)
            gather_skip_ended(gathering);
        else
            add_job(exchange->arena, lists, &view);
    }
    if (gathering)
        gather_close(gathering);
    return gathering && result >= 0 ? 0 : -1;
}

static void reply_lists(struct exchange *exchange, const struct lists *lists)
{
    struct arena *arena = exchange->arena;
    struct value *tree = value_object(arena), *meta = value_object(arena);
    const struct {
        const char *name;
        struct value *list;
    } parts[] = {{"queuedJobs", lists->queued},
                 {"runningJobs", lists->running},
                 {"finishedJobs", lists->finished},
                 {"visualizationJobs", value_list(arena)}};
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        value_put(arena, tree, parts[i].name, parts[i].list);
        value_put(arena, meta, parts[i].name,
                  value_number(arena, (double)value_length(parts[i].list)));
    }
    value_put(arena, tree, "meta", meta);
    exchange_reply_json(exchange, HTTP_OK, tree);
}

static void list_jobs(struct exchange *exchange)
{
    struct arena *arena = exchange->arena;
    struct lists lists = {value_list(arena), value_list(arena), value_list(arena)};
    struct value *arguments = dlworkspace_arguments_read(exchange);
    if (!arguments || !dlworkspace_arguments_is_own(exchange, arguments))
        return;
    struct text number = value_get_text(arguments, "num");
    struct text owner = value_get_text(arguments, "jobOwner");
    struct text cluster = value_get_text(arguments, "vcName");
    int64_t most = number.length ? text_number(number, LARGEST_NUMBER) : USUAL_NUMBER;
    if (most < 0) {
        dlworkspace_arguments_refuse(exchange, HTTP_BAD_REQUEST,
                                     "num: expected a number up to 1000");
        return;
    }
    if (gather(exchange, text_is(owner, "all") ? TEXT("") : own_name(),
               text_is(cluster, "all") ? TEXT("") : cluster, most, &lists))
        dlworkspace_arguments_refuse(exchange, HTTP_INTERNAL_ERROR, "the jobs could not be read");
    else
        reply_lists(exchange, &lists);
}

/* ---- one job ---- */

/* Find the job that jobId means, for a user who has said truly who they are, where that is asked.  False after a
 * reply. */
static bool find_job(struct exchange *exchange, bool named, struct value **arguments,
                     struct job_view *view)
{
    struct error error;
    *arguments = dlworkspace_arguments_read(exchange);
    if (!*arguments || (named && !dlworkspace_arguments_is_own(exchange, *arguments)) ||
        !dlworkspace_arguments_get(exchange, *arguments, "jobId", &exchange->parts[0]))
        return false;
    int status = jobs_api_look(exchange, view, &error);
    if (status != HTTP_OK)
        dlworkspace_arguments_refuse(exchange, status, error.text);
    return status == HTTP_OK;
}

static void show_job(struct exchange *exchange)
{
    struct value *arguments;
    struct job_view view;
    if (!find_job(exchange, true, &arguments, &view))
        return;
    struct value *tree = dlworkspace_job_tree(exchange->arena, &view);
    value_put(exchange->arena, tree, "log", value_string(exchange->arena, ""));
    exchange_reply_json(exchange, HTTP_OK, tree);
}

static void show_status(struct exchange *exchange)
{
    struct value *arguments;
    struct job_view view;
    if (find_job(exchange, false, &arguments, &view))
        exchange_reply_json(exchange, HTTP_OK, dlworkspace_job_short(exchange->arena, &view));
}

/* ---- logs ---- */

/* How far a log was read by the cursor, NAME=BYTES with commas between them. */
static int64_t place_in(struct text cursor, struct text name)
{
    struct text item, word;
    while (cursor.length && text_next(&cursor, ',', &item))
        if (text_next(&item, '=', &word) && text_equal(word, name))
            return item.length ? text_number(item, INT64_MAX) : -1;
    return 0;
}

/* Read on in a file, LOG_BYTES at most.  The end of what was read. */
static int64_t read_log(int output, const char *name, int64_t from, struct buffer *bytes)
{
    char *room = buffer_reserve(bytes, LOG_BYTES);
    int file = sys.openat(output, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    ssize_t count = file >= 0 && from >= 0 ? pread(file, room, LOG_BYTES, from) : 0;
    if (file >= 0)
        sys.close(file);
    count = count > 0 ? count : 0;
    if (count == LOG_BYTES) { /* not within a character */
        while (count > LOG_BYTES - 3 && (room[count - 1] & 0xc0) == 0x80)
            count--;
        count -= (room[count - 1] & 0xc0) == 0xc0;
    }
    bytes->length += (size_t)count;
    return from + count;
}

/* What the tasks printed since the cursor: {"log": {TASK: ...}, "cursor": ...}. */
static void show_log(struct exchange *exchange)
{
    struct arena *arena = exchange->arena;
    struct value *arguments, *tree = value_object(arena), *logs = value_object(arena);
    struct job_view view;
    struct job_tasks tasks;
    struct buffer next = {0};
    if (!find_job(exchange, true, &arguments, &view))
        return;
    struct text cursor = value_get_text(arguments, "cursor");
    int job = job_open(exchange->spool, &view.place);
    int output =
        job < 0 ? -1
                : sys.openat(job, "output", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    job_tasks_find(exchange->spool, arena, &view, &tasks);
    for (size_t i = 0; output >= 0 && i < tasks.count && i < LOG_FILES; i++) {
        struct text log = tasks.items[i].log, name = {log.data, log.length - strlen(".log")};
        struct buffer bytes = {0};
        int64_t end = read_log(output, log.data, place_in(cursor, name), &bytes);
        buffer_printf(&next, "%s%.*s=%lld", i ? "," : "", (int)name.length, name.data,
                      (long long)end);
        if (bytes.length)
            value_set(arena, logs, name,
                      value_text(arena, arena_text(arena, bytes.data, bytes.length)));
        buffer_free(&bytes);
    }
    if (output >= 0)
        sys.close(output);
    if (job >= 0)
        sys.close(job);
    value_put(arena, tree, "log", logs);
    value_put(arena, tree, "cursor",
              next.length ? value_text(arena, arena_take(arena, &next)) : value_null(arena));
    exchange_reply_json(exchange, HTTP_OK, tree);
}

/* ---- the cluster ---- */

static void show_cluster(struct exchange *exchange)
{
    struct value *arguments = dlworkspace_arguments_read(exchange);
    if (arguments && dlworkspace_arguments_is_own(exchange, arguments))
        exchange_reply_json(exchange, HTTP_OK,
                            dlworkspace_cluster_tree(exchange->spool, exchange->arena));
}

static void list_clusters(struct exchange *exchange)
{
    struct value *arguments = dlworkspace_arguments_read(exchange);
    struct value *tree = value_object(exchange->arena);
    if (!arguments || !dlworkspace_arguments_is_own(exchange, arguments))
        return;
    value_put(exchange->arena, tree, "result",
              dlworkspace_cluster_queues(exchange->spool, exchange->arena));
    exchange_reply_json(exchange, HTTP_OK, tree);
}

const struct route dlworkspace_api_routes[] = {{"GET", "/dlws/ListJobs", list_jobs},
                                               {"GET", "/dlws/GetJobDetail", show_job},
                                               {"GET", "/dlws/GetJobStatus", show_status},
                                               {"GET", "/dlws/GetJobLog", show_log},
                                               {"GET", "/dlws/GetClusterStatus", show_cluster},
                                               {"GET", "/dlws/ListVCs", list_clusters},
                                               {.pattern = NULL}};
