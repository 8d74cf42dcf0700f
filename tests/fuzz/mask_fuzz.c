/* tests/fuzz/mask_fuzz.c - base/mask.h: any bytes as what a job printed
 *
 * The first line is a value that was learnt, the rest is shown: the value does not come out in one piece,
 * and not much more comes out than went in.
 */
#include "base/mask.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text rest = fuzz_text(bytes, length), value = TEXT(""), line;
    struct mask *mask = mask_new();
    text_next(&rest, '\n', &value);
    value = text_trim(value);
    mask_learn(mask, value);
    while (text_next(&rest, '\n', &line)) {
        struct buffer once = {0};
        mask_write(mask, line, &once);
        bool learnt = value.length >= 6 && !memchr(value.data, '*', value.length);
        CHECK(!learnt || !once.length || !text_contains(buffer_text(&once), value));
        CHECK(once.length <= 7 * line.length);
        buffer_free(&once);
    }
    mask_free(mask);
    return 0;
}
