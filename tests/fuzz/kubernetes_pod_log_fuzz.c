/* tests/fuzz/kubernetes_pod_log_fuzz.c - executors/kubernetes/pod_log.h: any bytes as a pod's log
 *
 * The input is a position file, a line of `---`, and an answer.  The position is read or not, and
 * written reads back.  Taken in two steps, cut anywhere, the answer gives what it gives at once.
 */
#include "executors/kubernetes/pod_log.h"
#include "tests/fuzz/fuzz.h"

static void check_place(const struct pod_log_place *place)
{
    char buffer[LOG_PLACE_SIZE];
    struct pod_log_place back;
    pod_log_place_write(place, buffer);
    CHECK(pod_log_place_read(&back, (struct text){buffer, sizeof(buffer)}));
    CHECK(back.pod == place->pod && back.since == place->since && back.taken == place->taken &&
          back.anchor.second == place->anchor.second && back.inside == place->inside &&
          back.length == place->length && back.skip == place->skip);
}

/* The second that a line was printed in; -1 when it does not say. */
static int64_t second_of(struct text line)
{
    struct pod_log_stamp stamp;
    const char *space = line.length ? memchr(line.data, ' ', line.length) : NULL;
    if (!space ||
        !pod_log_stamp_read((struct text){line.data, (size_t)(space - line.data)}, &stamp))
        return -1;
    return stamp.second;
}

/* The answer without lines from before the second.  False when its lines are out of order or not
 * lines of a log: those are lost, as the header says. */
static bool filter(struct text answer, int64_t since, struct buffer *out)
{
    int64_t before = 1;
    while (answer.length) {
        const char *end = memchr(answer.data, '\n', answer.length);
        size_t length = end ? (size_t)(end - answer.data) + 1 : answer.length;
        int64_t second = second_of((struct text){answer.data, length});
        if (second < before)
            return false;
        before = second;
        if (second >= since)
            buffer_add(out, answer.data, length);
        answer = (struct text){answer.data + length, answer.length - length};
    }
    return true;
}

/* What has been printed up to `cut`, and later all of it. */
static void check_growth(struct text answer, size_t cut)
{
    struct pod_log_place at_once = {0}, by_steps = {0};
    struct buffer one = {0}, two = {0}, rest = {0};
    pod_log_take(&at_once, answer, false, &one);
    pod_log_take(&by_steps, (struct text){answer.data, cut}, false, &two);
    check_place(&by_steps);
    if (filter(answer, by_steps.since, &rest)) {
        pod_log_take(&by_steps, buffer_text(&rest), false, &two);
        CHECK(text_equal(buffer_text(&one), buffer_text(&two)));
    }
    check_place(&at_once);
    buffer_free(&one);
    buffer_free(&two);
    buffer_free(&rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text rest = fuzz_text(bytes, length);
    struct text position = fuzz_part(&rest);
    struct pod_log_place place;
    if (pod_log_place_read(&place, position)) {
        struct buffer out = {0};
        check_place(&place);
        pod_log_take(&place, rest, true, &out);
        CHECK(out.length <= rest.length);
        buffer_free(&out);
    }
    for (size_t step = 1 + rest.length / 500, cut = 0; cut < rest.length; cut += step)
        check_growth(rest, cut);
    if (rest.length)
        check_growth(rest, rest.length);
    return 0;
}
