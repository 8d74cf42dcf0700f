/* request/size.c - which sizes a job can have: size{min, max, step} */
#include "request/size.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/quantity.h"
#include "request/tasks.h"
#include "request/values.h"

/* A kind of size: what is counted. */
struct counted {
    enum size_kind kind;
    const char *what;
    const char *member;  /* the role's field for the size that the job begins with */
    struct field number; /* its reader and limits */
    int64_t least;       /* the default of min, unless the job begins with less */
    int64_t any;         /* the step of "any" */
};

/* The values of `min`, `max` and `step` are checked later, when all fields are known. */
static void read_nothing(struct reading *reading, const struct value_path *path,
                         const struct value *value, const struct field *field, void *into)
{
    (void)reading;
    (void)path;
    (void)value;
    (void)field;
    (void)into;
}

/* A whole number, as int64_t. */
static void read_whole(struct reading *reading, const struct value_path *path,
                       const struct value *value, const struct field *field, void *into)
{
    int number = 0;
    read_integer(reading, path, value, field, &number);
    *(int64_t *)into = number;
}

static const struct counted tasks_counted = {
    .kind = SIZE_TASKS,
    .what = "tasks",
    .member = "count",
    .least = 1,
    .any = 1,
    .number = {.read = read_whole, .least = 1, .most = TASKS_MOST}};

static const struct counted gpus_counted = {
    .kind = SIZE_GPUS,
    .what = "GPUs",
    .member = "gpus",
    .least = 1,
    .any = 1,
    .number = {.read = read_whole, .least = 1, .most = GPUS_MOST}};

static const struct counted cpus_counted = {
    .kind = SIZE_CPUS,
    .what = "CPUs",
    .member = "cpus",
    .least = 1000,
    .any = 500,
    .number = {.read = read_cpus, .least = CPUS_LEAST, .most = CPUS_MOST}};

static const struct field fields[] = {
    {FIELD_NAME("min"), .read = read_nothing},
    {FIELD_NAME("max"), .read = read_nothing},
    {FIELD_NAME("step"), .read = read_nothing},
};

static const struct field_table table = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "size",
};

void read_size(struct reading *reading, const struct value_path *path, const struct value *value,
               const struct field *field, void *into)
{
    (void)field;
    if (value->kind != VALUE_OBJECT)
        problems_expected(reading, path, value, "a map such as {min: 2, max: 8}");
    else
        fields_read(reading, path, value, &table, into);
}

void description_resize(struct description *job, int64_t size)
{
    struct task_role *role = &job->tasks[0];
    if (job->sizes.kind == SIZE_TASKS)
        role->count = (int)size;
    else if (job->sizes.kind == SIZE_GPUS)
        role->gpus = (int)size;
    else if (job->sizes.kind == SIZE_CPUS)
        role->cpus = size;
    if (job->sizes.kind != SIZE_FIXED)
        job->size = size;
}

/* A size as a user would write it. */
static const char *number_text(const struct counted *counted, int64_t number,
                               char buffer[static QUANTITY_TEXT_SIZE])
{
    if (counted->kind == SIZE_CPUS)
        return quantity_format_cpus(number, buffer);
    snprintf(buffer, QUANTITY_TEXT_SIZE, "%" PRId64, number);
    return buffer;
}

/* Read min, max or step; false when it is not given, or after a problem. */
static bool read_member(struct reading *reading, const struct value *size, const char *name,
                        const struct counted *counted, int64_t *number)
{
    const struct value *value = fields_given(size, name);
    struct value_path above = {.name = TEXT("size")};
    struct value_path path = {.above = &above, .name = text_of(name)};
    size_t found = reading->found;
    if (!value)
        return false;
    counted->number.read(reading, &path, value, &counted->number, number);
    return reading->found == found;
}

static void read_step(struct reading *reading, const struct value *size,
                      const struct counted *counted, int64_t *step)
{
    struct text word = value_get_text(size, "step");
    if (text_is(word, "any"))
        *step = counted->any;
    else if (!text_is(word, "pow2"))
        read_member(reading, size, "step", counted, step);
}

static void refuse_member(struct reading *reading, const struct value *size, const char *name,
                          const struct counted *counted, const char *bound, int64_t number,
                          const char *what)
{
    const struct value *value = fields_given(size, name);
    struct value_path above = {.name = TEXT("size")};
    struct value_path path = {.above = &above, .name = text_of(name)};
    char buffer[QUANTITY_TEXT_SIZE];
    problems_expected(reading, &path, value, "%s %s, the %s", bound,
                      number_text(counted, number, buffer), what);
}

/* Complete the sizes with defaults.  `begins` is the role's number; `said` means that the user gave
 * it, so it has precedence. */
static void complete_sizes(struct reading *reading, const struct value *size,
                           const struct counted *counted, int64_t begins, bool said,
                           struct sizes *sizes)
{
    char what[64];
    bool min = read_member(reading, size, "min", counted, &sizes->least);
    bool max = read_member(reading, size, "max", counted, &sizes->most);
    read_step(reading, size, counted, &sizes->step);
    if (reading->found)
        return;
    snprintf(what, sizeof(what), "%s that the job begins with", counted->what);
    if (min && max && sizes->least > sizes->most)
        refuse_member(reading, size, "min", counted, "at most", sizes->most, "max");
    else if (min && sizes->least > begins && (said || !max))
        refuse_member(reading, size, "min", counted, "at most", begins, what);
    else if (max && sizes->most < begins && said)
        refuse_member(reading, size, "max", counted, "at least", begins, what);
    if (!max)
        sizes->most = begins;
    if (!min)
        sizes->least = counted->least < begins ? counted->least : begins;
    if (sizes->least > sizes->most)
        sizes->least = sizes->most;
}

/* Decide what is counted for this job; NULL after a problem. */
static const struct counted *what_counts(struct reading *reading, const struct value *size,
                                         const struct description *job)
{
    struct value_path path = {.name = TEXT("size")};
    const struct counted *counted = NULL;
    if (text_is(job->type, "elastic") || text_is(job->type, "distributed"))
        counted = &tasks_counted;
    else if (text_is(job->type, "single"))
        counted = job->tasks_count && job->tasks[0].gpus ? &gpus_counted : &cpus_counted;
    else
        problems_add(reading, &path, size->line, size->column,
                     "found with another type of job, expected type: elastic, distributed or "
                     "single");
    if (counted == &tasks_counted && job->tasks_count > 1) {
        problems_add(reading, &path, size->line, size->column,
                     "found with %zu roles, expected one, the tasks of which are counted",
                     job->tasks_count);
        return NULL;
    }
    bool while_it_runs = counted == &cpus_counted || text_is(job->type, "elastic");
    if (counted && !while_it_runs && !job->checkpoint.signal.length) {
        problems_add(reading, &path, size->line, size->column,
                     "found without a way to change it: expected checkpoint as well, so that the "
                     "job can be stopped and goes on at another size%s",
                     counted == &tasks_counted ? ", or type: elastic" : "");
        return NULL;
    }
    return counted;
}

/* Did the user give the size that the job begins with? */
static bool is_said(const struct value *root, const struct counted *counted)
{
    const struct value *tasks = fields_given(root, "tasks");
    return tasks && fields_given(tasks->object.members[0].value, counted->member);
}

static void set_sizes(struct reading *reading, const struct value *root, const struct value *size,
                      const struct counted *counted, struct description *job)
{
    const struct task_role *role = &job->tasks[0];
    int64_t begins = counted->kind == SIZE_TASKS  ? role->count
                     : counted->kind == SIZE_GPUS ? role->gpus
                                                  : role->cpus;
    struct sizes sizes = {.kind = counted->kind};
    complete_sizes(reading, size, counted, begins, is_said(root, counted), &sizes);
    if (reading->found)
        return;
    job->sizes = sizes;
    if (text_is(job->type, "elastic")) {
        job->size_min = (int)sizes.least;
        job->size_max = (int)sizes.most;
    }
    description_resize(job, begins < sizes.least  ? sizes.least
                            : begins > sizes.most ? sizes.most
                                                  : begins);
    if (sizes.least == sizes.most) {
        job->sizes = (struct sizes){.kind = SIZE_FIXED};
        job->size = 0;
    }
}

void request_size_check(struct reading *reading, const struct value *root, struct description *job)
{
    const struct value *size = fields_given(root, "size"), *tasks = fields_given(root, "tasks");
    struct value_path path = {.name = TEXT("tasks")};
    const struct counted *counted = NULL;
    bool elastic = text_is(job->type, "elastic");
    if (elastic && job->tasks_count > 1)
        problems_add(reading, &path, tasks->line, tasks->column,
                     "found several roles, expected one, as the type is elastic");
    else if (size && job->type.length)
        counted = what_counts(reading, size, job);
    if (reading->found)
        return;
    if (counted) {
        set_sizes(reading, root, size, counted, job);
    } else if (elastic) {
        job->size_min = 1;
        job->size_max = job->tasks[0].count;
    }
}
