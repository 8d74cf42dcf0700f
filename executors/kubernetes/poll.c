/* executors/kubernetes/poll.c - answer polls from the cache
 *
 * The server is asked about single jobs in two cases only, many jobs in a request and a bounded number
 * for each poll: a token that the cache does not know, before it is reported as vanished (a watch may
 * be late); and the pods of an ended job that were never seen.  Jobs without an answer are
 * PHASE_UNKNOWN, and asked about again in the next poll.
 *
 * When the server has not answered for a minute, no job is answered from the cache.  Without the right
 * to list Events jobs are followed all the same, with fewer reasons why they wait.
 */
#include <stdio.h>

#include "executors/kubernetes/follow.h"

/* A batch that is being answered. */
struct question {
    struct kubernetes *kubernetes;
    struct arena *arena;
    struct job_poll **jobs;
    enum kubernetes_known *known; /* of each */
    struct lookup *lookups;       /* of each */
    struct lookup **asked;        /* those of one request */
    size_t count;
};

static void answer_from_cache(struct question *question, size_t at)
{
    executor_clear_poll(question->jobs[at]);
    question->known[at] = kubernetes_cache_poll(kubernetes_follow_cache(question->kubernetes),
                                                question->arena, question->jobs[at]);
}

/* Ask the server about the jobs that the cache answered in that way. */
static void ask_server(struct question *question, enum kubernetes_known known,
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
    ask_server(question, KUBERNETES_NOT_KNOWN, kubernetes_follow_ask_jobs);
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
    ask_server(question, KUBERNETES_DOUBTFUL, kubernetes_follow_ask_pods);
    for (size_t i = 0; i < question->count; i++) {
        if (question->known[i] != KUBERNETES_DOUBTFUL)
            continue;
        if (question->lookups[i].answered)
            answer_from_cache(question, i);
        else
            executor_clear_poll(question->jobs[i]); /* PHASE_UNKNOWN */
    }
}

/* Needs no request of its own: the watch on this spool's Jobs has them all. */
int kubernetes_list(struct executor *executor, executor_take *take, void *context,
                    struct error *error)
{
    struct kubernetes *kubernetes = kubernetes_of(executor);
    if (!executor->identity[0])
        return 0;
    if (kubernetes_follow(kubernetes, error))
        return -1;
    kubernetes_cache_list(kubernetes_follow_cache(kubernetes), executor->identity, take, context);
    return 0;
}

int kubernetes_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                    size_t count, struct error *error)
{
    struct kubernetes *kubernetes = kubernetes_of(executor);
    for (size_t i = 0; i < count; i++)
        executor_clear_poll(jobs[i]);
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
    kubernetes_follow_trim(kubernetes);
    return 0;
}
