/* archive/index.c - a line for each job of an archive, in the file *.index beside it */
#include "archive/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spool/eventlog.h"
#include "spool/pairs.h"

static const char event_name[] = "archived";

#define FIELD(name, kind, member) PAIR(struct archived_job, name, kind, member)
static const struct pair_field fields[] = {
    FIELD("id", PAIR_TEXT, id),
    FIELD("name", PAIR_TEXT, name),
    FIELD("owner", PAIR_TEXT, owner),
    FIELD("state", PAIR_TEXT, state),
    FIELD("accepted", PAIR_TIME, accepted),
    FIELD("queued", PAIR_TIME, queued),
    FIELD("started", PAIR_TIME, started),
    FIELD("ended", PAIR_TIME, ended),
    FIELD("attempt", PAIR_INT, attempt),
    FIELD("exit_code", PAIR_INT, exit_code),
    FIELD("reason", PAIR_TEXT, reason),
    FIELD("class", PAIR_TEXT, class),
    FIELD("retry", PAIR_TEXT, retry),
    FIELD("why", PAIR_TEXT, why),
    FIELD("node", PAIR_TEXT, node),
    FIELD("library", PAIR_TEXT, library),
    FIELD("version", PAIR_TEXT, version),
    FIELD("type", PAIR_TEXT, type),
    FIELD("queue", PAIR_TEXT, queue),
    FIELD("executor", PAIR_TEXT, executor),
    FIELD("image", PAIR_TEXT, image),
    FIELD("priority", PAIR_INT, priority),
    FIELD("cpus_milli", PAIR_INT64, cpus),
    FIELD("memory_bytes", PAIR_INT64, memory),
    FIELD("gpus", PAIR_INT64, gpus),
    FIELD("gpu_type", PAIR_TEXT, gpu_type),
    FIELD("bytes", PAIR_INT64, bytes),
    FIELD("at", PAIR_INT64, offset),
    FIELD("others", PAIR_TEXT, others),
};
#undef FIELD

/* The sentence of the last `failed` event: `why` itself may quote what the job printed. */
static struct text sentence_of_log(int job, struct arena *arena)
{
    struct buffer log = {0};
    struct event event;
    struct text sentence = {"", 0};
    if (eventlog_read(job, &log, NULL) == 0) {
        struct text rest = buffer_text(&log);
        while (eventlog_next(&rest, &event))
            if (text_is(event.name, "failed"))
                sentence = eventlog_get(arena, &event, "why");
        sentence = sentence.length ? arena_text(arena, sentence.data, sentence.length) : TEXT("");
    }
    buffer_free(&log);
    return sentence;
}

static void describe_failure(const struct failure *failure, struct archived_job *archived)
{
    archived->exit_code = failure->exit_code;
    archived->reason = failure->reason;
    archived->class = failure->class;
    archived->retry = text_of(retry_when_name(failure->when));
    if (!archived->ended)
        archived->ended = failure->failed;
}

static void describe_record(const struct job_record *record, struct archived_job *archived)
{
    archived->name = record->name;
    archived->owner = record->owner;
    archived->uid = record->uid;
    archived->accepted = record->accepted;
    archived->attempt = record->attempt;
    archived->library = record->library;
    archived->version = record->library_version.length ? record->library_version : record->version;
    archived->type = record->type;
    archived->queue = record->queue;
    archived->executor = record->executor;
    archived->image = record->image;
    archived->priority = record->priority;
    archived->cpus = record->cpus;
    archived->memory = record->memory;
    archived->gpus = record->gpus;
    archived->gpu_type = record->gpu_type;
}

void index_describe(int job, const struct job_place *place, const struct job_record *record,
                    struct arena *arena, struct archived_job *archived)
{
    struct job_situation situation;
    job_state_read_situation(job, place, &situation);
    *archived = (struct archived_job){
        .id = arena_text(arena, place->id, strlen(place->id)),
        .state = text_of(spool_state_name(place->state)),
        .queued = situation.queued,
        .started = situation.started,
        .ended = situation.ended,
        .node = arena_text(arena, situation.node, strlen(situation.node)),
        .uid = (uid_t)-1,
    };
    if (record)
        describe_record(record, archived);
    if (place->state == STATE_FAILED) {
        archived->exit_code = -1;
        archived->why = sentence_of_log(job, arena);
        if (record && record->failed)
            describe_failure(&record->failure, archived);
    }
}

void index_format(const struct archived_job *job, struct buffer *out)
{
    eventlog_start(out, job->archived, event_name);
    pairs_add(out, fields, ARRAY_COUNT(fields), job);
    eventlog_add_number(out, "uid", job->uid);
    eventlog_end(out);
}

static bool read_job(struct arena *arena, const struct event *event, struct archived_job *job)
{
    *job = (struct archived_job){.archived = event->time, .exit_code = -1};
    job->uid = (uid_t)eventlog_get_number(event, "uid", (uid_t)-1);
    return text_is(event->name, event_name) &&
           !pairs_read(arena, event, fields, ARRAY_COUNT(fields), job) && id_valid(job->id) &&
           job->offset >= 0;
}

bool index_next(struct text *rest, struct arena *arena, struct archived_job *job)
{
    struct event event;
    while (eventlog_next(rest, &event))
        if (read_job(arena, &event, job))
            return true;
    return false;
}

bool index_find_id(struct text lines, struct text id, struct arena *arena, struct archived_job *job)
{
    char wanted[ID_SIZE + 8];
    int length = snprintf(wanted, sizeof(wanted), " id=%.*s ", (int)id.length, id.data);
    const char *end = lines.data + lines.length;
    const char *found =
        lines.length ? memmem(lines.data, lines.length, wanted, (size_t)length) : NULL;
    while (found) {
        const char *start = memrchr(lines.data, '\n', (size_t)(found - lines.data));
        start = start ? start + 1 : lines.data;
        struct text line = {start, (size_t)(end - start)};
        if (index_next(&line, arena, job) && text_equal(job->id, id))
            return true;
        found = memmem(found + 1, (size_t)(end - found - 1), wanted, (size_t)length);
    }
    return false;
}

bool index_next_other(struct text *others, struct text *kind, int64_t *offset)
{
    struct text piece;
    while (text_next(others, ',', &piece)) {
        const char *colon = memrchr(piece.data, ':', piece.length);
        char number[24];
        size_t digits = colon ? (size_t)(piece.data + piece.length - colon - 1) : 0;
        if (!digits || digits >= sizeof(number))
            continue;
        memcpy(number, colon + 1, digits);
        number[digits] = '\0';
        *kind = (struct text){piece.data, (size_t)(colon - piece.data)};
        *offset = strtoll(number, NULL, 10);
        return true;
    }
    return false;
}

void index_add_others(struct buffer *line, struct text others)
{
    if (!others.length)
        return;
    line->length--; /* the newline */
    eventlog_add(line, "others", others);
    eventlog_end(line);
}

const char *index_end_key(const struct archived_job *job, char buffer[static INDEX_END_SIZE])
{
    snprintf(buffer, INDEX_END_SIZE, "%.*s %.*s %d %lld", (int)job->id.length, job->id.data,
             (int)job->state.length, job->state.data, job->attempt, (long long)job->ended);
    return buffer;
}
