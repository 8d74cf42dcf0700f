/* tests/fuzz/retry_fuzz.c - job/retry_table.h: any bytes as retry.txt, and as a task's output
 *
 * The input is a table, a line of `---`, and a log, of which the first line is the reason.  The
 * report finds a fault exactly when reading does; what a row says decides for what it names.
 */
#include "base/utf8.h"
#include "job/retry_table.h"
#include "tests/fuzz/fuzz.h"

static size_t count_lines(struct text source)
{
    size_t lines = 1;
    for (size_t i = 0; i < source.length; i++)
        lines += source.data[i] == '\n';
    return lines;
}

static void decide(const struct retry_table *table, size_t lines, int exit_code, struct text reason,
                   struct text log)
{
    struct retry_decision decision = retry_table_decide(table, exit_code, reason, log);
    CHECK(decision.line >= 0 && (size_t)decision.line <= lines);
    CHECK(decision.line > 0 || (decision.class == RETRY_UNKNOWN && !decision.hint.length));
    CHECK(utf8_valid(decision.hint));
    struct buffer hint = {0};
    retry_table_hint(&decision, &hint);
    CHECK(utf8_valid(buffer_text(&hint)));
    CHECK(!hint.length || !memchr(hint.data, '\n', hint.length));
    buffer_free(&hint);
    CHECK(!decision.hint.length || !memchr(decision.hint.data, '\n', decision.hint.length));
    CHECK(retry_table_class_name(decision.class)[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text rest = fuzz_text(bytes, length);
    struct text source = fuzz_part(&rest);
    struct error error = {""};
    struct buffer report = {0};
    size_t faults = retry_table_report(source, "retry.txt", &report);
    struct retry_table *table = retry_table_parse(source, "retry.txt", &error);
    CHECK((faults == 0) == (table != NULL));
    CHECK(utf8_valid(buffer_text(&report)));
    if (table) {
        static const int codes[] = {0, 1, 9, 126, 127, 137, 139, 143, 193, 194, 255, -1};
        size_t lines = count_lines(source);
        /* With a NUL after it: the sanitizer takes the log for a string, which it need not be. */
        struct arena *arena = arena_new();
        struct text log = arena_text(arena, rest.data, rest.length), reason;
        if (!text_next(&log, '\n', &reason))
            reason = TEXT("");
        decide(table, lines, 1, reason, log);
        for (size_t i = 0; i < ARRAY_COUNT(codes); i++)
            decide(table, lines, codes[i], TEXT(""), TEXT(""));
        arena_free(arena);
    } else {
        check_sentence(&error);
    }
    retry_table_free(table);
    buffer_free(&report);
    return 0;
}
