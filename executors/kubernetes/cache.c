/* executors/kubernetes/cache.c - the last known state of Jobs and Pods, by token
 *
 * A token is kept for as long as it has a Job or a Pod.  Objects of one token are few, or read in
 * order, so they lie in plain arrays.  An object that comes twice, or late, changes nothing: one
 * with a lower resourceVersion than the known one is ignored, unless it comes from a list.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/names.h"
#include "executors/kubernetes/cache.h"
#include "executors/kubernetes/events.h"
#include "executors/kubernetes/phase.h"
#include "executors/kubernetes/reduce.h"

enum { ATTEMPT_MAX = 1000000 };

struct kubernetes_cache *kubernetes_cache_new(void)
{
    struct kubernetes_cache *cache = memory_allocate(sizeof(*cache));
    cache->tokens = names_new(SIZE_MAX, sizeof(struct cached_token));
    return cache;
}

static void clear_token(struct cached_token *token)
{
    for (size_t i = 0; i < token->job_count; i++)
        cached_job_free(&token->jobs[i]);
    for (size_t i = 0; i < token->pod_count; i++)
        cached_pod_free(&token->pods[i]);
    cached_waiting_clear(&token->said);
    free(token->kept);
    free(token->jobs);
    free(token->pods);
}

void kubernetes_cache_free(struct kubernetes_cache *cache)
{
    if (!cache)
        return;
    for (void *token = names_first(cache->tokens); token; token = names_after(token))
        clear_token(token);
    kubernetes_events_free(cache);
    names_free(cache->tokens);
    free(cache);
}

size_t kubernetes_cache_count(const struct kubernetes_cache *cache)
{
    return names_count(cache->tokens);
}

/* ---- tokens ---- */

static struct cached_token *find_token(const struct kubernetes_cache *cache, struct text name)
{
    return names_find(cache->tokens, name);
}

static struct cached_token *add_token(struct kubernetes_cache *cache, struct text name)
{
    struct cached_token *token = find_token(cache, name);
    if (token)
        return token;
    token = names_add(cache->tokens, name);
    token->name = names_text(token).data;
    return token;
}

static void remove_pod(struct cached_token *token, struct cached_pod *pod)
{
    cached_pod_free(pod);
    *pod = token->pods[--token->pod_count];
}

/* The pod was deleted.  Keep how it ended if its Job counts that. */
static void lose_pod(struct cached_token *token, struct cached_pod *pod)
{
    if (pod->counted)
        pod->gone = true;
    else
        remove_pod(token, pod);
}

/* Remove a token that has no Job and no existing pod. */
static void drop_if_empty(struct kubernetes_cache *cache, struct cached_token *token)
{
    for (size_t i = token->job_count ? 0 : token->pod_count; i-- > 0;)
        if (token->pods[i].gone)
            remove_pod(token, &token->pods[i]);
    if (token->job_count || token->pod_count)
        return;
    clear_token(token);
    names_remove(cache->tokens, token);
}

static struct text name_token(char buffer[static CACHED_TOKEN_SIZE], const char *id, int attempt)
{
    int length = snprintf(buffer, CACHED_TOKEN_SIZE, "%s-a%d", id, attempt);
    return (struct text){buffer, length > 0 && length < CACHED_TOKEN_SIZE ? (size_t)length : 0};
}

/* The token that an object's labels name; empty when it is not one of dlspool's. */
static struct text read_token(char buffer[static CACHED_TOKEN_SIZE], const struct value *object)
{
    const struct value *labels = value_get(value_get(object, "metadata"), "labels");
    struct text id = value_get_text(labels, "dlspool/job");
    struct text attempt = value_get_text(labels, "dlspool/attempt");
    if (!id.length || id.length > 63 || !attempt.length || attempt.length > 7)
        return TEXT("");
    int length = snprintf(buffer, CACHED_TOKEN_SIZE, "%.*s-a%.*s", (int)id.length, id.data,
                          (int)attempt.length, attempt.data);
    return (struct text){buffer, (size_t)length};
}

/* ---- objects ---- */

static struct cached_job *find_job(struct cached_token *token, uint64_t uid)
{
    for (size_t i = 0; i < token->job_count; i++)
        if (token->jobs[i].uid == uid)
            return &token->jobs[i];
    return NULL;
}

static struct cached_pod *find_pod(struct cached_token *token, uint64_t uid)
{
    for (size_t i = 0; i < token->pod_count; i++)
        if (token->pods[i].uid == uid)
            return &token->pods[i];
    return NULL;
}

/* A Job was deleted.  Without its owner the whole job is gone; one of the other Jobs is kept as missing. */
static void remove_job(struct cached_token *token, struct cached_job *job)
{
    if (!job->owner && token->job_count > 1) {
        job->missing = true;
        return;
    }
    cached_job_free(job);
    *job = token->jobs[--token->job_count];
    for (size_t i = 0; i < token->job_count;) {
        if (token->jobs[i].missing) {
            cached_job_free(&token->jobs[i]);
            token->jobs[i] = token->jobs[--token->job_count];
        } else {
            i++;
        }
    }
}

static uint64_t uid_of(const struct value *object)
{
    return hash_text(HASH_START, value_get_text(value_get(object, "metadata"), "uid"));
}

/* Is the object older than the known version?  A watch may repeat old versions; what is listed always
 * counts. */
static bool is_stale(const struct value *object, uint64_t known, bool listed)
{
    uint64_t version = kubernetes_reduce_version(object);
    return !listed && version && version < known;
}

static void take_job(struct kubernetes_cache *cache, struct cached_token *token,
                     const struct value *object, bool listed)
{
    struct cached_job *job = find_job(token, uid_of(object)), fresh = {0};
    if (!job) {
        if (!kubernetes_reduce_job(&fresh, object))
            return;
        token->jobs = memory_resize(token->jobs, (token->job_count + 1) * sizeof(*token->jobs));
        job = &token->jobs[token->job_count++];
        *job = fresh;
        kubernetes_events_place_orphans(cache, token->name);
    } else if (!is_stale(object, job->version, listed)) {
        kubernetes_reduce_job(job, object);
    }
    job->seen = cache->lists[FOLLOW_JOBS];
}

static void take_pod(struct kubernetes_cache *cache, struct cached_token *token,
                     const struct value *object, bool listed)
{
    struct cached_pod *pod = find_pod(token, uid_of(object)), fresh = {0};
    if (!pod) {
        if (!kubernetes_reduce_pod(&fresh, object))
            return;
        if (token->pod_count == token->pod_capacity) { /* most tokens have one pod */
            token->pod_capacity = token->pod_capacity ? 2 * token->pod_capacity : 1;
            token->pods = memory_resize(token->pods, token->pod_capacity * sizeof(*token->pods));
        }
        pod = &token->pods[token->pod_count++];
        *pod = fresh;
        kubernetes_events_place_orphans(cache, token->name);
    } else if (!is_stale(object, pod->version, listed)) {
        kubernetes_reduce_pod(pod, object);
    }
    pod->seen = cache->lists[FOLLOW_PODS];
}

/* The object was deleted. */
static void drop_object(struct cached_token *token, enum followed_kind kind, uint64_t uid)
{
    struct cached_job *job = kind == FOLLOW_JOBS ? find_job(token, uid) : NULL;
    struct cached_pod *pod = kind == FOLLOW_PODS ? find_pod(token, uid) : NULL;
    if (job)
        remove_job(token, job);
    if (pod)
        lose_pod(token, pod);
}

void kubernetes_cache_take(struct kubernetes_cache *cache, enum followed_kind kind,
                           const struct value *object, bool deleted, bool listed)
{
    char buffer[CACHED_TOKEN_SIZE];
    if (kind == FOLLOW_EVENTS) {
        if (!deleted) /* it is only forgotten, after an hour */
            kubernetes_events_take(cache, object);
        return;
    }
    struct text name = read_token(buffer, object);
    if (!name.length)
        return;
    struct cached_token *token = deleted ? find_token(cache, name) : add_token(cache, name);
    if (!token)
        return;
    if (deleted)
        drop_object(token, kind, uid_of(object));
    else if (kind == FOLLOW_JOBS)
        take_job(cache, token, object, listed);
    else
        take_pod(cache, token, object, listed);
    drop_if_empty(cache, token);
}

/* ---- lists ---- */

void kubernetes_cache_list_begin(struct kubernetes_cache *cache, enum followed_kind kind)
{
    cache->lists[kind]++;
}

static void drop_unseen(struct cached_token *token, enum followed_kind kind, uint32_t list)
{
    for (size_t i = token->pod_count; kind == FOLLOW_PODS && i-- > 0;)
        if (token->pods[i].seen != list)
            lose_pod(token, &token->pods[i]);
    for (size_t i = token->job_count; kind == FOLLOW_JOBS && i-- > 0;) {
        if (i < token->job_count && token->jobs[i].seen != list && !token->jobs[i].missing)
            remove_job(token, &token->jobs[i]);
    }
    /* Its owner may have been removed after it. */
    bool alive = false;
    for (size_t i = 0; i < token->job_count; i++)
        alive |= !token->jobs[i].missing;
    while (!alive && token->job_count)
        cached_job_free(&token->jobs[--token->job_count]);
}

void kubernetes_cache_list_end(struct kubernetes_cache *cache, enum followed_kind kind)
{
    struct cached_token *token = kind == FOLLOW_EVENTS ? NULL : names_first(cache->tokens);
    for (struct cached_token *next; token; token = next) {
        next = names_after(token);
        drop_unseen(token, kind, cache->lists[kind]);
        drop_if_empty(cache, token);
    }
}

/* ---- questions ---- */

bool kubernetes_cache_has(const struct kubernetes_cache *cache, const char *id, int attempt)
{
    char buffer[CACHED_TOKEN_SIZE];
    const struct cached_token *token = find_token(cache, name_token(buffer, id, attempt));
    return token && token->job_count;
}

const struct cached_job *kubernetes_cache_owner(const struct kubernetes_cache *cache,
                                                const char *id, int attempt)
{
    char buffer[CACHED_TOKEN_SIZE];
    const struct cached_token *token = find_token(cache, name_token(buffer, id, attempt));
    const struct cached_job *owner = NULL;
    for (size_t i = 0; token && i < token->job_count; i++) {
        const struct cached_job *job = &token->jobs[i];
        if (job->missing || job->lingers || job->removed || (job->owner && owner))
            return NULL;
        owner = job->owner ? job : owner;
    }
    return owner && owner->uid_text[0] ? owner : NULL;
}

static bool is_made_by(const struct cached_token *token, const char *identity)
{
    for (size_t i = 0; i < token->job_count; i++)
        if (token->jobs[i].owner)
            return strcmp(token->jobs[i].identity, identity) == 0 && !token->jobs[i].removed;
    return false;
}

void kubernetes_cache_list(const struct kubernetes_cache *cache, const char *identity,
                           executor_take *take, void *context)
{
    for (struct cached_token *token = names_first(cache->tokens); token;
         token = names_after(token)) {
        char buffer[CACHED_TOKEN_SIZE];
        char *dash;
        if (!is_made_by(token, identity))
            continue;
        snprintf(buffer, sizeof(buffer), "%s", token->name);
        dash = strrchr(buffer, '-');
        if (!dash || dash[1] != 'a')
            continue;
        *dash = '\0';
        take(context, buffer, (int)strtol(dash + 2, NULL, 10));
    }
}

enum kubernetes_known kubernetes_cache_poll(struct kubernetes_cache *cache, struct arena *arena,
                                            struct job_poll *poll)
{
    char buffer[CACHED_TOKEN_SIZE];
    struct cached_token *token = find_token(cache, name_token(buffer, poll->id, poll->attempt));
    if (!token || !token->job_count)
        return KUBERNETES_NOT_KNOWN;
    return kubernetes_phase_poll(token, arena, poll);
}

void kubernetes_cache_confirm(struct kubernetes_cache *cache, const char *id, int attempt)
{
    char buffer[CACHED_TOKEN_SIZE];
    struct cached_token *token = find_token(cache, name_token(buffer, id, attempt));
    if (token)
        token->confirmed = true;
}

static int compare_pods(const void *a, const void *b)
{
    const struct cached_pod *first = *(const struct cached_pod *const *)a;
    const struct cached_pod *second = *(const struct cached_pod *const *)b;
    int order = strcmp(first->role, second->role);
    if (order == 0)
        order = (first->index > second->index) - (first->index < second->index);
    if (order == 0)
        order = (first->created > second->created) - (first->created < second->created);
    return order ? order : strcmp(first->name, second->name);
}

const struct cached_pod **kubernetes_cache_pods(struct kubernetes_cache *cache, struct arena *arena,
                                                const char *id, int attempt, size_t *count)
{
    char buffer[CACHED_TOKEN_SIZE];
    struct cached_token *token = find_token(cache, name_token(buffer, id, attempt));
    size_t all = token ? token->pod_count : 0;
    const struct cached_pod **pods =
        arena_allocate(arena, (all + 1) * sizeof(const struct cached_pod *));
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (!token->pods[i].gone)
            pods[(*count)++] = &token->pods[i];
    qsort(pods, *count, sizeof(const struct cached_pod *), compare_pods);
    return pods;
}
