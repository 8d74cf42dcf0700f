/* tests/fuzz/request_fuzz.c - request/: any bytes as a job file or a control file, in every dialect
 *
 * The first byte chooses the file's name: y .yaml, j .json, s .sh, n a name that has to be quoted;
 * any other one without an ending.  A description that is accepted keeps what
 * request/description.h promises.
 */
#include "base/utf8.h"
#include "job/pattern.h"
#include "request/control.h"
#include "request/dialects/dialects.h"
#include "tests/fuzz/fuzz.h"

static const char *name_of(uint8_t byte)
{
    switch (byte) {
    case 'y':
        return "train.yaml";
    case 'j':
        return "train.json";
    case 's':
        return "train.sh";
    case 'n':
        return "a\nb\x1b[31m\xff\xc2\x9b.yaml";
    default:
        return "train";
    }
}

/* UTF-8 without NUL, or absent. */
static void check_field(struct text text)
{
    CHECK(text.length == 0 || (utf8_valid(text) && !memchr(text.data, '\0', text.length)));
}

static void check_path_field(struct text path)
{
    check_field(path);
    CHECK(path.length == 0 || path.data[0] == '/');
    CHECK(!text_contains(path, TEXT("/../")) && !text_ends(path, "/.."));
}

static void check_label(struct text role)
{
    CHECK(role.length >= 1 && role.length <= 15);
    for (size_t i = 0; i < role.length; i++) {
        char c = role.data[i];
        bool edge = i == 0 || i + 1 == role.length;
        CHECK((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && !edge));
    }
}

static void check_environment(const struct environment *environment)
{
    for (size_t i = 0; i < environment->count; i++) {
        check_field(environment->variables[i].name);
        check_field(environment->variables[i].value);
        CHECK(environment->variables[i].name.length > 0);
        CHECK(!text_contains(environment->variables[i].name, TEXT("=")));
    }
}

static void check_role(const struct task_role *role)
{
    check_label(role->role);
    CHECK(role->count >= 1 && role->count <= 10000);
    CHECK(role->cpus > 0 && role->memory > 0 && role->shm >= 0 && role->gpus >= 0);
    for (size_t i = 0; i < role->command_count; i++)
        check_field(role->command[i]);
    check_environment(&role->environment);
}

static void check_job(const struct description *job)
{
    CHECK(job->name.length && job->library.length && job->type.length);
    const struct text fields[] = {job->name,   job->library, job->version, job->type,
                                  job->script, job->image,   job->gpu_type};
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++)
        check_field(fields[i]);
    check_path_field(job->program);
    check_path_field(job->dataset);
    check_path_field(job->output);
    check_field(job->entry);
    CHECK(job->entry.length == 0 || job->entry.data[0] != '/');
    CHECK(!job->script.length || (!job->program.length && !job->entry.length));
    for (size_t i = 0; i < job->args_count; i++)
        check_field(job->args[i]);
    CHECK(job->tasks_count >= 1);
    int64_t tasks = 0;
    for (size_t i = 0; i < job->tasks_count; i++) {
        check_role(&job->tasks[i]);
        tasks += job->tasks[i].count;
    }
    CHECK(tasks <= 10000);
    check_environment(&job->environment);
    CHECK(job->priority >= -100 && job->priority <= 100);
    CHECK(job->retries >= (job->platform.name.length ? RETRIES_ALWAYS : 0));
    CHECK(job->time_limit >= 0);
}

/* What can be sized begins with one of its sizes, and is what description_resize() makes of it. */
static void check_sizes(struct description *job)
{
    const struct sizes *sizes = &job->sizes;
    int64_t list[SIZES_MOST];
    size_t count = sizes_list(sizes, list);
    CHECK((count > 0) == (sizes->kind != SIZE_FIXED) && (count > 0) == (job->size > 0));
    if (count == 0)
        return;
    CHECK(sizes->least < sizes->most && job->tasks_count == 1);
    CHECK(job->size >= sizes->least && job->size <= sizes->most);
    for (size_t i = 0; i < count; i++) {
        description_resize(job, list[i]);
        check_role(&job->tasks[0]);
        CHECK(job->size == list[i]);
    }
}

static void check_terms(const struct description *job)
{
    struct error error = {""};
    int64_t time = 0;
    struct pattern pattern;
    check_field(job->deadline_mode);
    check_path_field(job->units.file);
    CHECK(job->deadline.given == (job->deadline_mode.length > 0));
    CHECK(job->weight >= 0 && job->weight <= 100 && job->units.total >= 0);
    if (description_deadline(job, "x", 0, &time, &error))
        check_sentence(&error);
    else
        CHECK(job->deadline.given ? time > 0 : time == 0);
    if (job->units.pattern.length)
        CHECK(pattern_parse(job->units.pattern, &pattern, &error) == 0);
    CHECK(job->checkpoint.grace >= 0 && job->checkpoint.grace <= 3600000);
}

static void read_control(struct arena *arena, struct text source, const char *name)
{
    struct error error = {""};
    struct control control;
    if (request_control_read(arena, source, name, &control, &error)) {
        check_sentence(&error);
        return;
    }
    CHECK(control.verb >= CONTROL_NONE && control.verb < CONTROL_VERBS);
    if (control.verb == CONTROL_NONE)
        return;
    CHECK(control.id.length >= 3 && control.id.length <= 63);
    for (size_t i = 0; i < control.id.length; i++)
        CHECK(strchr("abcdefghijklmnopqrstuvwxyz0123456789-", control.id.data[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const char *name = name_of(length ? bytes[0] : 0);
    struct text source = fuzz_text(bytes + (length > 0), length - (length > 0));
    struct arena *arena = arena_new();
    struct error error = {""};
    struct description *job = dialects_read(arena, source, name, &error);
    if (job) {
        check_job(job);
        check_terms(job);
        check_sizes(job);
    } else {
        check_sentence(&error);
    }
    read_control(arena, source, name);
    arena_free(arena);
    return 0;
}
