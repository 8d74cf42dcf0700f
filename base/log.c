/* base/log.c - messages to the administrator, on standard error
 *
 * Each message is one write(2), so that lines of several processes do not mix.  The rate of
 * warnings is limited, since a full disk causes one for each job that it stops, again and again:
 * the same one is printed once a minute; a few that differ only in words with a digit (ids and
 * numbers); and different ones as a token bucket allows.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/journal.h"
#include "base/json.h"
#include "base/text.h"

enum {
    REPEATS = 32,            /* remembered warnings, and kinds of warnings */
    MOST_OF_A_KIND = 3,      /* printed in a minute */
    MOST_TOKENS = 30,        /* different warnings printed at once, */
    TOKEN_INTERVAL = 6000,   /* and milliseconds for each more */
    REPEAT_INTERVAL = 60000, /* milliseconds before the same one is printed again */
};

static struct {
    uint64_t hash[REPEATS];
    int64_t said[REPEATS]; /* of clock_elapsed; 0: free */
    size_t oldest;
    struct kind {
        uint64_t hash;
        int64_t since; /* of clock_elapsed; 0: free */
        int said;
    } kinds[REPEATS];
    size_t oldest_kind;
    int tokens;
    int64_t filled; /* of clock_elapsed: when a token was added; 0: never */
    unsigned long left_out;
    int64_t told; /* of clock_elapsed: when that was said; 0: never */
} limits;

static const char *stage_name;
static bool with_time;
static bool verbose;
static bool journal; /* the journal adds the time, and reads a level in <> */
static log_is_job *is_job;
enum { OWNERS = 256, NAME_SIZE = 64 };
static struct owned {
    char job[NAME_SIZE], owner[NAME_SIZE];
} owners[OWNERS];
static bool json;

/* How bad it is: as the journal has it, before a sentence for people, and for programs. */
static const struct level {
    const char *journal, *prefix, *name;
} info = {"<6>", "", "info"}, warning = {"<4>", "warning: ", "warning"},
  debug = {"<7>", "", "debug"};

void log_name(const char *stage)
{
    stage_name = stage;
}

void log_timestamps(bool on)
{
    with_time = on;
}

void log_journal(bool on, log_is_job *job)
{
    journal = on;
    is_job = job;
    if (on)
        journal_open();
}

static struct owned *slot_of(struct text job)
{
    return &owners[hash_text(HASH_START, job) % OWNERS];
}

void log_owner(struct text job, struct text owner)
{
    if (!journal || job.length >= sizeof(owners->job))
        return;
    struct owned *slot = slot_of(job);
    text_copy(slot->job, sizeof(slot->job), job);
    text_copy(slot->owner, sizeof(slot->owner), owner);
}

void log_json(bool on)
{
    json = on;
}

void log_verbose(bool on)
{
    verbose = on;
}

static void add_object(struct buffer *line, const struct level *level, struct text message)
{
    struct arena *arena = arena_new();
    struct value *tree = value_object(arena);
    char time[CLOCK_TEXT_SIZE];
    value_put(arena, tree, "time", value_string(arena, clock_format(clock_now(), time)));
    value_put(arena, tree, "level", value_string(arena, level->name));
    value_put(arena, tree, "stage",
              stage_name ? value_string(arena, stage_name) : value_null(arena));
    value_put(arena, tree, "message", value_text(arena, message));
    json_write(line, tree, false, NULL);
    arena_free(arena);
}

static void add_start(struct buffer *line, const struct level *level)
{
    char time[CLOCK_TEXT_SIZE];
    if (journal)
        buffer_add_string(line, level->journal);
    else if (with_time)
        buffer_printf(line, "%s ", clock_format(clock_now(), time));
}

static void add_sentence(struct buffer *line, const struct level *level, struct text message)
{
    buffer_add_string(line, "dlspool");
    if (stage_name)
        buffer_printf(line, "[%s]", stage_name);
    buffer_printf(line, ": %s", level->prefix);
    buffer_add_text(line, message);
}

static void add_job(struct buffer *out, struct text message)
{
    const char *colon = memchr(message.data, ':', message.length);
    struct text job = {message.data, colon ? (size_t)(colon - message.data) : 0};
    if (!is_job || !is_job(job))
        return;
    journal_add(out, "DLSPOOL_JOB", job);
    const struct owned *slot = slot_of(job);
    if (text_is(job, slot->job))
        journal_add(out, "DLSPOOL_OWNER", text_of(slot->owner));
}

/* Give it to the journal with its fields.  False when that is to be done by a line of standard error. */
static bool send_fields(const struct level *level, struct text message)
{
    struct buffer out = {0}, line = {0};
    add_sentence(&line, level, message);
    journal_add(&out, "MESSAGE", buffer_text(&line));
    journal_add(&out, "PRIORITY", (struct text){level->journal + 1, 1});
    journal_add(&out, "SYSLOG_IDENTIFIER", TEXT("dlspool"));
    journal_add(&out, "DLSPOOL_STAGE", text_of(stage_name));
    add_job(&out, message);
    bool sent = journal_send(&out);
    buffer_free(&line);
    buffer_free(&out);
    return sent;
}

static void write_line(const struct level *level, const char *format, va_list arguments)
{
    struct buffer line = {0}, message = {0};
    buffer_vprintf(&message, format, arguments);
    if (journal && !json && send_fields(level, buffer_text(&message))) {
        buffer_free(&message);
        return;
    }
    if (json)
        add_object(&line, level, buffer_text(&message));
    else {
        add_start(&line, level);
        add_sentence(&line, level, buffer_text(&message));
    }
    buffer_add_byte(&line, '\n');
    /* There is nowhere to report that a message cannot be written. */
    ssize_t ignored = write(json ? STDOUT_FILENO : STDERR_FILENO, line.data, line.length);
    (void)ignored;
    buffer_free(&message);
    buffer_free(&line);
}

/* A hash of the words without a digit. */
static uint64_t hash_kind(struct text line)
{
    uint64_t hash = HASH_START;
    struct text word;
    while (text_next(&line, ' ', &word)) {
        bool digit = false;
        for (size_t i = 0; i < word.length; i++)
            digit = digit || (word.data[i] >= '0' && word.data[i] <= '9');
        hash = hash_text(hash_byte(hash, 0), digit ? TEXT("0") : word);
    }
    return hash;
}

/* Has its kind been printed often enough lately?  Counts this one. */
static bool is_common(struct text line, int64_t now)
{
    uint64_t hash = hash_kind(line);
    for (size_t i = 0; i < REPEATS; i++) {
        struct kind *kind = &limits.kinds[i];
        if (kind->since && kind->hash == hash && now - kind->since < REPEAT_INTERVAL)
            return ++kind->said > MOST_OF_A_KIND;
    }
    limits.kinds[limits.oldest_kind] = (struct kind){hash, now ? now : 1, 1};
    limits.oldest_kind = (limits.oldest_kind + 1) % REPEATS;
    return false;
}

/* Was the same warning printed lately?  Remembers this one. */
static bool is_repeated(struct text line, int64_t now)
{
    uint64_t hash = hash_text(HASH_START, line);
    for (size_t i = 0; i < REPEATS; i++)
        if (limits.said[i] && limits.hash[i] == hash && now - limits.said[i] < REPEAT_INTERVAL)
            return true;
    limits.hash[limits.oldest] = hash;
    limits.said[limits.oldest] = now ? now : 1;
    limits.oldest = (limits.oldest + 1) % REPEATS;
    return false;
}

static bool take_token(int64_t now)
{
    int64_t more = limits.filled ? (now - limits.filled) / TOKEN_INTERVAL : MOST_TOKENS;
    if (limits.filled == 0 || limits.tokens + more >= MOST_TOKENS) {
        limits.tokens = MOST_TOKENS;
        limits.filled = now ? now : 1;
    } else {
        limits.tokens += (int)more;
        limits.filled += more * TOKEN_INTERVAL;
    }
    if (limits.tokens == 0)
        return false;
    limits.tokens--;
    return true;
}

static void say_plainly(const struct level *level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say_plainly(const struct level *level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(level, format, arguments);
    va_end(arguments);
}

/* Print how many warnings were left out, at most once in REPEAT_INTERVAL: a full disk leaves out
 * some for each job that ends. */
static void say_left_out(int64_t now)
{
    if (!limits.left_out || (limits.told && now - limits.told < REPEAT_INTERVAL))
        return;
    say_plainly(&warning, "%lu warnings were left out before this", limits.left_out);
    limits.left_out = 0;
    limits.told = now ? now : 1;
}

void log_say(const char *format, ...)
{
    va_list arguments;
    /* An event: earlier warnings are worth printing again. */
    memset(limits.said, 0, sizeof(limits.said));
    say_left_out(clock_elapsed());
    va_start(arguments, format);
    write_line(&info, format, arguments);
    va_end(arguments);
}

void log_warn(const char *format, ...)
{
    struct buffer line = {0};
    va_list arguments, again;
    int64_t now = clock_elapsed();
    va_start(arguments, format);
    va_copy(again, arguments);
    buffer_vprintf(&line, format, again);
    va_end(again);
    if (is_repeated(buffer_text(&line), now) || is_common(buffer_text(&line), now) ||
        !take_token(now)) {
        limits.left_out++;
    } else {
        say_left_out(now);
        write_line(&warning, format, arguments);
    }
    va_end(arguments);
    buffer_free(&line);
}

void log_detail(const char *format, ...)
{
    if (!verbose)
        return;
    va_list arguments;
    va_start(arguments, format);
    write_line(&debug, format, arguments);
    va_end(arguments);
}
