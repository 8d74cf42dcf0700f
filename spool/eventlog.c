/* spool/eventlog.c - <id>/log: one line per event, append-only */
#include "spool/eventlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/system.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "spool/file.h"

enum { LOG_LIMIT = 16 << 20 }; /* bytes that are read */

void eventlog_start(struct buffer *line, int64_t now, const char *event)
{
    char time[CLOCK_TEXT_SIZE];
    buffer_add_string(line, clock_format(now, time));
    buffer_add_byte(line, ' ');
    buffer_add_string(line, event);
}

static bool stands_bare(struct text value)
{
    for (size_t i = 0; i < value.length; i++) {
        char c = value.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (c == '\0' || !strchr("._:/@%+,-", c)))
            return false;
    }
    return value.length > 0;
}

void eventlog_add(struct buffer *line, const char *key, struct text value)
{
    buffer_add_byte(line, ' ');
    buffer_add_string(line, key);
    buffer_add_byte(line, '=');
    if (stands_bare(value)) {
        buffer_add_text(line, value);
        return;
    }
    struct value quoted = {.kind = VALUE_STRING, .string = value};
    struct error_quote_buffer buffer;
    struct buffer json = {0};
    if (!utf8_valid(value))
        quoted.string = text_of(error_quote(&buffer, value.data, value.length));
    json_write(&json, &quoted, false, NULL);
    visible_add_json(line, buffer_text(&json));
    buffer_free(&json);
}

void eventlog_add_string(struct buffer *line, const char *key, const char *value)
{
    eventlog_add(line, key, text_of(value));
}

void eventlog_add_number(struct buffer *line, const char *key, int64_t value)
{
    buffer_printf(line, " %s=%lld", key, (long long)value);
}

void eventlog_end(struct buffer *line)
{
    buffer_add_byte(line, '\n');
}

/* Whether the file of that size ends within a line, because a crash cut the last write. */
static bool ends_in_mid_line(int file, off_t size)
{
    char last;
    return size > 0 && sys.pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

/* Is it a link to a file of somebody else's, put there by who may write to the directory?  (Links to a job's own files
 * may be a copy that an administrator keeps.) */
static bool is_strangers(const struct stat *file, int directory)
{
    struct stat status;
    return file->st_nlink > 1 && (sys.fstat(directory, &status) || status.st_uid != file->st_uid);
}

/* Open the log, and tell its size, 0 or less if it is new.  Its name may be that of a directory, a link or a pipe. */
static int open_log(int directory, const char *name, off_t *size)
{
    const int flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat status = {.st_size = -1};
    int file = sys.openat(directory, name, flags, 0644);
    bool is_none = file < 0 ? errno == EISDIR || errno == ELOOP || errno == ENXIO
                            : !sys.fstat(file, &status) &&
                                  (!S_ISREG(status.st_mode) || is_strangers(&status, directory));
    *size = status.st_size;
    if (!is_none) {
        if (file >= 0 && status.st_size == 0)
            (void)spool_file_give(file, directory, (gid_t)-1);
        return file;
    }
    *size = 0;
    if (file >= 0)
        sys.close(file);
    return spool_file_damaged(directory, name) ? -1 : sys.openat(directory, name, flags, 0644);
}

int eventlog_append_to(int directory, const char *name, struct text lines, struct error *error)
{
    off_t size;
    int file = open_log(directory, name, &size);
    if (file < 0)
        return error_errno(error, "%s could not be opened", name);
    int result = 0;
    if (ends_in_mid_line(file, size))
        result = file_write_all(file, TEXT("\n"), name, error);
    if (!result)
        result = file_write_all(file, lines, name, error);
    if (sys.close(file) && !result)
        result = error_errno(error, "%s could not be written", name);
    return result;
}

int eventlog_append(int job, struct text lines, struct error *error)
{
    return eventlog_append_to(job, "log", lines, error);
}

int eventlog_read(int job, struct buffer *log, struct error *error)
{
    return file_read_at(job, "log", LOG_LIMIT, log, error);
}

static bool is_appendable(int job, int file, struct stat *status)
{
    return !sys.fstat(file, status) && S_ISREG(status->st_mode) && !is_strangers(status, job) &&
           status->st_size > 0;
}

int eventlog_open(int job, struct open_log *open, struct buffer *log, struct error *error)
{
    struct stat status;
    size_t before = log->length;
    *open = (struct open_log){
        .file = sys.openat(job, "log", O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)};
    if (open->file >= 0 && is_appendable(job, open->file, &status) &&
        !file_read_sized(open->file, status.st_size, LOG_LIMIT, log, "log", error)) {
        bool cut = log->length == before || log->data[log->length - 1] != '\n';
        open->size = cut ? -1 : (off_t)(log->length - before);
        open->fresh = true;
        return 0;
    }
    log->length = before;
    if (open->file >= 0)
        sys.close(open->file);
    open->file = -1;
    return eventlog_read(job, log, error);
}

/* Is the end of the file the end of a line? */
static bool ends_a_line(const struct open_log *open)
{
    struct stat status;
    if (open->fresh)
        return open->size >= 0;
    return !sys.fstat(open->file, &status) &&
           (status.st_size == open->size || !ends_in_mid_line(open->file, status.st_size));
}

int eventlog_close(struct open_log *open, struct error *error)
{
    int file = open->file;
    open->file = -1;
    return file >= 0 && sys.close(file) ? error_errno(error, "log could not be written") : 0;
}

int eventlog_extend(int job, struct open_log *open, struct text lines, struct error *error)
{
    if (open->file < 0)
        return eventlog_append(job, lines, error);
    int result = 0;
    if (!ends_a_line(open))
        result = file_write_all(open->file, TEXT("\n"), "log", error);
    if (!result)
        result = file_write_all(open->file, lines, "log", error);
    open->size = open->fresh && open->size >= 0 ? open->size + (off_t)lines.length : -1;
    open->fresh = false;
    if (result)
        (void)eventlog_close(open, NULL);
    return result;
}

int eventlog_read_undamaged(int job, struct buffer *log, struct error *error)
{
    size_t before = log->length;
    if (eventlog_read(job, log, error) == 0)
        return 0;
    if (!file_is_damaged(errno))
        return -1;
    log->length = before;
    return 0;
}

bool eventlog_next(struct text *rest, struct event *event)
{
    struct text line;
    while (rest->data && rest->length) {
        const char *end = memchr(rest->data, '\n', rest->length);
        if (!end)
            return false; /* cut short: not an event */
        line = (struct text){rest->data, (size_t)(end - rest->data)};
        rest->data = end + 1;
        rest->length -= line.length + 1;
        struct text time;
        struct text words = line;
        if (text_next(&words, ' ', &time) && clock_parse(time, &event->time) == 0 &&
            text_next(&words, ' ', &event->name) && event->name.length) {
            event->rest = words.data ? words : (struct text){"", 0};
            return true;
        }
    }
    return false;
}

/* The end of the value that starts at `at`: past the closing quote, or at the next space. */
static size_t value_end(struct text rest, size_t at)
{
    if (at < rest.length && rest.data[at] == '"') {
        for (at++; at < rest.length && rest.data[at] != '"'; at++)
            if (rest.data[at] == '\\')
                at++;
        return at < rest.length ? at + 1 : rest.length;
    }
    while (at < rest.length && rest.data[at] != ' ')
        at++;
    return at;
}

static struct text find_value(const struct event *event, const char *key)
{
    struct text rest = event->rest;
    size_t key_length = strlen(key);
    for (size_t at = 0; at < rest.length;) {
        const char *equals = memchr(rest.data + at, '=', rest.length - at);
        if (!equals)
            break;
        size_t start = (size_t)(equals - rest.data) + 1;
        size_t end = value_end(rest, start);
        if (start - 1 - at == key_length && memcmp(rest.data + at, key, key_length) == 0)
            return (struct text){rest.data + start, end - start};
        at = end + 1;
    }
    return (struct text){NULL, 0};
}

/* Undo the quoting of a value. */
static struct text unquote_value(struct arena *arena, struct text written)
{
    if (!written.data || written.length == 0 || written.data[0] != '"')
        return written;
    struct value *value = json_read(arena, written, "log", &yaml_trusted_limits, NULL);
    return value && value->kind == VALUE_STRING ? value->string : written;
}

struct text eventlog_get(struct arena *arena, const struct event *event, const char *key)
{
    return unquote_value(arena, find_value(event, key));
}

bool eventlog_next_pair(struct text *rest, struct arena *arena, struct text *key,
                        struct text *value)
{
    const char *equals = rest->length ? memchr(rest->data, '=', rest->length) : NULL;
    if (!equals)
        return false;
    size_t start = (size_t)(equals - rest->data) + 1;
    size_t end = value_end(*rest, start);
    *key = (struct text){rest->data, start - 1};
    *value = unquote_value(arena, (struct text){rest->data + start, end - start});
    size_t next = end < rest->length ? end + 1 : end;
    *rest = (struct text){rest->data + next, rest->length - next};
    return true;
}

int64_t eventlog_get_number(const struct event *event, const char *key, int64_t otherwise)
{
    struct text written = find_value(event, key);
    char digits[24];
    if (!written.data || written.length == 0 || written.length >= sizeof(digits))
        return otherwise;
    memcpy(digits, written.data, written.length);
    digits[written.length] = '\0';
    char *end;
    long long number = strtoll(digits, &end, 10);
    return *end ? otherwise : number;
}

static bool event_is(const struct event *event, const char *key, const char *value)
{
    return text_is(find_value(event, key), value);
}

bool eventlog_is_whole(struct text log)
{
    struct event event;
    return eventlog_next(&log, &event) && text_is(event.name, "accepted");
}

int eventlog_count_retries(struct text log, const char *reason, const char *class, int exit_code)
{
    struct event event;
    bool same = false;
    int count = 0;
    while (eventlog_next(&log, &event)) {
        if (text_is(event.name, "failed")) {
            same = event_is(&event, "reason", reason) && event_is(&event, "class", class) &&
                   eventlog_get_number(&event, "exit_code", -1) == exit_code &&
                   event_is(&event, "retry", "at");
        } else if (text_is(event.name, "intent")) {
            count += same;
            same = false;
        } else if (text_is(event.name, "retry")) {
            same = false;
            count = 0;
        }
    }
    return count;
}

void eventlog_fold(struct text log, struct eventlog_fold *fold)
{
    struct event event;
    *fold = (struct eventlog_fold){0};
    while (eventlog_next(&log, &event)) {
        fold->last = event;
        if (text_is(event.name, "intent")) {
            *fold = (struct eventlog_fold){
                .intent = true, .last = event, .retries = fold->retries + fold->retry};
            fold->attempt = (int)eventlog_get_number(&event, "attempt", 0);
        } else if (text_is(event.name, "submitted")) {
            fold->accepted = true;
            fold->submitted = event;
        } else if (text_is(event.name, "declined")) {
            fold->intent = false;
        } else if (text_is(event.name, "failed")) {
            fold->failed = true;
            fold->retry = event_is(&event, "class", "unknown") && event_is(&event, "retry", "at");
        } else if (text_is(event.name, "started")) {
            fold->started = true;
        } else if (text_is(event.name, "ended")) {
            fold->ended = true;
            fold->last_end = event;
        }
    }
}

bool eventlog_state(struct text log, enum state *state)
{
    static const struct {
        const char *event;
        enum state state;
    } moves[] = {{"rendered", STATE_RENDERED},   {"requeued", STATE_RENDERED},
                 {"submitted", STATE_SUBMITTED}, {"finished", STATE_DONE},
                 {"failed", STATE_FAILED},       {"held", STATE_HELD}};
    struct event event;
    bool known = false;
    while (eventlog_next(&log, &event)) {
        for (size_t i = 0; i < ARRAY_COUNT(moves); i++) {
            if (text_is(event.name, moves[i].event)) {
                *state = moves[i].state;
                known = true;
            }
        }
    }
    return known;
}
