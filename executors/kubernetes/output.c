/* executors/kubernetes/output.c - copy the output of tasks into the job's output/
 *
 * The logs of the containers `main` of all tasks of a batch are requested at the same time.  New bytes
 * are appended to <role>-<index>.log; then the place in the log (pod_log.h) is written to
 * .<role>-<index>.position beside it.  A file that is longer than its place says shows a crash between
 * the two: the next bytes are compared with those in the file, and only the rest is appended.  So over
 * any number of restarts no byte is lost or written twice.  A file without a valid position is compared
 * from its start in the same way.
 *
 * At half of log_limit a file is renamed to <role>-<index>.log.1, replacing the one before, and a new
 * one is begun: the end of a task's output is kept, and log_limit is not exceeded.
 *
 * A log without new bytes is requested less and less often, and all such logs together no more often than
 * log_requests says: with many of them each has its turn later.  One whose node does not answer is
 * requested rarely, after all others, and with a short time-out.  Once the container has ended, its whole
 * log is copied and not requested again.
 *
 * Known weakness: a task that prints more than 8 MiB in a second loses some of it, and so does one
 * that prints more than the kubelet keeps (10 MiB by default) between two calls.  The file says so in
 * both cases.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/names.h"
#include "executors/kubernetes/follow.h"
#include "executors/kubernetes/output.h"

enum {
    PIECE = 256 << 10,    /* bytes of a log that are requested beyond the known place */
    PIECE_MOST = 8 << 20, /* ... at most, where a second has more than that */
    LOGS_MOST = 100000,   /* remembered logs; all are forgotten when there are more */
    ROUNDS = 6            /* of requests in one call, as time allows */
};

static const int64_t ask_timeout = 5000;                    /* milliseconds */
static const int64_t rounds_time = 4000, last_time = 20000; /* ms for all requests of a call */
static const int64_t ends_time = 1000; /* ms that a call waits for streams to end */
static const int64_t least_delay = 1000, most_delay = 15000; /* ms between requests */
static const int64_t hang_delay = 60000; /* ms: a pod whose node did not answer */
enum { HANGS_MOST = 3 }; /* times in a row after which a lost pod's log is given up */

static void forget_logs(struct kubernetes *kubernetes, const char *prefix)
{
    struct task_log *log = kubernetes->logs ? names_first(kubernetes->logs) : NULL;
    for (struct task_log *next; log; log = next) {
        next = names_after(log);
        if (text_starts(names_text(log), prefix))
            names_remove(kubernetes->logs, log);
    }
}

void kubernetes_output_forget(struct kubernetes *kubernetes, const char *id, int attempt)
{
    char token[KUBERNETES_NAME_SIZE + 1];
    snprintf(token, sizeof(token), "%s-a%d/", id, attempt);
    kubernetes_output_forget_ends(kubernetes, token);
    forget_logs(kubernetes, token);
}

/* ---- whose log is requested ---- */

/* Choose the pod to read next: the one of the remembered place or, once that is read or gone, the next
 * younger one.  Moving to another pod resets the place, and `out` gets a note for the log. */
static void choose_pod(struct copying *copying, struct buffer *out)
{
    struct pod_log_place *place = &copying->log->place;
    size_t at = 0;
    while (place->pod && at < copying->pod_count && copying->pods[at]->uid != place->pod)
        at++;
    bool known = place->pod && at < copying->pod_count;
    if (place->pod && !known) { /* it is gone: the next one is what is younger */
        at = 0;
        while (at < copying->pod_count && copying->pods[at]->created < place->created)
            at++;
    }
    if (known && place->whole && at + 1 < copying->pod_count) {
        at++;
        known = false;
    }
    copying->pod = at;
    if (at == copying->pod_count || known)
        return;
    if (place->pod)
        buffer_printf(out, "%s[dlspool: the task was started again, as pod %s]\n",
                      place->inside ? "\n" : "", copying->pods[at]->name);
    *place = (struct pod_log_place){.pod = copying->pods[at]->uid,
                                    .created = copying->pods[at]->created,
                                    .file = place->file,
                                    .length = place->length,
                                    .skip = place->skip};
    copying->log->hangs = 0;
    copying->log->due = 0;
    copying->log->delay = 0;
}

/* ---- how often ---- */

/* When a log that has nothing new is requested next: later each time and, since all such logs together may
 * cost only so many requests a second, when the turns of those before it are over.  What others have
 * reserved and do not need any more, as they are forgotten, is given back. */
static int64_t next_turn(struct kubernetes *kubernetes, struct task_log *log)
{
    int64_t now = clock_elapsed(), pause = 1000 / kubernetes->settings.log_requests;
    int64_t all = now + (int64_t)names_count(kubernetes->logs) * pause;
    int64_t turn = (kubernetes->log_turn > now ? kubernetes->log_turn : now) + pause;
    kubernetes->log_turn = turn < all ? turn : all;
    log->delay = log->delay < least_delay ? least_delay : log->delay;
    log->delay = 2 * log->delay < most_delay ? 2 * log->delay : most_delay;
    return kubernetes->log_turn > now + log->delay ? kubernetes->log_turn : now + log->delay;
}

/* Is the task told to end, by us or somebody else, and its container still there?  What it prints until then
 * is followed. */
static bool is_to_be_followed(const struct copying *copying)
{
    const struct cached_pod *pod = copying->pods[copying->pod];
    bool told = copying->job->ending && executor_call_names_task(copying->job, pod->index);
    return pod->started && !copying->ended && !pod->lost && (told || pod->deletion) &&
           clock_elapsed() >= copying->log->follow_due;
}

/* Should the log be requested now?  Also chooses the pod, which may write a note into the file. */
static bool is_wanted(struct copying *copying)
{
    struct task_log *log = copying->log;
    struct buffer out = {0};
    if (kubernetes_output_load_place(copying))
        return false;
    struct pod_log_place before = log->place;
    choose_pod(copying, &out);
    int result = out.length ? kubernetes_output_write(copying, &before, buffer_text(&out)) : 0;
    buffer_free(&out);
    if (result || copying->pod >= copying->pod_count || log->place.whole)
        return false;
    const struct cached_pod *pod = copying->pods[copying->pod];
    bool terminal = pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
    copying->ended = terminal || pod->main_ended;
    copying->slow = log->hangs > 0;
    if (kubernetes_output_is_followed(copying))
        return false;
    if (is_to_be_followed(copying) && kubernetes_output_follow(copying)) {
        copying->followed = true;
        return false;
    }
    if (terminal && !pod->started) {
        log->place.whole = true; /* it never ran: there is no log */
        return false;
    }
    /* What has ended need not wait for its turn among the silent. */
    bool due = clock_elapsed() >= log->due || (copying->ended && log->delay > least_delay);
    return pod->started && (due || copying->job->last);
}

struct text kubernetes_output_path(const struct copying *copying, struct arena *arena,
                                   const char *more)
{
    const struct pod_log_place *place = &copying->log->place;
    char since[64] = "", time[CLOCK_TEXT_SIZE];
    if (place->since) {
        clock_format(place->since * 1000, time);
        snprintf(since, sizeof(since), "&sinceTime=%.19sZ", time);
    }
    return arena_printf(arena,
                        "/api/v1/namespaces/%s/pods/%s/log?container=main&timestamps=true%s%s",
                        copying->kubernetes->space, copying->pods[copying->pod]->name, more, since);
}

static void prepare_call(struct copying *copying, struct arena *arena)
{
    const struct pod_log_place *place = &copying->log->place;
    char limit[64];
    if (!copying->log->piece)
        copying->log->piece = PIECE;
    copying->limit =
        (size_t)(place->taken < PIECE_MOST ? place->taken : PIECE_MOST) + copying->log->piece;
    snprintf(limit, sizeof(limit), "&limitBytes=%zu", copying->limit);
    copying->call = (struct kubernetes_call){
        .method = "GET",
        .path = kubernetes_output_path(copying, arena, limit),
        .raw = true,
        .timeout = ask_timeout,
        .response_limit = copying->limit,
    };
}

/* ---- answers ---- */

/* Give up the rest of this pod's log. */
static void give_up(struct copying *copying, const char *why)
{
    log_warn("%s: cannot read the last output of pod %s: %s", copying->job->id,
             copying->pods[copying->pod]->name, why);
    copying->log->place.whole = true;
    copying->more = false;
    kubernetes_output_write_place(copying, &copying->log->place);
}

enum pod_log_taken kubernetes_output_take(struct pod_log_place *place, struct text answer,
                                          bool final, struct buffer *out)
{
    static const char gap_note[] =
        "[dlspool: the node has rotated this log in the meantime; lines may be missing here]\n";
    struct buffer text = {0};
    bool inside = place->inside;
    enum pod_log_taken taken = pod_log_take(place, answer, final, &text);
    if (taken == LOG_GAP)
        buffer_printf(out, "%s%s", inside ? "\n" : "", gap_note);
    buffer_add_text(out, buffer_text(&text));
    buffer_free(&text);
    return taken;
}

/* Append what the node answered to the task's file, and decide when to ask next.  A node answers
 * with whole seconds of a log: a piece that is too small to get beyond one second grows, up to
 * PIECE_MOST; what is printed beyond that in a second is skipped, with a note. */
static void take_log(struct copying *copying)
{
    static const char skip_note[] =
        "\n[dlspool: more was printed in a second than can be copied; a part of it is missing]\n";
    struct task_log *log = copying->log;
    struct pod_log_place before = log->place;
    struct buffer out = {0};
    struct text answer = buffer_text(&copying->call.response);
    bool full = copying->call.cut_off || answer.length >= copying->limit;
    bool final = copying->ended && !full;
    enum pod_log_taken taken = kubernetes_output_take(&log->place, answer, final, &out);
    if (taken == LOG_NO_LOG && copying->ended) {
        struct error_quote_buffer quote;
        answer = text_trim(answer);
        give_up(copying, error_quote(&quote, answer.data, answer.length));
        return;
    }
    if (full && taken == LOG_NOTHING && log->piece < PIECE_MOST) {
        log->piece *= 2;
    } else if (full && (taken == LOG_NOTHING || log->place.taken > PIECE_MOST)) {
        pod_log_skip(&log->place);
        buffer_add_string(&out, skip_note);
        log->piece = PIECE;
    }
    copying->more = full;
    log->hangs = 0;
    if (taken == LOG_NOTHING || taken == LOG_NO_LOG) {
        log->due = next_turn(copying->kubernetes, log);
    } else {
        log->delay = least_delay;
        log->due = clock_elapsed() + least_delay;
    }
    if (final)
        log->place.whole = true;
    if (memcmp(&before, &log->place, sizeof(before)) != 0)
        kubernetes_output_write(copying, &before, buffer_text(&out));
    if (final && copying->pod + 1 < copying->pod_count && copying->job->result == 0)
        copying->more = is_wanted(copying); /* on to the one that took its place */
    buffer_free(&out);
}

/* Decide what a failed request for a log means: the container has not started; the log is gone
 * for ever and given up; or it is asked for again later, unless this is the last time. */
static void take_failure(struct copying *copying)
{
    const struct kubernetes_call *call = &copying->call;
    const struct cached_pod *pod = copying->pods[copying->pod];
    struct task_log *log = copying->log;
    copying->more = false;
    log->due = clock_elapsed() + most_delay;
    log->delay = 0;
    if (call->alone && call->status != 504) /* the API server's own, who says when */
        log->due = clock_elapsed() + executor_spread_rest(call->retry_after);
    if (call->status == 400) {
        /* "container "main" in pod "x" is waiting to start": fine.  Other words will not change. */
        if (copying->ended)
            give_up(copying, call->error.text);
        return;
    }
    if (call->status == 404 || call->outcome == KUBERNETES_MISSING) {
        give_up(copying, "it is gone");
        return;
    }
    bool hangs = call->outcome == KUBERNETES_UNKNOWN || call->status >= 500;
    if (hangs && !(call->alone && call->status == 503)) {
        log->hangs++;
        log->due = clock_elapsed() + hang_delay;
        bool lost = pod->lost || strcmp(pod->reason, "NodeLost") == 0;
        bool followed = copying->pod + 1 < copying->pod_count;
        if (((lost && copying->job->last) || followed) && log->hangs >= HANGS_MOST) {
            give_up(copying, "its node does not answer");
            return;
        }
    }
    bool later = call->outcome == KUBERNETES_UNKNOWN || call->outcome == KUBERNETES_UNAVAILABLE;
    if (later && !copying->job->last)
        return;
    copying->job->result = -1;
    copying->job->rest = call->retry_after;
    copying->job->error = call->error;
    error_prefix(&copying->job->error, "the log of pod %s could not be copied", pod->name);
}

static void take_answer(struct copying *copying)
{
    if (copying->call.outcome != KUBERNETES_DONE) {
        take_failure(copying);
    } else {
        take_log(copying);
    }
    kubernetes_api_call_free(&copying->call);
}

/* ---- a batch ---- */

/* Request the logs that have more, the slow ones or the others.  False when there are none. */
static bool ask_round(struct kubernetes *kubernetes, struct copying *copyings, size_t count,
                      bool slow)
{
    struct arena *arena = arena_new();
    struct kubernetes_call **calls =
        arena_allocate(arena, (count + 1) * sizeof(struct kubernetes_call *));
    struct copying **asked = arena_allocate(arena, (count + 1) * sizeof(struct copying *));
    size_t asks = 0;
    for (size_t i = 0; i < count; i++) {
        if (!copyings[i].more || copyings[i].slow != slow)
            continue;
        prepare_call(&copyings[i], arena);
        calls[asks] = &copyings[i].call;
        asked[asks++] = &copyings[i];
    }
    if (asks)
        kubernetes->run(kubernetes->connection, arena, calls, asks);
    /* After one has run into its time-out the rest of a batch may not have been sent at all. */
    bool hung = false;
    for (size_t i = 0; i < asks; i++)
        hung |= calls[i]->outcome == KUBERNETES_UNKNOWN;
    for (size_t i = 0; i < asks; i++) {
        bool unsent = calls[i]->outcome == KUBERNETES_UNAVAILABLE && !calls[i]->status;
        if (hung && unsent && !slow)
            kubernetes_api_call_free(calls[i]);
        else
            take_answer(asked[i]);
    }
    arena_free(arena);
    return asks > 0;
}

static void copy_all(struct kubernetes *kubernetes, struct copying *copyings, size_t count,
                     bool last)
{
    int64_t until = clock_elapsed() + (last ? last_time : rounds_time);
    bool followed = false;
    for (size_t i = 0; i < count; i++) {
        copyings[i].more = is_wanted(&copyings[i]); /* or it is followed from now on */
        followed |= copyings[i].followed;
    }
    if (followed)
        kubernetes_output_send(kubernetes);
    for (int i = 0; i < ROUNDS || last; i++)
        if (!ask_round(kubernetes, copyings, count, false) || clock_elapsed() >= until)
            break;
    /* A node that hangs costs a time-out, so its logs come after all others. */
    ask_round(kubernetes, copyings, count, true);
    for (size_t i = 0; i < count; i++) {
        copyings[i].log->due = copyings[i].more ? 0 : copyings[i].log->due;
        if (copyings[i].more && copyings[i].job->last && copyings[i].job->result == 0)
            copyings[i].job->result =
                error_set(&copyings[i].job->error, "the log of %s is long, and not all copied yet",
                          copyings[i].name);
    }
}

/* Add one entry for each task of the job. */
static void add_tasks(struct kubernetes *kubernetes, struct job_call *job, struct copying *copyings,
                      size_t *count, const struct cached_pod **pods, size_t pod_count)
{
    size_t next;
    for (size_t i = 0; i < pod_count; i = next) {
        for (next = i + 1; next < pod_count && pods[next]->index == pods[i]->index &&
                           strcmp(pods[next]->role, pods[i]->role) == 0;
             next++)
            continue;
        struct copying *copying = &copyings[(*count)++];
        *copying = (struct copying){
            .kubernetes = kubernetes, .job = job, .pods = pods + i, .pod_count = next - i};
        snprintf(copying->name, sizeof(copying->name), "%s-%d", pods[i]->role, pods[i]->index);
        char key[KUBERNETES_NAME_SIZE + OUTPUT_NAME_SIZE];
        snprintf(key, sizeof(key), "%s-a%d/%s", job->id, job->attempt, copying->name);
        copying->log = names_find(kubernetes->logs, text_of(key));
        if (!copying->log)
            copying->log = names_add(kubernetes->logs, text_of(key));
    }
}

/* Ask the server for pods of jobs that ended before this process started, which the cache may not have. */
static void learn_unknown(struct kubernetes *kubernetes, struct arena *arena,
                          struct job_call **batch, size_t count)
{
    struct lookup *lookups = arena_allocate(arena, (count + 1) * sizeof(*lookups));
    struct lookup **asked = arena_allocate(arena, (count + 1) * sizeof(struct lookup *));
    size_t asks = 0;
    for (size_t i = 0; i < count; i++) {
        if (!batch[i]->last || kubernetes_cache_has(kubernetes_follow_cache(kubernetes),
                                                    batch[i]->id, batch[i]->attempt))
            continue;
        lookups[i] = (struct lookup){.id = batch[i]->id, .attempt = batch[i]->attempt};
        asked[asks++] = &lookups[i];
    }
    if (!asks)
        return;
    kubernetes_follow_ask_jobs(kubernetes, asked, asks);
    for (size_t i = 0; i < count; i++)
        if (lookups[i].id && !lookups[i].answered)
            batch[i]->result = error_set(
                &batch[i]->error, "the server could not be asked for the pods of %s", batch[i]->id);
    size_t found = 0;
    for (size_t i = 0; i < asks; i++)
        if (kubernetes_cache_has(kubernetes_follow_cache(kubernetes), asked[i]->id,
                                 asked[i]->attempt))
            asked[found++] = asked[i];
    if (found)
        kubernetes_follow_ask_pods(kubernetes, asked, found);
}

static void copy_batch(struct kubernetes *kubernetes, struct arena *arena, struct job_call **batch,
                       size_t count, bool last)
{
    const struct cached_pod ***pods =
        arena_allocate(arena, (count + 1) * sizeof(const struct cached_pod **));
    size_t *pod_counts = arena_allocate(arena, (count + 1) * sizeof(size_t)), total = 0;
    int64_t until = clock_elapsed() + ends_time;
    kubernetes_output_receive(kubernetes);
    for (size_t i = 0; i < count; i++) {
        if (batch[i]->result == 0)
            pods[i] = kubernetes_cache_pods(kubernetes_follow_cache(kubernetes), arena,
                                            batch[i]->id, batch[i]->attempt, &pod_counts[i]);
        total += pod_counts[i];
        kubernetes_output_copy_ends(kubernetes, batch[i], pods[i], pod_counts[i], until);
    }
    struct copying *copyings = memory_allocate((total + 1) * sizeof(*copyings));
    size_t copying_count = 0;
    for (size_t i = 0; i < count; i++)
        add_tasks(kubernetes, batch[i], copyings, &copying_count, pods[i], pod_counts[i]);
    copy_all(kubernetes, copyings, copying_count, last);
    free(copyings);
}

void kubernetes_output(struct executor *executor, struct job_call **batch, size_t count)
{
    struct kubernetes *kubernetes = kubernetes_of(executor);
    struct error error;
    int result = 0;
    bool last = false;
    if (!kubernetes_follow_cache(kubernetes))
        result = kubernetes_follow(kubernetes, &error);
    for (size_t i = 0; i < count; i++) {
        batch[i]->result = result;
        batch[i]->rest = 0;
        batch[i]->error = result ? error : (struct error){""};
        last |= batch[i]->last;
    }
    if (result)
        return;
    if (kubernetes->logs && names_count(kubernetes->logs) > LOGS_MOST)
        forget_logs(kubernetes, "");
    if (!kubernetes->logs)
        kubernetes->logs = names_new(SIZE_MAX, sizeof(struct task_log));
    struct arena *arena = arena_new();
    learn_unknown(kubernetes, arena, batch, count);
    copy_batch(kubernetes, arena, batch, count, last);
    arena_free(arena);
}
