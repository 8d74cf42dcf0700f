/* tests/fuzz/pattern_fuzz.c - job/pattern.h: any bytes as a pattern, and any as lines
 *
 * The first line is the pattern, each other one a line that a job printed.  What is found is a
 * number, and what a line was made of by the pattern itself is found in it.
 */
#include "job/pattern.h"
#include "tests/fuzz/fuzz.h"

static void look_at(const struct pattern *pattern, struct text line)
{
    double done = -1, total = -1;
    if (!pattern_find(pattern, line, &done, &total))
        return;
    CHECK(isfinite(done) && done >= 0 && isfinite(total) && total >= 0);
}

/* A line as the pattern has it. */
static void write_line(const struct pattern *pattern, struct buffer *line)
{
    for (size_t i = 0; i < pattern->count; i++) {
        const struct pattern_piece *piece = &pattern->pieces[i];
        if (piece->kind == PATTERN_DONE)
            buffer_add_string(line, "7");
        else if (piece->kind == PATTERN_TOTAL)
            buffer_add_string(line, "40");
        else if (piece->kind == PATTERN_ANY)
            buffer_add_string(line, "|");
        else
            buffer_add_byte(line, piece->kind == PATTERN_BLANK ? ' ' : piece->byte);
    }
}

/* Nothing but the numbers is one: else another place may be found first. */
static bool has_digits(const struct pattern *pattern)
{
    for (size_t i = 0; i < pattern->count; i++)
        if (pattern->pieces[i].kind == PATTERN_BYTE &&
            strchr("0123456789.", pattern->pieces[i].byte))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text rest = fuzz_text(bytes, length), source, line;
    struct pattern pattern;
    struct error error = {""};
    if (!text_next(&rest, '\n', &source))
        return 0;
    if (pattern_parse(source, &pattern, &error)) {
        check_sentence(&error);
        return 0;
    }
    CHECK(pattern.count > 0 && pattern.count <= PATTERN_LONGEST);
    while (text_next(&rest, '\n', &line))
        look_at(&pattern, line);
    if (has_digits(&pattern))
        return 0;
    struct buffer own = {0};
    double done = 0, total = 0;
    write_line(&pattern, &own);
    CHECK(pattern_find(&pattern, buffer_text(&own), &done, &total));
    CHECK(done == 7 && (total == 40 || total == 0));
    buffer_free(&own);
    return 0;
}
