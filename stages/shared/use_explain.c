/* stages/shared/use_explain.c - says why a job has to wait, or is refused, under a row of limits.rows */
#include "stages/shared/use_explain.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/quantity.h"
#include "executors/resources.h"

/* Whom the row is about, for a job of its owner. */
static void name_subject(const struct limit_row *row, const struct job_record *record, char *text,
                         size_t size)
{
    const char *kind = limit_row_subject_name(row->subject);
    if (row->subject == LIMIT_GROUP && limit_row_is_for_each(row))
        snprintf(text, size, "group %u", (unsigned int)record->gid);
    else if (row->subject == LIMIT_GROUP)
        snprintf(text, size, "group %s", row->name.data);
    else
        snprintf(text, size, "%s %.64s", kind,
                 row->subject == LIMIT_USER ? record->owner.data : record->queue.data);
}

/* "user ann has used 38 of 40 GPU-hours in 30 d, and the job may use 4 until its time_limit: that fits from ... on". */
static void explain_gpu_hours(const struct use_over *over, const struct job_record *record,
                              enum use_phase phase, const char *subject, const char *type,
                              struct error *sentence)
{
    const struct limit_row *row = over->row;
    char spent[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE], more[QUANTITY_TEXT_SIZE];
    char period[CLOCK_TEXT_SIZE], time[CLOCK_TEXT_SIZE], which[LIMIT_ROW_TEXT_SIZE];
    char running[96] = "", needs[80] = "", when[96];
    int64_t rest = over->used.gpu_time - over->spent;
    bool waits = phase == USE_WAITING;
    if (rest > 0)
        snprintf(running, sizeof(running), ", what runs%s may use %s more",
                 waits ? " and waits" : "", quantity_format_hours(rest, more));
    if (record->time_limit)
        snprintf(needs, sizeof(needs), ", and the job may use %s until its time_limit",
                 quantity_format_hours(use_of(record).gpu_time, more));
    if (over->falls)
        snprintf(when, sizeof(when), "there is room from %s on if nobody uses more",
                 clock_format(over->falls, time));
    else
        snprintf(when, sizeof(when), "there is no room before jobs that run%s have ended",
                 waits ? " or wait" : "");
    error_set(sentence, "%s has used %s of %s GPU-hours%s within %s%s%s; %s (%s)", subject,
              quantity_format_hours(over->spent, spent), quantity_format_hours(row->gpu_time, most),
              type, duration_format(row->gpu_period, period), running, needs, when,
              limit_row_describe(row, which));
}

/* A queue that shares GPUs with others has none for the job. */
static void explain_sharing(const struct use_over *over, const struct job_record *record,
                            const char *subject, const char *type, struct error *sentence)
{
    const struct limit_row *row = over->row;
    const int needs = (int)use_of(record).gpus;
    int64_t used = over->used.gpus, then = used + needs;
    char which[LIMIT_ROW_TEXT_SIZE];
    limit_row_describe(row, which);
    if (then <= row->gpus)
        error_set(sentence,
                  "%s uses %" PRId64 " of %" PRId64
                  " GPUs%s of its own, and the job needs %d, which other queues have borrowed and "
                  "are to give back (%s)",
                  subject, used, row->gpus, type, needs, which);
    else if (then > limit_row_most_gpus(row))
        error_set(sentence,
                  "%s uses %" PRId64 " GPU%s%s: its own are %" PRId64 ", %" PRId64
                  " more may be borrowed, and the job needs %d (%s)",
                  subject, used, quantity_plural(used), type, row->gpus, row->borrow_gpus, needs,
                  which);
    else
        error_set(sentence,
                  "%s uses %" PRId64 " GPU%s%s: its own are %" PRId64
                  ", and the job needs %d, which no other queue has idle to lend (%s)",
                  subject, used, quantity_plural(used), type, row->gpus, needs, which);
}

void use_explain(const struct use_over *over, const struct job_record *record, enum use_phase phase,
                 struct error *sentence)
{
    const struct limit_row *row = over->row;
    const struct use_amounts *used = &over->used, more = use_of(record);
    char subject[96], has[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE], needs[QUANTITY_TEXT_SIZE];
    char which[LIMIT_ROW_TEXT_SIZE], type[GPU_TYPE_SIZE + 16] = "";
    const char *does = phase == USE_RUNNING ? "uses" : "uses and waits for";
    name_subject(row, record, subject, sizeof(subject));
    limit_row_describe(row, which);
    if (row->gpu_type.length)
        snprintf(type, sizeof(type), " of type %s", row->gpu_type.data);
    if (phase == USE_WAITING && use_is_exceeded(used->jobs, 1, row->waiting))
        error_set(sentence, "%s has %" PRId64 " job%s waiting, and no more may (%s)", subject,
                  used->jobs, quantity_plural(used->jobs), which);
    else if (use_is_exceeded(used->jobs, 1, row->running))
        error_set(sentence, "%s has %" PRId64 " job%s%s %s, and no more may (%s)", subject,
                  used->jobs, quantity_plural(used->jobs), *type ? " with GPUs" : "",
                  phase == USE_RUNNING ? "running" : "running or waiting", which);
    else if (use_is_exceeded(used->cpus, more.cpus, row->cpus))
        error_set(sentence, "%s %s %s of %s CPUs, and the job needs %s (%s)", subject, does,
                  quantity_format_cpus(used->cpus, has), quantity_format_cpus(row->cpus, most),
                  quantity_format_cpus(more.cpus, needs), which);
    else if (use_is_exceeded(used->memory, more.memory, row->memory))
        error_set(sentence, "%s %s %s of %s of memory, and the job needs %s (%s)", subject, does,
                  quantity_format_bytes(used->memory, has),
                  quantity_format_bytes(row->memory, most),
                  quantity_format_bytes(more.memory, needs), which);
    else if (use_is_exceeded(used->gpu_time, more.gpu_time, row->gpu_time))
        explain_gpu_hours(over, record, phase, subject, type, sentence);
    else if (limit_row_shares(row) && phase == USE_RUNNING)
        explain_sharing(over, record, subject, type, sentence);
    else
        error_set(sentence, "%s %s %" PRId64 " of %" PRId64 " GPUs%s, and the job needs %d (%s)",
                  subject, does, used->gpus, row->gpus, type, (int)more.gpus, which);
}

void use_explain_line(const struct use_over *over, const struct job_record *record,
                      struct error *sentence)
{
    char subject[96], which[LIMIT_ROW_TEXT_SIZE];
    name_subject(over->row, record, subject, sizeof(subject));
    limit_row_describe(over->row, which);
    error_set(sentence, "%s: jobs that came before it wait for room (%s)", subject, which);
}

void use_explain_claims(const struct use_over *over, const struct job_record *record,
                        struct error *sentence)
{
    char subject[96], which[LIMIT_ROW_TEXT_SIZE];
    name_subject(over->row, record, subject, sizeof(subject));
    limit_row_describe(over->row, which);
    error_set(
        sentence,
        "%s has none of its own left for the job, and the queues that lend GPUs need theirs first (%s)",
        subject, which);
}
