/* executors/kubernetes/events.c - warnings of the namespace, each put beside what it is about
 *
 * Events carry no labels of ours, so all warnings of the namespace come here: one is kept beside
 * the Job or Pod it is about, found by name and uid.  An Event may come before its object, on
 * another watch; the last Events without an object are tried again when a new object comes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/names.h"
#include "executors/kubernetes/events.h"
#include "executors/kubernetes/waiting.h"

static void clear_orphan(struct orphan *orphan)
{
    cached_waiting_clear(&orphan->waiting);
    free(orphan->name);
    orphan->name = NULL;
}

void kubernetes_events_free(struct kubernetes_cache *cache)
{
    for (size_t i = 0; i < ORPHANS; i++)
        clear_orphan(&cache->orphans[i]);
}

/* The token that an object's name starts with: names are made of it, a dash and something. */
static struct cached_token *find_by_name(const struct kubernetes_cache *cache, struct text name)
{
    for (;;) {
        struct cached_token *token = names_find(cache->tokens, name);
        if (token || !name.length)
            return token;
        while (name.length && name.data[name.length - 1] != '-')
            name.length--;
        if (name.length)
            name.length--;
    }
}

/* Kueue calls the Workload of a Job job-<name>-<five letters>, and cuts long names; it is owned by
 * the Job, which an Event does not tell. */
static struct cached_token *find_by_workload(const struct kubernetes_cache *cache, struct text name)
{
    if (!text_starts(name, "job-"))
        return NULL;
    return find_by_name(cache, (struct text){name.data + 4, name.length - 4});
}

static void put_event(struct waiting *to, struct waiting *event)
{
    cached_waiting_clear(to);
    *to = *event;
    *event = (struct waiting){0};
}

/* Store an Event with the object that it is about; false when the cache does not have it. */
static bool place_event(const struct kubernetes_cache *cache, struct text name, uint64_t uid,
                        struct waiting *event)
{
    bool workload = event->cause == WAITING_KUEUE;
    struct cached_token *token =
        workload ? find_by_workload(cache, name) : find_by_name(cache, name);
    for (size_t i = 0; token && i < token->pod_count; i++) {
        if (token->pods[i].uid == uid) {
            put_event(&token->pods[i].event, event);
            return true;
        }
    }
    for (size_t i = 0; token && i < token->job_count; i++) {
        struct cached_job *job = &token->jobs[i];
        size_t length = strlen(job->name);
        bool of_workload = workload && name.length > 4 + length && name.data[4 + length] == '-' &&
                           memcmp(name.data + 4, job->name, length) == 0 &&
                           !memchr(name.data + 5 + length, '-', name.length - length - 5);
        if (job->uid == uid || of_workload) {
            put_event(&job->event, event);
            return true;
        }
    }
    return false;
}

void kubernetes_events_take(struct kubernetes_cache *cache, const struct value *object)
{
    const struct value *about = value_get(object, "involvedObject");
    struct text name = value_get_text(about, "name");
    struct waiting event = {0};
    if (!name.length || name.length >= CACHED_TOKEN_SIZE ||
        !kubernetes_waiting_of_event(&event, value_get_text(about, "kind"),
                                     value_get_text(object, "reason"),
                                     value_get_text(object, "message")))
        return;
    uint64_t uid = hash_text(HASH_START, value_get_text(about, "uid"));
    if (place_event(cache, name, uid, &event))
        return;
    struct orphan *orphan = &cache->orphans[cache->next_orphan++ % ORPHANS];
    clear_orphan(orphan);
    *orphan = (struct orphan){
        .waiting = event, .uid = uid, .name = cached_copy_text(name, CACHED_TOKEN_SIZE)};
}

void kubernetes_events_place_orphans(struct kubernetes_cache *cache, const char *token)
{
    size_t length = strlen(token);
    for (size_t i = 0; i < ORPHANS; i++) {
        struct orphan *orphan = &cache->orphans[i];
        if (!orphan->name)
            continue;
        const char *name = orphan->name + (strncmp(orphan->name, "job-", 4) == 0 ? 4 : 0);
        if (strncmp(orphan->name, token, length) && strncmp(name, token, length))
            continue;
        if (place_event(cache, text_of(orphan->name), orphan->uid, &orphan->waiting))
            clear_orphan(orphan);
    }
}
