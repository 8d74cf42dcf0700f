/* tests/fuzz/output_fuzz.c - executors/local/conmon_log.h and kernel_log.h: any bytes as what a container
 * printed, and as the kernel's records
 *
 * Lines are taken one by one, so it makes no difference in how many pieces they come, and no more
 * comes out than went in.
 */
#include "executors/local/conmon_log.h"
#include "executors/local/kernel_log.h"
#include "tests/fuzz/fuzz.h"

static void take_all(struct text *rest, struct buffer *out)
{
    size_t before = rest->length;
    while (conmon_log_next(rest, out)) {
        CHECK(rest->length < before);
        before = rest->length;
    }
    CHECK(!rest->length || !memchr(rest->data, '\n', rest->length));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text source = fuzz_text(bytes, length), rest = source;
    struct buffer whole = {0}, pieces = {0};
    take_all(&rest, &whole);
    CHECK(whole.length <= length);
    /* The same in two pieces, of which the first ends anywhere. */
    struct text first = {source.data, length / 2};
    take_all(&first, &pieces);
    size_t taken = length / 2 - first.length;
    struct text second = {source.data + taken, length - taken};
    take_all(&second, &pieces);
    CHECK(text_equal(buffer_text(&whole), buffer_text(&pieces)));
    CHECK(second.length == rest.length);
    buffer_free(&whole);
    buffer_free(&pieces);

    struct text group, records = source;
    if (text_next(&records, '\n', &group) && kernel_log_find_kill(records, group))
        CHECK(text_contains(records, TEXT(";oom-kill:")) && text_contains(records, group));
    return 0;
}
