/* executors/kubernetes/inquiry.c - the Jobs in the cluster of some of our jobs, and requests for
 * them */
#include "executors/kubernetes/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "executors/kubernetes/condition.h"
#include "executors/kubernetes/follow.h"

enum {
    MOST_IDS = 40, /* jobs asked about in one request: its line has to be short enough */
    PAGE = 500     /* Jobs in one answer */
};

void inquiry_add_call(struct inquiries *inquiries, struct kubernetes_call *call)
{
    inquiries->calls = memory_grow(inquiries->calls, inquiries->call_count,
                                   &inquiries->call_capacity, sizeof(struct kubernetes_call *));
    inquiries->calls[inquiries->call_count++] = call;
}

void inquiry_run(struct inquiries *inquiries)
{
    struct kubernetes *kubernetes = inquiries->kubernetes;
    if (inquiries->call_count)
        kubernetes->run(kubernetes->connection, inquiries->arena, inquiries->calls,
                        inquiries->call_count);
    inquiries->call_count = 0;
}

void inquiry_fail(struct inquiry *inquiry, const struct error *error, int64_t rest)
{
    if (rest > inquiry->request->rest)
        inquiry->request->rest = rest;
    if (inquiry->request->result)
        return;
    inquiry->request->result = -1;
    inquiry->request->error = *error;
}

/* ---- which Jobs there are ---- */

/* "/apis/.../jobs?limit=500&labelSelector=dlspool/spool=S,dlspool/job in (a,b)", escaped. */
static struct text list_path(const struct inquiries *inquiries, struct inquiry *const *some,
                             size_t count)
{
    struct buffer path = {0};
    buffer_add_text(&path, kubernetes_manifest_path(inquiries->arena, &kubernetes_kinds[0],
                                                    inquiries->kubernetes->space, NULL));
    buffer_printf(&path,
                  "?limit=%d&labelSelector=dlspool%%2Fspool%%3D%s%%2Cdlspool%%2Fjob%%20in%%20%%28",
                  PAGE, inquiries->kubernetes->spool);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&path, "%s%s", i ? "%2C" : "", some[i]->request->id);
    buffer_add_string(&path, "%29");
    return arena_take(inquiries->arena, &path);
}

static void add_found(struct inquiries *inquiries, struct inquiry *inquiry,
                      const struct value *object)
{
    struct found_job found = {
        .object = object,
        .name = value_get_text(value_get(object, "metadata"), "name"),
        .uid = value_get_text(value_get(object, "metadata"), "uid"),
    };
    if (!kubernetes_is_plain(found.name) || !kubernetes_is_plain(found.uid))
        return;
    inquiry->jobs = arena_grow(inquiries->arena, inquiry->jobs, inquiry->job_count,
                               &inquiry->job_capacity, sizeof(found));
    inquiry->jobs[inquiry->job_count++] = found;
}

/* Some of the jobs, which are looked for together. */
struct search {
    struct inquiries *inquiries;
    struct inquiry *const *some;
    size_t count;
};

/* Give each Job of a page to the job that it is of. */
static bool take_page(void *context, const struct value *page)
{
    const struct search *search = context;
    struct inquiries *inquiries = search->inquiries;
    const struct value *items = value_get(page, "items");
    for (size_t i = 0; i < value_length(items); i++)
        for (size_t at = 0; at < search->count; at++) {
            const struct job_call *request = search->some[at]->request;
            if (kubernetes_is_of_job(inquiries->kubernetes, items->list.items[i], request->id,
                                     request->attempt)) {
                add_found(inquiries, search->some[at], items->list.items[i]);
                break;
            }
        }
    return true;
}

/* Find the Jobs of some of the jobs. */
static void find_some(struct inquiries *inquiries, struct inquiry *const *some, size_t count)
{
    struct search search = {inquiries, some, count};
    struct error error;
    int status;
    int64_t rest;
    if (kubernetes_list_pages(inquiries->kubernetes, inquiries->arena,
                              list_path(inquiries, some, count).data, take_page, &search, &status,
                              &rest, &error) == KUBERNETES_DONE)
        return;
    for (size_t at = 0; at < count; at++)
        inquiry_fail(some[at], &error, rest);
}

/* Find those that were not found yet. */
static void find_rest(struct inquiries *inquiries)
{
    struct inquiry **rest =
        arena_allocate(inquiries->arena, (inquiries->count + 1) * sizeof(struct inquiry *));
    size_t left = 0;
    for (size_t i = 0; i < inquiries->count; i++)
        if (!inquiries->items[i].job_count)
            rest[left++] = &inquiries->items[i];
    for (size_t i = 0; i < left; i += MOST_IDS)
        find_some(inquiries, rest + i, left - i < MOST_IDS ? left - i : MOST_IDS);
}

static void begin(struct inquiries *inquiries, struct executor *executor, struct job_call **batch,
                  size_t count)
{
    struct arena *arena = arena_new();
    *inquiries = (struct inquiries){.kubernetes = kubernetes_of(executor),
                                    .arena = arena,
                                    .items = arena_allocate(arena, count * sizeof(struct inquiry)),
                                    .count = count};
    for (size_t i = 0; i < count; i++) {
        batch[i]->result = 0;
        batch[i]->rest = 0;
        batch[i]->error.text[0] = '\0';
        inquiries->items[i] = (struct inquiry){.request = batch[i]};
    }
}

void inquiry_open(struct inquiries *inquiries, struct executor *executor, struct job_call **batch,
                  size_t count)
{
    begin(inquiries, executor, batch, count);
    find_rest(inquiries);
}

/* Its owner, if the watch has shown it. */
static void find_in_cache(struct inquiries *inquiries, struct inquiry *inquiry)
{
    struct arena *arena = inquiries->arena;
    const struct cached_job *owner =
        kubernetes_cache_owner(kubernetes_follow_cache(inquiries->kubernetes), inquiry->request->id,
                               inquiry->request->attempt);
    if (!owner || !kubernetes_is_plain(text_of(owner->uid_text)))
        return;
    inquiry->jobs = arena_grow(arena, NULL, 0, &inquiry->job_capacity, sizeof(*inquiry->jobs));
    inquiry->jobs[inquiry->job_count++] =
        (struct found_job){.name = arena_text(arena, owner->name, strlen(owner->name)),
                           .uid = arena_text(arena, owner->uid_text, strlen(owner->uid_text))};
}

void inquiry_open_to_remove(struct inquiries *inquiries, struct executor *executor,
                            struct job_call **batch, size_t count)
{
    begin(inquiries, executor, batch, count);
    for (size_t i = 0; i < count && kubernetes_follow_sees_jobs(inquiries->kubernetes); i++)
        find_in_cache(inquiries, &inquiries->items[i]);
    find_rest(inquiries);
}

void inquiry_close(struct inquiries *inquiries)
{
    free(inquiries->calls);
    arena_free(inquiries->arena);
}

/* ---- requests for one Job ---- */

void inquiry_ask(struct inquiries *inquiries, struct found_job *found, const char *method,
                 struct text body)
{
    found->call = (struct kubernetes_call){
        .method = method,
        .path = kubernetes_manifest_path(inquiries->arena, &kubernetes_kinds[0],
                                         inquiries->kubernetes->space, found->name.data),
        .body = body,
        .content_type = strcmp(method, "PATCH") == 0 ? KUBERNETES_MERGE_PATCH : NULL,
        .raw = true};
    inquiry_add_call(inquiries, &found->call);
}

/* What the answers to the requests for its Jobs mean for a job: what is gone needs nothing. */
void inquiry_judge(struct inquiry *inquiry)
{
    for (size_t i = 0; i < inquiry->job_count; i++) {
        struct kubernetes_call *call = &inquiry->jobs[i].call;
        if (!call->method)
            continue;
        if (call->outcome != KUBERNETES_DONE && call->outcome != KUBERNETES_MISSING)
            inquiry_fail(inquiry, &call->error, call->retry_after);
        kubernetes_api_call_free(call);
    }
}

bool inquiry_job_is_finished(const struct found_job *found)
{
    const struct value *status = value_get(found->object, "status");
    return kubernetes_condition_find_true(status, "Complete") ||
           kubernetes_condition_find_true(status, "Failed");
}

bool inquiry_job_is_cancelled(const struct found_job *found)
{
    return kubernetes_annotation_of(found->object, KUBERNETES_ANNOTATION_CANCELLED).data &&
           value_get_number(value_get(found->object, "spec"), "parallelism", 1) < 1;
}
