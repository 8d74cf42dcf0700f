/* executors/slurm/records.c - picks dlspool's jobs out of slurmrestd's list */
#include "executors/slurm/records.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "executors/slurm/request.h"
#include "executors/slurm/values.h"

static const char token_start[] = "dlspool:";
static const struct yaml_limits record_limits = {.bytes = 64 << 20, .nodes = 2000000, .depth = 64};

void slurm_record_token(char buffer[static SLURM_TOKEN_SIZE], const char *spool, const char *id,
                        int attempt, const char *identity)
{
    snprintf(buffer, SLURM_TOKEN_SIZE, "%s%s:%s:%d%s%s", token_start, spool, id, attempt,
             identity[0] ? ":" : "", identity);
}

/* ---- states ---- */

static const struct state_name {
    const char *word;
    enum slurm_state state;
} state_names[] = {
    /* Flags of what happens now come before states. */
    {"COMPLETING", SLURM_STATE_COMPLETING},
    {"STAGE_OUT", SLURM_STATE_COMPLETING},
    {"CONFIGURING", SLURM_STATE_WAITING},
    {"POWER_UP_NODE", SLURM_STATE_WAITING},
    {"REQUEUED", SLURM_STATE_WAITING},
    {"REQUEUE_FED", SLURM_STATE_WAITING},
    {"REQUEUE_HOLD", SLURM_STATE_WAITING},
    {"SPECIAL_EXIT", SLURM_STATE_WAITING},
    {"RESV_DEL_HOLD", SLURM_STATE_WAITING},
    {"RESIZING", SLURM_STATE_RUNNING},
    {"SIGNALING", SLURM_STATE_RUNNING},
    {"STOPPED", SLURM_STATE_RUNNING},
    {"REVOKED", SLURM_STATE_REVOKED},
    {"PENDING", SLURM_STATE_WAITING},
    {"RUNNING", SLURM_STATE_RUNNING},
    {"SUSPENDED", SLURM_STATE_RUNNING},
    {"COMPLETED", SLURM_STATE_COMPLETED},
    {"CANCELLED", SLURM_STATE_CANCELLED},
    {"FAILED", SLURM_STATE_FAILED},
    {"TIMEOUT", SLURM_STATE_TIMEOUT},
    {"NODE_FAIL", SLURM_STATE_NODE_FAIL},
    {"PREEMPTED", SLURM_STATE_PREEMPTED},
    {"BOOT_FAIL", SLURM_STATE_BOOT_FAIL},
    {"DEADLINE", SLURM_STATE_DEADLINE},
    {"OUT_OF_MEMORY", SLURM_STATE_OUT_OF_MEMORY},
};

bool slurm_record_is_over(enum slurm_state state)
{
    return state >= SLURM_STATE_COMPLETED;
}

enum slurm_state slurm_record_state(const struct value *object, const char *key, struct text *word)
{
    *word = slurm_value_word(object, key);
    for (size_t i = 0; i < ARRAY_COUNT(state_names); i++) {
        if (!slurm_value_has_word(object, key, state_names[i].word))
            continue;
        *word = text_of(state_names[i].word);
        return state_names[i].state;
    }
    return SLURM_STATE_UNKNOWN;
}

/* ---- a record ---- */

bool slurm_record_is_of(const struct slurm_record *record, struct text user, uid_t uid)
{
    if (record->user.length)
        return text_equal(record->user, user);
    return record->user_id < 0 || record->user_id == (int64_t)uid;
}

bool slurm_record_read_name(struct slurm_record *record, struct text name)
{
    const char *dash = name.length ? memrchr(name.data, '-', name.length) : NULL;
    size_t at = dash ? (size_t)(dash - name.data) : 0;
    if (!at || at + 2 >= name.length || name.data[at + 1] != 'a')
        return false;
    int64_t attempt =
        text_number((struct text){name.data + at + 2, name.length - at - 2}, INT32_MAX);
    record->id = (struct text){name.data, at};
    record->attempt = (int)attempt;
    return attempt >= 0;
}

/* dlspool:<spool>:<id>:<attempt>..., and perhaps an identity, and the mark at its end. */
static bool read_comment(struct slurm_record *record, struct text comment, const char *spool)
{
    struct text rest = comment, piece;
    if (!text_next(&rest, ':', &piece) || !text_is(piece, "dlspool") ||
        !text_next(&rest, ':', &piece) || !text_is(piece, spool) || !rest.length)
        return false;
    record->released = text_ends(comment, SLURM_RELEASED);
    if (text_next(&rest, ':', &piece) && text_next(&rest, ':', &piece) &&
        text_next(&rest, ':', &piece) && !text_is(piece, &SLURM_RELEASED[1]))
        record->identity = piece;
    return true;
}

bool slurm_record_read(struct slurm_record *record, const struct value *job, const char *spool)
{
    *record = (struct slurm_record){.array_index = -1};
    if (!read_comment(record, value_get_text(job, "comment"), spool) ||
        !slurm_record_read_name(record, value_get_text(job, "name")))
        return false;
    record->number = slurm_value_whole(job, "job_id", SLURM_NUMBER_MOST, 0);
    record->array_number = slurm_value_whole(job, "array_job_id", SLURM_NUMBER_MOST, 0);
    record->array_rest = value_get_text(job, "array_task_string");
    if (record->array_number && !record->array_rest.length)
        record->array_index = (int)slurm_value_whole(job, "array_task_id", INT_MAX, -1);
    record->het_number = slurm_value_whole(job, "het_job_id", SLURM_NUMBER_MOST, 0);
    record->het_offset = (int)slurm_value_whole(job, "het_job_offset", INT_MAX, 0);
    record->state = slurm_record_state(job, "job_state", &record->state_word);
    record->reason = value_get_text(job, "state_reason");
    record->description = value_get_text(job, "state_description");
    record->user = value_get_text(job, "user_name");
    record->user_id = slurm_value_whole(job, "user_id", SLURM_NUMBER_MOST, -1);
    record->held = slurm_value_whole(job, "priority", SLURM_NUMBER_MOST, 1) == 0;
    record->exit_code = slurm_value_exit_code(value_get(job, "exit_code"));
    record->submitted = slurm_value_time(job, "submit_time");
    record->started = slurm_value_time(job, "start_time");
    record->ended = slurm_value_time(job, "end_time");
    record->restarts = (int)slurm_value_whole(job, "restart_cnt", INT_MAX, 0);
    record->nodes = value_get_text(job, "nodes");
    /* A job that was cancelled before its release was refused, or had a reused number (numbers.h). */
    return record->number > 0 && (record->released || record->state != SLURM_STATE_CANCELLED);
}

/* ---- the list ---- */

/* The end of the string that starts at `at`; 0 when the text ends before. */
static size_t skip_string(struct text text, size_t at)
{
    for (at++; at < text.length; at++) {
        if (text.data[at] == '\\')
            at++;
        else if (text.data[at] == '"')
            return at + 1;
    }
    return 0;
}

/* The end of the object or list that starts at `at`; 0 when the text ends before. */
static size_t skip_brackets(struct text text, size_t at)
{
    size_t depth = 0;
    while (at < text.length) {
        char c = text.data[at];
        if (c == '"') {
            at = skip_string(text, at);
            if (!at)
                return 0;
            continue;
        }
        at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return at;
    }
    return 0;
}

static size_t skip_blanks(struct text text, size_t at)
{
    while (at < text.length && strchr(" \t\r\n", text.data[at]) && text.data[at])
        at++;
    return at;
}

/* The `[` of the member "jobs" of the document; 0 when there is none. */
static size_t find_jobs(struct text answer)
{
    size_t at = skip_blanks(answer, 0);
    if (at == answer.length || answer.data[at] != '{')
        return 0;
    at++;
    while (at < answer.length) {
        char c = answer.data[at];
        if (c == '"') {
            size_t end = skip_string(answer, at);
            if (!end)
                return 0;
            struct text key = {answer.data + at + 1, end - at - 2};
            at = skip_blanks(answer, end);
            if (at == answer.length || answer.data[at] != ':' || !text_is(key, "jobs"))
                continue;
            at = skip_blanks(answer, at + 1);
            return at < answer.length && answer.data[at] == '[' ? at : 0;
        }
        if (c == '{' || c == '[') {
            at = skip_brackets(answer, at);
            if (!at)
                return 0;
            continue;
        }
        at++;
    }
    return 0;
}

struct gathering {
    struct slurm_records *records;
    struct arena *arena;
    const char *spool;
    struct text mark; /* what an object of ours has in it */
    size_t capacity;
    struct error *error;
};

static int take_object(struct gathering *gathering, struct text object)
{
    struct slurm_records *records = gathering->records;
    struct slurm_record record;
    records->listed++;
    if (!memmem(object.data, object.length, gathering->mark.data, gathering->mark.length))
        return 0;
    const struct value *job =
        json_read(gathering->arena, object, "a job", &record_limits, gathering->error);
    if (!job)
        return -1;
    if (!slurm_record_read(&record, job, gathering->spool))
        return 0;
    records->items = arena_grow(gathering->arena, records->items, records->count,
                                &gathering->capacity, sizeof(record));
    records->items[records->count++] = record;
    return 0;
}

/* The position behind the list's `]`, or 0 and a sentence. */
static size_t take_objects(struct gathering *gathering, struct text answer, size_t at)
{
    for (;;) {
        at = skip_blanks(answer, at);
        if (at == answer.length)
            break;
        char c = answer.data[at];
        if (c == ']')
            return at + 1;
        if (c == ',') {
            at++;
            continue;
        }
        size_t end = c == '{' ? skip_brackets(answer, at) : 0;
        if (!end)
            break;
        if (take_object(gathering, (struct text){answer.data + at, end - at}))
            return 0;
        at = end;
    }
    error_set(gathering->error,
              "it breaks off, or holds something else than jobs, after %zu of them",
              gathering->records->listed);
    return 0;
}

static int compare_keys(const struct slurm_record *a, const struct slurm_record *b)
{
    int order = text_compare(a->id, b->id);
    return order ? order : (a->attempt > b->attempt) - (a->attempt < b->attempt);
}

static int compare_records(const void *a, const void *b)
{
    const struct slurm_record *first = a, *second = b;
    int order = compare_keys(first, second);
    return order ? order : (first->number > second->number) - (first->number < second->number);
}

/* Check what is around the list: it must be a whole document, without errors. */
static int check_rest(struct gathering *gathering, struct text answer, size_t from, size_t to)
{
    struct buffer rest = {0};
    buffer_add(&rest, answer.data, from);
    buffer_add_string(&rest, "[]");
    buffer_add(&rest, answer.data + to, answer.length - to);
    const struct value *document =
        json_read(gathering->arena, buffer_text(&rest), "it", &record_limits, gathering->error);
    const struct value *errors = value_get(document, "errors");
    int result = document && document->kind == VALUE_OBJECT ? 0 : -1;
    if (result == 0 && errors && errors->kind == VALUE_LIST && errors->list.count) {
        struct text words = value_get_text(errors->list.items[0], "error");
        struct error_quote_buffer buffer;
        result = error_set(gathering->error, "Slurm says: %s",
                           error_quote(&buffer, words.length ? words.data : "an error",
                                       words.length ? words.length : 8));
    }
    buffer_free(&rest);
    return result;
}

int slurm_records_read(struct slurm_records *records, struct arena *arena, struct text answer,
                       const char *spool, struct error *error)
{
    struct gathering gathering = {.records = records,
                                  .arena = arena,
                                  .spool = spool,
                                  .mark = arena_printf(arena, "%s%s:", token_start, spool),
                                  .error = error};
    *records = (struct slurm_records){0};
    size_t from = find_jobs(answer);
    if (!from)
        return error_set(error, "slurmrestd's list of jobs is none: it has no list \"jobs\"");
    size_t to = take_objects(&gathering, answer, from + 1);
    if (!to || check_rest(&gathering, answer, from, to))
        return error_prefix(error, "slurmrestd's list of jobs cannot be read");
    slurm_records_sort(records);
    return 0;
}

void slurm_records_sort(struct slurm_records *records)
{
    if (records->count)
        qsort(records->items, records->count, sizeof(*records->items), compare_records);
}

struct slurm_records slurm_records_of(const struct slurm_records *records, const char *id,
                                      int attempt)
{
    const struct slurm_record wanted = {.id = text_of(id), .attempt = attempt};
    size_t low = 0, high = records->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&records->items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    struct slurm_records found = {.listed = records->listed};
    if (low == records->count) /* there may be no items at all */
        return found;
    found.items = records->items + low;
    while (low + found.count < records->count &&
           compare_keys(&found.items[found.count], &wanted) == 0)
        found.count++;
    return found;
}

int64_t slurm_record_head(const struct slurm_record *record)
{
    return record->array_number ? record->array_number
           : record->het_number ? record->het_number
                                : record->number;
}

bool slurm_record_array_has(struct text rest, int index)
{
    struct text piece;
    const char *percent = rest.length ? memchr(rest.data, '%', rest.length) : NULL;
    if (percent)
        rest.length = (size_t)(percent - rest.data);
    while (rest.length && text_next(&rest, ',', &piece)) {
        char buffer[64];
        char *end;
        snprintf(buffer, sizeof(buffer), "%.*s", (int)piece.length, piece.data);
        long first = strtol(buffer, &end, 10), last = first, step = 1;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (*end == ':')
            step = strtol(end + 1, &end, 10);
        if (end != buffer && step > 0 && index >= first && index <= last &&
            (index - first) % step == 0)
            return true;
    }
    return false;
}

enum { MOST_NODES = 100000 };

/* How many numbers the range between brackets has: "1", "1-3". */
static int count_range(struct text range)
{
    struct text first;
    text_next(&range, '-', &first);
    if (!first.data || !range.length)
        return 1;
    long from = strtol(first.data, NULL, 10), to = strtol(range.data, NULL, 10);
    return to >= from && to - from < MOST_NODES ? (int)(to - from) + 1 : 1;
}

int slurm_record_count_nodes(struct text nodes)
{
    int count = 0, within = 1; /* of a name: how many it is, by its brackets */
    for (size_t i = 0; i < nodes.length; i++) {
        const char *end;
        if (nodes.data[i] == ',' && i > 0) {
            count += within;
            within = 1;
        }
        if (nodes.data[i] != '[' || !(end = memchr(nodes.data + i, ']', nodes.length - i)))
            continue;
        struct text ranges = {nodes.data + i + 1, (size_t)(end - nodes.data) - i - 1}, range;
        int here = 0;
        while (ranges.length && text_next(&ranges, ',', &range))
            here += count_range(range);
        within *= here > 0 && here < MOST_NODES ? here : 1;
        i = (size_t)(end - nodes.data);
    }
    return nodes.length ? count + within : 0;
}
