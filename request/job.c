/* request/job.c - the fields of a job
 *
 * Reads each field, then checks the rules between fields: which are required, which exclude each
 * other, and that exactly one of them says what runs.
 */
#include "request/job.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "request/after.h"
#include "request/arguments.h"
#include "request/array.h"
#include "request/begin.h"
#include "request/checkpoint.h"
#include "request/complete.h"
#include "request/deadline.h"
#include "request/field_tables.h"
#include "request/known_words.h"
#include "request/limit_signal.h"
#include "request/notes.h"
#include "request/notify.h"
#include "request/placement.h"
#include "request/priority.h"
#include "request/privileged.h"
#include "request/size.h"
#include "request/synonyms.h"
#include "request/tasks.h"
#include "request/units.h"
#include "request/values.h"

enum {
    NAME_LONGEST = 63, /* bytes: a DNS label */
    WORD_LONGEST = 63,
    PATH_LONGEST = PATH_MAX - 1,
    IMAGE_LONGEST = 512,
    SCRIPT_LONGEST = 1 << 20,
    PRIORITY_MOST = 100,
    RETRIES_MOST = 100,
};

#define TIME_LIMIT_LEAST ((int64_t)1000) /* milliseconds */

#define MEMBER(name) .offset = offsetof(struct description, name)
#define COUNT(name) .count_offset = offsetof(struct description, name)

static const struct field fields[] = {
    {FIELD_NAME("name"), read_word, MEMBER(name), .most = NAME_LONGEST},
    {FIELD_NAME("library"), read_library, MEMBER(library)},
    {FIELD_NAME("version"), read_version, MEMBER(version), .most = WORD_LONGEST},
    {FIELD_NAME("type"), read_type, MEMBER(type)},
    {FIELD_NAME("program"), read_absolute_path, MEMBER(program), .most = PATH_LONGEST},
    {FIELD_NAME("entry"), read_relative_path, MEMBER(entry), .most = PATH_LONGEST},
    {FIELD_NAME("args"), read_words, MEMBER(args), COUNT(args_count)},
    {FIELD_NAME("script"), read_script, MEMBER(script), .most = SCRIPT_LONGEST},
    {FIELD_NAME("dataset"), read_absolute_path, MEMBER(dataset), .most = PATH_LONGEST},
    {FIELD_NAME("output"), read_absolute_path, MEMBER(output), .most = PATH_LONGEST},
    {FIELD_NAME("tasks"), read_tasks, MEMBER(tasks), COUNT(tasks_count)},
    {FIELD_NAME("env"), read_environment, MEMBER(environment)},
    {FIELD_NAME("image"), read_image, MEMBER(image), .most = IMAGE_LONGEST},
    {FIELD_NAME("gpu_type"), read_word, MEMBER(gpu_type), .most = WORD_LONGEST},
    {FIELD_NAME("features"), read_features, MEMBER(features), COUNT(features_count)},
    {FIELD_NAME("spread"), read_spread, MEMBER(spread)},
    {FIELD_NAME("exclusive"), read_boolean, MEMBER(exclusive)},
    {FIELD_NAME("priority"), read_priority, MEMBER(priority), .least = -PRIORITY_MOST,
     .most = PRIORITY_MOST},
    {FIELD_NAME("retries"), read_integer, MEMBER(retries), .least = 0, .most = RETRIES_MOST},
    {FIELD_NAME("time_limit"), read_duration, MEMBER(time_limit), .least = TIME_LIMIT_LEAST,
     .most = DURATION_MOST},
    {FIELD_NAME("signal"), read_limit_signal, MEMBER(signal)},
    {FIELD_NAME("queue"), read_label, MEMBER(queue)},
    {FIELD_NAME("complete"), read_complete, MEMBER(complete), COUNT(complete_count)},
    {FIELD_NAME("array"), read_array, MEMBER(array)},
    {FIELD_NAME("size"), .read = read_size},
    {FIELD_NAME("debug"), read_debug, MEMBER(debug), .least = 0, .most = DURATION_MOST},
    {FIELD_NAME("begin"), read_begin, MEMBER(begin)},
    {FIELD_NAME("deadline"), read_deadline, MEMBER(deadline)},
    {FIELD_NAME("deadline_mode"), read_deadline_mode, MEMBER(deadline_mode)},
    {FIELD_NAME("weight"), read_weight, MEMBER(weight)},
    {FIELD_NAME("units"), read_units, MEMBER(units)},
    {FIELD_NAME("checkpoint"), read_checkpoint, MEMBER(checkpoint)},
    {FIELD_NAME("after"), read_after, MEMBER(after), COUNT(after_count)},
    {FIELD_NAME("hold"), read_boolean, MEMBER(hold)},
    {FIELD_NAME("notify"), read_notify, MEMBER(messages)},
    {FIELD_NAME("privileged"), read_privileged, MEMBER(privileges)},
};

const struct field_table job_fields = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "a job",
    .other = &task_fields,
    .synonyms = job_synonyms,
};

/* Add a problem about a field, at its value or, when it is not given, at the file's start. */
static void problem_of(struct reading *reading, const struct value *root, const char *name,
                       const char *sentence)
{
    const struct value *value = fields_given(root, name);
    struct value_path path = {.name = text_of(name)};
    if (!value)
        value = root;
    problems_add(reading, &path, value->line, value->column, "%s", sentence);
}

/* Set defaults: the name from the file's, library any, one task or those of a sweep. */
static void set_defaults(const struct reading *reading, const struct value *root,
                         struct description *job)
{
    if (!fields_given(root, "name"))
        job->name = reading->stem;
    if (!fields_given(root, "library"))
        job->library = TEXT("any");
    if (!fields_given(root, "type"))
        job->type = fields_given(root, "array") ? TEXT("array") : TEXT("single");
}

/* Is it an MPI job's other role, which the template runs?  The launcher's command says what
 * runs. */
static bool template_runs(const struct value *tasks, const struct description *job,
                          const struct member *role)
{
    return text_is(job->type, "mpi") && fields_given(tasks, "launcher") &&
           !text_is(role->key, "launcher");
}

/* The first role without a command, or NULL; *some tells whether any role has one. */
static const struct member *role_without_command(const struct value *root,
                                                 const struct description *job, bool *some)
{
    const struct value *tasks = fields_given(root, "tasks");
    const struct member *without = NULL;
    *some = false;
    for (size_t i = 0; tasks && tasks->kind == VALUE_OBJECT && i < tasks->object.count; i++) {
        const struct member *role = &tasks->object.members[i];
        if (fields_given(role->value, "command"))
            *some = true;
        else if (!without && !template_runs(tasks, job, role))
            without = role;
    }
    return without;
}

/* Is it a type whose template has the program: the library's own server or notebook? */
static bool template_runs_alone(const struct description *job)
{
    return text_is(job->type, "notebook") || text_is(job->type, "serving");
}

/* Add a problem: nothing says what the tasks without a command run. */
static void report_nothing_runs(struct reading *reading, const struct value *root,
                                const struct member *without, bool some_commands)
{
    if (!some_commands) {
        problems_add(reading, NULL, root->line, root->column,
                     "nothing says what runs; expected script, or program and entry, or a command "
                     "for every task role");
        return;
    }
    struct value_path tasks = {.name = TEXT("tasks")};
    struct value_path role = {.above = &tasks, .name = without->key};
    struct value_path command = {.above = &role, .name = TEXT("command")};
    problems_add(reading, &command, without->line, without->column,
                 "missing, expected a command, as neither script nor program says what this role "
                 "runs");
}

/* Add a problem: `program` is the file and not its directory. */
static void report_file(struct reading *reading, const struct value *root, struct text program)
{
    const char *slash = memrchr(program.data, '/', program.length);
    size_t before = (size_t)(slash - program.data);
    struct error_quote_buffer directory, file;
    error_quote(&directory, program.data, before ? before : 1);
    error_quote(&file, slash + 1, program.length - before - 1);
    struct error sentence;
    error_set(&sentence, "found a file, expected its directory, and entry: program: %s, entry: %s",
              directory.text, file.text);
    problem_of(reading, root, "program", sentence.text);
}

/* Check that there is exactly one of: script, program with entry, a command for every role. */
static void check_what_runs(struct reading *reading, const struct value *root,
                            const struct description *job)
{
    bool some_commands;
    const struct member *without = role_without_command(root, job, &some_commands);
    bool all_commands = some_commands && !without;
    bool needs_program = !all_commands && !template_runs_alone(job);
    bool script = fields_given(root, "script"), program = fields_given(root, "program");
    bool entry = fields_given(root, "entry");

    if (script && program)
        problem_of(reading, root, "script", "found beside program, expected only one of them");
    if (entry && !program)
        problem_of(reading, root, "entry", "found without program, expected program as well");
    if (program && !entry && !script && needs_program && text_ends(job->program, ".py"))
        report_file(reading, root, job->program);
    else if (program && !entry && !script && needs_program)
        problem_of(reading, root, "entry",
                   "missing, expected the entry point: the file below program that is run, such "
                   "as train.py");
    if (!script && !program && !entry && needs_program)
        report_nothing_runs(reading, root, without, some_commands);
    if (all_commands && script)
        problem_of(reading, root, "script",
                   "nothing would run it, as every task role has a command; leave one out");
    if (all_commands && entry)
        problem_of(reading, root, "entry",
                   "nothing would run it, as every task role has a command; leave one out");
    if (fields_given(root, "args") && !script && !entry && !(program && needs_program))
        problem_of(reading, root, "args",
                   "found without a script or an entry, expected something to give them to");
}

static void check_single(struct reading *reading, const struct value *root,
                         const struct description *job)
{
    if (!text_is(job->type, "single") && !text_is(job->type, "notebook"))
        return;
    int64_t total = 0;
    for (size_t i = 0; i < job->tasks_count; i++)
        total += job->tasks[i].count;
    char sentence[128];
    bool single = text_is(job->type, "single");
    snprintf(sentence, sizeof(sentence), "found %lld tasks, expected one, as the type is %s%s",
             (long long)total, single ? "single" : "notebook",
             single ? "; use type: distributed for tasks that work together" : "");
    if (total > 1)
        problem_of(reading, root, "tasks", sentence);
}

/* Note a small number alone: to who comes from Slurm it is minutes. */
static void note_seconds(struct reading *reading, const struct value *root, struct description *job)
{
    static const int64_t small = 60 * 60 * 1000;
    const struct value *value = fields_given(root, "time_limit");
    char limit[CLOCK_TEXT_SIZE];
    if (value && value->kind == VALUE_NUMBER && job->time_limit < small)
        request_notes_add(reading->arena, &job->notes, "time_limit",
                          "%s: a number alone counts seconds; minutes are written %" PRId64 "m",
                          duration_format(job->time_limit, limit), job->time_limit / 1000);
}

struct description *request_job_read(struct reading *reading, const struct value *root)
{
    struct description *job = arena_allocate(reading->arena, sizeof(*job));
    if (root->kind != VALUE_OBJECT) {
        problems_expected(reading, NULL, root,
                          "the fields of a job, such as script, or program and entry");
        return NULL;
    }
    fields_read(reading, NULL, root, &job_fields, job);
    set_defaults(reading, root, job);
    check_what_runs(reading, root, job);
    if (!fields_given(root, "tasks"))
        tasks_default(reading->arena, job);
    check_single(reading, root, job);
    array_check(reading, root, job);
    deadline_check(reading, root, job);
    request_size_check(reading, root, job);
    limit_signal_check(reading, root, job);
    request_units_check(reading, root, job);
    if (reading->found == 0)
        complete_check(reading, root, job);
    if (reading->found == 0)
        note_seconds(reading, root, job);
    return reading->found ? NULL : job;
}
