/* executors/kubernetes_end.c - telling jobs to end, and taking what is left of them away
 *
 * The Jobs of all jobs that are asked about are looked up together, by their labels, some tens in a
 * request; then each is changed or deleted on the condition that it still has the uid that was
 * seen.  What is not ours is not found, and so never touched.
 *
 * A job is told to end by parallelism 0: its pods get SIGTERM and the grace that their template
 * says, and none is made any more, whether it was suspended, queued or running.  By force, its pods
 * are deleted with no grace at all.
 *
 * To remove a job is to delete its owner, in the background: the server's garbage collector takes
 * what it owns, pods included.  A job that asked for `debug` is ended instead, by a deadline that
 * is over, and is deleted by the server itself when the time that it asked for is over.
 */
#include "executors/kubernetes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "executors/http.h"

enum {
    MOST_IDS = 40, /* jobs asked about in one request: its line has to be short enough */
    PAGE = 500     /* Jobs in one answer */
};

static const char merge_patch[] = "application/merge-patch+json";

struct found_job {              /* a Job of the cluster that is one of ours */
    const struct value *object;
    struct text name, uid;
    struct kubernetes_call call;
};

struct ending {                 /* one job that is to end, or to be removed */
    struct job_call *request;
    struct found_job *jobs;
    size_t job_count, job_room;
    struct kubernetes_call pods_call;   /* by force */
    bool asked;                 /* ... it was made */
};

struct endings {
    struct kubernetes *kubernetes;
    struct arena *arena;
    struct ending *items;
    size_t count;
    struct kubernetes_call **calls;     /* to be sent together */
    size_t call_count, call_room;
};

static void add_call(struct endings *endings, struct kubernetes_call *call)
{
    if (endings->call_count == endings->call_room) {
        endings->call_room = endings->call_room ? 2 * endings->call_room : 64;
        endings->calls =
            memory_resize(endings->calls, endings->call_room * sizeof(struct kubernetes_call *));
    }
    endings->calls[endings->call_count++] = call;
}

static void run_calls(struct endings *endings)
{
    struct kubernetes *kubernetes = endings->kubernetes;
    if (endings->call_count)
        kubernetes->run(kubernetes->connection, endings->arena, endings->calls,
                        endings->call_count);
    endings->call_count = 0;
}

static void fail(struct ending *ending, const struct error *error)
{
    if (ending->request->result)
        return;
    ending->request->result = -1;
    ending->request->error = *error;
}

/* ---- which Jobs there are ---- */

/* "/apis/.../jobs?limit=500&labelSelector=dlspool/spool=S,dlspool/job in (a,b)", escaped. */
static struct text list_path(const struct endings *endings, size_t first, size_t count)
{
    struct buffer path = {0};
    buffer_add_text(&path, kubernetes_path(endings->arena, &kubernetes_kinds[0],
                                           endings->kubernetes->space, NULL));
    buffer_printf(&path,
                  "?limit=%d&labelSelector=dlspool%%2Fspool%%3D%s%%2Cdlspool%%2Fjob%%20in%%20%%28",
                  PAGE, endings->kubernetes->spool);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&path, "%s%s", i ? "%2C" : "", endings->items[first + i].request->id);
    buffer_add_string(&path, "%29");
    struct text text = arena_text(endings->arena, path.data, path.length);
    buffer_free(&path);
    return text;
}

static void add_found(struct endings *endings, struct ending *ending, const struct value *object)
{
    struct found_job found = {
        .object = object,
        .name = value_get_text(value_get(object, "metadata"), "name"),
        .uid = value_get_text(value_get(object, "metadata"), "uid"),
    };
    if (!kubernetes_is_plain(found.name) || !kubernetes_is_plain(found.uid))
        return;
    if (ending->job_count == ending->job_room) {
        size_t room = ending->job_room ? 2 * ending->job_room : 4;
        struct found_job *jobs = arena_allocate(endings->arena, room * sizeof(*jobs));
        if (ending->job_count)
            memcpy(jobs, ending->jobs, ending->job_count * sizeof(*jobs));
        ending->jobs = jobs;
        ending->job_room = room;
    }
    ending->jobs[ending->job_count++] = found;
}

/* Give each Job of a page to the job that it is of. */
static void take_page(struct endings *endings, size_t first, size_t count,
                      const struct value *page)
{
    const struct value *items = value_get(page, "items");
    for (size_t i = 0; items && items->kind == VALUE_LIST && i < items->list.count; i++)
        for (size_t at = first; at < first + count; at++) {
            const struct job_call *request = endings->items[at].request;
            if (kubernetes_is_of_job(endings->kubernetes, items->list.items[i], request->id,
                                     request->attempt)) {
                add_found(endings, &endings->items[at], items->list.items[i]);
                break;
            }
        }
}

/* Find the Jobs of some of the jobs, page by page. */
static void find_some(struct endings *endings, size_t first, size_t count)
{
    struct text path = list_path(endings, first, count), more = {0};
    do {
        struct kubernetes_call call = {.method = "GET", .path = path};
        if (more.length) {
            struct buffer next = {0};
            buffer_printf(&next, "%s&continue=", path.data);
            http_escape(&next, more);
            call.path = arena_text(endings->arena, next.data, next.length);
            buffer_free(&next);
        }
        if (kubernetes_ask(endings->kubernetes, endings->arena, &call) != KUBERNETES_DONE) {
            for (size_t at = first; at < first + count; at++)
                fail(&endings->items[at], &call.error);
            more.length = 0;
        } else {
            take_page(endings, first, count, call.answer);
            more = value_get_text(value_get(call.answer, "metadata"), "continue");
        }
        kubernetes_call_free(&call);
    } while (more.length);
}

static void open_endings(struct endings *endings, struct executor *executor,
                         struct job_call **batch, size_t count)
{
    struct arena *arena = arena_new();
    *endings = (struct endings){.kubernetes = kubernetes_of(executor),
                                .arena = arena,
                                .items = arena_allocate(arena, count * sizeof(struct ending)),
                                .count = count};
    for (size_t i = 0; i < count; i++) {
        batch[i]->result = 0;
        batch[i]->error.text[0] = '\0';
        endings->items[i] = (struct ending){.request = batch[i]};
    }
    for (size_t i = 0; i < count; i += MOST_IDS)
        find_some(endings, i, count - i < MOST_IDS ? count - i : MOST_IDS);
}

static void close_endings(struct endings *endings)
{
    free(endings->calls);
    arena_free(endings->arena);
}

/* ---- requests for one Job ---- */

static void ask_job(struct endings *endings, struct found_job *found, const char *method,
                    struct text body)
{
    found->call = (struct kubernetes_call){
        .method = method,
        .path = kubernetes_path(endings->arena, &kubernetes_kinds[0],
                                endings->kubernetes->space, found->name.data),
        .body = body,
        .content_type = strcmp(method, "PATCH") == 0 ? merge_patch : NULL,
        .raw = true};
    add_call(endings, &found->call);
}

/* What the answers to the requests for its Jobs mean for a job: what is gone needs nothing. */
static void judge_jobs(struct ending *ending)
{
    for (size_t i = 0; i < ending->job_count; i++) {
        struct kubernetes_call *call = &ending->jobs[i].call;
        if (!call->method)
            continue;
        if (call->outcome != KUBERNETES_DONE && call->outcome != KUBERNETES_MISSING)
            fail(ending, &call->error);
        kubernetes_call_free(call);
    }
}

static bool is_finished(const struct value *object)
{
    const struct value *conditions = value_get(value_get(object, "status"), "conditions");
    for (size_t i = 0; conditions && conditions->kind == VALUE_LIST && i < conditions->list.count;
         i++) {
        const struct value *condition = conditions->list.items[i];
        struct text type = value_get_text(condition, "type");
        if ((text_is(type, "Complete") || text_is(type, "Failed")) &&
            text_is(value_get_text(condition, "status"), "True"))
            return true;
    }
    return false;
}

static bool is_leaving(const struct value *object)
{
    return value_get_text(value_get(object, "metadata"), "deletionTimestamp").length > 0;
}

/* ---- cancel ---- */

static bool is_cancelled(const struct value *object)
{
    return kubernetes_annotation_of(object, KUBERNETES_ANNOTATION_CANCELLED).data &&
           value_get_number(value_get(object, "spec"), "parallelism", 1) < 1;
}

static void ask_cancel(struct endings *endings, struct ending *ending)
{
    char now[CLOCK_TEXT_SIZE];
    clock_format(clock_now(), now);
    for (size_t i = 0; i < ending->job_count; i++) {
        struct found_job *found = &ending->jobs[i];
        if (is_finished(found->object) || is_cancelled(found->object) || is_leaving(found->object))
            continue;
        ask_job(endings, found, "PATCH",
                arena_printf(endings->arena,
                             "{\"metadata\":{\"uid\":\"%s\",\"annotations\":{\"%s\":\"%s\"}},"
                             "\"spec\":{\"parallelism\":0}}",
                             found->uid.data, KUBERNETES_ANNOTATION_CANCELLED, now));
    }
}

static void ask_kill(struct endings *endings, struct ending *ending)
{
    struct arena *arena = endings->arena;
    struct text selector = kubernetes_job_selector(arena, endings->kubernetes, ending->request->id,
                                                   ending->request->attempt);
    ending->pods_call = (struct kubernetes_call){
        .method = "DELETE",
        .path = arena_printf(arena, "/api/v1/namespaces/%s/pods%s", endings->kubernetes->space,
                             selector.data),
        .body = TEXT("{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":0}"),
        .raw = true};
    ending->asked = true;
    add_call(endings, &ending->pods_call);
}

void kubernetes_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    struct endings endings;
    open_endings(&endings, executor, batch, count);
    for (size_t i = 0; i < count; i++)
        if (batch[i]->result == 0)
            ask_cancel(&endings, &endings.items[i]);
    run_calls(&endings);
    for (size_t i = 0; i < count; i++)
        judge_jobs(&endings.items[i]);
    /* Only of Jobs that make no new ones: a pod that is deleted before is a failed task. */
    for (size_t i = 0; i < count; i++)
        if (batch[i]->force && batch[i]->result == 0)
            ask_kill(&endings, &endings.items[i]);
    run_calls(&endings);
    for (size_t i = 0; i < count; i++) {
        struct ending *ending = &endings.items[i];
        if (ending->asked && ending->pods_call.outcome != KUBERNETES_DONE &&
            ending->pods_call.outcome != KUBERNETES_MISSING)
            fail(ending, &ending->pods_call.error);
        if (ending->asked)
            kubernetes_call_free(&ending->pods_call);
    }
    close_endings(&endings);
}

/* ---- remove ---- */

/* Whether one of the job's other Jobs owns it. */
static bool is_dependent(const struct ending *ending, const struct found_job *found)
{
    const struct value *owners = value_get(value_get(found->object, "metadata"), "ownerReferences");
    for (size_t i = 0; owners && owners->kind == VALUE_LIST && i < owners->list.count; i++)
        for (size_t at = 0; at < ending->job_count; at++)
            if (text_equal(value_get_text(owners->list.items[i], "uid"), ending->jobs[at].uid))
                return true;
    return false;
}

static int64_t debug_time(const struct found_job *found)
{
    struct text text = kubernetes_annotation_of(found->object, KUBERNETES_ANNOTATION_DEBUG);
    int64_t milliseconds;
    if (!text.length || duration_parse(text, &milliseconds))
        return 0;
    return milliseconds / 1000;
}

static void ask_delete(struct endings *endings, struct found_job *found)
{
    ask_job(endings, found, "DELETE",
            arena_printf(endings->arena,
                         "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                         "\"propagationPolicy\":\"Background\","
                         "\"preconditions\":{\"uid\":\"%s\"}}",
                         found->uid.data));
}

/* Let a Job end by itself at once, and the owner go, with all that it owns, `seconds` later. */
static void ask_linger(struct endings *endings, struct found_job *found, bool owner,
                       int64_t seconds)
{
    struct buffer specification = {0};
    if (!is_finished(found->object))
        buffer_add_string(&specification, "\"activeDeadlineSeconds\":1");
    if (owner)
        buffer_printf(&specification, "%s\"ttlSecondsAfterFinished\":%lld",
                      specification.length ? "," : "", (long long)seconds);
    if (specification.length)
        ask_job(endings, found, "PATCH",
                arena_printf(endings->arena, "{\"metadata\":{\"uid\":\"%s\"},\"spec\":{%s}}",
                             found->uid.data, specification.data));
    buffer_free(&specification);
}

/* A Job that was never started has no deadline, so it would stay: there is nothing to look at. */
static bool can_linger(const struct found_job *owner)
{
    return is_finished(owner->object) ||
           value_get_text(value_get(owner->object, "status"), "startTime").length > 0;
}

static void ask_remove(struct endings *endings, struct ending *ending)
{
    int64_t debug = 0;
    for (size_t i = 0; i < ending->job_count; i++)
        if (!is_dependent(ending, &ending->jobs[i]) && can_linger(&ending->jobs[i]))
            debug = debug_time(&ending->jobs[i]);
    for (size_t i = 0; i < ending->job_count; i++) {
        struct found_job *found = &ending->jobs[i];
        bool owner = !is_dependent(ending, found);
        if (is_leaving(found->object))
            continue;
        if (debug > 0)
            ask_linger(endings, found, owner, debug);
        else if (owner)
            ask_delete(endings, found);
    }
}

void kubernetes_remove(struct executor *executor, struct job_call **batch, size_t count)
{
    struct endings endings;
    open_endings(&endings, executor, batch, count);
    for (size_t i = 0; i < count; i++)
        if (batch[i]->result == 0)
            ask_remove(&endings, &endings.items[i]);
    run_calls(&endings);
    for (size_t i = 0; i < count; i++) {
        judge_jobs(&endings.items[i]);
        if (batch[i]->result == 0 && endings.kubernetes->logs)
            kubernetes_logs_forget(endings.kubernetes->logs, batch[i]->id, batch[i]->attempt);
    }
    close_endings(&endings);
}
