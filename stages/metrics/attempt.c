/* stages/metrics/attempt.c - what an attempt of a job that has ended adds to counters */
#include "stages/metrics/attempt.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/labels.h"

static void count_deadline(struct series_table *series, struct names *missed,
                           const struct usage *usage)
{
    if (text_is(usage->met, "yes"))
        series_add(series, "deadlines_total", "result=\"met\"", 1, 0);
    if (!text_is(usage->met, "no") || names_find(missed, usage->id))
        return;
    if (names_full(missed))
        names_remove(missed, names_first(missed));
    names_add(missed, usage->id);
    series_add(series, "deadlines_total", "result=\"missed\"", 1, 0);
}

static void count_held(struct series_table *series, const struct usage *usage)
{
    struct buffer user = {0};
    char number[24];
    snprintf(number, sizeof(number), "%" PRId64, usage->uid);
    labels_add(&user, "user", usage->user.length ? usage->user : text_of(number));
    double cpu = usage->cpu_held > 0 ? (double)usage->cpu_held / 1000 : 0;
    double gpu = usage->gpu_held > 0 ? (double)usage->gpu_held / 1000 : 0;
    series_add(series, "cpu_held_seconds_total", "", 1, cpu);
    series_add(series, "gpu_held_seconds_total", "", 1, gpu);
    series_add(series, "cpu_used_seconds_total", "", 1,
               usage->cpu_used > 0 ? (double)usage->cpu_used / 1000 : 0);
    series_add(series, "user_attempts_total", user.data, 1, 0);
    series_add(series, "user_cpu_held_seconds_total", user.data, 1, cpu);
    series_add(series, "user_gpu_held_seconds_total", user.data, 1, gpu);
    buffer_free(&user);
}

void attempt_count(struct series_table *series, struct names *missed, const struct usage *usage)
{
    struct buffer labels = {0};
    bool preempted = text_is(usage->reason, "Preempted") || text_is(usage->reason, "Resized");
    labels_add(&labels, "outcome", usage->outcome);
    labels_add(&labels, "class", usage->class);
    series_add(series, "attempts_total", labels.data, 1, 0);
    buffer_clear(&labels);
    labels_add(&labels, "reason", usage->reason);
    if (preempted)
        series_add(series, "preempted_total", labels.data, 1, 0);
    buffer_clear(&labels);
    labels_add(&labels, "queue", usage->queue);
    if (usage->started && usage->eligible)
        series_observe(series, "wait_seconds", labels.data,
                       usage->started > usage->eligible
                           ? (double)(usage->started - usage->eligible) / 1000
                           : 0);
    if (usage->started && usage->ended >= usage->started)
        series_observe(series, "run_seconds", "", (double)(usage->ended - usage->started) / 1000);
    buffer_free(&labels);
    count_deadline(series, missed, usage);
    count_held(series, usage);
}
