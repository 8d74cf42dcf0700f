/* stages/notify/occasions.c - of what the owner of a job is to be told, from the job's log */
#include "stages/notify/occasions.h"

#include "base/clock.h"
#include "spool/eventlog.h"

const int64_t occasions_risk_patience = 60000;

/* What the lines up to here say of the job. */
struct reader {
    struct arena *arena;
    const struct occasions_input *input;
    struct occasions *found;
    int attempt, turn;
    bool has_failure;        /* `failure` waits for the line that says that it counts */
    struct occasion failure; /* MESSAGE_FAIL, or MESSAGE_REQUEUE when it comes back by itself */
    bool is_held;
    bool to_be_held;        /* somebody holds it, wherever it is */
    bool resized;           /* it goes on at another size */
    int64_t started, ended; /* of the current attempt; 0: not yet */
    struct text end_pairs;
};

static bool is_wanted(const struct reader *reader, enum message_event event)
{
    return reader->input->events & 1u << event;
}

static void add(struct reader *reader, const struct occasion *occasion)
{
    struct occasions *found = reader->found;
    if (!is_wanted(reader, occasion->key.event))
        return;
    found->items = arena_grow(reader->arena, found->items, found->count, &found->capacity,
                              sizeof(*found->items));
    found->items[found->count++] = *occasion;
}

static struct occasion occasion_of(const struct reader *reader, enum message_event event,
                                   int64_t time)
{
    return (struct occasion){.key = {event, reader->attempt, reader->turn},
                             .time = time,
                             .exit_code = -1,
                             .ended = reader->end_pairs};
}

/* Who asks for failures is told of one as such, who asks for ends as of an end. */
static void add_failure(struct reader *reader)
{
    struct occasion *failure = &reader->failure;
    if (failure->key.event == MESSAGE_FAIL && !is_wanted(reader, MESSAGE_FAIL))
        failure->key.event = MESSAGE_END;
    add(reader, failure);
    reader->has_failure = false;
}

static void read_failed(struct reader *reader, const struct event *event)
{
    struct text retry = eventlog_get(reader->arena, event, "retry");
    bool stays = text_is(retry, "never") || text_is(retry, "change");
    reader->failure = occasion_of(reader, stays ? MESSAGE_FAIL : MESSAGE_REQUEUE, event->time);
    reader->failure.reason = eventlog_get(reader->arena, event, "reason");
    reader->failure.why = eventlog_get(reader->arena, event, "why");
    reader->failure.exit_code = (int)eventlog_get_number(event, "exit_code", -1);
    /* One that is stopped to be held is told of as held. */
    reader->has_failure = !(reader->to_be_held && text_is(reader->failure.reason, "Preempted"));
    reader->is_held = false;
    reader->resized = text_is(reader->failure.reason, "Resized");
}

/* It goes back to rendered/.  What came back by itself was told with the failure. */
static void read_requeued(struct reader *reader, const struct event *event)
{
    bool failed = reader->has_failure, stayed = reader->failure.key.event == MESSAGE_FAIL;
    bool moves = failed || reader->is_held;
    if (failed && !reader->resized)
        add_failure(reader);
    reader->turn += moves;
    reader->attempt = (int)eventlog_get_number(event, "attempt", reader->attempt);
    if (failed && stayed) {
        struct occasion again = occasion_of(reader, MESSAGE_REQUEUE, event->time);
        again.reason = eventlog_get(reader->arena, event, "cause");
        add(reader, &again);
    }
    reader->has_failure = reader->is_held = false;
    reader->started = reader->ended = 0;
    reader->end_pairs = (struct text){NULL, 0};
}

static int64_t time_of(struct reader *reader, const struct event *event)
{
    int64_t at;
    struct text written = eventlog_get(reader->arena, event, "at");
    return written.length && !clock_parse(written, &at) ? at : event->time;
}

static void read_started(struct reader *reader, const struct event *event)
{
    reader->started = time_of(reader, event);
    if (!reader->resized) {
        struct occasion begin = occasion_of(reader, MESSAGE_BEGIN, event->time);
        add(reader, &begin);
    }
    reader->resized = false;
}

static void read_held(struct reader *reader, const struct event *event)
{
    struct text cause = eventlog_get(reader->arena, event, "cause");
    bool approval = text_is(cause, "approval");
    struct occasion held =
        occasion_of(reader, approval ? MESSAGE_APPROVAL : MESSAGE_HELD, event->time);
    held.reason = cause;
    if (reader->has_failure && !reader->resized)
        add_failure(reader);
    if (!reader->is_held)
        add(reader, &held);
    reader->is_held = true;
    reader->has_failure = false;
}

/* Of the whole job, not of tasks of it. */
static void read_hold(struct reader *reader, const struct event *event)
{
    if (!eventlog_get(reader->arena, event, "array").length)
        reader->to_be_held = text_is(event->name, "hold");
}

static void read_finished(struct reader *reader, const struct event *event)
{
    struct occasion end = occasion_of(reader, MESSAGE_END, event->time);
    end.succeeded = true;
    reader->has_failure = false;
    if (reader->input->state == STATE_DONE)
        add(reader, &end);
}

static void read_event(struct reader *reader, const struct event *event)
{
    if (text_is(event->name, "intent"))
        reader->attempt = (int)eventlog_get_number(event, "attempt", reader->attempt);
    else if (text_is(event->name, "submitted"))
        reader->has_failure = false;
    else if (text_is(event->name, "started"))
        read_started(reader, event);
    else if (text_is(event->name, "ended")) {
        reader->ended = time_of(reader, event);
        reader->end_pairs = event->rest;
    } else if (text_is(event->name, "failed"))
        read_failed(reader, event);
    else if (text_is(event->name, "requeued"))
        read_requeued(reader, event);
    else if (text_is(event->name, "held"))
        read_held(reader, event);
    else if (text_is(event->name, "finished"))
        read_finished(reader, event);
    else if (text_is(event->name, "hold") || text_is(event->name, "release"))
        read_hold(reader, event);
}

/* Tell of something at a time, or say when that will be. */
static void add_at(struct reader *reader, enum message_event event, int64_t time)
{
    struct occasions *found = reader->found;
    if (!is_wanted(reader, event))
        return;
    if (reader->input->now >= time) {
        struct occasion occasion = occasion_of(reader, event, time);
        add(reader, &occasion);
    } else if (found->next == 0 || time < found->next) {
        found->next = time;
    }
}

/* Of what no line tells: how long it has run, and its deadline, which is one for all attempts. */
static void add_times(struct reader *reader, bool given_up)
{
    const struct occasions_input *input = reader->input;
    const struct job_record *record = input->record;
    if (record->time_limit && reader->started && !reader->ended && input->state == STATE_SUBMITTED)
        add_at(reader, MESSAGE_TIME_LIMIT_90, reader->started + record->time_limit / 10 * 9);
    reader->attempt = reader->turn = 0;
    reader->end_pairs = (struct text){NULL, 0};
    if (!record->deadline || given_up)
        return;
    if (input->state == STATE_DONE && reader->ended <= record->deadline)
        return;
    if (input->at_risk_since && input->now < record->deadline && input->state != STATE_DONE)
        add_at(reader, MESSAGE_DEADLINE_AT_RISK, input->at_risk_since + occasions_risk_patience);
    add_at(reader, MESSAGE_DEADLINE_MISSED, record->deadline);
}

/* The last of all has left the job where it is. */
static void mark_current(const struct reader *reader)
{
    struct occasions *found = reader->found;
    struct occasion *last = found->count ? &found->items[found->count - 1] : NULL;
    if (last && last->key.turn == reader->turn &&
        (reader->input->state == STATE_FAILED || reader->input->state == STATE_HELD))
        last->current = true;
}

void occasions_find(struct arena *arena, const struct occasions_input *input,
                    struct occasions *occasions)
{
    struct reader reader = {.arena = arena, .input = input, .found = occasions, .attempt = 1};
    struct text rest = input->log;
    struct event event;
    *occasions = (struct occasions){.finished = input->state == STATE_DONE};
    while (eventlog_next(&rest, &event))
        read_event(&reader, &event);
    bool given_up = reader.has_failure && reader.failure.key.event != MESSAGE_REQUEUE;
    if (reader.has_failure && input->state == STATE_FAILED && !reader.resized)
        add_failure(&reader);
    mark_current(&reader);
    add_times(&reader, given_up);
}
