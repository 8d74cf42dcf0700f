/* executors/slurm/slurm.c - the executor for a Slurm cluster
 *
 * Opening it sends no request.  ready() asks slurmrestd once which versions it serves, and slurmctld
 * whether it is up.
 */
#include "executors/slurm/inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/system.h"
#include "executors/slurm/bells.h"
#include "executors/slurm/jobs.h"
#include "executors/slurm/table.h"

struct slurm *slurm_of(struct executor *executor)
{
    return (struct slurm *)(void *)executor;
}

int slurm_ensure_directory(struct slurm *slurm, struct error *error)
{
    if (slurm->directory < 0)
        slurm->directory = slurm_directory_open(slurm->path, error);
    return slurm->directory < 0 ? -1 : 0;
}

const char *slurm_path_of_job(const struct slurm *slurm, struct arena *arena, const char *name)
{
    return arena_printf(arena, "%s/%s/job", slurm->path, name).data;
}

enum slurm_outcome slurm_ask(struct slurm *slurm, struct arena *arena, struct slurm_call *call)
{
    struct slurm_call *calls[] = {call};
    slurm_api_run(slurm->connection, arena, calls, 1);
    return call->outcome;
}

struct text slurm_path(struct arena *arena, const struct slurm_version *version, const char *format,
                       ...)
{
    struct buffer path = {0};
    va_list arguments;
    va_start(arguments, format);
    buffer_printf(&path, "/slurm/v0.0.%d/", version->api);
    buffer_vprintf(&path, format, arguments);
    va_end(arguments);
    return arena_take(arena, &path);
}

const struct value *slurm_get(struct slurm *slurm, struct arena *arena, const char *what,
                              const char *user, struct error *error)
{
    const struct slurm_version *version = slurm_api_version(slurm->connection, error);
    if (!version)
        return NULL;
    struct slurm_call call = {
        .method = "GET", .path = slurm_path(arena, version, "%s", what), .user = user};
    if (slurm_ask(slurm, arena, &call) == SLURM_DONE)
        return call.answer;
    if (error)
        *error = call.error;
    return NULL;
}

void slurm_call_cancel(struct slurm_call *call, struct arena *arena,
                       const struct slurm_version *version, const struct slurm_record *record)
{
    char number[64];
    int64_t job = record->array_number ? record->array_number : record->number;
    if (record->array_number && record->array_index >= 0)
        snprintf(number, sizeof(number), "%lld_%d", (long long)job, record->array_index);
    else
        snprintf(number, sizeof(number), "%lld", (long long)job);
    call->method = "DELETE";
    call->path = slurm_path(arena, version, "job/%s", number);
}

static int slurm_ready(struct executor *executor, struct error *error)
{
    struct slurm *slurm = slurm_of(executor);
    if (slurm_ensure_directory(slurm, error))
        return -1;
    struct arena *arena = arena_new();
    int result = slurm_get(slurm, arena, "diag", NULL, error) ? 0 : -1;
    arena_free(arena);
    return result;
}

static int slurm_weight(struct executor *executor, struct text manifest)
{
    (void)executor;
    struct arena *arena = arena_new();
    const struct slurm_manifest *read = slurm_manifest_read(arena, manifest, NULL);
    int weight = read ? slurm_request_weight(read) : 1;
    arena_free(arena);
    return weight;
}

static void slurm_close(struct executor *executor)
{
    if (!executor)
        return;
    struct slurm *slurm = slurm_of(executor);
    slurm_jobs_free(slurm);
    slurm_table_free(slurm);
    slurm_api_disconnect(slurm->connection);
    slurm_bells_close(slurm);
    if (slurm->directory >= 0)
        sys.close(slurm->directory);
    free(slurm->spool);
    free(slurm->path);
    arena_free(slurm->arena);
    free(slurm);
}

static const struct executor_operations operations = {
    .name = "slurm",
    .ready = slurm_ready,
    .submit = slurm_submit,
    .poll = slurm_poll,
    .cancel = slurm_cancel,
    .output = slurm_output,
    .remove = slurm_remove,
    .list = slurm_list,
    .weight = slurm_weight,
    .capacity = slurm_capacity,
    .nodes = slurm_nodes,
    .signal = slurm_signal,
    .warns = true,
    .close = slurm_close,
};

static char *directory_path(const struct slurm_settings *settings, const char *spool)
{
    if (settings->directory.length)
        return memory_copy_string(settings->directory.data);
    struct buffer path = {0};
    buffer_printf(&path, "%s/.slurm", spool);
    return path.data;
}

struct executor *executor_slurm_open(const struct value *settings, const char *spool,
                                     const char *directory, struct error *error)
{
    struct slurm *slurm = memory_allocate(sizeof(*slurm));
    *slurm = (struct slurm){
        .executor = {.operations = &operations},
        .arena = arena_new(),
        .spool = memory_copy_string(spool),
        .directory = -1,
        .bells = -1,
    };
    if (slurm_settings_read(&slurm->settings, slurm->arena, settings, error) == 0) {
        slurm->executor.live_max = slurm->settings.live_max;
        slurm->path = directory_path(&slurm->settings, directory);
        slurm->connection = slurm_api_connect(&slurm->settings, error);
    }
    if (slurm->connection)
        return &slurm->executor;
    slurm_close(&slurm->executor);
    return NULL;
}
