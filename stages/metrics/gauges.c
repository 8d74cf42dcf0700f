/* stages/metrics/gauges.c - what the spool's directories and files say now, as series */
#include "stages/metrics/gauges.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/labels.h"
#include "spool/jobs.h"
#include "spool/pause.h"
#include "spool/plan_file.h"
#include "spool/waiting.h"
#include "stages/lease.h"
#include "stages/metrics/cluster.h"

struct gauges {
    const struct spool *spool;
    struct series_table *table;
    struct kept *kept;
    struct arena *arena;
    int64_t now;
    int64_t jobs[STATE_COUNT];
};

static void set(struct gauges *gauges, const char *metric, const char *key, const char *value,
                double number)
{
    struct buffer labels = {0};
    if (key)
        labels_add(&labels, key, text_of(value));
    series_gauge(gauges->table, metric, key ? labels.data : "", number);
    buffer_free(&labels);
}

/* ---- jobs ---- */

static int count_job(void *context, const struct job_place *place)
{
    ((struct gauges *)context)->jobs[place->state]++;
    return 0;
}

/* A day is counted again when its directory has changed; one that changed just now may change again within the
 * precision of its time. */
static int count_days(struct gauges *gauges)
{
    const int64_t settled = 5000;
    day_name *days;
    size_t count;
    int result = jobs_list_days(gauges->spool, &days, &count);
    for (size_t i = 0; i < count && !result; i++) {
        struct stat status;
        if (sys.fstatat(gauges->spool->states[STATE_DONE], days[i], &status, AT_SYMLINK_NOFOLLOW))
            continue;
        int64_t changed = status.st_mtim.tv_sec * INT64_C(1000) + status.st_mtim.tv_nsec / 1000000;
        int64_t before = gauges->jobs[STATE_DONE], known = kept_day(gauges->kept, days[i], changed);
        if (known >= 0) {
            gauges->jobs[STATE_DONE] += known;
            continue;
        }
        result = jobs_walk_day(gauges->spool, days[i], count_job, gauges);
        if (!result && gauges->now - changed > settled)
            kept_note_day(gauges->kept, days[i], changed, gauges->jobs[STATE_DONE] - before);
    }
    if (!result || count)
        free(days);
    return result;
}

static int count_jobs(struct gauges *gauges, struct error *error)
{
    for (int state = 0; state < STATE_COUNT; state++) {
        int result = state == STATE_DONE
                         ? count_days(gauges)
                         : jobs_walk(gauges->spool, (enum state)state, count_job, gauges);
        if (result)
            return error_errno(error, "%s/ could not be read", spool_state_name((enum state)state));
        set(gauges, "jobs", "state", spool_state_name((enum state)state),
            (double)gauges->jobs[state]);
    }
    return 0;
}

/* What jobs of rendered/ wait for is one line for all; those of held/ are not told apart, as each has its own. */
static void add_waiting(struct gauges *gauges)
{
    static const char *const words[] = {[WAITING_TURN] = "turn",
                                        [WAITING_ROOM] = "room",
                                        [WAITING_LIMIT] = "limit",
                                        [WAITING_EXECUTOR] = "executor",
                                        [WAITING_PAUSE] = "pause"};
    struct waiting_file waiting;
    waiting_read(gauges->spool, &waiting);
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        set(gauges, "jobs_waiting", "reason", words[i],
            i == waiting.what ? (double)gauges->jobs[STATE_RENDERED] : 0);
    set(gauges, "jobs_waiting", "reason", "held", (double)gauges->jobs[STATE_HELD]);
}

/* What a job that waits asks for; of an array, one task of it. */
static void add_requested(struct gauges *gauges, const struct job_record *record)
{
    const struct {
        const char *resource;
        struct text gpu_type;
        double amount;
    } asked[] = {{"cpus", TEXT(""), (double)record->cpus / 1000},
                 {"memory_bytes", TEXT(""), (double)record->memory},
                 {"gpus", record->gpu_type, (double)record->gpus}};
    for (size_t i = 0; i < ARRAY_COUNT(asked); i++) {
        struct buffer labels = {0};
        labels_add(&labels, "resource", text_of(asked[i].resource));
        labels_add(&labels, "gpu_type", asked[i].gpu_type);
        series_gauge(gauges->table, "pending_requested", labels.data, asked[i].amount);
        buffer_free(&labels);
    }
}

static int count_owner(void *context, const struct job_place *place)
{
    struct gauges *gauges = context;
    struct job_record record;
    struct buffer labels = {0};
    int job = job_open(gauges->spool, place);
    if (job < 0)
        return 0; /* it has moved on */
    if (record_read(job, gauges->arena, &record, NULL) == 0 && record.owner.length) {
        labels_add(&labels, "user", record.owner);
        labels_add(&labels, "state", text_of(spool_state_name(place->state)));
        series_gauge(gauges->table, "user_jobs", labels.data, 1);
        if (place->state == STATE_RENDERED)
            add_requested(gauges, &record);
    }
    sys.close(job);
    buffer_free(&labels);
    arena_reset(gauges->arena);
    return 0;
}

static void count_owners(struct gauges *gauges)
{
    static const enum state states[] = {STATE_RENDERED, STATE_SUBMITTED, STATE_HELD};
    for (size_t i = 0; i < ARRAY_COUNT(states); i++)
        jobs_walk(gauges->spool, states[i], count_owner, gauges);
}

/* ---- files that were dropped ---- */

struct dropped {
    int directory;
    int64_t count, oldest; /* a time of day; 0: none */
};

/* A file's status changes when it is renamed into place, but its time of modification does not. */
static int look_at_file(void *context, const char *name, unsigned char type)
{
    struct dropped *dropped = context;
    struct stat status;
    (void)type;
    if (name[0] == '.' || sys.fstatat(dropped->directory, name, &status, AT_SYMLINK_NOFOLLOW))
        return 0;
    int64_t since = status.st_ctim.tv_sec * INT64_C(1000);
    dropped->count++;
    if (!dropped->oldest || since < dropped->oldest)
        dropped->oldest = since;
    return 0;
}

static int add_dropped(struct gauges *gauges, struct error *error)
{
    struct dropped dropped = {.directory = gauges->spool->incoming};
    if (directory_walk(dropped.directory, look_at_file, &dropped))
        return error_errno(error, "incoming/ could not be read");
    int64_t age = dropped.oldest ? gauges->now - dropped.oldest : 0;
    set(gauges, "incoming_files", NULL, NULL, (double)dropped.count);
    set(gauges, "incoming_oldest_seconds", NULL, NULL, age > 0 ? (double)age / 1000 : 0);
    return 0;
}

/* ---- the executor ---- */

static void add_executor(struct gauges *gauges, const struct settings *settings,
                         struct executor *executor)
{
    struct error error;
    struct buffer labels = {0};
    labels_add(&labels, "executor", settings->executor);
    if (executor)
        series_gauge(gauges->table, "executor_up", labels.data,
                     executor->operations->ready(executor, &error) == 0);
    buffer_free(&labels);
    cluster_collect(gauges->spool, executor, gauges->table);
}

/* ---- all else ---- */

static void add_deadlines(struct gauges *gauges)
{
    static const char *const words[][2] = {{"on track", "on_track"},
                                           {"at risk", "at_risk"},
                                           {"cannot meet", "cannot_meet"},
                                           {"late", "late"},
                                           {"best effort", "best_effort"}};
    struct plan_file plan = {0};
    if (plan_file_read(gauges->spool, gauges->arena, &plan, NULL))
        plan.job_count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        size_t count = 0;
        for (size_t j = 0; j < plan.job_count; j++)
            count += text_is(plan.jobs[j].deadline_status, words[i][0]);
        set(gauges, "deadline_jobs", "standing", words[i][1], (double)count);
    }
    arena_reset(gauges->arena);
}

static void add_daemon(struct gauges *gauges)
{
    char who[LEASE_TEXT_SIZE];
    struct pause pause;
    int serving = lease_present(gauges->spool, who);
    if (serving >= 0)
        set(gauges, "lease_held", NULL, NULL, serving);
    set(gauges, "paused", NULL, NULL, pause_read(gauges->spool, &pause));
    set(gauges, "build_info", "version", DLSPOOL_VERSION, 1);
}

static void add_disk(struct gauges *gauges)
{
    struct statvfs status;
    if (sys.fstatvfs(gauges->spool->root, &status))
        return;
    double block = (double)status.f_frsize;
    set(gauges, "free_bytes", NULL, NULL, (double)status.f_bavail * block);
    set(gauges, "size_bytes", NULL, NULL, (double)status.f_blocks * block);
    if (status.f_files) {
        set(gauges, "free_files", NULL, NULL, (double)status.f_favail);
        set(gauges, "size_files", NULL, NULL, (double)status.f_files);
    }
}

int gauges_collect(const struct spool *spool, const struct settings *settings,
                   struct executor *executor, struct queues *queues, bool users, struct kept *kept,
                   struct series_table *table, struct error *error)
{
    struct gauges gauges = {
        .spool = spool, .table = table, .kept = kept, .arena = arena_new(), .now = clock_now()};
    int result = count_jobs(&gauges, error);
    if (!result)
        result = add_dropped(&gauges, error);
    if (!result)
        result = queues_collect(queues, table, error);
    if (!result) {
        add_daemon(&gauges);
        add_waiting(&gauges);
        add_executor(&gauges, settings, executor);
        add_deadlines(&gauges);
        add_disk(&gauges);
        if (users)
            count_owners(&gauges);
    }
    arena_free(gauges.arena);
    return result;
}
