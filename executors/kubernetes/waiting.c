/* executors/kubernetes/waiting.c - why a job waits, said once
 *
 * The cluster says the same thing in changing words: the scheduler counts nodes, the kubelet
 * alternates between ErrImagePull and ImagePullBackOff, events name pods that were replaced.  Each
 * sentence becomes a line of the job's log, so only a new meaning counts: a hash of the message's
 * parts in any order, without digits and quoted names (a quota with other numbers is the same reason
 * to wait).  The words are those that the cluster used first for the meaning; a few meanings are
 * remembered, so that two that alternate are reported once each.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "executors/kubernetes/waiting.h"

enum { MESSAGE_SIZE = 400 }; /* bytes of a message that are kept */

/* One part of a message, without what changes by itself. */
static uint64_t hash_part(struct text part)
{
    uint64_t hash = HASH_START;
    bool quoted = false;
    for (size_t i = 0; i < part.length; i++) {
        unsigned char byte = (unsigned char)part.data[i];
        quoted ^= byte == '"';
        if (quoted || byte == '"' || isdigit(byte) || byte == ' ')
            continue;
        hash = hash_byte(hash, byte);
    }
    return hash;
}

/* What the scheduler adds about preemption changes with every pod that comes or goes. */
static uint64_t hash_meaning(struct text message)
{
    const struct text tail = TEXT("preemption: ");
    const char *cut =
        message.length ? memmem(message.data, message.length, tail.data, tail.length) : NULL;
    if (cut)
        message.length = (size_t)(cut - message.data);
    uint64_t sum = 0;
    size_t start = 0;
    for (size_t i = 0; message.length && i <= message.length; i++) {
        if (i < message.length && message.data[i] != ',' && message.data[i] != ':')
            continue;
        struct text part = text_trim((struct text){message.data + start, i - start});
        while (part.length && part.data[part.length - 1] == '.')
            part.length--;
        sum += part.length ? hash_part(part) : 0;
        start = i + 1;
    }
    return sum;
}

void kubernetes_waiting_set(struct waiting *waiting, enum waiting_cause cause, const char *word,
                            struct text message)
{
    cached_waiting_clear(waiting);
    waiting->cause = cause;
    waiting->meaning = hash_meaning(message);
    char *clean = cached_copy_text(message, MESSAGE_SIZE);
    struct buffer text = {0};
    buffer_printf(&text, "%s%s%s", word, clean[0] ? ": " : "", clean);
    free(clean);
    waiting->text = text.data;
}

bool kubernetes_waiting_of_event(struct waiting *waiting, struct text kind, struct text reason,
                                 struct text message)
{
    static const struct {
        const char *kind, *reason;
        enum waiting_cause cause;
    } table[] = {
        {"Job", "FailedCreate", WAITING_CREATION},
        {"Pod", "FailedMount", WAITING_VOLUME},
        {"Pod", "FailedAttachVolume", WAITING_VOLUME},
        {"Pod", "FailedMapVolume", WAITING_VOLUME},
        {"Pod", "FailedCreatePodSandBox", WAITING_SANDBOX},
        {"Pod", "FailedCreatePodContainer", WAITING_START},
        {"Pod", "NetworkNotReady", WAITING_SANDBOX},
        {"Pod", "FailedScheduling", WAITING_NODE},
        {"Workload", "Pending", WAITING_KUEUE},
        {"Workload", "Inadmissible", WAITING_KUEUE},
    };
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        if (!text_is(kind, table[i].kind) || !text_is(reason, table[i].reason))
            continue;
        const char *word = table[i].cause == WAITING_NODE ? "Unschedulable" : table[i].reason;
        kubernetes_waiting_set(waiting, table[i].cause, word, message);
        return true;
    }
    return false;
}

/* ---- a job ---- */

struct choice {
    const struct waiting *waiting;
    const char *role;
    int index;
};

static void choose_more_telling(struct choice *choice, const struct waiting *waiting,
                                const char *role, int index)
{
    if (waiting->cause == WAITING_NOT)
        return;
    if (choice->waiting) {
        int order = (int)waiting->cause - (int)choice->waiting->cause;
        if (order == 0)
            order = strcmp(role, choice->role);
        if (order == 0)
            order = (index > choice->index) - (index < choice->index);
        if (order >= 0)
            return;
    }
    *choice = (struct choice){waiting, role, index};
}

/* Does the Job have fewer pods than may run at once?  Only then are pods really refused. */
static bool lacks_pods(const struct cached_token *token, const struct cached_job *job)
{
    int pods = 0;
    for (size_t i = 0; i < token->pod_count; i++)
        pods += !token->pods[i].gone && strcmp(token->pods[i].role, job->role) == 0;
    return pods < job->completions && pods < job->at_once;
}

/* What follows the first word. */
static const char *message_of(const struct waiting *waiting)
{
    const char *colon = strstr(waiting->text, ": ");
    return colon ? colon + 2 : waiting->text;
}

static const int64_t suspended_patience = 5000; /* milliseconds */

static void consider_job(struct choice *choice, const struct cached_token *token,
                         const struct cached_job *job, struct waiting *own)
{
    struct buffer words = {0};
    if (job->complete || job->failed || job->missing)
        return;
    if (!job->suspended) {
        if (job->event.cause == WAITING_CREATION && lacks_pods(token, job))
            choose_more_telling(choice, &job->event, job->role, 0);
        return;
    }
    /* A job of several objects is suspended until all are there: nothing worth a word. */
    if (!job->queue && clock_elapsed() - job->suspended_since < suspended_patience)
        return;
    if (job->queue)
        buffer_printf(&words, "suspended by Kueue, in the queue %s%s%s", job->queue,
                      job->event.cause == WAITING_KUEUE ? ": " : "",
                      job->event.cause == WAITING_KUEUE ? message_of(&job->event) : "");
    else
        buffer_add_string(&words, "the Job is suspended, and starts when it is released");
    cached_waiting_clear(own);
    *own = (struct waiting){
        .cause = job->queue ? WAITING_KUEUE : WAITING_SUSPENDED,
        .meaning = job->event.cause == WAITING_KUEUE ? job->event.meaning : 0,
        .text = words.data,
    };
    choose_more_telling(choice, own, job->role, 0);
}

static bool was_said(const struct cached_token *token, uint64_t meaning)
{
    for (size_t i = 0; i < WAITING_SAID; i++)
        if (token->said_before[i] == meaning)
            return true;
    return false;
}

static void remember_said(struct cached_token *token, uint64_t meaning)
{
    memmove(token->said_before + 1, token->said_before,
            sizeof(token->said_before) - sizeof(token->said_before[0]));
    token->said_before[0] = meaning;
}

/* Choose the most specific cause of all Jobs and pending pods.  Its words replace the ones that were said
 * only when the cause or the meaning is new. */
const char *kubernetes_waiting_say(struct cached_token *token)
{
    struct choice choice = {0};
    struct waiting *own =
        token->job_count ? memory_allocate(token->job_count * sizeof(*own)) : NULL;
    for (size_t i = 0; i < token->job_count; i++)
        consider_job(&choice, token, &token->jobs[i], &own[i]);
    for (size_t i = 0; i < token->pod_count; i++) {
        const struct cached_pod *pod = &token->pods[i];
        if (pod->phase != POD_PENDING || pod->deletion)
            continue;
        choose_more_telling(&choice, &pod->waiting, pod->role, pod->index);
        if (pod->event.cause != WAITING_NODE || pod->waiting.cause == WAITING_NOT)
            choose_more_telling(&choice, &pod->event, pod->role, pod->index);
    }
    if (choice.waiting) {
        bool other = token->said.cause != choice.waiting->cause;
        uint64_t meaning = choice.waiting->meaning ^ hash_text(HASH_START, text_of(choice.role));
        meaning += meaning == 0;
        if (other)
            memset(token->said_before, 0, sizeof(token->said_before));
        if (other || !was_said(token, meaning)) {
            struct buffer text = {0};
            if (token->job_count > 1)
                buffer_printf(&text, "role %s: ", choice.role);
            buffer_add_string(&text, choice.waiting->text);
            cached_waiting_clear(&token->said);
            token->said = (struct waiting){choice.waiting->cause, meaning, text.data};
            remember_said(token, meaning);
        }
    }
    for (size_t i = 0; i < token->job_count; i++)
        cached_waiting_clear(&own[i]);
    free(own);
    return choice.waiting ? token->said.text : "";
}
