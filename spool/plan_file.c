/* spool/plan_file.c - DIR/plan: the last plan, for people and commands */
#include "spool/plan_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "spool/eventlog.h"
#include "spool/file.h"

enum { PLAN_LIMIT = 64 << 20, PLAN_MODE = 0644 }; /* bytes; a line is about 200 */

/* ---- writing ---- */

static void add_text(struct buffer *line, const char *key, struct text text)
{
    if (text.length)
        eventlog_add(line, key, text);
}

static void add_moment(struct buffer *line, const char *key, int64_t time)
{
    char buffer[CLOCK_TEXT_SIZE];
    if (time)
        eventlog_add_string(line, key, clock_format(time, buffer));
}

static void add_job(struct buffer *out, const struct planned_job *job)
{
    buffer_add_string(out, "job");
    eventlog_add_string(out, "id", job->id);
    add_text(out, "pool", job->pool);
    add_text(out, "standing", job->deadline_status);
    add_moment(out, "finish", job->finish);
    add_moment(out, "late", job->late);
    add_moment(out, "deadline", job->deadline);
    if (job->kind != SIZE_FIXED)
        eventlog_add_string(out, "of", size_kind_name(job->kind));
    eventlog_add_number(out, "size", job->size);
    eventlog_add_number(out, "next", job->next);
    if (job->amount)
        eventlog_add_number(out, "amount", job->amount);
    add_text(out, "reason", job->reason);
    buffer_add_byte(out, '\n');
}

int plan_file_write(struct spool *spool, const struct plan_file *plan, struct error *error)
{
    struct buffer out = {0};
    buffer_add_string(&out, "plan");
    add_moment(&out, "time", plan->time);
    eventlog_add_number(&out, "jobs", (int64_t)plan->job_count);
    buffer_add_byte(&out, '\n');
    for (size_t i = 0; i < plan->pool_count; i++) {
        buffer_add_string(&out, "pool");
        add_text(&out, "name", plan->pools[i].name);
        if (plan->pools[i].capacity >= 0)
            eventlog_add_number(&out, "capacity", plan->pools[i].capacity);
        eventlog_add_number(&out, "used", plan->pools[i].used);
        buffer_add_byte(&out, '\n');
    }
    for (size_t i = 0; i < plan->job_count; i++)
        add_job(&out, &plan->jobs[i]);
    int result = spool_file_renew(spool->root, "plan", buffer_text(&out), PLAN_MODE, error);
    buffer_free(&out);
    return result;
}

void plan_file_remove(const struct spool *spool)
{
    sys.unlinkat(spool->root, "plan", 0);
}

/* ---- reading ---- */

static int64_t get_moment(struct arena *arena, const struct event *line, const char *key)
{
    int64_t time;
    struct text text = eventlog_get(arena, line, key);
    return text.data && clock_parse(text, &time) == 0 ? time : 0;
}

static struct text get_text(struct arena *arena, const struct event *line, const char *key)
{
    struct text text = eventlog_get(arena, line, key);
    return text.data ? text : TEXT("");
}

static enum size_kind get_kind(struct arena *arena, const struct event *line)
{
    struct text word = get_text(arena, line, "of");
    for (enum size_kind kind = SIZE_TASKS; kind <= SIZE_CPUS; kind++)
        if (text_is(word, size_kind_name(kind)))
            return kind;
    return SIZE_FIXED;
}

static bool read_job(struct arena *arena, const struct event *line, struct planned_job *job)
{
    struct text id = get_text(arena, line, "id");
    if (!id_valid(id))
        return false;
    *job = (struct planned_job){
        .pool = get_text(arena, line, "pool"),
        .deadline_status = get_text(arena, line, "standing"),
        .finish = get_moment(arena, line, "finish"),
        .late = get_moment(arena, line, "late"),
        .deadline = get_moment(arena, line, "deadline"),
        .kind = get_kind(arena, line),
        .size = eventlog_get_number(line, "size", 0),
        .next = eventlog_get_number(line, "next", 0),
        .amount = eventlog_get_number(line, "amount", 0),
        .reason = get_text(arena, line, "reason"),
    };
    memcpy(job->id, id.data, id.length);
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct planned_job *first = a, *second = b;
    return strcmp(first->id, second->id);
}

static size_t count_lines(struct text text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++)
        count += text.data[i] == '\n';
    return count;
}

static void read_lines(struct arena *arena, struct text rest, struct plan_file *plan)
{
    struct text line, word;
    size_t lines = count_lines(rest);
    plan->pools = arena_allocate(arena, (lines + 1) * sizeof(*plan->pools));
    plan->jobs = arena_allocate(arena, (lines + 1) * sizeof(*plan->jobs));
    while (lines-- > 0 && text_next(&rest, '\n', &line)) {
        if (!text_next(&line, ' ', &word))
            continue;
        struct event pairs = {.rest = line.data ? line : TEXT("")};
        if (text_is(word, "plan"))
            plan->time = get_moment(arena, &pairs, "time");
        else if (text_is(word, "pool"))
            plan->pools[plan->pool_count++] = (struct planned_pool){
                get_text(arena, &pairs, "name"), eventlog_get_number(&pairs, "capacity", -1),
                eventlog_get_number(&pairs, "used", 0)};
        else if (text_is(word, "job") && read_job(arena, &pairs, &plan->jobs[plan->job_count]))
            plan->job_count++;
    }
    if (plan->job_count)
        qsort(plan->jobs, plan->job_count, sizeof(*plan->jobs), by_id);
}

int plan_file_read(const struct spool *spool, struct arena *arena, struct plan_file *plan,
                   struct error *error)
{
    struct buffer bytes = {0};
    *plan = (struct plan_file){0};
    int result = file_read_at(spool->root, "plan", PLAN_LIMIT, &bytes, error);
    if (result && errno == ENOENT)
        result = 1;
    if (!result)
        plan_file_parse(buffer_text(&bytes), arena, plan);
    buffer_free(&bytes);
    return result;
}

void plan_file_parse(struct text source, struct arena *arena, struct plan_file *plan)
{
    *plan = (struct plan_file){0};
    read_lines(arena, arena_text(arena, source.length ? source.data : "", source.length), plan);
}

const struct planned_job *plan_file_find(const struct plan_file *plan, const char *id)
{
    struct planned_job key = {.kind = SIZE_FIXED};
    size_t length = strlen(id);
    if (length >= sizeof(key.id) || plan->job_count == 0)
        return NULL;
    memcpy(key.id, id, length + 1);
    return bsearch(&key, plan->jobs, plan->job_count, sizeof(*plan->jobs), by_id);
}
