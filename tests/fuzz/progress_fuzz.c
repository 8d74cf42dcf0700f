/* tests/fuzz/progress_fuzz.c - what a job says of its progress, and what is kept of it
 *
 * Any bytes as a progress file that a job wrote, as <id>/progress, as DIR/history/runs and as
 * DIR/history/usage.  Numbers
 * that are found are finite and not negative; what was read is written and read back the same; and
 * what is predicted from it is a prediction.
 */
#include <stdlib.h>

#include "spool/history_runs.h"
#include "spool/usage.h"
#include "stages/planning/past.h"
#include "stages/track/units.h"
#include "tests/fuzz/fuzz.h"

static void check_number(double number)
{
    CHECK(isfinite(number) && number >= 0);
}

static void parse_number(struct text source)
{
    struct units_seen seen;
    if (!units_parse(source, &seen))
        return;
    check_number(seen.done);
    check_number(seen.total);
}

static void predict_from(const struct progress *progress, const struct history *history)
{
    struct job_record record = {.cpus = 2000,
                                .units_pattern = TEXT("{done}"),
                                .attempt = 1,
                                .sizes = {.kind = SIZE_CPUS, .least = 1000, .most = 8000},
                                .size = 2000,
                                .arguments_sha256 = TEXT("abcd")};
    struct predict_past *past = past_of(history);
    struct predict_job job;
    struct prediction prediction;
    past_job(&record, progress, true, progress->time + 1000, &job);
    predict(past, &job, &prediction);
    CHECK(prediction.left > 0 && prediction.left_late >= prediction.left);
    CHECK(prediction.level_count > 0 && prediction.levels[0].rate > 0);
    predict_past_free(past);
}

static void read_progress(struct text source, struct progress *progress)
{
    struct error error = {""};
    struct progress again;
    struct buffer once = {0}, twice = {0};
    if (progress_file_parse(source, progress, &error)) {
        check_sentence(&error);
        CHECK(progress->size_count == 0);
        return;
    }
    check_number(progress->done);
    check_number(progress->rate);
    CHECK(progress->size_count >= 0 && progress->size_count <= PROGRESS_MOST_SIZES);
    CHECK(progress_file_running(progress, true) >= progress_file_running(progress, false));
    progress_file_format(progress, &once);
    CHECK(progress_file_parse(buffer_text(&once), &again, &error) == 0);
    progress_file_format(&again, &twice);
    CHECK(text_equal(buffer_text(&once), buffer_text(&twice)));
    buffer_free(&once);
    buffer_free(&twice);
}

/* A line that is written again is the same. */
static void read_usage(struct arena *arena, struct text source)
{
    struct event event;
    struct usage usage, again;
    while (eventlog_next(&source, &event)) {
        struct buffer once = {0}, twice = {0};
        if (!usage_parse(arena, &event, &usage))
            continue;
        CHECK(usage.cpu_held >= -1 && usage.gpu_held >= -1 && usage.attempt >= 0);
        usage_format(&usage, &once);
        struct text line = buffer_text(&once);
        CHECK(eventlog_next(&line, &event) && usage_parse(arena, &event, &again));
        usage_format(&again, &twice);
        CHECK(text_equal(buffer_text(&once), buffer_text(&twice)));
        buffer_free(&once);
        buffer_free(&twice);
    }
}

static void read_history(struct arena *arena, struct text source, struct history *history)
{
    struct history again;
    struct buffer once = {0};
    history_runs_parse(arena, source, history);
    for (size_t i = 0; i < history->count; i++) {
        CHECK(history->runs[i].id.length > 0);
        check_number(history->runs[i].rate);
        check_number(history->runs[i].seconds);
        history_runs_format(&history->runs[i], &once);
        history_runs_format(&history->runs[i], &once);
    }
    history_runs_parse(arena, arena_text(arena, once.data ? once.data : "", once.length), &again);
    CHECK(again.count == history->count);
    buffer_free(&once);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text source = fuzz_text(bytes, length);
    struct arena *arena = arena_new();
    struct progress progress;
    struct history history;
    parse_number(source);
    read_progress(source, &progress);
    read_history(arena, source, &history);
    read_usage(arena, source);
    predict_from(&progress, &history);
    arena_free(arena);
    return 0;
}
