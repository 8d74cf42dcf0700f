/* executors/slurm/accounting.c - what slurmdbd knows of jobs that slurmctld has forgotten
 *
 * 22.05 says of every job that ended by itself that its exit code was 0, whatever it was; the state
 * is right.
 */
#include "executors/slurm/accounting.h"

#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "executors/http/http.h"
#include "executors/slurm/values.h"

enum {
    NOTHING_FOUND = 9003,    /* ESLURM_REST_EMPTY_RESULT: slurmdbd answered, with no job */
    NAMES_AT_ONCE = 40,      /* in one URL, which stays below 4 KiB */
    LOOKED_BACK = 30 * 86400 /* seconds */
};
static const double most_used = 1e15; /* microseconds or bytes: more is nonsense */

/* What a job's steps have used: processor time is the sum, of memory the most that a task had.  Without a
 * plugin that counts (JobAcctGatherType) all is 0, and there is no memory.  (That "requested" is what tasks used is
 * Slurm's own word, also in newer versions: TRESUsageInMax.) */
static void read_steps(struct slurm_record *record, const struct value *steps)
{
    for (size_t i = 0; i < value_length(steps); i++) {
        const struct value *step = steps->list.items[i];
        const struct value *total = value_get(value_get(step, "time"), "total");
        const struct value *most =
            value_get(value_get(value_get(step, "tres"), "requested"), "max");
        double used = slurm_value_number(total, "seconds", 0) * 1e6 +
                      slurm_value_number(total, "microseconds", 0);
        if (used > 0 && used < most_used)
            record->cpu_time += used;
        for (size_t k = 0; k < value_length(most); k++) {
            const struct value *entry = most->list.items[k];
            double bytes = slurm_value_number(entry, "count", 0);
            if (text_is(value_get_text(entry, "type"), "mem") && bytes < most_used &&
                bytes > record->memory_peak)
                record->memory_peak = bytes;
        }
    }
}

bool slurm_accounting_read(struct slurm_record *record, const struct value *job)
{
    const struct value *array = value_get(job, "array"), *het = value_get(job, "het");
    const struct value *state = value_get(job, "state"), *times = value_get(job, "time");
    *record = (struct slurm_record){.array_index = -1, .released = true};
    if (!slurm_record_read_name(record, value_get_text(job, "name")))
        return false;
    record->number = slurm_value_whole(job, "job_id", SLURM_NUMBER_MOST, 0);
    record->array_number = slurm_value_whole(array, "job_id", SLURM_NUMBER_MOST, 0);
    record->array_rest = value_get_text(array, "task");
    if (record->array_number)
        record->array_index = (int)slurm_value_whole(array, "task_id", INT_MAX, -1);
    record->het_number = slurm_value_whole(het, "job_id", SLURM_NUMBER_MOST, 0);
    record->het_offset = (int)slurm_value_whole(het, "job_offset", INT_MAX, 0);
    record->state = slurm_record_state(state, "current", &record->state_word);
    record->reason = value_get_text(state, "reason");
    record->user = value_get_text(job, "user");
    record->user_id = -1;
    record->exit_code = slurm_value_exit_code(value_get(job, "exit_code"));
    record->submitted = slurm_value_time(times, "submission");
    record->started = slurm_value_time(times, "start");
    record->ended = slurm_value_time(times, "end");
    record->nodes = value_get_text(job, "nodes");
    read_steps(record, value_get(job, "steps"));
    return record->number > 0;
}

static struct text make_path(struct arena *arena, int version,
                             const struct slurm_accounting_query *query, size_t at, size_t count)
{
    struct buffer path = {0};
    int64_t since = query->since ? query->since / 1000 : clock_now() / 1000 - LOOKED_BACK;
    buffer_printf(&path, "/slurmdb/v0.0.%d/jobs?start_time=uts%lld%s&job_name=", version,
                  (long long)since, query->steps ? "" : "&skip_steps=1");
    for (size_t i = 0; i < count; i++) {
        buffer_add_string(&path, i ? "%2C" : "");
        http_escape(&path, text_of(query->names[at + i]));
    }
    return arena_take(arena, &path);
}

static void take_jobs(struct slurm_records *records, struct arena *arena,
                      const struct value *answer)
{
    const struct value *jobs = value_get(answer, "jobs");
    size_t count = jobs && jobs->kind == VALUE_LIST ? jobs->list.count : 0;
    struct slurm_record *items =
        arena_allocate(arena, (records->count + count + 1) * sizeof(*items));
    if (records->count)
        memcpy(items, records->items, records->count * sizeof(*items));
    records->items = items;
    for (size_t i = 0; i < count; i++)
        if (slurm_accounting_read(&items[records->count], jobs->list.items[i]))
            records->count++;
}

int slurm_accounting_ask(struct slurm *slurm, struct arena *arena,
                         const struct slurm_accounting_query *query, struct slurm_records *records,
                         struct error *error)
{
    const struct slurm_version *version = slurm_api_version(slurm->connection, error);
    *records = (struct slurm_records){0};
    if (!version || !version->database)
        return version ? 0 : -1;
    int result = 1;
    for (size_t at = 0; at < query->count && result > 0; at += NAMES_AT_ONCE) {
        size_t rest = query->count - at, some = rest < NAMES_AT_ONCE ? rest : NAMES_AT_ONCE;
        struct slurm_call call = {.method = "GET",
                                  .path = make_path(arena, version->database, query, at, some),
                                  .user = query->user};
        if (slurm_ask(slurm, arena, &call) == SLURM_DONE || call.code == NOTHING_FOUND) {
            take_jobs(records, arena, call.answer);
        } else {
            result = -1;
            error_set(error, "slurmdbd cannot be asked: %.1500s", call.error.text);
        }
        slurm_api_call_free(&call);
    }
    slurm_records_sort(records);
    return result;
}
