/* executors/slurm/end.c - signal, cancel and remove jobs
 *
 * A polite cancel and a forced one are the same request: Slurm sends SIGTERM to the whole job and,
 * after the KillWait of slurm.conf, SIGKILL.  A signal alone would not be more polite, because srun
 * receives it too and kills its tasks at once.
 *
 * So a signal that asks a job to save its state bypasses Slurm: it is a file in the job's directory,
 * which the shells around its tasks look for.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/system.h"
#include "executors/slurm/bells.h"
#include "executors/slurm/jobs.h"
#include "executors/slurm/table.h"

static const int64_t sweep_interval = 5000; /* milliseconds */

struct ending {
    struct job_call *call;
    struct slurm_job *job;
    const char *user;
};

struct endings {
    struct slurm *slurm;
    struct arena *arena;
    struct ending *items;
    size_t count;
    struct slurm_call *calls;
    struct slurm_call **batch;
    struct ending **of; /* each call's */
    size_t call_count, capacity;
};

static void fail_call(struct job_call *call, const struct error *error)
{
    call->result = -1;
    call->error = *error;
}

static void open_calls(struct endings *endings, struct job_call **batch, size_t count)
{
    struct error error;
    endings->items = arena_allocate(endings->arena, (count + 1) * sizeof(*endings->items));
    for (size_t i = 0; i < count; i++) {
        struct job_call *call = batch[i];
        call->result = 0;
        call->error.text[0] = '\0';
        struct slurm_job *job = slurm_jobs_find(endings->slurm, call->id, call->attempt, &error);
        if (job)
            endings->items[endings->count++] =
                (struct ending){call, job, job->known ? job->facts.user.data : ""};
        else
            fail_call(call, &error);
    }
}

static void add_call(struct endings *endings, struct ending *ending,
                     const struct slurm_version *version, const struct slurm_record *record)
{
    size_t capacity = endings->capacity;
    endings->of = arena_grow(endings->arena, endings->of, endings->call_count, &capacity,
                             sizeof(struct ending *));
    endings->calls = arena_grow(endings->arena, endings->calls, endings->call_count,
                                &endings->capacity, sizeof(struct slurm_call));
    struct slurm_call *call = &endings->calls[endings->call_count];
    *call = (struct slurm_call){.user = ending->user};
    slurm_call_cancel(call, endings->arena, version, record);
    endings->of[endings->call_count++] = ending;
}

/* The components of a heterogeneous job are cancelled with their leader. */
static void end_record(struct endings *endings, struct ending *ending,
                       const struct slurm_version *version, const struct slurm_record *record)
{
    if (slurm_record_is_over(record->state) || record->state == SLURM_STATE_COMPLETING ||
        (record->het_number && record->het_offset > 0))
        return;
    add_call(endings, ending, version, record);
}

/* Cancel single elements of an array.  Each that has begun has a record; one record holds the others. */
static void end_elements(struct endings *endings, struct ending *ending,
                         const struct slurm_version *version, const struct slurm_records *found)
{
    const struct job_call *call = ending->call;
    for (size_t i = 0; i < found->count; i++) {
        struct slurm_record record = found->items[i];
        if (!slurm_job_owns(ending->job, &record) || !record.array_number)
            continue;
        if (record.array_index >= 0 && executor_call_names_task(call, record.array_index))
            end_record(endings, ending, version, &record);
        for (size_t j = 0; record.array_rest.length && j < call->task_count; j++) {
            if (!slurm_record_array_has(found->items[i].array_rest, call->tasks[j]))
                continue;
            record.array_index = call->tasks[j];
            end_record(endings, ending, version, &record);
        }
    }
}

static void add_calls(struct endings *endings, const struct slurm_version *version,
                      struct ending *ending)
{
    const struct slurm_records found =
        slurm_table_find(endings->slurm, ending->user, ending->call->id, ending->call->attempt);
    if (ending->call->task_count) {
        end_elements(endings, ending, version, &found);
        return;
    }
    bool rest = false, runs = false;
    for (size_t i = 0; i < found.count; i++) {
        rest = rest || (found.items[i].array_number && found.items[i].array_index < 0 &&
                        !slurm_record_is_over(found.items[i].state));
        runs = runs || found.items[i].state == SLURM_STATE_RUNNING;
    }
    for (size_t i = 0; i < found.count; i++) {
        struct slurm_record record = found.items[i];
        if (!slurm_job_owns(ending->job, &record))
            continue;
        if (rest && !runs && record.array_number && record.array_index >= 0)
            continue; /* it is cancelled with its array */
        end_record(endings, ending, version, &record);
    }
}

/* Did the last list show that the whole job has ended? */
static bool is_over(const struct endings *endings, const struct ending *ending)
{
    const struct slurm_records found =
        slurm_table_find(endings->slurm, ending->user, ending->call->id, ending->call->attempt);
    for (size_t i = 0; i < found.count; i++)
        if (!slurm_record_is_over(found.items[i].state))
            return false;
    return found.count > 0;
}

/* Refresh the list of each user, and cancel what it shows of the jobs; with `unless_over`, jobs that the
 * last list showed as ended are left out. */
static void run_endings(struct endings *endings, bool unless_over)
{
    struct error error;
    bool differ = slurm_api_differs_by_user(endings->slurm->connection), asked = false;
    const struct slurm_version *version = slurm_api_version(endings->slurm->connection, &error);
    const char *last = NULL;
    for (size_t i = 0; i < endings->count; i++) {
        struct ending *ending = &endings->items[i];
        if (unless_over && is_over(endings, ending))
            continue;
        bool fresh = asked && (!differ || (last && strcmp(last, ending->user) == 0));
        if (!version || (!fresh && slurm_table_refresh(endings->slurm, ending->user, &error))) {
            fail_call(ending->call, &error);
            continue;
        }
        asked = true;
        last = ending->user;
        add_calls(endings, version, ending);
    }
    endings->batch =
        arena_allocate(endings->arena, (endings->call_count + 1) * sizeof(*endings->batch));
    for (size_t i = 0; i < endings->call_count; i++)
        endings->batch[i] = &endings->calls[i];
    if (endings->call_count)
        slurm_api_run(endings->slurm->connection, endings->arena, endings->batch,
                      endings->call_count);
    for (size_t i = 0; i < endings->call_count; i++) {
        const struct slurm_call *call = &endings->calls[i];
        bool gone = call->outcome == SLURM_REFUSED &&
                    (call->code == SLURM_CODE_INVALID_JOB_ID ||
                     call->code == SLURM_CODE_ALREADY_DONE || call->code == SLURM_CODE_FINISHED);
        if (call->outcome != SLURM_DONE && !gone)
            fail_call(endings->of[i]->call, &call->error);
        slurm_api_call_free(&endings->calls[i]);
    }
}

/* Write the file `signal` anew, since the job's user may have put anything there under that name. */
static int write_signal(int directory, int number, struct error *error)
{
    const char *name = sigabbrev_np(number);
    char line[32];
    int length = snprintf(line, sizeof(line), "%s\n", name ? name : "TERM");
    if (sys.unlinkat(directory, "signal", 0) && errno != ENOENT)
        return error_errno(error, "the file signal in its directory could not be replaced");
    int file =
        sys.openat(directory, "signal", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0)
        return error_errno(error, "the file signal could not be made in its directory");
    int result = file_write_all(file, (struct text){line, (size_t)length}, "signal", error);
    if (sys.close(file) && result == 0)
        result = error_errno(error, "the file signal could not be written");
    return result;
}

static int signal_one(struct executor *executor, struct job_call *call)
{
    struct slurm *slurm = slurm_of(executor);
    char name[SLURM_NAME_SIZE];
    if (slurm_ensure_directory(slurm, &call->error))
        return -1;
    slurm_directory_name(name, call->id, call->attempt);
    int directory = slurm_directory_job(slurm->directory, name, &call->error);
    if (directory < 0)
        return errno == ENOENT ? 0 : -1;
    int result = write_signal(directory, call->signal, &call->error);
    sys.close(directory);
    return result ? error_prefix(&call->error, "slurm.directory, %s", name) : 0;
}

void slurm_signal(struct executor *executor, struct job_call **batch, size_t count)
{
    enum { PATIENCE = 10000 }; /* milliseconds for a file server that hangs */
    executor_one_by_one(executor, batch, count, signal_one, PATIENCE);
}

void slurm_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    struct endings endings = {.slurm = slurm_of(executor), .arena = arena_new()};
    open_calls(&endings, batch, count);
    run_endings(&endings, false);
    arena_free(endings.arena);
}

/* Slurm keeps a job for MinJobAge after its end, and cannot be told to forget it.  A job that still
 * runs, because its outcome was decided before its end, is cancelled. */
void slurm_remove(struct executor *executor, struct job_call **batch, size_t count)
{
    struct slurm *slurm = slurm_of(executor);
    struct endings endings = {.slurm = slurm, .arena = arena_new()};
    struct error error;
    open_calls(&endings, batch, count);
    run_endings(&endings, true);
    for (size_t i = 0; i < endings.count; i++) {
        struct job_call *call = endings.items[i].call;
        char name[SLURM_NAME_SIZE];
        if (call->result)
            continue;
        slurm_directory_name(name, call->id, call->attempt);
        if (slurm_ensure_directory(slurm, &error) ||
            slurm_directory_remove(slurm->directory, name, &error)) {
            fail_call(call, &error);
            continue;
        }
        slurm_jobs_forget(slurm, name);
    }
    arena_free(endings.arena);
    if (slurm->directory >= 0 && clock_elapsed() >= slurm->sweep_due) {
        slurm_directory_sweep(slurm->directory);
        slurm_bells_sweep(slurm);
        slurm->sweep_due = clock_elapsed() + sweep_interval;
    }
}
