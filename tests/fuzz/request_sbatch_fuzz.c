/* tests/fuzz/request_sbatch_fuzz.c - request/: any bytes as a script with lines for Slurm or PBS
 *
 * A script that is accepted keeps what request/description.h promises, and what `dlspool submit`
 * adds to it changes only where it starts.
 */
#include "base/utf8.h"
#include "request/dialects/dialects.h"
#include "request/sbatch/directory.h"
#include "tests/fuzz/fuzz.h"

static void check_field(struct text text)
{
    CHECK(text.length == 0 || (utf8_valid(text) && !memchr(text.data, '\0', text.length)));
}

static void check_job(const struct description *job)
{
    int64_t tasks = 0;
    check_field(job->name);
    check_field(job->gpu_type);
    CHECK(job->name.length > 0 && job->name.length <= 63);
    CHECK(!job->output.length || job->output.data[0] == '/');
    CHECK(job->priority >= -100 && job->priority <= 100);
    CHECK(job->time_limit >= 0 && job->tasks_count >= 1);
    for (size_t i = 0; i < job->tasks_count; i++) {
        const struct task_role *task = &job->tasks[i];
        CHECK(task->count >= 1 && task->cpus > 0 && task->memory > 0 && task->gpus >= 0);
        tasks += task->count;
    }
    CHECK(tasks <= 10000);
    for (size_t i = 0; i < job->environment.count; i++) {
        check_field(job->environment.variables[i].name);
        check_field(job->environment.variables[i].value);
    }
    for (size_t i = 0; i < job->platform.options_count; i++) {
        check_field(job->platform.options[i].value);
        CHECK(job->platform.options[i].value.length && job->platform.options[i].line);
    }
    for (size_t i = 0; i < job->notes.count && i < 100; i++) {
        check_field(job->notes.items[i].field);
        CHECK(job->notes.items[i].sentence.length > 0);
    }
}

/* What is added is read again as the place where the script starts. */
static void check_directory(struct arena *arena, struct text source, const struct description *job)
{
    struct error error = {""};
    struct buffer said = {0};
    struct text changed = sbatch_directory_add(arena, source, "/home/ann/\"my\" project", &said);
    CHECK((changed.data != source.data) == (said.length > 0));
    if (said.length) {
        const struct description *again = dialects_read(arena, changed, "job.sh", &error);
        CHECK(again && text_is(again->output, "/home/ann/\"my\" project"));
        CHECK(again->time_limit == job->time_limit && again->tasks_count == job->tasks_count);
        CHECK(again->tasks[0].cpus == job->tasks[0].cpus);
    }
    buffer_free(&said);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena *arena = arena_new();
    struct error error = {""};
    struct text source = fuzz_text(bytes, length);
    const struct description *job = dialects_read(arena, source, "job.sh", &error);
    if (!job)
        check_sentence(&error);
    else if (job->platform.name.length && text_starts(source, "#!")) {
        check_job(job);
        check_directory(arena, source, job);
    }
    arena_free(arena);
    return 0;
}
