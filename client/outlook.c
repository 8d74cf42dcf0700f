/* client/outlook.c - a job's deadline, prediction and progress */
#include "client/outlook.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "client/put.h"
#include "spool/eventlog.h"

/* ---- reading ---- */

/* When a done job ended. */
static int64_t end_of(int job, struct arena *arena)
{
    struct buffer log = {0};
    struct event event;
    int64_t end = 0;
    if (eventlog_read(job, &log, NULL) == 0) {
        struct text rest = buffer_text(&log);
        while (eventlog_next(&rest, &event)) {
            if (!text_is(event.name, "ended") && !text_is(event.name, "finished"))
                continue;
            struct text at = eventlog_get(arena, &event, "at");
            if (text_is(event.name, "finished") ? end == 0 : !at.data || clock_parse(at, &end))
                end = event.time;
        }
    }
    buffer_free(&log);
    return end;
}

void outlook_measure(int job, struct arena *arena, struct outlook *outlook)
{
    struct progress *progress = arena_allocate(arena, sizeof(*progress));
    if (progress_file_read(job, progress, NULL))
        return;
    outlook->progress = progress;
    for (int i = 0; i < progress->size_count; i++) {
        const struct progress_at_size *at = &progress->sizes[i];
        if (at->attempt != progress->attempt)
            continue;
        outlook->allocated += at->cpu_allocated > 0 ? at->cpu_allocated : 0;
        if (at->cpu_used < 0)
            outlook->used = -1;
        else if (outlook->used >= 0)
            outlook->used += at->cpu_used;
    }
}

/* Milliseconds of a core: of less, the start of a container is most, and a share would mislead. */
enum { LEAST_RATED = 1000 };

/* A status that outlives the plan's arena: a literal for each known one. */
static const char *status_word(struct text word)
{
    static const char *const words[] = {"best effort", "on track", "at risk", "cannot meet",
                                        "late"};
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        if (text_is(word, words[i]))
            return words[i];
    return NULL;
}

/* A plan that was made while the job waited says why it did. */
static void take_plan(struct outlook *outlook, const struct planned_job *planned, enum state state)
{
    bool waited = state == STATE_SUBMITTED && !planned->size;
    outlook->deadline_status = status_word(planned->deadline_status);
    outlook->finish = planned->finish;
    outlook->late = planned->late;
    if (!waited)
        outlook->reason = planned->reason;
    outlook->next = planned->next;
}

static bool has_met(const struct spool *spool, const struct job_view *view, int64_t deadline)
{
    int job = job_open(spool, &view->place);
    if (job < 0)
        return false;
    struct arena *arena = arena_new();
    bool met = end_of(job, arena) <= deadline;
    arena_free(arena);
    sys.close(job);
    return met;
}

void outlook_read(const struct spool *spool, const struct job_view *view,
                  const struct plan_file *plan, int64_t now, struct outlook *outlook)
{
    const struct job_record *record = &view->record;
    enum state state = view->place.state;
    *outlook = (struct outlook){.reason = TEXT("")};
    if (!view->readable)
        return;
    outlook->deadline = text_is(record->deadline_mode, "none") ? 0 : record->deadline;
    if (state == STATE_RENDERED || state == STATE_SUBMITTED) {
        const struct planned_job *planned = plan_file_find(plan, view->place.id);
        if (planned)
            take_plan(outlook, planned, state);
    }
    if (outlook->deadline && state == STATE_DONE)
        outlook->deadline_status = has_met(spool, view, outlook->deadline) ? "met" : "missed";
    else if (outlook->deadline && now >= outlook->deadline)
        outlook->deadline_status = "late";
}

bool outlook_is_there(const struct outlook *outlook)
{
    return outlook->deadline || outlook->deadline_status;
}

/* ---- for people ---- */

const char *outlook_text(const struct outlook *outlook, char buffer[static OUTLOOK_TEXT_SIZE])
{
    char time[CLOCK_TEXT_SIZE] = "";
    if (outlook->finish)
        clock_local(outlook->finish, time);
    snprintf(buffer, OUTLOOK_TEXT_SIZE, "%s%s%s",
             outlook->deadline_status ? outlook->deadline_status : "-", time[0] ? " " : "", time);
    return buffer;
}

/* Who is told a fact, and what it is written into. */
struct telling {
    outlook_fact *tell;
    void *context;
    struct buffer text;
};

static void tell(struct telling *telling, const char *name)
{
    telling->tell(telling->context, name, buffer_text(&telling->text));
    buffer_clear(&telling->text);
}

static void tell_deadline_status(struct telling *telling, const struct outlook *outlook)
{
    char finish[CLOCK_TEXT_SIZE], late[CLOCK_TEXT_SIZE];
    struct buffer *out = &telling->text;
    buffer_add_string(out, outlook->deadline_status);
    if (outlook->finish)
        buffer_printf(out, ": estimated completion %s (80th percentile: %s)",
                      clock_local(outlook->finish, finish), clock_local(outlook->late, late));
    if (outlook->reason.length) {
        buffer_add_string(out, outlook->finish ? "; " : ": ");
        buffer_add_text(out, outlook->reason);
    }
    tell(telling, "deadline status");
}

static int64_t size_of(const struct job_view *view)
{
    return view->record.size_now > 0 ? view->record.size_now : view->record.size;
}

static void tell_size(struct telling *telling, const struct job_view *view,
                      const struct outlook *outlook)
{
    char now[SIZE_TEXT_SIZE], least[SIZE_TEXT_SIZE], most[SIZE_TEXT_SIZE], next[SIZE_TEXT_SIZE];
    const struct sizes *sizes = &view->record.sizes;
    if (sizes->kind == SIZE_FIXED || size_of(view) == 0)
        return;
    buffer_printf(&telling->text, "%s (from %s to %s)", size_text(sizes->kind, size_of(view), now),
                  size_text(sizes->kind, sizes->least, least),
                  size_text(sizes->kind, sizes->most, most));
    if (outlook->next && outlook->next != size_of(view))
        buffer_printf(&telling->text, ", is to have %s",
                      size_text(sizes->kind, outlook->next, next));
    tell(telling, "size");
}

static void tell_progress(struct telling *telling, const struct outlook *outlook)
{
    const struct progress *progress = outlook->progress;
    struct buffer *out = &telling->text;
    if (progress->total > 0 || progress->done > 0) {
        buffer_printf(out, "%g", progress->done);
        if (progress->total > 0)
            buffer_printf(out, " of %g units (%.0f %%)", progress->total,
                          100 * progress->done / progress->total);
        else
            buffer_add_string(out, " units");
        if (progress->rate > 0)
            buffer_printf(out, ", %.3g a second", progress->rate);
        tell(telling, "progress");
    }
    if (outlook->used >= 0 && outlook->allocated > 0) {
        if (outlook->allocated >= LEAST_RATED)
            buffer_printf(out, "CPU efficiency %.0f %%: ",
                          100 * (double)outlook->used / (double)outlook->allocated);
        buffer_printf(out, "%.2f of %.2f core-seconds", (double)outlook->used / 1000,
                      (double)outlook->allocated / 1000);
        tell(telling, "used");
    }
}

void outlook_tell(const struct job_view *view, const struct outlook *outlook, outlook_fact *fact,
                  void *context)
{
    struct telling telling = {.tell = fact, .context = context};
    char deadline[CLOCK_TEXT_SIZE];
    if (outlook->deadline) {
        buffer_printf(&telling.text, "%s%s", clock_local(outlook->deadline, deadline),
                      text_is(view->record.deadline_mode, "firm") ? " (firm)" : "");
        tell(&telling, "deadline");
    }
    if (outlook->deadline_status)
        tell_deadline_status(&telling, outlook);
    if (view->readable)
        tell_size(&telling, view, outlook);
    if (outlook->progress)
        tell_progress(&telling, outlook);
    buffer_free(&telling.text);
}

/* ---- for programs ---- */

static struct value *positive_or_null(struct arena *arena, double number)
{
    return number > 0 ? value_number(arena, number) : value_null(arena);
}

static struct value *progress_tree(struct arena *arena, const struct outlook *outlook)
{
    struct value *tree = value_object(arena);
    const struct progress *progress = outlook->progress;
    bool known = outlook->used >= 0 && outlook->allocated > 0;
    put_time(arena, tree, "time", progress->time);
    value_put(arena, tree, "done", value_number(arena, progress->done));
    value_put(arena, tree, "total", positive_or_null(arena, progress->total));
    value_put(arena, tree, "rate", positive_or_null(arena, progress->rate));
    value_put(arena, tree, "cpu_seconds_used",
              known ? value_number(arena, (double)outlook->used / 1000) : value_null(arena));
    value_put(arena, tree, "cpu_seconds_allocated",
              known ? value_number(arena, (double)outlook->allocated / 1000) : value_null(arena));
    return tree;
}

static struct value *size_tree(struct arena *arena, const struct job_view *view,
                               const struct outlook *outlook)
{
    const struct sizes *sizes = &view->record.sizes;
    struct value *tree = value_object(arena);
    double unit = sizes->kind == SIZE_CPUS ? 1000 : 1;
    value_put(arena, tree, "of", value_string(arena, size_kind_name(sizes->kind)));
    value_put(arena, tree, "now", positive_or_null(arena, (double)size_of(view) / unit));
    value_put(arena, tree, "next", positive_or_null(arena, (double)outlook->next / unit));
    value_put(arena, tree, "min", value_number(arena, (double)sizes->least / unit));
    value_put(arena, tree, "max", value_number(arena, (double)sizes->most / unit));
    return tree;
}

void outlook_put(struct arena *arena, struct value *tree, const struct job_view *view,
                 const struct outlook *outlook, bool whole)
{
    put_time(arena, tree, "deadline", outlook->deadline);
    value_put(arena, tree, "standing",
              outlook->deadline_status ? value_string(arena, outlook->deadline_status)
                                       : value_null(arena));
    put_time(arena, tree, "predicted_finish", outlook->finish);
    put_time(arena, tree, "predicted_late", outlook->late);
    if (!whole)
        return;
    value_put(arena, tree, "reason",
              outlook->reason.length ? value_text(arena, outlook->reason) : value_null(arena));
    value_put(arena, tree, "size",
              view->readable && view->record.sizes.kind != SIZE_FIXED
                  ? size_tree(arena, view, outlook)
                  : value_null(arena));
    value_put(arena, tree, "progress",
              outlook->progress ? progress_tree(arena, outlook) : value_null(arena));
}

struct value *outlook_job(const struct spool *spool, struct arena *arena,
                          const struct job_view *view)
{
    struct value *tree = view_tree(arena, view);
    struct plan_file plan;
    struct outlook outlook;
    plan_file_read(spool, arena, &plan, NULL);
    outlook_read(spool, view, &plan, clock_now(), &outlook);
    outlook_put(arena, tree, view, &outlook, false);
    return tree;
}
