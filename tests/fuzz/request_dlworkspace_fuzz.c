/* tests/fuzz/request_dlworkspace_fuzz.c - request/: any bytes as a file of DLWorkspace's parameters
 *
 * A file that is accepted keeps what request/description.h promises.
 */
#include "base/utf8.h"
#include "request/dialects/dialects.h"
#include "tests/fuzz/fuzz.h"

static void check_field(struct text text)
{
    CHECK(text.length == 0 || (utf8_valid(text) && !memchr(text.data, '\0', text.length)));
}

static void check_role(const struct task_role *role)
{
    CHECK(role->role.length >= 1 && role->role.length <= 15);
    CHECK(role->count >= 1 && role->count <= 10000);
    CHECK(role->cpus > 0 && role->memory > 0 && role->gpus >= 0);
    CHECK(!role->script.length || text_starts(role->script, "#!/bin/bash\n"));
    check_field(role->script);
    for (size_t i = 0; i < role->ports_count; i++)
        CHECK(role->ports[i].first >= 1 && role->ports[i].first <= 65535);
    for (size_t i = 0; i < role->environment.count; i++) {
        check_field(role->environment.variables[i].name);
        check_field(role->environment.variables[i].value);
        CHECK(role->environment.variables[i].value.data);
    }
}

static void check_path(struct text path)
{
    check_field(path);
    CHECK(!path.length || text_starts(path, "data/") || text_starts(path, "work/"));
    CHECK(!text_contains(path, TEXT("/../")) && !text_ends(path, "/.."));
}

static void check_job(const struct description *job)
{
    int64_t tasks = 0;
    check_field(job->name);
    check_field(job->image);
    check_field(job->gpu_type);
    check_field(job->platform.cluster);
    check_path(job->platform.data);
    check_path(job->platform.output);
    check_path(job->platform.code);
    CHECK(job->name.length && text_is(job->library, "any") && job->tasks_count >= 1);
    for (size_t i = 0; i < job->tasks_count; i++) {
        check_role(&job->tasks[i]);
        tasks += job->tasks[i].count;
    }
    CHECK(tasks <= 10000);
    CHECK(job->priority >= -100 && job->priority <= 100);
    for (size_t i = 0; i < job->registries_count; i++)
        check_field(job->registries[i].password);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena *arena = arena_new();
    struct error error = {""};
    const struct description *job =
        dialects_read(arena, fuzz_text(bytes, length), "job.yaml", &error);
    if (!job)
        check_sentence(&error);
    else if (text_is(job->platform.name, "dlworkspace"))
        check_job(job);
    arena_free(arena);
    return 0;
}
