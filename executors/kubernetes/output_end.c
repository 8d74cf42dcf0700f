/* executors/kubernetes/output_end.c - the last output of tasks that are told to end
 *
 * What a stream has brought is kept from the anchor's line of the place on (pod_log.h), and read like an
 * answer to a request, which it is the longer and longer beginning of.
 *
 * Known weakness: where a stream breaks, or the node is so far behind that it ends before the log does,
 * what the pod has printed since is lost if it is gone by then.
 */
#include "executors/kubernetes/output.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/names.h"
#include "executors/kubernetes/stream.h"

enum {
    FOLLOWED_MOST = 256, /* logs at a time: each has a connection */
    KEPT_MOST = 8 << 20  /* bytes of two seconds of one; with more it is requested instead */
};

static const int64_t again = 15000;     /* milliseconds after a stream that broke */
static const int64_t send_time = 300;   /* milliseconds in which requests have gone out */
static const int64_t turn = 100;        /* ms of waiting for a stream at a time */
static const int64_t last_time = 10000; /* ms that an ended job waits for the end of a stream */

/* Of the log of one task, under the name <token>/<role>-<index> as in kubernetes->logs. */
struct log_end {
    uint64_t pod;
    struct kubernetes_stream *stream; /* NULL: it has ended in order */
    struct buffer answer;
    int64_t until; /* of clock_elapsed(): when it is given up; 0: not yet */
};

static struct text name_of(const struct copying *copying)
{
    return names_text(copying->log);
}

bool kubernetes_output_is_followed(const struct copying *copying)
{
    return copying->kubernetes->log_ends &&
           names_find(copying->kubernetes->log_ends, name_of(copying));
}

static void end_following(struct kubernetes *kubernetes, struct log_end *end)
{
    kubernetes_stream_close(end->stream);
    buffer_free(&end->answer);
    names_remove(kubernetes->log_ends, end);
}

void kubernetes_output_forget_ends(struct kubernetes *kubernetes, const char *prefix)
{
    struct log_end *end = kubernetes->log_ends ? names_first(kubernetes->log_ends) : NULL;
    for (struct log_end *next; end; end = next) {
        next = names_after(end);
        if (text_starts(names_text(end), prefix))
            end_following(kubernetes, end);
    }
}

bool kubernetes_output_follow(struct copying *copying)
{
    struct kubernetes *kubernetes = copying->kubernetes;
    struct error error;
    struct arena *arena = arena_new();
    if (!kubernetes->log_ends)
        kubernetes->log_ends = names_new(FOLLOWED_MOST, sizeof(struct log_end));
    struct text path = kubernetes_output_path(copying, arena, "&follow=true");
    struct kubernetes_stream *stream =
        names_full(kubernetes->log_ends)
            ? NULL
            : kubernetes_stream_open_log(kubernetes->connection, path.data, &error);
    arena_free(arena);
    if (!stream)
        return false;
    struct log_end *end = names_add(kubernetes->log_ends, name_of(copying));
    *end = (struct log_end){.pod = copying->log->place.pod, .stream = stream};
    return true;
}

void kubernetes_output_send(struct kubernetes *kubernetes)
{
    int64_t until = clock_elapsed() + send_time;
    bool waits = true;
    while (waits && clock_elapsed() < until) {
        waits = false;
        kubernetes_stream_drive_all(kubernetes->connection, turn);
        for (struct log_end *end = names_first(kubernetes->log_ends); end; end = names_after(end)) {
            int status = 0;
            if (end->stream)
                kubernetes_stream_ended(end->stream, &status, NULL);
            waits |= end->stream && !status;
        }
    }
}

void kubernetes_output_receive(struct kubernetes *kubernetes)
{
    if (kubernetes->log_ends && names_count(kubernetes->log_ends))
        kubernetes_stream_drive_all(kubernetes->connection, 0);
}

/* Has the container ended, or has its pod gone? */
static bool has_ended(const struct log_end *end, const struct cached_pod *const *pods, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pods[i]->uid == end->pod)
            return pods[i]->main_ended || pods[i]->phase == POD_SUCCEEDED ||
                   pods[i]->phase == POD_FAILED;
    return true;
}

/* Append what has come to the task's files; the job's result is -1 when that fails. */
static void write_new(struct kubernetes *kubernetes, struct job_call *job, struct log_end *end,
                      struct task_log *log, bool final)
{
    struct copying copying = {.kubernetes = kubernetes, .job = job, .log = log};
    struct text name = names_text(log);
    const char *slash = memchr(name.data, '/', name.length);
    struct buffer out = {0};
    snprintf(copying.name, sizeof(copying.name), "%s", slash ? slash + 1 : "");
    int loaded = kubernetes_output_load_place(&copying);
    struct pod_log_place before = log->place;
    if (loaded == 0 && log->place.pod == end->pod) {
        kubernetes_output_take(&log->place, buffer_text(&end->answer), final, &out);
        log->place.whole |= final;
        if (memcmp(&before, &log->place, sizeof(before)) != 0)
            kubernetes_output_write(&copying, &before, buffer_text(&out));
        size_t needed = pod_log_needed(&log->place, buffer_text(&end->answer));
        end->answer.length -= needed;
        if (needed)
            memmove(end->answer.data, end->answer.data + needed, end->answer.length);
    }
    buffer_free(&out);
}

/* Take what has come of one log.  It is followed until its container has ended: a stream that ends before
 * that is known of was perhaps cut off, so the pod's state is waited for. */
static void take_end(struct kubernetes *kubernetes, struct job_call *job, struct log_end *end,
                     bool ended)
{
    struct task_log *log = names_find(kubernetes->logs, names_text(end));
    const char *why = NULL;
    if (end->stream) {
        kubernetes_stream_take(end->stream, &end->answer);
        why = kubernetes_stream_ended(end->stream, NULL, NULL);
    }
    bool broken = why && why[0] != '\0';
    if (why && !broken) {
        kubernetes_stream_close(end->stream);
        end->stream = NULL;
    }
    if (log)
        write_new(kubernetes, job, end, log, !end->stream && ended);
    if (log && broken)
        log->follow_due = clock_elapsed() + again;
    if (!end->until && (!end->stream || job->last))
        end->until = clock_elapsed() + last_time;
    bool whole = log && log->place.whole;
    bool late = end->until && clock_elapsed() >= end->until;
    if (late && end->stream)
        log_warn("%s: the log of %s does not end, and is not followed any longer", job->id,
                 names_text(end).data);
    if (!log || broken || whole || late || end->answer.length > KEPT_MOST)
        end_following(kubernetes, end);
}

/* Take what has come of the job's logs.  The number that is still followed. */
static size_t take_ends(struct kubernetes *kubernetes, struct job_call *job,
                        const struct cached_pod *const *pods, size_t count)
{
    char prefix[KUBERNETES_NAME_SIZE + 1];
    size_t left = 0;
    snprintf(prefix, sizeof(prefix), "%s-a%d/", job->id, job->attempt);
    for (struct log_end *end = names_first(kubernetes->log_ends), *next; end; end = next) {
        next = names_after(end);
        if (!text_starts(names_text(end), prefix))
            continue;
        size_t before = names_count(kubernetes->log_ends);
        take_end(kubernetes, job, end, has_ended(end, pods, count));
        left += names_count(kubernetes->log_ends) == before;
    }
    return left;
}

void kubernetes_output_copy_ends(struct kubernetes *kubernetes, struct job_call *job,
                                 const struct cached_pod *const *pods, size_t count, int64_t until)
{
    if (!kubernetes->log_ends || !names_count(kubernetes->log_ends))
        return;
    size_t left = take_ends(kubernetes, job, pods, count);
    while (left && job->last && clock_elapsed() < until) {
        kubernetes_stream_drive_all(kubernetes->connection, turn);
        left = take_ends(kubernetes, job, pods, count);
    }
    if (left && job->last && job->result == 0)
        job->result = error_set(&job->error, "the last output of the job has not all come yet");
}
