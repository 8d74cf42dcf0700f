/* stages/notify/letter.c - what the owner of a job is told, as a mail and as JSON for a webhook */
#include "stages/notify/letter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/ranges.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "spool/eventlog.h"
#include "stages/notify/mime.h"

enum {
    SUBJECT_MOST = 200, /* bytes */
    WHY_LINES = 12,     /* of the file `why` */
    LINE_MOST = 400,    /* bytes of one of them */
    TASKS_LISTED = 20,  /* that failed, one a line */
};

/* A text cut to so many bytes, at a whole character. */
static struct text cut(struct arena *arena, struct text text, size_t most)
{
    size_t length = 0;
    if (text.length <= most)
        return text;
    while (length < most) {
        size_t step = utf8_sequence(text.data + length, text.length - length);
        if (length + (step ? step : 1) > most)
            break;
        length += step ? step : 1;
    }
    return arena_printf(arena, "%.*s...", (int)length, text.data);
}

/* One line: what stands for control characters is a blank. */
static struct text line_of(struct arena *arena, struct text text)
{
    struct buffer line = {0};
    for (size_t i = 0; i < text.length; i++) {
        char byte = text.data[i];
        buffer_add_byte(&line, (unsigned char)byte < ' ' || byte == 0x7f ? ' ' : byte);
    }
    return arena_take(arena, &line);
}

static const char *word_of(const struct occasion *occasion)
{
    return message_event_name(occasion->key.event);
}

/* What has happened, to follow the job's name. */
static struct text phrase_of(struct arena *arena, const struct letter_facts *facts)
{
    const struct occasion *occasion = facts->occasion;
    struct text why = occasion->why.length ? occasion->why : occasion->reason;
    static const char again[] = "Waiting for approval: "; /* which the phrase says itself */
    struct text first;
    bool held = occasion->key.event == MESSAGE_HELD || occasion->key.event == MESSAGE_APPROVAL;
    if (held && facts->why.length) {
        struct text rest = facts->why;
        if (text_next(&rest, '\n', &first))
            why = first;
        if (text_starts(why, again))
            why = (struct text){why.data + strlen(again), why.length - strlen(again)};
    }
    switch (occasion->key.event) {
    case MESSAGE_BEGIN:
        return TEXT("has started");
    case MESSAGE_END:
        if (occasion->succeeded)
            return TEXT("ended: succeeded");
        return arena_printf(arena, "ended: failed: %.*s", (int)why.length, why.data);
    case MESSAGE_FAIL:
        return arena_printf(arena, "failed: %.*s", (int)why.length, why.data);
    case MESSAGE_REQUEUE:
        return arena_printf(arena, "is tried again: %.*s", (int)why.length, why.data);
    case MESSAGE_HELD:
        return arena_printf(arena, "is held: %.*s", (int)why.length, why.data);
    case MESSAGE_APPROVAL:
        return arena_printf(arena, "waits for approval: %.*s", (int)why.length, why.data);
    case MESSAGE_TIME_LIMIT_90:
        return TEXT("has run for 90 % of its time limit");
    case MESSAGE_DEADLINE_AT_RISK:
        return TEXT("may not be done by its deadline");
    default:
        return TEXT("was not done by its deadline");
    }
}

static void add_fact(struct buffer *out, const char *name, struct text value)
{
    if (value.length)
        buffer_printf(out, "%-11s %.*s\n", name, (int)value.length, value.data);
}

static void add_time(struct buffer *out, const char *name, int64_t time)
{
    char text[64];
    time_t seconds = (time_t)(time / 1000);
    struct tm local;
    if (time && localtime_r(&seconds, &local) &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local))
        add_fact(out, name, text_of(text));
}

static void add_duration(struct buffer *out, const char *name, int64_t duration)
{
    char text[CLOCK_TEXT_SIZE];
    if (duration > 0)
        add_fact(out, name, text_of(duration_format(duration, text)));
}

/* What the job has, or had: "4 CPUs, 16.0 GiB, 1 GPU". */
static void add_resources(struct buffer *out, const struct job_record *record)
{
    char text[160];
    int length = snprintf(text, sizeof(text), "%g CPU%s, %.1f GiB", (double)record->cpus / 1000,
                          record->cpus == 1000 ? "" : "s", (double)record->memory / (1 << 30));
    if (record->gpus)
        snprintf(text + length, sizeof(text) - (size_t)length, ", %d GPU%s", record->gpus,
                 record->gpus == 1 ? "" : "s");
    if (record->cpus)
        add_fact(out, "Resources:", text_of(text));
}

static void add_facts(struct arena *arena, struct buffer *out, const struct letter_facts *facts)
{
    const struct job_record *record = facts->record;
    const struct job_situation *situation = facts->situation;
    char place[PLACE_TEXT_SIZE];
    add_time(out, "When:", facts->occasion->time);
    add_fact(out, "Where:",
             arena_printf(arena, "%s/%s", facts->spool, job_place_text(facts->place, place)));
    add_fact(out, "State now:", text_of(job_state_name(situation->state)));
    add_fact(out, "Owner:", record->owner);
    add_fact(out, "Queue:", record->queue);
    add_time(out, "Submitted:", record->accepted);
    add_time(out, "Started:", situation->started);
    add_time(out, "Ended:", situation->ended);
    if (situation->started && situation->ended)
        add_duration(out, "Ran for:", situation->ended - situation->started);
    add_fact(out, "On:", text_of(situation->node));
    add_resources(out, record);
    add_duration(out, "Time limit:", record->time_limit);
    add_time(out, "Deadline:", record->deadline);
    if (facts->occasion->key.attempt > 1)
        add_fact(out, "Attempt:", arena_printf(arena, "%d", facts->occasion->key.attempt));
}

/* The index that the user gave the task of that number of an array, or the number itself. */
static int index_of(const int *indexes, size_t count, size_t number)
{
    return number < count ? indexes[number] : (int)number;
}

/* How the tasks ended: one message for all of them. */
static void add_tasks(struct arena *arena, struct buffer *out, const struct letter_facts *facts)
{
    struct text rest = facts->occasion->ended, key, value;
    struct buffer failed = {0};
    size_t total = 0, bad = 0, count = 0;
    int *indexes = NULL;
    struct text array = facts->record->array;
    if (array.length && ranges_parse(arena, array, 10000, &indexes, &count, NULL))
        count = 0;
    while (eventlog_next_pair(&rest, arena, &key, &value)) {
        if (text_is(key, "attempt") || text_is(key, "at") || text_is(key, "outcome"))
            continue;
        const char *dash = memrchr(key.data, '-', key.length);
        int number = dash ? (int)strtol(dash + 1, NULL, 10) : 0;
        total++;
        if (text_is(value, "0") || bad++ >= TASKS_LISTED)
            continue;
        buffer_printf(&failed, "    %.*s", (int)key.length, key.data);
        if (count)
            buffer_printf(&failed, " (index %d)", index_of(indexes, count, (size_t)number));
        buffer_printf(&failed, ": exit code %.*s\n", (int)value.length, value.data);
    }
    if (total > 1) {
        buffer_printf(out, "\nOf %zu tasks of this attempt %zu succeeded and %zu failed%s\n", total,
                      total - bad, bad, bad ? ":" : ".");
        buffer_add_text(out, buffer_text(&failed));
        if (bad > TASKS_LISTED)
            buffer_printf(out, "    and %zu more\n", bad - (size_t)TASKS_LISTED);
    }
    buffer_free(&failed);
}

static void add_why(struct arena *arena, struct buffer *out, struct text why)
{
    struct text line;
    int count = 0;
    why = text_trim(why);
    if (!why.length)
        return;
    buffer_add_byte(out, '\n');
    while (text_next(&why, '\n', &line) && count++ < WHY_LINES) {
        line = cut(arena, line, LINE_MOST);
        buffer_printf(out, "%s%.*s\n", line.length ? "    " : "", (int)line.length, line.data);
    }
    if (why.length)
        buffer_add_string(out, "    ...\n");
}

/* The paths of spools are the administrator's; one with a blank or a quote is left to the reader to quote. */
static void add_commands(struct buffer *out, const struct letter_facts *facts)
{
    const char *id = facts->record->id.data;
    enum message_event event = facts->occasion->key.event;
    buffer_printf(out, "\nTo see more:\n    dlspool -s %s show %s\n", facts->spool, id);
    if (facts->situation->started)
        buffer_printf(out, "    dlspool -s %s logs %s\n", facts->spool, id);
    if (facts->place->state == STATE_FAILED && (event == MESSAGE_FAIL || event == MESSAGE_END))
        buffer_printf(out, "To run it again:\n    dlspool -s %s retry %s\n", facts->spool, id);
    if (facts->place->state == STATE_HELD && event == MESSAGE_HELD)
        buffer_printf(out, "To release it, if you hold it:\n    dlspool -s %s release %s\n",
                      facts->spool, id);
}

static struct text name_of(struct arena *arena, const struct job_record *record)
{
    return line_of(arena, record->name.length ? record->name : record->source);
}

static struct text write_text(struct arena *arena, const struct letter_facts *facts,
                              struct text phrase)
{
    struct buffer out = {0};
    struct text name = name_of(arena, facts->record);
    buffer_printf(&out, "Job %.*s (%s) %.*s\n\n", (int)name.length, name.data,
                  facts->record->id.data, (int)phrase.length, phrase.data);
    add_facts(arena, &out, facts);
    if (facts->occasion->key.event == MESSAGE_END || facts->occasion->key.event == MESSAGE_FAIL ||
        facts->occasion->key.event == MESSAGE_REQUEUE)
        add_tasks(arena, &out, facts);
    add_why(arena, &out, facts->why);
    add_commands(&out, facts);
    struct visible visible = {.count = 0};
    struct buffer shown = {0};
    visible_add(&visible, &shown, buffer_text(&out));
    visible_end(&visible, &shown);
    buffer_free(&out);
    return arena_take(arena, &shown);
}

static struct text write_mail(struct arena *arena, const struct letter_facts *facts,
                              const struct letter *letter)
{
    struct buffer out = {0};
    char date[64] = "";
    const char *host = facts->domain.length ? facts->domain.data : "localhost";
    time_t seconds = (time_t)(facts->occasion->time / 1000);
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S +0000", &utc);
    mime_add_header(&out, "From", arena_printf(arena, "dlspool <%s>", facts->from.data));
    mime_add_header(&out, "To", facts->to);
    mime_add_header(&out, "Subject", letter->subject);
    mime_add_header(&out, "Date", text_of(date));
    mime_add_header(&out, "Message-ID", arena_printf(arena, "<%s@%s>", letter->id.data, host));
    /* Mails of one job are one thread. */
    mime_add_header(&out, "References",
                    arena_printf(arena, "<%s@%s>", facts->record->id.data, host));
    mime_add_header(&out, "Auto-Submitted", TEXT("auto-generated"));
    mime_add_header(&out, "X-Dlspool-Job", facts->record->id);
    mime_add_header(&out, "X-Dlspool-Event", text_of(word_of(facts->occasion)));
    mime_add_body(&out, letter->text);
    return arena_take(arena, &out);
}

/* One form of the facts for programs: the environment, and JSON. */
struct pairs {
    struct arena *arena;
    struct value *object;
    struct buffer environment;
};

static void add_pair(struct pairs *pairs, const char *key, const char *variable, struct text value)
{
    value = line_of(pairs->arena, value);
    if (!value.length || !utf8_valid(value))
        return;
    value_put(pairs->arena, pairs->object, key, value_text(pairs->arena, value));
    buffer_printf(&pairs->environment, "DLSPOOL_%s=%.*s", variable, (int)value.length, value.data);
    buffer_add_byte(&pairs->environment, '\0');
}

/* The facts once more, one by one. */
static void write_pairs(struct arena *arena, const struct letter_facts *facts,
                        struct letter *letter)
{
    const struct occasion *occasion = facts->occasion;
    const struct job_record *record = facts->record;
    struct pairs pairs = {.arena = arena, .object = value_object(arena)};
    char time[CLOCK_TEXT_SIZE];
    add_pair(&pairs, "event", "EVENT", text_of(word_of(occasion)));
    add_pair(&pairs, "message", "MESSAGE", letter->id);
    add_pair(&pairs, "id", "JOB", record->id);
    add_pair(&pairs, "name", "NAME", name_of(arena, record));
    add_pair(&pairs, "owner", "OWNER", record->owner);
    add_pair(&pairs, "time", "TIME",
             text_of(arena_string(arena, clock_format(occasion->time, time))));
    add_pair(&pairs, "state", "STATE", text_of(job_state_name(facts->situation->state)));
    add_pair(&pairs, "reason", "REASON", occasion->reason);
    add_pair(&pairs, "attempt", "ATTEMPT", arena_printf(arena, "%d", occasion->key.attempt));
    if (occasion->exit_code >= 0)
        add_pair(&pairs, "exit_code", "EXIT_CODE", arena_printf(arena, "%d", occasion->exit_code));
    add_pair(&pairs, "spool", "DIR", text_of(facts->spool));
    add_pair(&pairs, "to", "TO", facts->to);
    add_pair(&pairs, "subject", "SUBJECT", letter->subject);
    letter->environment = arena_take(arena, &pairs.environment);
    value_put(arena, pairs.object, "text",
              value_text(arena, arena_printf(arena, "%.*s\n\n%.*s", (int)letter->subject.length,
                                             letter->subject.data, (int)letter->text.length,
                                             letter->text.data)));
    struct buffer json = {0};
    json_write(&json, pairs.object, false, NULL);
    letter->json = arena_take(arena, &json);
}

void letter_write(struct arena *arena, const struct letter_facts *facts, struct letter *letter)
{
    const struct message_key *key = &facts->occasion->key;
    struct text name = name_of(arena, facts->record);
    struct text phrase = line_of(arena, phrase_of(arena, facts));
    letter->id = arena_printf(arena, "%s.%s.%d.%d", facts->record->id.data,
                              word_of(facts->occasion), key->attempt, key->turn);
    letter->subject = cut(
        arena,
        line_of(arena, arena_printf(arena, "[dlspool] %.*s (%s) %.*s", (int)name.length, name.data,
                                    facts->record->id.data, (int)phrase.length, phrase.data)),
        SUBJECT_MOST);
    letter->text = write_text(arena, facts, phrase);
    letter->mail = write_mail(arena, facts, letter);
    write_pairs(arena, facts, letter);
}
