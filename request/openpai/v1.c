/* request/openpai/v1.c - job files of OpenPAI's version 1, and of SCM
 *
 * Fields with an effect become part of the description; the others get a note in the job's log.
 * Storage and queues of the other system are not mapped to this site here: the description keeps
 * them as the user wrote them (struct platform).
 */
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>

#include "request/notes.h"
#include "request/openpai/v1.h"
#include "request/openpai/v1_role.h"
#include "request/openpai/values.h"
#include "request/values.h"

enum { IMAGE_LONGEST = 512, GPU_TYPE_LONGEST = 256, WORD_LONGEST = 63 };

/* A job as it stands in the file. */
struct job {
    struct text name, image, gpu_type, cluster, credentials, data, output, code;
    const struct value *roles, *environment, *extras;
    int64_t retries, kill_all;
};

#define MEMBER(name) .offset = offsetof(struct job, name)

static const struct field fields[] = {
    {FIELD_NAME("jobName"), openpai_job_name, MEMBER(name)},
    {FIELD_NAME("image"), openpai_image, MEMBER(image), .most = IMAGE_LONGEST},
    {FIELD_NAME("authFile"), openpai_text, MEMBER(credentials), .most = OPENPAI_TEXT_LONGEST},
    {FIELD_NAME("dataDir"), openpai_text, MEMBER(data), .most = OPENPAI_TEXT_LONGEST},
    {FIELD_NAME("outputDir"), openpai_text, MEMBER(output), .most = OPENPAI_TEXT_LONGEST},
    {FIELD_NAME("codeDir"), openpai_text, MEMBER(code), .most = OPENPAI_TEXT_LONGEST},
    {FIELD_NAME("virtualCluster"), openpai_text, MEMBER(cluster), .most = OPENPAI_NAME_LONGEST},
    {FIELD_NAME("taskRoles"), openpai_list, MEMBER(roles), .least = 1},
    {FIELD_NAME("gpuType"), openpai_gpu_type, MEMBER(gpu_type), .most = GPU_TYPE_LONGEST},
    {FIELD_NAME("retryCount"), openpai_integer, MEMBER(retries), .least = RETRIES_ALWAYS,
     .most = INT_MAX},
    {FIELD_NAME("killAllOnCompletedTaskNumber"), openpai_integer, MEMBER(kill_all),
     .least = INT_MIN, .most = INT_MAX},
    {FIELD_NAME("jobEnvs"), openpai_object, MEMBER(environment)},
    {FIELD_NAME("extras"), openpai_object, MEMBER(extras)},
    {FIELD_NAME("tmp"), openpai_anything, .offset = 0},
};

static const struct field_table table = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "a job of OpenPAI's version 1",
};

bool openpai_v1_recognise(const struct value *root)
{
    if (value_get(root, "protocolVersion") || value_get(root, "jobtrainingtype") ||
        value_get(root, "cmd"))
        return false;
    const struct value *roles = value_get(root, "taskRoles");
    return value_get(root, "jobName") || (roles && roles->kind != VALUE_OBJECT);
}

/* Check keys as the server's schema does: each needs at least one letter, digit, `_` or dot. */
static void check_keys(struct reading *reading, const char *name, const struct value *map,
                       bool dots)
{
    struct value_path path = {.name = text_of(name)};
    for (size_t i = 0; map && i < map->object.count; i++) {
        const struct member *member = &map->object.members[i];
        bool good = false;
        for (size_t j = 0; j < member->key.length && !good; j++) {
            char c = member->key.data[j];
            good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || (c == '.' && dots);
        }
        struct value_path item = {.above = &path, .name = member->key};
        if (!good)
            problems_add(reading, &item, member->line, member->column,
                         "found a name without letters and digits, expected some");
    }
}

/* Read a switch in jobEnvs; only true turns it on, because a variable may have the same name. */
static bool read_switch(struct reading *reading, const struct value *map, const char *name,
                        struct notes *notes)
{
    const struct value *value = value_get(map, name);
    if (value && value->kind != VALUE_BOOLEAN)
        request_notes_add(reading->arena, notes,
                          arena_printf(reading->arena, "jobEnvs.%s", name).data,
                          "no effect: only true, without quotation marks, switches it on");
    return value && value->kind == VALUE_BOOLEAN && value->boolean;
}

/* OpenPAI up to 0.4 told it its tasks.  jobEnvs, which come later, go over it. */
static void tell_kill_all(struct arena *arena, const struct value *root, const struct job *from,
                          struct environment *environment)
{
    static const char name[] = "PAI_KILL_ALL_ON_COMPLETED_TASK_NUM";
    if (!value_get(root, "killAllOnCompletedTaskNumber"))
        return;
    for (size_t i = 0; i < environment->count; i++)
        if (text_is(environment->variables[i].name, name))
            return;
    struct environment_variable *variables =
        arena_allocate(arena, (environment->count + 1) * sizeof(*variables));
    for (size_t i = 0; i < environment->count; i++)
        variables[i] = environment->variables[i];
    variables[environment->count++] = (struct environment_variable){
        text_of(name), arena_printf(arena, "%" PRId64, from->kill_all)};
    environment->variables = variables;
}

static void read_variables(struct reading *reading, const struct value *map,
                           struct description *job)
{
    struct value_path path = {.name = TEXT("jobEnvs")};
    if (!map)
        return;
    check_keys(reading, "jobEnvs", map, false);
    openpai_values_environment(reading, &path, map, &job->environment, &job->notes);
    job->platform.debug = read_switch(reading, map, "isDebug", &job->notes);
    if (read_switch(reading, map, "paiAzRDMA", &job->notes))
        request_notes_add(
            reading->arena, &job->notes, "jobEnvs.paiAzRDMA",
            "no effect: how tasks reach a fast network is in the templates and site.yaml");
}

static void note_ignored(struct arena *arena, const struct value *root, const struct job *from,
                         struct notes *notes)
{
    if (value_get(root, "killAllOnCompletedTaskNumber"))
        request_notes_add(
            arena, notes, "killAllOnCompletedTaskNumber",
            "no effect, as in OpenPAI since 0.7; minSucceededTaskCount of a role ends the job");
    if (from->extras && from->extras->object.count)
        request_notes_add(arena, notes, "extras",
                          "no effect: kept in the job file, and read by nothing");
    if (value_get(root, "tmp"))
        request_notes_add(arena, notes, "tmp", "no effect: only the form that wrote it reads it");
}

struct description *openpai_v1_read(struct reading *reading, const struct value *root)
{
    static const char *const names[] = {"jobName", "image", "taskRoles", NULL};
    static const char *const expected[] = {"the job's name", "the name of an image",
                                           "a list of one or more task roles"};
    static const char *const may_be_null[] = {"tmp", NULL};
    struct job from = {.retries = 0};
    openpai_values_refuse_nulls(reading, NULL, root, &table, may_be_null);
    openpai_values_require(reading, NULL, root, names, expected);
    fields_read(reading, NULL, root, &table, &from);

    struct description *job = arena_allocate(reading->arena, sizeof(*job));
    if (from.roles)
        openpai_v1_roles_read(reading, from.roles, job);
    read_variables(reading, from.environment, job);
    check_keys(reading, "extras", from.extras, true);
    if (reading->found)
        return NULL;
    note_ignored(reading->arena, root, &from, &job->notes);
    tell_kill_all(reading->arena, root, &from, &job->environment);
    job->name = from.name;
    job->library = TEXT("any");
    job->type = TEXT("roles");
    job->image = from.image;
    if (values_is_word(from.gpu_type, WORD_LONGEST))
        job->gpu_type = from.gpu_type;
    else if (from.gpu_type.length)
        request_notes_add(reading->arena, &job->notes, "gpuType",
                          "no effect: no kind of GPU is called that");
    job->retries = (int)from.retries;
    job->platform.name = TEXT("openpai");
    job->platform.cluster = from.cluster;
    job->platform.data = from.data;
    job->platform.output = from.output;
    job->platform.code = from.code;
    job->platform.credentials = from.credentials;
    return job;
}
