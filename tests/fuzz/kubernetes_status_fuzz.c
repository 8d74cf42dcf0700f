/* tests/fuzz/kubernetes_status_fuzz.c - executors/kubernetes/status.h: any bytes as an API server's
 * answers
 *
 * The first line is the method and the HTTP status ("POST 403"), the rest the body.  Whatever
 * comes: the outcome fits the status, there is a sentence fit to be read for all but success, and
 * nobody is put off for longer than is bearable.
 */
#include "executors/kubernetes/status.h"
#include "tests/fuzz/fuzz.h"

static int read_number(struct text text)
{
    int number = 0;
    for (size_t i = 0; i < text.length && i < 3; i++)
        number =
            number * 10 + (text.data[i] >= '0' && text.data[i] <= '9' ? text.data[i] - '0' : 0);
    return number;
}

static void check_outcome(enum kubernetes_outcome outcome, int status, bool reads)
{
    bool good = status >= 200 && status <= 299;
    CHECK(outcome >= KUBERNETES_DONE && outcome <= KUBERNETES_REFUSED);
    CHECK(outcome != KUBERNETES_DONE || good);
    CHECK(outcome != KUBERNETES_EXISTS || status == 409);
    CHECK(outcome != KUBERNETES_CONFLICT || status == 409);
    CHECK(outcome != KUBERNETES_MISSING || status == 404);
    CHECK(outcome != KUBERNETES_NO_ROOM || status == 403);
    CHECK(outcome != KUBERNETES_GONE || status == 410);
    CHECK(outcome != KUBERNETES_UNKNOWN || !reads);
    /* What may have been done is not called undone. */
    CHECK(reads || (status != 502 && status != 504) || outcome == KUBERNETES_UNKNOWN);
    CHECK(status != 422 || outcome == KUBERNETES_REFUSED);
    CHECK((status != 401 && status != 429) || outcome == KUBERNETES_UNAVAILABLE);
    /* A proxy may have passed it on before it gave up. */
    CHECK(status != 503 || outcome == KUBERNETES_UNAVAILABLE ||
          (!reads && outcome == KUBERNETES_UNKNOWN));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text body = fuzz_text(bytes, length), line, method;
    if (!text_next(&body, '\n', &line))
        line = TEXT("GET 500");
    if (!body.data)
        body = TEXT("");
    if (!text_next(&line, ' ', &method))
        method = TEXT("GET");
    bool reads = text_is(method, "GET");
    const struct kubernetes_question question = {reads ? "GET" : "POST", "/apis/batch/v1/jobs?x=y",
                                                 body.length, NULL};
    int status = read_number(line);
    struct arena *arena = arena_new();
    struct error error = {""};
    struct value *answer = NULL;
    int64_t retry_after = 0;
    const char *remedy = "";
    enum kubernetes_outcome outcome = kubernetes_status_judge(
        arena, &question, status, body, false, &answer, &retry_after, &remedy, &error);
    CHECK(!remedy || (*remedy && outcome == KUBERNETES_REFUSED));
    check_outcome(outcome, status, reads);
    CHECK(retry_after >= 0 && retry_after <= 300000);
    if (outcome != KUBERNETES_DONE)
        check_sentence(&error);
    else
        CHECK(answer);
    if (answer) {
        check_tree(answer);
        error.text[0] = '\0';
        outcome = kubernetes_status_outcome(answer, &error);
        CHECK(outcome != KUBERNETES_UNKNOWN);
        check_sentence(&error);
    }
    arena_free(arena);
    return 0;
}
