/* client/status_report.c - how a spool stands: its daemon, its jobs by state, and what its executor has */
#include "client/status_report.h"

#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "client/templates.h"
#include "spool/day_names.h"

static const int64_t removed_shown = INT64_C(7) * 24 * 3600 * 1000; /* milliseconds */

/* Count a job that is not done.  One that moves meanwhile may be counted in its old or its new state. */
static int count_job(void *context, const struct job_place *place)
{
    struct status_report *report = context;
    int job = job_open(report->spool, place);
    if (job >= 0) {
        enum job_state state = job_state_read(job, place);
        report->jobs[state]++;
        if (state == JOB_WAITING &&
            (!report->oldest[0] ||
             text_compare(id_token(text_of(place->id)), id_token(text_of(report->oldest))) < 0))
            memcpy(report->oldest, place->id, sizeof(report->oldest));
        sys.close(job);
    }
    return 0;
}

static int count_file(void *context, const char *name, unsigned char type)
{
    (void)type;
    *(int64_t *)context += name[0] != '.';
    return 0;
}

static void count_jobs(struct status_report *report)
{
    directory_walk(report->spool->incoming, count_file, &report->dropped);
    if (report->spool->claims >= 0)
        directory_walk(report->spool->claims, count_file, &report->dropped);
    for (int state = 0; state < STATE_DONE; state++)
        jobs_walk(report->spool, (enum state)state, count_job, report);
    int64_t done = day_names_count_done(report->spool);
    report->jobs[JOB_DONE] += done > 0 ? done : 0;
}

static void look_at_templates(struct status_report *report)
{
    struct repository *repository =
        templates_open(report->spool->path, NULL, "HEAD", false, &report->no_templates);
    if (!repository)
        return;
    report->commit = text_of(arena_string(report->arena, repository_commit(repository)));
    repository_close(repository);
}

void status_report_look(struct status_report *report)
{
    const struct spool *spool = report->spool;
    report->serving = lease_present(spool, report->who);
    count_jobs(report);
    report->is_paused = pause_read(spool, &report->pause);
    report->planned = plan_file_read(spool, report->arena, &report->plan, NULL) == 0;
    report->removed_count = removed_file_read(spool, clock_now() - removed_shown, report->removed);
    report->host = host_read(report->arena, spool->path, NULL);
    look_at_templates(report);
}

void status_report_take_capacity(struct status_report *report)
{
    report->has_capacity =
        capacity_file_read(report->spool, &report->capacity, NULL, &report->capacity_time) == 0;
}

const char *const status_report_standings[STATUS_REPORT_STANDINGS] = {
    "on track", "at risk", "cannot meet", "late", "best effort"};

size_t status_report_count(const struct status_report *report, const char *standing)
{
    size_t count = 0;
    for (size_t i = 0; i < report->plan.job_count; i++)
        count += text_is(report->plan.jobs[i].deadline_status, standing);
    return count;
}

/* ---- for programs ---- */

static struct value *pause_tree(const struct status_report *report)
{
    struct arena *arena = report->arena;
    struct value *tree = value_object(arena);
    char time[CLOCK_TEXT_SIZE];
    value_put(arena, tree, "by", value_string(arena, report->pause.by));
    value_put(arena, tree, "since",
              report->pause.since ? value_string(arena, clock_format(report->pause.since, time))
                                  : value_null(arena));
    value_put(arena, tree, "reason",
              *report->pause.reason ? value_string(arena, report->pause.reason)
                                    : value_null(arena));
    return tree;
}

static struct value *host_tree(const struct status_report *report)
{
    struct arena *arena = report->arena;
    struct value *tree = value_object(arena);
    for (size_t i = 0; i < report->host->count; i++) {
        const struct host_library *library = &report->host->libraries[i];
        struct value *item = value_object(arena);
        value_put(arena, item, "version", value_text(arena, library->version));
        value_put(arena, item, "gpus", value_boolean(arena, library->gpus));
        value_set(arena, tree, library->name, item);
    }
    return tree;
}

static void put_pair(struct arena *arena, struct value *object, const char *name, double total,
                     double available)
{
    struct value *pair = value_object(arena);
    value_put(arena, pair, "total", value_number(arena, total));
    value_put(arena, pair, "free", value_number(arena, available));
    value_put(arena, object, name, pair);
}

static struct value *capacity_tree(struct arena *arena, const struct capacity *capacity)
{
    struct value *object = value_object(arena), *types = value_object(arena);
    struct value *nodes = value_object(arena);
    value_put(arena, nodes, "total", value_number(arena, capacity->nodes));
    value_put(arena, nodes, "ready", value_number(arena, capacity->nodes_ready));
    value_put(arena, object, "nodes", nodes);
    put_pair(arena, object, "cpus", (double)capacity->cpus / 1000,
             (double)capacity->cpus_free / 1000);
    put_pair(arena, object, "memory", (double)capacity->memory, (double)capacity->memory_free);
    put_pair(arena, object, "gpus", capacity->gpus, capacity->gpus_free);
    for (size_t i = 0; i < capacity->gpu_type_count; i++)
        put_pair(arena, types, capacity->gpu_types[i].type, capacity->gpu_types[i].count,
                 capacity->gpu_types[i].free);
    value_put(arena, object, "gpu_types", types);
    value_put(arena, object, "note", value_text(arena, text_of(capacity->note)));
    return object;
}

static struct value *plan_tree(const struct status_report *report)
{
    struct arena *arena = report->arena;
    struct value *tree = value_object(arena);
    char time[CLOCK_TEXT_SIZE];
    value_put(arena, tree, "time", value_string(arena, clock_format(report->plan.time, time)));
    for (int i = 0; i < STATUS_REPORT_STANDINGS; i++)
        value_put(
            arena, tree, status_report_standings[i],
            value_number(arena, (double)status_report_count(report, status_report_standings[i])));
    return tree;
}

static struct value *removed_list(const struct status_report *report)
{
    struct arena *arena = report->arena;
    struct value *list = value_list(arena);
    char time[CLOCK_TEXT_SIZE];
    for (size_t i = 0; i < report->removed_count; i++) {
        struct value *item = value_object(arena);
        value_put(arena, item, "id", value_string(arena, report->removed[i].id));
        value_put(arena, item, "attempt", value_number(arena, report->removed[i].attempt));
        value_put(arena, item, "time",
                  value_string(arena, clock_format(report->removed[i].time, time)));
        value_append(arena, list, item);
    }
    return list;
}

/* Unknown facts are null, with a reason beside them. */
struct value *status_report_tree(const struct status_report *report)
{
    struct arena *arena = report->arena;
    struct value *tree = value_object(arena), *jobs = value_object(arena);
    struct value *executor = value_object(arena), *templates = value_object(arena);
    value_put(arena, tree, "spool", value_text(arena, text_of(report->spool->path)));
    value_put(arena, tree, "daemon",
              report->serving > 0 ? value_text(arena, text_of(report->who)) : value_null(arena));
    value_put(arena, jobs, "incoming", value_number(arena, (double)report->dropped));
    for (int state = 0; state < JOB_STATES; state++)
        value_put(arena, jobs, job_state_name((enum job_state)state),
                  value_number(arena, (double)report->jobs[state]));
    value_put(arena, tree, "paused", report->is_paused ? pause_tree(report) : value_null(arena));
    value_put(arena, tree, "jobs", jobs);
    value_put(arena, tree, "oldest_waiting",
              report->oldest[0] ? value_string(arena, report->oldest) : value_null(arena));
    value_put(arena, tree, "removed", removed_list(report));
    value_put(arena, tree, "plan", report->planned ? plan_tree(report) : value_null(arena));
    value_put(arena, templates, "commit",
              report->commit.length ? value_text(arena, report->commit) : value_null(arena));
    value_put(arena, templates, "reason",
              report->commit.length ? value_null(arena)
                                    : value_text(arena, text_of(report->no_templates.text)));
    value_put(arena, tree, "templates", templates);
    value_put(arena, executor, "name", value_text(arena, report->settings->executor));
    value_put(arena, executor, "ready",
              report->asked ? value_boolean(arena, report->takes_jobs) : value_null(arena));
    value_put(arena, executor, "reason",
              report->takes_jobs ? value_null(arena)
                                 : value_text(arena, text_of(report->not_ready.text)));
    value_put(arena, executor, "capacity",
              report->has_capacity ? capacity_tree(arena, &report->capacity) : value_null(arena));
    char time[CLOCK_TEXT_SIZE];
    value_put(arena, executor, "capacity_time",
              report->capacity_time ? value_string(arena, clock_format(report->capacity_time, time))
                                    : value_null(arena));
    value_put(arena, executor, "host", report->host ? host_tree(report) : value_null(arena));
    value_put(arena, tree, "executor", executor);
    return tree;
}
