/* commands/status.c - dlspool status: the daemon, job counts by state, and available resources */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/duration.h"
#include "base/quantity.h"
#include "commands/ask.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "renderer/host.h"
#include "spool/pause.h"
#include "spool/job_state.h"
#include "spool/day_names.h"
#include "spool/plan_file.h"
#include "spool/settings.h"
#include "stages/lease.h"
#include "stages/service/trust.h"
#include "stages/shared/capacity_file.h"
#include "stages/shared/removed_file.h"

static const int64_t removed_shown = INT64_C(7) * 24 * 3600 * 1000; /* milliseconds */

struct report {
    struct arena *arena;
    struct spool spool;
    struct settings settings;
    int serving; /* as lease_present() */
    char who[LEASE_TEXT_SIZE];
    int64_t dropped; /* files in incoming/, and those of them that have been claimed */
    int64_t jobs[JOB_STATES];
    char oldest[ID_SIZE]; /* the oldest waiting job; "": none */
    bool is_paused;
    struct pause pause;
    bool planned; /* jobs have deadlines or sizes */
    struct plan_file plan;
    bool asked; /* the executor was queried */
    bool takes_jobs, has_capacity;
    struct error not_ready, no_capacity;
    struct capacity capacity;
    int64_t capacity_time;                    /* when the daemon queried it; 0: queried now */
    struct removed_job removed[REMOVED_KEPT]; /* in the last removed_shown */
    size_t removed_count;
    struct text commit;        /* of the templates; empty: they cannot be read, */
    struct error no_templates; /* and why */
    const struct host *host;   /* this machine's libraries; NULL: not known */
};

/* Count a job that is not done.  One that moves meanwhile may be counted in its old or its new state. */
static int count_job(void *context, const struct job_place *place)
{
    struct report *report = context;
    int job = job_open(&report->spool, place);
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

static void count_jobs(struct report *report)
{
    directory_walk(report->spool.incoming, count_file, &report->dropped);
    if (report->spool.claims >= 0)
        directory_walk(report->spool.claims, count_file, &report->dropped);
    for (int state = 0; state < STATE_DONE; state++)
        jobs_walk(&report->spool, (enum state)state, count_job, report);
    int64_t done = day_names_count_done(&report->spool);
    report->jobs[JOB_DONE] += done > 0 ? done : 0;
}

static void look_at_templates(struct report *report)
{
    struct repository *repository = open_templates(NULL, "HEAD", false, &report->no_templates);
    if (!repository)
        return;
    report->commit = text_of(arena_string(report->arena, repository_commit(repository)));
    repository_close(repository);
}

static void ask_executor(struct report *report)
{
    struct executor *executor = ask_open(&report->spool, &report->settings, &report->not_ready);
    if (!executor) {
        report->has_capacity = capacity_file_read(&report->spool, &report->capacity, NULL,
                                                  &report->capacity_time) == 0;
        return;
    }
    report->asked = true;
    report->takes_jobs = executor->operations->ready(executor, &report->not_ready) == 0;
    if (report->takes_jobs)
        report->has_capacity =
            executor->operations->capacity(executor, &report->capacity, &report->no_capacity) == 0;
    ask_close(executor, report->serving != 0);
}

/* What jobs can be in a plan, and how many are. */
static const char *const statuses[] = {"on track", "at risk", "cannot meet", "late", "best effort"};
enum { STATUSES = ARRAY_COUNT(statuses) };

static size_t count_status(const struct report *report, const char *status)
{
    size_t count = 0;
    for (size_t i = 0; i < report->plan.job_count; i++)
        count += text_is(report->plan.jobs[i].deadline_status, status);
    return count;
}

/* For people */

static void print_plan(const struct report *report)
{
    const char *before = "";
    printf("plan         ");
    for (int i = 0; i < STATUSES; i++) {
        size_t count = count_status(report, statuses[i]);
        if (count) {
            printf("%s%zu %s", before, count, statuses[i]);
            before = ", ";
        }
    }
    printf("%s\n", before[0] ? "" : "made of no job yet");
}

static void print_cpus(int64_t used, int64_t total)
{
    char in_use[QUANTITY_TEXT_SIZE], all[QUANTITY_TEXT_SIZE];
    printf("  %-10s %s of %s in use\n", "cpus", quantity_format_cpus(used, in_use),
           quantity_format_cpus(total, all));
}

static void print_memory(int64_t used, int64_t total)
{
    char in_use[QUANTITY_TEXT_SIZE], all[QUANTITY_TEXT_SIZE];
    printf("  %-10s %s of %s in use\n", "memory", quantity_format_bytes(used, in_use),
           quantity_format_bytes(total, all));
}

static void print_capacity(const struct report *report)
{
    const struct capacity *capacity = &report->capacity;
    if (capacity->nodes)
        printf("  %-10s %d of %d take jobs\n", "nodes", capacity->nodes_ready, capacity->nodes);
    print_cpus(capacity->cpus - capacity->cpus_free, capacity->cpus);
    print_memory(capacity->memory - capacity->memory_free, capacity->memory);
    printf("  %-10s %d of %d in use\n", "gpus", capacity->gpus - capacity->gpus_free,
           capacity->gpus);
    for (size_t i = 0; i < capacity->gpu_type_count; i++) {
        const struct gpu_capacity *gpus = &capacity->gpu_types[i];
        printf("    %-20s %d of %d in use\n", gpus->type, gpus->count - gpus->free, gpus->count);
    }
    if (capacity->note[0])
        printf("  (%s)\n", capacity->note);
}

/* Print the libraries that tasks with the image `host` find. */
static void print_host(const struct report *report)
{
    printf("  %-10s ", "host");
    for (size_t i = 0; i < report->host->count; i++) {
        const struct host_library *library = &report->host->libraries[i];
        bool any = text_is(library->name, "any");
        printf("%s%s %.*s%s", i ? ", " : "", any ? "Python" : library->name.data,
               (int)library->version.length, library->version.data,
               library->gpus || any ? "" : " (no GPUs)");
    }
    printf("\n");
}

/* Print the count of a state, and for waiting jobs the age of the oldest. */
static void print_count(const struct report *report, enum job_state state)
{
    char age[CLOCK_TEXT_SIZE];
    printf("%-12s %" PRId64, job_state_name(state), report->jobs[state]);
    if (state == JOB_WAITING && report->oldest[0])
        printf(", the oldest %s for %s", report->oldest,
               duration_format(clock_now() - id_time(text_of(report->oldest)), age));
    printf("\n");
}

/* Print the jobs whose directories were removed; the service's log has all of them. */
static void print_removed(const struct report *report)
{
    char time[CLOCK_TEXT_SIZE];
    size_t count = report->removed_count;
    const struct removed_job *last = &report->removed[count - 1];
    printf(
        "removed      %zu job%s whose director%s removed %s ended at the executor in the last 7 d, the last: "
        "%s (%s)\n",
        count, count == 1 ? "" : "s", count == 1 ? "y was" : "ies were",
        count == 1 ? "was" : "were", last->id, clock_local(last->time, time));
}

/* Print the report for people, with the reason in place of each unknown fact. */
static void print_report(const struct report *report)
{
    printf("spool        %s\n", report->spool.path);
    if (report->serving > 0)
        printf("daemon       running (%s)\n", report->who);
    else
        printf("daemon       %s\n", report->serving == 0
                                        ? "not running (start it with `dlspool run`)"
                                        : "it is unknown whether one is running");
    if (report->is_paused) {
        struct error paused;
        pause_describe(&report->pause, clock_local, &paused);
        printf("paused       %s; nothing is started until somebody says `dlspool resume`\n",
               paused.text);
    }
    printf("%-12s %" PRId64 "\n", "incoming", report->dropped);
    for (int state = 0; state < JOB_STATES; state++)
        print_count(report, (enum job_state)state);
    if (report->removed_count)
        print_removed(report);
    if (report->planned)
        print_plan(report);
    if (!report->commit.length)
        printf("templates    cannot be read, and jobs that are dropped wait: %s\n",
               report->no_templates.text);
    printf("executor     %.*s: %s%s\n", (int)report->settings.executor.length,
           report->settings.executor.data,
           report->takes_jobs ? "takes jobs"
           : report->asked    ? "cannot take jobs: "
                              : "not asked: ",
           report->takes_jobs ? "" : report->not_ready.text);
    if (report->has_capacity) {
        char time[CLOCK_TEXT_SIZE];
        if (report->capacity_time)
            printf("  (as the daemon found it %s)\n", clock_local(report->capacity_time, time));
        print_capacity(report);
    } else if (report->takes_jobs)
        printf("  (%s)\n", report->no_capacity.text);
    if (report->host)
        print_host(report);
}

/* For programs */

static struct value *pause_tree(const struct report *report)
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

static struct value *host_tree(const struct report *report)
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

static struct value *plan_tree(const struct report *report)
{
    struct arena *arena = report->arena;
    struct value *tree = value_object(arena);
    char time[CLOCK_TEXT_SIZE];
    value_put(arena, tree, "time", value_string(arena, clock_format(report->plan.time, time)));
    for (int i = 0; i < STATUSES; i++)
        value_put(arena, tree, statuses[i],
                  value_number(arena, (double)count_status(report, statuses[i])));
    return tree;
}

static struct value *removed_list(const struct report *report)
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

/* The report as a tree.  Unknown facts are null, with a reason beside them. */
static struct value *report_tree(const struct report *report)
{
    struct arena *arena = report->arena;
    struct value *tree = value_object(arena), *jobs = value_object(arena);
    struct value *executor = value_object(arena), *templates = value_object(arena);
    value_put(arena, tree, "spool", value_text(arena, text_of(report->spool.path)));
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
    value_put(arena, executor, "name", value_text(arena, report->settings.executor));
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

int command_status(int argument_count, char **arguments)
{
    bool json = false;
    const struct option_spec options[] = {
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object"}, {0}};
    const struct verb_usage usage = {
        "status",
        "",
        0,
        0,
        "Show the daemon, job counts by state, and available resources.",
        "The executor is asked whether it takes jobs, and what of it is in use and free.\n"
        "Status 3 when no daemon serves the spool.\n",
        options};
    int operands, status;
    struct error error;
    struct report report = {.arena = NULL};
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&report.spool))
        return STATUS_FAILED;
    report.arena = arena_new();
    if (settings_read(&report.settings, &report.spool, &error)) {
        complain("%s", error.text);
        status = STATUS_FAILED;
    } else {
        report.serving = lease_present(&report.spool, report.who);
        count_jobs(&report);
        report.is_paused = pause_read(&report.spool, &report.pause);
        report.planned = plan_file_read(&report.spool, report.arena, &report.plan, NULL) == 0;
        report.removed_count =
            removed_file_read(&report.spool, clock_now() - removed_shown, report.removed);
        report.host = host_read(report.arena, report.spool.path, &error);
        if (trust_is_for_root(&report.spool, &report.settings) &&
            trust_check(&report.spool, &report.settings, &error))
            remark("root will not serve this spool: %s", error.text);
        look_at_templates(&report);
        ask_executor(&report);
        if (json)
            print_json(report_tree(&report));
        else
            print_report(&report);
        status = report.serving > 0 ? STATUS_DONE
                 : report.serving   ? STATUS_FAILED
                                    : STATUS_UNSERVED;
    }
    settings_free(&report.settings);
    arena_free(report.arena);
    spool_close(&report.spool);
    return status;
}
