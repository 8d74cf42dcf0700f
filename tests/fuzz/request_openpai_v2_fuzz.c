/* tests/fuzz/request_openpai_v2_fuzz.c - request/: any YAML as a job file of OpenPAI, version 2
 *
 * A file that is accepted keeps what request/description.h promises, and masking it leaves nothing
 * secret.  A file without protocolVersion is given one, so that every input is of this dialect.
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
    CHECK(role->cpus > 0 && role->memory > 0 && role->shm > 0 && role->shm <= role->memory);
    CHECK(role->gpus >= 0 && role->command_count == 0);
    CHECK(text_starts(role->script, "#!/bin/bash\n") && role->script.length <= 1 << 20);
    CHECK(role->script_secret || text_equal(role->script, role->script_masked));
    check_field(role->script);
    check_field(role->script_masked);
    check_field(role->image);
    check_field(role->name);
    for (size_t i = 0; i < role->ports_count; i++) {
        check_field(role->ports[i].label);
        CHECK(role->ports[i].count >= 1 && role->ports[i].first == 0);
    }
}

static void check_job(struct description *job)
{
    CHECK(text_is(job->library, "any") && text_is(job->type, "roles"));
    CHECK(job->name.length && job->image.length && job->retries >= 0);
    CHECK(job->tasks_count >= 1 && job->complete_count == job->tasks_count);
    int64_t tasks = 0;
    for (size_t i = 0; i < job->tasks_count; i++) {
        check_role(&job->tasks[i]);
        CHECK(text_equal(job->complete[i].role, job->tasks[i].role));
        CHECK(job->complete[i].failed >= -1 && job->complete[i].failed <= job->tasks[i].count);
        for (size_t j = 0; j < i && j < 20; j++)
            CHECK(!text_equal(job->tasks[i].role, job->tasks[j].role));
        tasks += job->tasks[i].count;
    }
    CHECK(tasks <= 10000);
    for (size_t i = 0; i < job->registries_count; i++) {
        check_field(job->registries[i].server);
        check_field(job->registries[i].user);
        check_field(job->registries[i].password);
    }
    for (size_t i = 0; i < job->notes.count && i < 100; i++) {
        struct error sentence;
        error_set(&sentence, "%s: %s", job->notes.items[i].field.data,
                  job->notes.items[i].sentence.data);
        check_sentence(&sentence);
    }
    description_mask(job);
    for (size_t i = 0; i < job->tasks_count; i++)
        CHECK(text_equal(job->tasks[i].script, job->tasks[i].script_masked));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct buffer source = {0};
    struct arena *arena = arena_new();
    struct error error = {""};
    if (!text_contains(fuzz_text(bytes, length), TEXT("protocolVersion")))
        buffer_add_string(&source, "protocolVersion: 2\n");
    buffer_add_text(&source, fuzz_text(bytes, length));
    struct description *job = dialects_read(arena, buffer_text(&source), "job.yaml", &error);
    if (!job)
        check_sentence(&error);
    else if (text_is(job->platform.name, "openpai") && job->complete_count)
        check_job(job);
    buffer_free(&source);
    arena_free(arena);
    return 0;
}
