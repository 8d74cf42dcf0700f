/* tests/fuzz/eventlog_fuzz.c - spool/eventlog.h: any bytes as a job's log, and as a value in it
 *
 * Whatever stands in a log, reading comes to its end; and whatever text is added to a line, the
 * line stays one line of one event that gives the text back.
 */
#include "base/utf8.h"
#include "spool/eventlog.h"
#include "tests/fuzz/fuzz.h"

static void read_log(struct arena *arena, struct text log)
{
    static const char *const keys[] = {"attempt", "why", "executor", "a", ""};
    struct text rest = log;
    struct event event;
    while (eventlog_next(&rest, &event)) {
        CHECK(event.name.length && !memchr(event.name.data, ' ', event.name.length));
        for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
            struct text value = eventlog_get(arena, &event, keys[i]);
            CHECK(value.data || !value.length);
            eventlog_get_number(&event, keys[i], -1);
        }
        CHECK(rest.length < log.length);
    }
    struct eventlog_fold fold;
    eventlog_fold(log, &fold);
    CHECK(fold.intent || fold.attempt == 0);
    CHECK(!fold.ended || fold.last_end.name.length);
}

static void write_line(struct arena *arena, struct text value)
{
    const int64_t now = 1800000000123;
    struct buffer line = {0};
    struct event event;
    eventlog_start(&line, now, "noted");
    eventlog_add_number(&line, "number", (int64_t)value.length);
    eventlog_add(&line, "value", value);
    eventlog_add_string(&line, "last", "end");
    eventlog_end(&line);
    struct text rest = buffer_text(&line);
    CHECK(memchr(rest.data, '\n', rest.length) == rest.data + rest.length - 1);
    CHECK(utf8_valid(rest));
    CHECK(eventlog_next(&rest, &event) && rest.length == 0);
    CHECK(event.time == now && text_is(event.name, "noted"));
    CHECK(eventlog_get_number(&event, "number", -1) == (int64_t)value.length);
    CHECK(text_is(eventlog_get(arena, &event, "last"), "end"));
    if (utf8_valid(value))
        CHECK(text_equal(eventlog_get(arena, &event, "value"), value));
    buffer_free(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text source = fuzz_text(bytes, length);
    struct arena *arena = arena_new();
    read_log(arena, source);
    write_line(arena, source);
    arena_free(arena);
    return 0;
}
