/* executors/kubernetes/pod_log.c - finding a position in a pod's log */
#include "executors/kubernetes/pod_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"

enum {
    STAMP_MOST = 40, /* bytes of a stamp with its space, at most */
    WINDOW = 1 << 20 /* bytes that are asked for again, at most, where it can be helped */
};

bool pod_log_stamp_read(struct text text, struct pod_log_stamp *stamp)
{
    /* The clock reads milliseconds; the fraction is read here. */
    char plain[STAMP_MOST];
    size_t at = 0, digits = 0;
    int32_t nanosecond = 0;
    int64_t time;
    if (text.length < 20 || text.length >= STAMP_MOST || text.data[0] < '0' || text.data[0] > '9')
        return false;
    memcpy(plain, text.data, 19);
    for (at = 19; at < text.length && digits < 10; at++) {
        if (at == 19 && text.data[at] == '.')
            continue;
        if (at == 19 || text.data[at] < '0' || text.data[at] > '9')
            break;
        digits++;
        nanosecond = digits <= 9 ? nanosecond * 10 + (text.data[at] - '0') : nanosecond;
    }
    if (digits > 9 || (at > 19 && digits == 0))
        return false;
    for (; digits < 9 && at > 19; digits++)
        nanosecond *= 10;
    memcpy(plain + 19, text.data + at, text.length - at);
    struct text whole = {plain, 19 + text.length - at};
    if (clock_parse(whole, &time) || time < 0)
        return false;
    *stamp = (struct pod_log_stamp){time / 1000, nanosecond};
    return true;
}

static int compare_stamps(struct pod_log_stamp a, struct pod_log_stamp b)
{
    if (a.second != b.second)
        return a.second < b.second ? -1 : 1;
    return (a.nanosecond > b.nanosecond) - (a.nanosecond < b.nanosecond);
}

/* Read the stamp at the start of a line.  Its length with the space; 0: there is none; -1: its end may be
 * missing. */
static int find_stamp(struct text answer, size_t at, struct pod_log_stamp *stamp)
{
    size_t left = answer.length - at;
    size_t most = left < STAMP_MOST ? left : STAMP_MOST;
    const char *start = answer.data + at;
    const char *space = most ? memchr(start, ' ', most) : NULL;
    const char *end = most ? memchr(start, '\n', most) : NULL;
    if (end && (!space || end < space))
        return 0;
    if (!space)
        return left < STAMP_MOST ? -1 : 0;
    size_t length = (size_t)(space - start);
    return pod_log_stamp_read((struct text){start, length}, stamp) ? (int)length + 1 : 0;
}

/* The start of the line after `at`. */
static size_t next_line(struct text answer, size_t at)
{
    const char *end =
        at < answer.length ? memchr(answer.data + at, '\n', answer.length - at) : NULL;
    return end ? (size_t)(end - answer.data) + 1 : answer.length;
}

/* Where the anchor's line starts, or the first after it; `*exact` tells which.  The answer's length
 * when there is neither. */
static size_t find_anchor(const struct pod_log_place *place, struct text answer, bool *exact)
{
    size_t later = answer.length;
    *exact = false;
    for (size_t at = 0; at < answer.length; at = next_line(answer, at)) {
        struct pod_log_stamp stamp;
        if (find_stamp(answer, at, &stamp) <= 0)
            continue;
        int order = place->anchor.second ? compare_stamps(stamp, place->anchor) : 0;
        if (order == 0) {
            *exact = true;
            return at;
        }
        if (order > 0 && later == answer.length)
            later = at;
    }
    return later;
}

/* What is read of the answer. */
struct walk {
    struct text answer;
    size_t start, at;          /* the anchor's line; what is taken so far */
    struct pod_log_stamp last; /* of the last line that began */
};

static void walk_lines(struct walk *walk, struct pod_log_place *place, bool final,
                       struct buffer *out)
{
    while (walk->at < walk->answer.length) {
        if (!place->inside) {
            struct pod_log_stamp stamp;
            int length = find_stamp(walk->answer, walk->at, &stamp);
            if (length <= 0 && !final)
                return;
            if (length > 0) {
                walk->at += (size_t)length;
                walk->last = stamp;
            }
        }
        size_t end = next_line(walk->answer, walk->at);
        buffer_add(out, walk->answer.data + walk->at, end - walk->at);
        /* A stamp without a byte after it is the start of a line as well. */
        place->inside = end == walk->at || walk->answer.data[end - 1] != '\n';
        walk->at = end;
    }
}

/* Move the second on to shortly before the last line: the first line from there on is the anchor,
 * and what was taken is counted from it, without lines that the next answer leaves out. */
static void move_on(struct walk *walk, struct pod_log_place *place, int64_t since)
{
    if (since <= place->since)
        return;
    struct pod_log_stamp stamp, anchor = {0, 0};
    uint64_t taken = 0;
    for (size_t at = walk->start; at < walk->at;) {
        size_t end = next_line(walk->answer, at);
        end = end < walk->at ? end : walk->at;
        if (find_stamp(walk->answer, at, &stamp) > 0 && stamp.second >= since) {
            if (!anchor.second)
                anchor = stamp;
            taken += end - at;
        }
        at = end;
    }
    if (!anchor.second)
        return;
    place->since = since;
    place->anchor = anchor;
    place->taken = taken;
}

/* What the kubelet writes into the answer when it has no log (pkg/kubelet/kuberuntime). */
static bool is_excuse(struct text answer)
{
    return text_starts(answer, "unable to retrieve container logs for ") ||
           text_starts(answer, "failed to try resolving symlinks in path ") ||
           text_starts(answer, "failed to open log file ");
}

enum pod_log_taken pod_log_take(struct pod_log_place *place, struct text answer, bool final,
                                struct buffer *out)
{
    bool exact, gap = false;
    struct walk walk = {.answer = answer};
    size_t before = out->length;
    if (is_excuse(answer))
        return LOG_NO_LOG;
    walk.start = find_anchor(place, answer, &exact);
    if (walk.start == answer.length) {
        if (!final || place->anchor.second)
            return LOG_NOTHING;
        walk.start = 0;
        exact = true;
    }
    if (!exact && place->anchor.second) {
        gap = true;
        place->taken = 0;
        place->inside = false;
    }
    if (place->taken > answer.length - walk.start)
        return LOG_NOTHING; /* fewer bytes than before: an answer that was cut short */
    if (!exact || !place->anchor.second)
        find_stamp(answer, walk.start, &place->anchor);
    walk.at = walk.start + place->taken;
    walk.last = place->anchor;
    size_t from = walk.at;
    walk_lines(&walk, place, final, out);
    place->taken += walk.at - from;
    move_on(&walk, place, walk.last.second - 1);
    if (place->taken > WINDOW)
        move_on(&walk, place, walk.last.second);
    if (gap)
        return LOG_GAP;
    return out->length > before || walk.at > from ? LOG_TAKEN : LOG_NOTHING;
}

size_t pod_log_needed(const struct pod_log_place *place, struct text answer)
{
    bool exact;
    size_t at = place->anchor.second ? find_anchor(place, answer, &exact) : 0;
    return place->anchor.second && exact ? at : 0;
}

void pod_log_skip(struct pod_log_place *place)
{
    place->since = (place->since > place->anchor.second ? place->since : place->anchor.second) + 1;
    place->anchor = (struct pod_log_stamp){place->since, 0};
    place->taken = 0;
    place->inside = false;
}

/* ---- as text ---- */

enum { SUM_LENGTH = 20 }; /* "sum", a space, 16 digits */

void pod_log_place_write(const struct pod_log_place *place, char buffer[static LOG_PLACE_SIZE])
{
    int length = snprintf(buffer, LOG_PLACE_SIZE,
                          "dlspool-position-1 pod %016" PRIx64 " created %" PRId64 " since %" PRId64
                          " anchor %" PRId64 ".%09" PRId32 " taken %" PRIu64
                          " inside %d whole %d file %" PRIu64 " length %" PRIu64 " skip %" PRIu64,
                          place->pod, place->created, place->since, place->anchor.second,
                          place->anchor.nanosecond, place->taken, place->inside, place->whole,
                          place->file, place->length, place->skip);
    size_t end = LOG_PLACE_SIZE - SUM_LENGTH - 2;
    memset(buffer + length, ' ', LOG_PLACE_SIZE - (size_t)length);
    char sum[SUM_LENGTH + 1];
    snprintf(sum, sizeof(sum), "sum %016" PRIx64,
             hash_text(HASH_START, (struct text){buffer, end}));
    memcpy(buffer + end + 1, sum, SUM_LENGTH);
    buffer[LOG_PLACE_SIZE - 1] = '\n';
}

bool pod_log_place_read(struct pod_log_place *place, struct text text)
{
    int inside, whole;
    char sum[SUM_LENGTH + 1], copy[LOG_PLACE_SIZE];
    size_t end = LOG_PLACE_SIZE - SUM_LENGTH - 2;
    if (text.length != LOG_PLACE_SIZE || memchr(text.data, '\0', text.length))
        return false;
    snprintf(sum, sizeof(sum), "sum %016" PRIx64,
             hash_text(HASH_START, (struct text){text.data, end}));
    if (memcmp(text.data + end + 1, sum, SUM_LENGTH) != 0)
        return false;
    memcpy(copy, text.data, end);
    copy[end] = '\0';
    *place = (struct pod_log_place){0};
    int read = sscanf(copy,
                      "dlspool-position-1 pod %" SCNx64 " created %" SCNd64 " since %" SCNd64
                      " anchor %" SCNd64 ".%" SCNd32 " taken %" SCNu64
                      " inside %d whole %d file %" SCNu64 " length %" SCNu64 " skip %" SCNu64,
                      &place->pod, &place->created, &place->since, &place->anchor.second,
                      &place->anchor.nanosecond, &place->taken, &inside, &whole, &place->file,
                      &place->length, &place->skip);
    place->inside = inside;
    place->whole = whole;
    return read == 11 && place->since >= 0 && place->anchor.second >= 0 &&
           place->anchor.nanosecond >= 0 && place->anchor.nanosecond < 1000000000;
}
