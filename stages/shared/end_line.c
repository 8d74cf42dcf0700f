/* stages/shared/end_line.c - one line of the service's log for each job that has come to an end
 *
 * Of a failure everything is read again from the job's files, so that it is what they say; what cannot be read
 * is left out.
 */
#include "stages/shared/end_line.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/labels.h"
#include "base/log.h"
#include "base/tally.h"
#include "base/utf8.h"
#include "spool/eventlog.h"
#include "stages/shared/diagnosis.h"

enum { WHY_LIMIT = 1 << 20, SENTENCE_LIMIT = 400 }; /* bytes */

/* When an event happened: by the executor's clock, if it said so. */
static int64_t time_of(struct arena *arena, const struct event *event)
{
    int64_t at;
    struct text written = eventlog_get(arena, event, "at");
    return written.length && clock_parse(written, &at) == 0 ? at : event->time;
}

/* How long the last attempt ran, or -1 when it did not. */
static int64_t last_attempt_elapsed(struct arena *arena, int job)
{
    struct buffer bytes = {0};
    int64_t started = 0, ended = 0;
    struct event event;
    if (eventlog_read(job, &bytes, NULL) == 0) {
        struct text rest = buffer_text(&bytes);
        while (eventlog_next(&rest, &event)) {
            if (text_is(event.name, "intent"))
                started = ended = 0;
            else if (text_is(event.name, "started"))
                started = time_of(arena, &event);
            else if (text_is(event.name, "ended"))
                ended = time_of(arena, &event);
        }
    }
    buffer_free(&bytes);
    return started && ended >= started ? ended - started : -1;
}

static void add_failure(struct buffer *line, const struct failure *failure)
{
    eventlog_add(line, "reason", failure->reason);
    if (failure->class.length)
        eventlog_add(line, "class", failure->class);
    if (failure->exit_code >= 0)
        eventlog_add_number(line, "exit_code", failure->exit_code);
    eventlog_add_string(line, "retry", retry_when_name(failure->when));
}

/* Control characters were made visible when `why` was written, unless somebody has edited it since. */
static void add_visible(struct buffer *line, struct text text)
{
    bool good = utf8_valid(text);
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        bool second = good && byte == 0xc2 && i + 1 < text.length &&
                      (unsigned char)text.data[i + 1] < 0xa0; /* U+0080 to U+009F: controls */
        bool shown = byte >= ' ' && byte != 0x7f && (good || byte < 0x80) && !second;
        buffer_add_byte(line, shown ? text.data[i] : '?');
        i += second;
    }
}

/* The first line of `why`, in parentheses. */
static void add_sentence(struct buffer *line, int job)
{
    struct buffer why = {0};
    size_t length = 0;
    if (file_read_at(job, "why", WHY_LIMIT, &why, NULL) == 0)
        while (length < why.length && why.data[length] != '\n')
            length++;
    bool cut = length > SENTENCE_LIMIT;
    while (cut && (length > SENTENCE_LIMIT || ((unsigned char)why.data[length] & 0xc0) == 0x80))
        length--;
    if (length) {
        buffer_add_string(line, " (");
        add_visible(line, (struct text){why.data, length});
        buffer_add_string(line, cut ? "...)" : ")");
    }
    buffer_free(&why);
}

static bool goes_on(const struct job_record *record)
{
    const struct failure *failure = &record->failure;
    return record->failed &&
           (failure->when == RETRY_ROOM || failure->when == RETRY_EXECUTOR ||
            text_is(failure->reason, REASON_RESIZED) || text_is(failure->reason, REASON_PREEMPTED));
}

static void count_end(const struct job_record *record, enum state state)
{
    bool failed = state == STATE_FAILED, known = failed && record && record->failed;
    struct buffer labels = {0};
    labels_add(&labels, "result",
               text_of(!failed ? "done"
                       : !known || record->failure.when == RETRY_NEVER ||
                               record->failure.when == RETRY_CHANGE
                           ? "failed"
                           : "retried"));
    labels_add(&labels, "reason", known ? record->failure.reason : TEXT(""));
    tally_add("jobs_ended_total", labels.data, 1);
    buffer_free(&labels);
}

/* What precedes the sentence.  `record` is NULL when it cannot be read. */
static void add_facts(struct buffer *line, const struct job_record *record, enum state state,
                      int64_t elapsed)
{
    if (record)
        eventlog_add(line, "owner", record->owner);
    buffer_printf(line, " state=%s", spool_state_name(state));
    if (record && state == STATE_FAILED && record->failed)
        add_failure(line, &record->failure);
    if (elapsed >= 0)
        buffer_printf(line, " elapsed=%" PRId64 ".%" PRId64 "s", elapsed / 1000,
                      elapsed % 1000 / 100);
    if (record && record->attempt)
        eventlog_add_number(line, "attempt", record->attempt);
}

void end_line_log(int job, const char *id, enum state state)
{
    struct arena *arena = arena_new();
    struct buffer line = {0};
    struct job_record record;
    bool readable = record_read(job, arena, &record, NULL) == 0;
    bool failed = state == STATE_FAILED;
    add_facts(&line, readable ? &record : NULL, state, last_attempt_elapsed(arena, job));
    if (failed)
        add_sentence(&line, job);
    if (readable && failed && goes_on(&record))
        log_detail("%s:%s", id, line.data);
    else
        log_say("%s:%s", id, line.data);
    count_end(readable ? &record : NULL, state);
    buffer_free(&line);
    arena_free(arena);
}

void end_line_log_done(const struct job_record *record, int64_t elapsed)
{
    struct buffer line = {0};
    add_facts(&line, record, STATE_DONE, elapsed);
    log_say("%.*s:%s", (int)record->id.length, record->id.data, line.data);
    count_end(record, STATE_DONE);
    buffer_free(&line);
}
