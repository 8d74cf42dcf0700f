/* executors/kubernetes/follow.c - keep the cache up to date, by watches and by requests
 *
 * One watch each for Jobs and Pods (by the spool's label) and for the namespace's warnings.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "executors/kubernetes/follow.h"
#include "executors/kubernetes/watch.h"

enum {
    /* Objects of one page.  A pod is some 10 KiB of JSON, and a tree of several times that. */
    PAGE_JOBS = 200,
    PAGE_PODS = 100,
    PAGE_EVENTS = 500,
    IDS_ASKED = 50,   /* jobs in one request: its URL stays below 4 KiB */
    QUESTIONS = 4,    /* such requests in one poll */
    PODS_ASKED = 16,  /* jobs whose pods are listed in one poll */
    PAGES_ASKED = 200 /* pages of their pods */
};

static const int64_t blind_limit = 60000;  /* milliseconds */
static const int64_t trim_interval = 5000; /* ms */
static const int64_t stream_wait = 10;     /* milliseconds that a poll waits for news */

struct feed {
    struct kubernetes_cache *cache;
    enum followed_kind kind;
};

struct kubernetes_follower {
    struct kubernetes_cache *cache;
    struct feed feeds[FOLLOW_KINDS];
    struct kubernetes_watch *watches[FOLLOW_KINDS];
    bool events_missed; /* the log has that Events cannot be watched */
    int64_t trim_due;   /* of clock_elapsed(): when the heap is trimmed next */
};

/* ---- the watches ---- */

static void begin_feed(void *context)
{
    const struct feed *feed = context;
    kubernetes_cache_list_begin(feed->cache, feed->kind);
}

static void feed_object(void *context, const struct value *object, bool deleted, bool listed)
{
    const struct feed *feed = context;
    kubernetes_cache_take(feed->cache, feed->kind, object, deleted, listed);
}

static void end_feed(void *context)
{
    const struct feed *feed = context;
    kubernetes_cache_list_end(feed->cache, feed->kind);
}

static struct text collection_path(struct arena *arena, const struct kubernetes *kubernetes,
                                   enum followed_kind kind)
{
    static const char *const groups[] = {"/apis/batch/v1", "/api/v1", "/api/v1"};
    static const char *const plurals[] = {"jobs", "pods", "events"};
    return arena_printf(arena, "%s/namespaces/%s/%s", groups[kind], kubernetes->space,
                        plurals[kind]);
}

static struct kubernetes_follower *open_follower(struct kubernetes *kubernetes)
{
    static const int pages[] = {PAGE_JOBS, PAGE_PODS, PAGE_EVENTS};
    struct kubernetes_follower *follower = memory_allocate(sizeof(*follower));
    struct arena *arena = arena_new();
    follower->cache = kubernetes_cache_new();
    /* Events do not have our labels.  Only warnings are of use here. */
    struct text ours =
        arena_printf(arena, "labelSelector=dlspool%%2Fspool%%3D%s", kubernetes->spool);
    for (enum followed_kind kind = 0; kind < FOLLOW_KINDS; kind++) {
        follower->feeds[kind] = (struct feed){follower->cache, kind};
        const struct kubernetes_consumer consumer = {
            .list_begin = begin_feed,
            .object = feed_object,
            .list_end = end_feed,
            .context = &follower->feeds[kind],
        };
        follower->watches[kind] =
            kubernetes_watch_new(collection_path(arena, kubernetes, kind).data,
                                 kind == FOLLOW_EVENTS ? "fieldSelector=type%3DWarning" : ours.data,
                                 pages[kind], &consumer);
    }
    arena_free(arena);
    return follower;
}

void kubernetes_follow_close(struct kubernetes_follower *follower)
{
    if (!follower)
        return;
    for (enum followed_kind kind = 0; kind < FOLLOW_KINDS; kind++)
        kubernetes_watch_free(follower->watches[kind]);
    kubernetes_cache_free(follower->cache);
    free(follower);
}

bool kubernetes_follow_sees_jobs(const struct kubernetes *kubernetes)
{
    const struct kubernetes_watch *jobs =
        kubernetes->follower ? kubernetes->follower->watches[FOLLOW_JOBS] : NULL;
    return jobs && kubernetes_watch_listed(jobs) && !kubernetes_watch_blind(jobs);
}

struct kubernetes_cache *kubernetes_follow_cache(struct kubernetes *kubernetes)
{
    return kubernetes->follower ? kubernetes->follower->cache : NULL;
}

/* Log, once, that Events have not been watched for half a minute. */
static void report_missed_events(struct kubernetes_follower *follower)
{
    const struct kubernetes_watch *events = follower->watches[FOLLOW_EVENTS];
    bool missed =
        kubernetes_watch_blind(events) > blind_limit / 2 && kubernetes_watch_trouble(events)[0];
    if (missed && !follower->events_missed)
        log_warn("cannot watch Events, so some reasons why jobs wait are missing: %s",
                 kubernetes_watch_trouble(events));
    follower->events_missed = missed;
}

int kubernetes_follow(struct kubernetes *kubernetes, struct error *error)
{
    if (!kubernetes->follower)
        kubernetes->follower = open_follower(kubernetes);
    struct kubernetes_follower *follower = kubernetes->follower;
    struct kubernetes_watch *const *watches = follower->watches;
    kubernetes_watch_drive_all(kubernetes->connection, watches, FOLLOW_EVENTS, stream_wait);
    for (enum followed_kind kind = 0; kind < FOLLOW_EVENTS; kind++) {
        bool listed = kubernetes_watch_listed(watches[kind]);
        if (listed && kubernetes_watch_blind(watches[kind]) <= blind_limit)
            continue;
        const char *trouble = kubernetes_watch_trouble(watches[kind]);
        return error_set(error, "the %s in namespace %s at %s cannot be %s: %s",
                         kind == FOLLOW_JOBS ? "Jobs" : "Pods", kubernetes->space,
                         kubernetes->server, listed ? "watched" : "listed",
                         trouble[0] ? trouble : "the list is not whole yet");
    }
    /* By now the objects that Events are about are in the cache. */
    kubernetes_watch_drive_all(kubernetes->connection, &watches[FOLLOW_EVENTS], 1, 0);
    report_missed_events(follower);
    return 0;
}

/* ---- requests ---- */

/* Put the objects of an answer into the cache.  False when it is no list. */
static bool take_list(struct kubernetes *kubernetes, enum followed_kind kind,
                      const struct value *answer)
{
    const struct value *items = value_get(answer, "items");
    for (size_t i = 0; i < value_length(items); i++)
        kubernetes_cache_take(kubernetes->follower->cache, kind, items->list.items[i], false,
                              false);
    return items && (items->kind == VALUE_LIST || items->kind == VALUE_NULL);
}

static struct text jobs_path(struct arena *arena, const struct kubernetes *kubernetes,
                             struct lookup *const *lookups, size_t count)
{
    struct buffer path = {0};
    buffer_add_text(&path, collection_path(arena, kubernetes, FOLLOW_JOBS));
    /* A job may have several attempts of a few Jobs each, which one answer can hold. */
    buffer_printf(&path, "?labelSelector=dlspool%%2Fspool%%3D%s%%2Cdlspool%%2Fjob%%20in%%20%%28",
                  kubernetes->spool);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&path, "%s%s", i ? "%2C" : "", lookups[i]->id);
    buffer_add_string(&path, "%29");
    return arena_take(arena, &path);
}

void kubernetes_follow_ask_jobs(struct kubernetes *kubernetes, struct lookup *const *lookups,
                                size_t count)
{
    struct kubernetes_call calls[QUESTIONS] = {0}, *asked[QUESTIONS];
    size_t asks = 0;
    if (count > (size_t)IDS_ASKED * QUESTIONS)
        count = (size_t)IDS_ASKED * QUESTIONS;
    struct arena *arena = arena_new();
    for (size_t at = 0; at < count; at += IDS_ASKED) {
        size_t some = count - at < IDS_ASKED ? count - at : IDS_ASKED;
        calls[asks].method = "GET";
        calls[asks].path = jobs_path(arena, kubernetes, lookups + at, some);
        asked[asks] = &calls[asks];
        asks++;
    }
    if (asks)
        kubernetes->run(kubernetes->connection, arena, asked, asks);
    for (size_t i = 0; i < asks; i++) {
        bool answered = calls[i].outcome == KUBERNETES_DONE &&
                        take_list(kubernetes, FOLLOW_JOBS, calls[i].answer);
        for (size_t j = i * IDS_ASKED; answered && j < count && j < (i + 1) * IDS_ASKED; j++)
            lookups[j]->answered = true;
        kubernetes_api_call_free(&calls[i]);
    }
    arena_free(arena);
}

/* The pods of one job that are listed into the cache. */
struct pod_listing {
    struct kubernetes *kubernetes;
    int pages;
};

static bool take_pod_page(void *context, const struct value *page)
{
    struct pod_listing *listing = context;
    return listing->pages++ < PAGES_ASKED && take_list(listing->kubernetes, FOLLOW_PODS, page);
}

/* List all pages of one job's pods into the cache; false when one was not answered. */
static bool ask_pods(struct kubernetes *kubernetes, const struct lookup *lookup)
{
    struct arena *arena = arena_new();
    struct pod_listing listing = {.kubernetes = kubernetes};
    struct error error;
    int status;
    int64_t rest;
    struct text path = arena_printf(
        arena, "%s%s&limit=%d", collection_path(arena, kubernetes, FOLLOW_PODS).data,
        kubernetes_job_selector(arena, kubernetes, lookup->id, lookup->attempt).data, PAGE_PODS);
    bool answered = kubernetes_list_pages(kubernetes, NULL, path.data, take_pod_page, &listing,
                                          &status, &rest, &error) == KUBERNETES_DONE;
    arena_free(arena);
    return answered;
}

void kubernetes_follow_ask_pods(struct kubernetes *kubernetes, struct lookup *const *lookups,
                                size_t count)
{
    for (size_t i = 0; i < count && i < PODS_ASKED; i++) {
        lookups[i]->answered = ask_pods(kubernetes, lookups[i]);
        if (!lookups[i]->answered)
            break; /* the others would wait for the same time-out */
        kubernetes_cache_confirm(kubernetes->follower->cache, lookups[i]->id, lookups[i]->attempt);
    }
}

void kubernetes_follow_trim(struct kubernetes *kubernetes)
{
    struct kubernetes_follower *follower = kubernetes->follower;
    if (clock_elapsed() < follower->trim_due)
        return;
    malloc_trim(0);
    follower->trim_due = clock_elapsed() + trim_interval;
}
