/* executors/kubernetes/poll.c - how jobs fare: answered from what watches bring
 *
 * One watch each for Jobs and Pods (by the spool's label) and for the namespace's warnings.  Nobody
 * is asked about a single job, but for two cases that are made sure of with the server itself, many
 * at once and a bounded number each time: a token that the cache does not know, before it is called
 * vanished (a watch may be late); and the pods of a job at its end that were never seen.  What is
 * not answered yet is PHASE_UNKNOWN, and asked for the next time.
 *
 * When the server does not answer for a minute nothing is said from memory any more.  Without leave
 * to see Events jobs are followed all the same, with fewer reasons why they wait.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "executors/http/http.h"
#include "executors/kubernetes/follow.h"
#include "executors/kubernetes/watch.h"

enum {
    /* Objects of one page.  A pod is some 10 KiB of JSON, and a tree of several times that. */
    PAGE_JOBS = 200,
    PAGE_PODS = 100,
    PAGE_EVENTS = 500,
    IDS_ASKED = 50,   /* Jobs in one question: its URL stays below 4 KiB */
    QUESTIONS = 4,    /* of those in one poll */
    PODS_ASKED = 16,  /* jobs whose pods are asked for in one poll */
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
    bool events_missed; /* that they cannot be watched was said */
    int64_t give_back;  /* of clock_elapsed(): when free memory is given back next */
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
    /* Events have none of our labels.  All that is of use to us is a warning. */
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

struct kubernetes_cache *kubernetes_followed(struct kubernetes *kubernetes)
{
    return kubernetes->follower ? kubernetes->follower->cache : NULL;
}

static void report_missed_events(struct kubernetes_follower *follower)
{
    const struct kubernetes_watch *events = follower->watches[FOLLOW_EVENTS];
    bool missed =
        kubernetes_watch_blind(events) > blind_limit / 2 && kubernetes_watch_trouble(events)[0];
    if (missed && !follower->events_missed)
        log_warn("Events cannot be watched, so that some reasons why jobs wait are not seen: %s",
                 kubernetes_watch_trouble(events));
    follower->events_missed = missed;
}

int kubernetes_follow(struct kubernetes *kubernetes, struct error *error)
{
    if (!kubernetes->follower)
        kubernetes->follower = open_follower(kubernetes);
    struct kubernetes_follower *follower = kubernetes->follower;
    struct kubernetes_watch *const *watches = follower->watches;
    kubernetes_watches_drive(kubernetes->connection, watches, FOLLOW_EVENTS, stream_wait);
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
    /* What Events are about is known by now. */
    kubernetes_watches_drive(kubernetes->connection, &watches[FOLLOW_EVENTS], 1, 0);
    report_missed_events(follower);
    return 0;
}

/* ---- asking the server itself ---- */

static void take_items(struct kubernetes *kubernetes, enum followed_kind kind,
                       const struct kubernetes_call *call)
{
    const struct value *items = value_get(call->answer, "items");
    for (size_t i = 0; i < value_length(items); i++)
        kubernetes_cache_take(kubernetes->follower->cache, kind, items->list.items[i], false,
                              false);
}

/* Whether the answer is a whole list. */
static bool is_list(const struct kubernetes_call *call)
{
    const struct value *items = value_get(call->answer, "items");
    return call->outcome == KUBERNETES_DONE && items &&
           (items->kind == VALUE_LIST || items->kind == VALUE_NULL);
}

static struct text jobs_path(struct arena *arena, const struct kubernetes *kubernetes,
                             struct lookup *const *lookups, size_t count)
{
    struct buffer path = {0};
    buffer_add_text(&path, collection_path(arena, kubernetes, FOLLOW_JOBS));
    /* Several attempts of one job may be there, each a few Jobs: far from what an answer can hold.
     */
    buffer_printf(&path, "?labelSelector=dlspool%%2Fspool%%3D%s%%2Cdlspool%%2Fjob%%20in%%20%%28",
                  kubernetes->spool);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&path, "%s%s", i ? "%2C" : "", lookups[i]->id);
    buffer_add_string(&path, "%29");
    struct text text = arena_text(arena, path.data, path.length);
    buffer_free(&path);
    return text;
}

void kubernetes_look_up_jobs(struct kubernetes *kubernetes, struct lookup *const *lookups,
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
        if (is_list(&calls[i])) {
            take_items(kubernetes, FOLLOW_JOBS, &calls[i]);
            for (size_t j = i * IDS_ASKED; j < count && j < (i + 1) * IDS_ASKED; j++)
                lookups[j]->answered = true;
        }
        kubernetes_call_free(&calls[i]);
    }
    arena_free(arena);
}

/* All pages of one job's pods. */
static bool ask_pods(struct kubernetes *kubernetes, const struct lookup *lookup)
{
    struct buffer next = {0};
    bool good = false;
    for (int page = 0; page < PAGES_ASKED && !good; page++) {
        struct arena *arena = arena_new();
        struct text selector =
            kubernetes_job_selector(arena, kubernetes, lookup->id, lookup->attempt);
        struct buffer path = {0};
        buffer_printf(&path, "%s%s&limit=%d", collection_path(arena, kubernetes, FOLLOW_PODS).data,
                      selector.data, PAGE_PODS);
        if (next.length) {
            buffer_add_string(&path, "&continue=");
            http_escape(&path, buffer_text(&next));
        }
        struct kubernetes_call call = {.method = "GET",
                                       .path = arena_text(arena, path.data, path.length)};
        buffer_free(&path);
        bool answered =
            kubernetes_ask(kubernetes, arena, &call) == KUBERNETES_DONE && is_list(&call);
        struct text more = value_get_text(value_get(call.answer, "metadata"), "continue");
        if (answered)
            take_items(kubernetes, FOLLOW_PODS, &call);
        buffer_clear(&next);
        buffer_add_text(&next, more);
        good = answered && !more.length;
        kubernetes_call_free(&call);
        arena_free(arena);
        if (!answered)
            break;
    }
    buffer_free(&next);
    return good;
}

void kubernetes_look_up_pods(struct kubernetes *kubernetes, struct lookup *const *lookups,
                             size_t count)
{
    for (size_t i = 0; i < count && i < PODS_ASKED; i++) {
        lookups[i]->answered = ask_pods(kubernetes, lookups[i]);
        if (!lookups[i]->answered)
            break; /* the others would only wait for the same time-out */
        kubernetes_cache_confirm(kubernetes->follower->cache, lookups[i]->id, lookups[i]->attempt);
    }
}

/* ---- poll ---- */

static void clear_poll(struct job_poll *poll)
{
    *poll = (struct job_poll){.id = poll->id,
                              .attempt = poll->attempt,
                              .killed = poll->killed,
                              .killed_count = poll->killed_count};
}

/* A batch that is being answered. */
struct question {
    struct kubernetes *kubernetes;
    struct arena *arena;
    struct job_poll **jobs;
    enum kubernetes_known *known; /* of each */
    struct lookup *lookups;       /* of each */
    struct lookup **asked;        /* those that are asked for */
    size_t count;
};

static void answer_from_cache(struct question *question, size_t at)
{
    clear_poll(question->jobs[at]);
    question->known[at] = kubernetes_cache_poll(question->kubernetes->follower->cache,
                                                question->arena, question->jobs[at]);
}

/* Have those that the cache answered like that looked up. */
static void look_up(struct question *question, enum kubernetes_known known,
                    void (*ask)(struct kubernetes *, struct lookup *const *, size_t))
{
    size_t asks = 0;
    for (size_t i = 0; i < question->count; i++)
        if (question->known[i] == known)
            question->asked[asks++] = &question->lookups[i];
    if (asks)
        ask(question->kubernetes, question->asked, asks);
}

static void ask_for_unknown(struct question *question)
{
    look_up(question, KUBERNETES_NOT_KNOWN, kubernetes_look_up_jobs);
    for (size_t i = 0; i < question->count; i++) {
        struct job_poll *poll = question->jobs[i];
        if (question->known[i] != KUBERNETES_NOT_KNOWN || !question->lookups[i].answered)
            continue;
        answer_from_cache(question, i);
        if (question->known[i] != KUBERNETES_NOT_KNOWN)
            continue;
        poll->phase = PHASE_VANISHED;
        snprintf(poll->detail, sizeof(poll->detail),
                 "namespace %s has no Job of this job and attempt", question->kubernetes->space);
    }
}

static void ask_for_doubtful(struct question *question)
{
    for (size_t i = 0; i < question->count; i++)
        question->lookups[i].answered = false;
    look_up(question, KUBERNETES_DOUBTFUL, kubernetes_look_up_pods);
    for (size_t i = 0; i < question->count; i++) {
        if (question->known[i] != KUBERNETES_DOUBTFUL)
            continue;
        if (question->lookups[i].answered)
            answer_from_cache(question, i);
        else
            clear_poll(question->jobs[i]); /* PHASE_UNKNOWN */
    }
}

/* Lists take much memory for a moment, which malloc() would keep. */
static void trim_heap(struct kubernetes_follower *follower)
{
    if (clock_elapsed() < follower->give_back)
        return;
    malloc_trim(0);
    follower->give_back = clock_elapsed() + trim_interval;
}

/* Asks no more than a poll does: the watch on this spool's Jobs has them all. */
int kubernetes_list(struct executor *executor, executor_take *take, void *context,
                    struct error *error)
{
    struct kubernetes *kubernetes = kubernetes_of(executor);
    if (!executor->identity[0])
        return 0;
    if (kubernetes_follow(kubernetes, error))
        return -1;
    kubernetes_cache_list(kubernetes->follower->cache, executor->identity, take, context);
    return 0;
}

int kubernetes_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                    size_t count, struct error *error)
{
    struct kubernetes *kubernetes = kubernetes_of(executor);
    for (size_t i = 0; i < count; i++)
        clear_poll(jobs[i]);
    if (kubernetes_follow(kubernetes, error))
        return -1;
    struct question question = {
        .kubernetes = kubernetes,
        .arena = arena,
        .jobs = jobs,
        .known = arena_allocate(arena, (count + 1) * sizeof(enum kubernetes_known)),
        .lookups = arena_allocate(arena, (count + 1) * sizeof(struct lookup)),
        .asked = arena_allocate(arena, (count + 1) * sizeof(struct lookup *)),
        .count = count,
    };
    for (size_t i = 0; i < count; i++) {
        question.lookups[i] = (struct lookup){.id = jobs[i]->id, .attempt = jobs[i]->attempt};
        answer_from_cache(&question, i);
    }
    ask_for_unknown(&question);
    ask_for_doubtful(&question);
    trim_heap(kubernetes->follower);
    return 0;
}
