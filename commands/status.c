/* commands/status.c - dlspool status: the daemon, job counts by state, and available resources */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/quantity.h"
#include "client/status_report.h"
#include "commands/ask.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "stages/service/trust.h"

static void ask_executor(struct status_report *report)
{
    struct executor *executor = ask_open(report->spool, report->settings, &report->not_ready);
    if (!executor) {
        status_report_take_capacity(report);
        return;
    }
    report->asked = true;
    report->takes_jobs = executor->operations->ready(executor, &report->not_ready) == 0;
    if (report->takes_jobs)
        report->has_capacity =
            executor->operations->capacity(executor, &report->capacity, &report->no_capacity) == 0;
    ask_close(executor, report->serving != 0);
}

/* For people */

static void print_plan(const struct status_report *report)
{
    const char *before = "";
    printf("plan         ");
    for (int i = 0; i < STATUS_REPORT_STANDINGS; i++) {
        size_t count = status_report_count(report, status_report_standings[i]);
        if (count) {
            printf("%s%zu %s", before, count, status_report_standings[i]);
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

static void print_capacity(const struct status_report *report)
{
    const struct capacity *capacity = &report->capacity;
    if (capacity->nodes)
        printf("  %-10s %d of %d take jobs%s\n", "nodes", capacity->nodes_ready, capacity->nodes,
               capacity->nodes_ready < capacity->nodes
                   ? "; `dlspool nodes --not-ready` says why others do not"
                   : "");
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
static void print_host(const struct status_report *report)
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
static void print_count(const struct status_report *report, enum job_state state)
{
    char age[CLOCK_TEXT_SIZE];
    printf("%-12s %" PRId64, job_state_name(state), report->jobs[state]);
    if (state == JOB_WAITING && report->oldest[0])
        printf(", the oldest %s for %s", report->oldest,
               duration_format(clock_now() - id_time(text_of(report->oldest)), age));
    printf("\n");
}

/* Print the jobs whose directories were removed; the service's log has all of them. */
static void print_removed(const struct status_report *report)
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
static void print_report(const struct status_report *report)
{
    printf("spool        %s\n", report->spool->path);
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
    printf("executor     %.*s: %s%s\n", (int)report->settings->executor.length,
           report->settings->executor.data,
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
    struct spool spool;
    struct settings settings;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&spool))
        return STATUS_FAILED;
    struct status_report report = {.arena = arena_new(), .spool = &spool, .settings = &settings};
    if (settings_read(&settings, &spool, &error)) {
        complain("%s", error.text);
        status = STATUS_FAILED;
    } else {
        status_report_look(&report);
        if (trust_is_for_root(&spool, &settings) && trust_check(&spool, &settings, &error))
            remark("root will not serve this spool: %s", error.text);
        ask_executor(&report);
        if (json)
            print_json(status_report_tree(&report));
        else
            print_report(&report);
        status = report.serving > 0 ? STATUS_DONE
                 : report.serving   ? STATUS_FAILED
                                    : STATUS_UNSERVED;
    }
    settings_free(&settings);
    arena_free(report.arena);
    spool_close(&spool);
    return status;
}
