/* tests/fuzz/manifest_fuzz.c - executors/local/manifest.h: any bytes as manifest.yaml
 *
 * A manifest that is accepted keeps what the header promises.
 */
#include "executors/executor.h"
#include "executors/local/manifest.h"
#include "executors/registry/registry.h"
#include "tests/fuzz/fuzz.h"

static void check_absolute(struct text path)
{
    check_text(path);
    CHECK(path.length && path.data[0] == '/' && !memchr(path.data, '\0', path.length));
}

static void check_task(const struct local_task *task)
{
    CHECK(task->role.length >= 1 && task->role.length <= 15);
    for (size_t i = 0; i < task->role.length; i++)
        CHECK(strchr("abcdefghijklmnopqrstuvwxyz0123456789-", task->role.data[i]));
    CHECK(task->index >= 0 && task->index <= 9999);
    check_text(task->image);
    CHECK(task->image.length);
    CHECK(task->command && task->command->kind == VALUE_LIST && task->command->list.count >= 1);
    CHECK(!task->env || task->env->kind == VALUE_OBJECT);
    CHECK(task->cpus > 0 && task->memory > 0 && task->shm >= 0 && task->gpus >= 0);
    if (task->workdir.length)
        check_absolute(task->workdir);
    for (size_t i = 0; i < task->mount_count; i++) {
        check_absolute(task->mounts[i].source);
        check_absolute(task->mounts[i].target);
    }
    for (size_t i = 0; i < task->file_count; i++) {
        check_absolute(task->files[i].path);
        check_text(task->files[i].content);
        CHECK(task->files[i].mode <= 07777);
    }
}

static void check_manifest(const struct local_manifest *manifest)
{
    CHECK(manifest->task_count >= 1 && manifest->task_count <= 512);
    for (size_t i = 0; i < manifest->task_count; i++) {
        check_task(&manifest->tasks[i]);
        for (size_t j = 0; j < i; j++)
            CHECK(manifest->tasks[i].index != manifest->tasks[j].index ||
                  !text_equal(manifest->tasks[i].role, manifest->tasks[j].role));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text source = fuzz_text(bytes, length);
    struct arena *arena = arena_new();
    struct error error = {""};
    const struct local_manifest *manifest = local_manifest_read(arena, source, &error);
    if (manifest)
        check_manifest(manifest);
    else
        check_sentence(&error);
    CHECK((registry_check_manifest("local", source, &error) == 0) == (manifest != NULL));
    arena_free(arena);
    return 0;
}
