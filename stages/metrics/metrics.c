/* stages/metrics/metrics.c - the spool as Prometheus reads it, and the process that writes that to a file
 *
 * The process stands beside the stages, as it may wait for an executor, for a directory that others own, or for a
 * million names; no stage waits for it, and nobody misses it while it does.
 */
#include "stages/metrics/metrics.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/file.h"
#include "stages/metrics/gauges.h"

enum { FILE_MODE = 0644 };

static const struct series_metric general[] = {
    {"build_info", SERIES_GAUGE, false, "The version of dlspool."},
    {"lease_held", SERIES_GAUGE, false, "Whether a daemon serves the spool."},
    {"paused", SERIES_GAUGE, false, "Whether somebody has paused the spool."},
    {"jobs", SERIES_GAUGE, false, "Jobs, by the directory that they are in."},
    {"jobs_waiting", SERIES_GAUGE, false,
     "Jobs of rendered/ by what the first of them waits for, and those of held/."},
    {"incoming_files", SERIES_GAUGE, false, "Files that were dropped and not taken yet."},
    {"incoming_oldest_seconds", SERIES_GAUGE, false, "Age of the oldest of these files."},
    {"deadline_jobs", SERIES_GAUGE, false, "Jobs of the last plan, by how they stand."},
    {"executor_up", SERIES_GAUGE, false, "Whether the executor takes jobs."},
    {"capacity", SERIES_GAUGE, false,
     "What the executor has for jobs: CPUs, bytes of memory, GPUs by type."},
    {"used", SERIES_GAUGE, false, "What of that is in use."},
    {"unschedulable", SERIES_GAUGE, false, "What nodes have that take no jobs, in use or not."},
    {"nodes", SERIES_GAUGE, false, "Nodes, by state."},
    {"node", SERIES_GAUGE, false, "A node, with its state."},
    {"node_capacity", SERIES_GAUGE, false, "What a node has."},
    {"node_used", SERIES_GAUGE, false, "What of that is in use."},
    {"queue_limit", SERIES_GAUGE, false,
     "What the jobs of a queue may have at once, by limits.rows."},
    {"queue_used", SERIES_GAUGE, false, "What the jobs of submitted/ have of that."},
    {"capacity_timestamp_seconds", SERIES_GAUGE, false,
     "When the executor was asked for its capacity last."},
    {"free_bytes", SERIES_GAUGE, false, "Free space of the spool's file system."},
    {"size_bytes", SERIES_GAUGE, false, "Size of the spool's file system."},
    {"free_files", SERIES_GAUGE, false, "Files that can still be made there."},
    {"size_files", SERIES_GAUGE, false, "Files that can be there."},
    {"jobs_accepted_total", SERIES_COUNTER, false, "Dropped files that became jobs."},
    {"jobs_ended_total", SERIES_COUNTER, false,
     "Jobs that came to an end: done, failed, or failed and retried by themselves (retried)."},
    {"attempts_total", SERIES_COUNTER, false,
     "Attempts that an executor had accepted and that have ended."},
    {"preempted_total", SERIES_COUNTER, false,
     "Attempts that were stopped for other jobs or another size."},
    {"deadlines_total", SERIES_COUNTER, false, "Deadlines that were met or missed."},
    {"cpu_held_seconds_total", SERIES_COUNTER, true,
     "CPU time that ended attempts had to themselves."},
    {"cpu_used_seconds_total", SERIES_COUNTER, true,
     "CPU time that ended attempts used, as far as it is known."},
    {"gpu_held_seconds_total", SERIES_COUNTER, true,
     "GPU time that ended attempts had to themselves."},
    {"wait_seconds", SERIES_HISTOGRAM, false,
     "From when nothing but its turn and room was missing to its start, of ended attempts."},
    {"run_seconds", SERIES_HISTOGRAM, false, "From start to end, of ended attempts."},
    {"stage_seconds", SERIES_SUMMARY, false, "Rounds of the daemon's processes."},
    {"executor_request_seconds", SERIES_SUMMARY, false,
     "HTTP requests to the executor that have ended."},
    {"executor_errors_total", SERIES_COUNTER, false,
     "Those of them that were answered with a status of 400 or more, or not at all (none)."},
    {"collect_seconds", SERIES_GAUGE, false, "How long collecting these metrics took."},
    {"metrics_timestamp_seconds", SERIES_GAUGE, false, "When these metrics were collected."},
};

static const struct series_metric of_users[] = {
    {"user_jobs", SERIES_GAUGE, false, "Jobs that have not ended, by owner."},
    {"pending_requested", SERIES_GAUGE, false,
     "What the jobs of rendered/ ask for together; of an array, one task."},
    {"user_attempts_total", SERIES_COUNTER, false, "Attempts that have ended, by owner."},
    {"user_cpu_held_seconds_total", SERIES_COUNTER, true, "CPU time of these."},
    {"user_gpu_held_seconds_total", SERIES_COUNTER, true, "GPU time of these."},
};

int metrics_print(struct kept *kept, const struct spool *spool, const struct settings *settings,
                  struct executor *executor, struct queues *queues, bool users, struct buffer *out,
                  struct error *error)
{
    struct series_table *now = series_new();
    int64_t begin = clock_elapsed();
    int result = kept_read_accounts(kept, spool, error);
    if (!result)
        result = gauges_collect(spool, settings, executor, queues, users, kept, now, error);
    if (!result) {
        kept_take_tally(kept);
        series_gauge(now, "collect_seconds", "", (double)(clock_elapsed() - begin) / 1000);
        series_gauge(now, "metrics_timestamp_seconds", "", (double)clock_now() / 1000);
        series_print(out, general, ARRAY_COUNT(general), now, kept_series(kept));
        if (users)
            series_print(out, of_users, ARRAY_COUNT(of_users), now, kept_series(kept));
    }
    series_free(now);
    return result;
}

int metrics_write_file(const char *path, struct text bytes, struct error *error)
{
    char parent[PATH_MAX];
    const char *name = strrchr(path, '/');
    int length = name ? (int)(name - path) + 1 : 0;
    snprintf(parent, sizeof(parent), "%.*s", length ? length : 1, length ? path : ".");
    name = name ? name + 1 : path;
    if (!*name || strlen(name) > NAME_MAX - 5)
        return error_set(error, "%s: found a directory, expected the name of a file", path);
    int directory = sys.openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0)
        return error_errno(error, "%s could not be opened", parent);
    int result = spool_file_renew(directory, name, bytes, FILE_MODE, error);
    if (result)
        error_prefix(error, "%s", parent);
    sys.close(directory);
    return result;
}

/* ---- the process ---- */

struct metrics_writer {
    struct stage stage;
    struct kept *kept;         /* NULL: to be read */
    struct executor *executor; /* NULL: it cannot be opened now */
    struct queues *queues;     /* NULL: no row limits any */
    int64_t next;
};

static int write_metrics(struct metrics_writer *writer, struct buffer *out, struct error *error)
{
    struct stage *stage = &writer->stage;
    if (!writer->executor)
        writer->executor = stage_executor(stage, error);
    if (!writer->kept)
        writer->kept = kept_read(&stage->spool, error);
    if (!writer->kept)
        return -1;
    if (metrics_print(writer->kept, &stage->spool, &stage->settings, writer->executor,
                      writer->queues, stage->settings.metrics.users, out, error) ||
        stage_is_fenced(stage) || kept_write(writer->kept, &stage->spool, error)) {
        kept_free(writer->kept);
        writer->kept = NULL;
        return -1;
    }
    return metrics_write_file(stage->settings.metrics.file.data, buffer_text(out), error);
}

static int64_t metrics_round(struct stage *stage)
{
    struct metrics_writer *writer = (struct metrics_writer *)stage;
    struct buffer out = {0};
    struct error error = {{0}};
    if (clock_elapsed() < writer->next)
        return writer->next;
    if (write_metrics(writer, &out, &error) && !stage->failed)
        log_warn("metrics were not written: %s", error.text);
    buffer_free(&out);
    writer->next = clock_elapsed() + stage->settings.metrics.interval;
    return writer->next;
}

static struct stage *metrics_open(const char *directory, struct error *error)
{
    struct metrics_writer *writer = memory_allocate(sizeof(*writer));
    if (stage_open(&writer->stage, "metrics", directory, error)) {
        free(writer);
        return NULL;
    }
    writer->queues = queues_new(&writer->stage.spool, &writer->stage.settings);
    return &writer->stage;
}

static void metrics_close(struct stage *stage)
{
    struct metrics_writer *writer = (struct metrics_writer *)stage;
    if (writer->executor)
        writer->executor->operations->close(writer->executor);
    kept_free(writer->kept);
    queues_free(writer->queues);
    stage_close(stage);
    free(writer);
}

/* It can wait for all others, but not for long: Prometheus would miss it. */
static int metrics_confine(struct stage *stage, struct error *error)
{
    enum { LATER = 5 };
    (void)stage;
    (void)error;
    setpriority(PRIO_PROCESS, 0, LATER);
    return 0;
}

static int metrics_descriptor(const struct stage *stage)
{
    (void)stage;
    return -1;
}

const struct stage_operations metrics_stage = {
    .name = "metrics",
    .open = metrics_open,
    .confine = metrics_confine,
    .round = metrics_round,
    .descriptor = metrics_descriptor,
    .close = metrics_close,
};
