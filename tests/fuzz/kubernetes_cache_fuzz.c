/* tests/fuzz/kubernetes_cache_fuzz.c - executors/kubernetes/cache.h: any objects from a server
 *
 * The input is parts with a line of `---` between them; the first line of each says what it is (job,
 * pod, event; with `deleted`, `listed`), or `list` and `listed-all`; the rest is the object.  Polls
 * of all tokens that labels may have named are sound after each, and what is kept fits paths, files'
 * names and lines of a log.
 */
#include "base/utf8.h"
#include "executors/kubernetes/cache.h"

#include <ctype.h>

#include "tests/fuzz/fuzz.h"

static void check_line(const char *text, size_t capacity)
{
    const char *end = memchr(text, '\0', capacity);
    CHECK(end);
    CHECK(utf8_valid((struct text){text, (size_t)(end - text)}));
    for (; text < end; text++)
        CHECK((unsigned char)*text >= 0x20 && *text != 0x7f);
}

static void check_name(const char *name)
{
    CHECK(name && name[0] && name[0] != '.');
    for (; *name; name++)
        CHECK(isalnum((unsigned char)*name) || strchr("-._", *name));
}

static void check_poll(struct kubernetes_cache *jobs, struct arena *arena, const char *id,
                       int attempt)
{
    struct job_poll poll = {.id = id, .attempt = attempt};
    enum kubernetes_known known = kubernetes_cache_poll(jobs, arena, &poll);
    if (known == KUBERNETES_NOT_KNOWN)
        return;
    CHECK(kubernetes_cache_has(jobs, id, attempt));
    CHECK(poll.phase >= PHASE_WAITING && poll.phase <= PHASE_FAILED);
    CHECK(poll.phase != PHASE_FAILED || poll.exit_code != 0);
    CHECK(poll.phase != PHASE_FAILED || poll.reason[0]);
    CHECK(!poll.ended || poll.ended >= poll.started);
    check_line(poll.reason, sizeof(poll.reason));
    check_line(poll.detail, sizeof(poll.detail));
    for (size_t i = 0; i < poll.task_count; i++) {
        check_name(poll.tasks[i].role);
        check_line(poll.tasks[i].reason, sizeof(poll.tasks[i].reason));
        CHECK(poll.tasks[i].index >= 0);
        CHECK(poll.tasks[i].exit_code >= 0 && poll.tasks[i].exit_code <= 255);
        CHECK(poll.phase != PHASE_SUCCEEDED || poll.tasks[i].ended || poll.task_count > 1);
    }
    size_t count;
    const struct cached_pod **pods = kubernetes_cache_pods(jobs, arena, id, attempt, &count);
    for (size_t i = 0; i < count; i++) {
        check_name(pods[i]->name);
        check_name(pods[i]->role);
        CHECK(pods[i]->index >= 0);
    }
}

static void take_part(struct kubernetes_cache *jobs, struct arena *arena, struct text part)
{
    static const struct yaml_limits limits = {1 << 20, 10000, 50};
    struct text head;
    if (!text_next(&part, '\n', &head))
        return;
    enum followed_kind kind = text_starts(head, "pod")     ? FOLLOW_PODS
                              : text_starts(head, "event") ? FOLLOW_EVENTS
                                                           : FOLLOW_JOBS;
    if (text_contains(head, TEXT("begin"))) {
        kubernetes_cache_list_begin(jobs, kind);
    } else if (text_contains(head, TEXT("end"))) {
        kubernetes_cache_list_end(jobs, kind);
    } else {
        const struct value *object = json_read(arena, part, "object", &limits, NULL);
        if (object)
            kubernetes_cache_take(jobs, kind, object, text_contains(head, TEXT("deleted")),
                                  text_contains(head, TEXT("listed")));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text rest = fuzz_text(bytes, length);
    struct kubernetes_cache *jobs = kubernetes_cache_new();
    for (int i = 0; rest.length && i < 30; i++) {
        struct arena *arena = arena_new();
        take_part(jobs, arena, fuzz_part(&rest));
        check_poll(jobs, arena, "j", 1);
        check_poll(jobs, arena, "job", 1);
        arena_free(arena);
    }
    kubernetes_cache_free(jobs);
    return 0;
}
