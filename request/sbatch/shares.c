/* request/sbatch/shares.c - lays nodes and tasks of Slurm, and chunks of PBS, on dlspool's tasks */
#include "request/sbatch/shares.h"

#include <inttypes.h>
#include <string.h>

#include "base/quantity.h"
#include "request/fields.h"
#include "request/notes.h"
#include "request/tasks.h"

/* How Slurm's tasks are laid on those of dlspool. */
struct layout {
    bool once;     /* the script runs in one task */
    int64_t count; /* tasks; 0: nothing is said */
    int64_t slots; /* tasks of Slurm in each of ours */
    int64_t near;  /* tasks of ours on a node, which share its memory and GPUs */
};

/* The product, or a number that every limit is below. */
static int64_t times(int64_t a, int64_t b)
{
    static const int64_t most = (int64_t)1 << 60;
    return b && a > most / b ? most : a * b;
}

static int64_t number_of(const struct batch_options *options, enum batch_option_kind kind,
                         int64_t otherwise)
{
    const struct batch_option *option = batch_options_find(options, kind);
    return option ? option->number : otherwise;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static struct text type_of(const struct value *root)
{
    const struct value *type = fields_given(root, "type");
    return type && type->kind == VALUE_STRING ? type->string : TEXT("single");
}

static struct layout layout_of(const struct batch_options *options, struct text type)
{
    int64_t nodes = number_of(options, BATCH_NODES, 0);
    int64_t near = number_of(options, BATCH_TASKS_PER_NODE, 0);
    int64_t tasks = number_of(options, BATCH_TASKS, 0);
    if (!tasks && near)
        tasks = times(near, nodes ? nodes : 1);
    if (text_is(type, "mpi")) {
        int64_t slots = near ? near : divide_up(tasks ? tasks : 1, nodes ? nodes : 1);
        return (struct layout){.count = nodes, .slots = slots, .near = 1};
    }
    if (text_is(type, "distributed") || text_is(type, "elastic")) {
        int64_t count = tasks ? tasks : nodes;
        if (!near)
            near = count && nodes ? divide_up(count, nodes) : 1;
        return (struct layout){.count = count, .slots = 1, .near = near};
    }
    return (struct layout){.once = true, .slots = tasks ? tasks : 1, .near = 1};
}

/* Chunks of PBS go where there is room, unless -l place says otherwise. */
static bool shares_nodes(const struct batch_option *nodes)
{
    return strcmp(nodes->shown, "-l select") == 0;
}

/* Add a problem when a script that runs once asks for several nodes.  Tasks of which each has a node are
 * spread over them. */
static void check_nodes(struct batch_options *options, struct value *root, struct text type,
                        const struct layout *layout)
{
    const struct batch_option *nodes = batch_options_find(options, BATCH_NODES);
    struct error_quote_buffer buffer;
    if (nodes && nodes->number > 1 && layout->once)
        batch_options_refuse(
            options, nodes->shown, nodes->place,
            "found %" PRId64 " nodes, expected 1, as the script runs once, in one place "
            "(type: %s); write #DL type=distributed to run it in each task at the same "
            "time, or #DL type=mpi to have it start others by mpirun",
            nodes->number, error_quote(&buffer, type.data, type.length));
    else if (nodes && nodes->number > 1 && layout->near == 1 && !shares_nodes(nodes)) {
        if (!fields_given(root, "spread"))
            batch_options_put(options, root, "spread", nodes,
                              value_text(options->reading->arena, TEXT("require")));
    } else if (nodes && nodes->number > 1 && layout->near > 1)
        batch_options_note(options, nodes->shown, nodes->place,
                           "tasks go where there is room: how many share a node is not chosen");
}

/* The GPUs of a task; *option is what asks for them.  0 when there are none, or after a problem. */
static int64_t gpus_of_task(struct batch_options *options, const struct layout *layout,
                            const struct batch_option **option)
{
    static const enum batch_option_kind kinds[] = {BATCH_GPUS_PER_TASK, BATCH_GPUS_PER_NODE,
                                                   BATCH_GPUS};
    const int64_t slots = layout->slots, near = layout->near,
                  count = layout->count ? layout->count : 1;
    const int64_t factors[] = {slots, 1, 1}, parts[] = {1, near, count};
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        const struct batch_option *found = batch_options_find(options, kinds[i]);
        if (!found)
            continue;
        if (*option)
            batch_options_note(options, found->shown, found->place,
                               "no effect: %s says how many GPUs a "
                               "task has",
                               (*option)->shown);
        else
            *option = found;
    }
    for (size_t i = 0; *option && i < ARRAY_COUNT(kinds); i++) {
        if (*option != batch_options_find(options, kinds[i]))
            continue;
        if ((*option)->number % parts[i] == 0)
            return times((*option)->number, factors[i]) / parts[i];
        batch_options_refuse(options, (*option)->shown, (*option)->place,
                             "found %" PRId64 " GPUs for %" PRId64
                             " tasks, expected as many for each; "
                             "write --gpus-per-task",
                             (*option)->number, parts[i]);
    }
    return 0;
}

/* The CPUs of a task; *option is what asks for them, and stays NULL when nothing does. */
static int64_t cpus_of_task(struct batch_options *options, const struct layout *layout,
                            int64_t gpus, const struct batch_option **option)
{
    *option = batch_options_find(options, BATCH_CPUS);
    const struct batch_option *by_gpu = batch_options_find(options, BATCH_CPUS_PER_GPU);
    if (by_gpu && *option) {
        batch_options_note(options, by_gpu->shown, by_gpu->place,
                           "no effect: %s says how many CPUs a task "
                           "has",
                           (*option)->shown);
    } else if (by_gpu) {
        *option = by_gpu;
        return times(by_gpu->number, gpus ? gpus : 1);
    }
    for (enum batch_option_kind kind = BATCH_NODES; !*option && kind <= BATCH_TASKS_PER_NODE;
         kind++)
        *option = batch_options_find(options, kind);
    return times(number_of(options, BATCH_CPUS, 1), layout->slots);
}

/* The bytes of a task; *option is what asks for them. */
static int64_t memory_of_task(struct batch_options *options, const struct layout *layout,
                              int64_t cpus, int64_t gpus, const struct batch_option **option)
{
    const struct {
        enum batch_option_kind kind;
        int64_t factor, part;
    } kinds[] = {
        {BATCH_MEMORY_PER_NODE, 1, layout->near},
        {BATCH_MEMORY_PER_CPU, cpus, 1},
        {BATCH_MEMORY_PER_GPU, gpus ? gpus : 1, 1},
        {BATCH_MEMORY, 1, layout->count ? layout->count : 1},
    };
    int64_t bytes = 0;
    *option = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        const struct batch_option *found = batch_options_find(options, kinds[i].kind);
        if (!found)
            continue;
        if (*option)
            batch_options_refuse(options, found->shown, found->place,
                                 "found beside %s in line %u, expected one of them",
                                 (*option)->shown, (*option)->place.line);
        *option = found;
        bytes = times(found->number, kinds[i].factor) / kinds[i].part;
    }
    return bytes;
}

/* The role that the sizes are of: the only one of #DL lines, or main.  NULL when there are several
 * or what the lines say is no map. */
static struct value *find_role(struct batch_options *options, struct value *root)
{
    struct arena *arena = options->reading->arena;
    struct value *tasks = value_get(root, "tasks");
    if (!tasks || tasks->kind == VALUE_NULL) {
        tasks = value_object(arena);
        value_put(arena, root, "tasks", tasks);
    }
    if (tasks->kind != VALUE_OBJECT || tasks->object.count > 1)
        return NULL;
    if (tasks->object.count == 0)
        value_put(arena, tasks, "main", value_object(arena));
    struct value *role = tasks->object.members[0].value;
    return role->kind == VALUE_OBJECT ? role : NULL;
}

/* The first option that is a size, or NULL. */
static const struct batch_option *first_size(const struct batch_options *options)
{
    for (enum batch_option_kind kind = BATCH_NODES; kind <= BATCH_GPUS_PER_TASK; kind++)
        if (batch_options_find(options, kind))
            return batch_options_find(options, kind);
    return NULL;
}

static void put_number(struct batch_options *options, struct value *role, const char *field,
                       const struct batch_option *option, int64_t number)
{
    if (option)
        batch_options_put(options, role, field, option,
                          value_number(options->reading->arena, (double)number));
}

/* Slurm tells its scripts what was asked for; so do these variables, where the script runs once. */
static void tell_sizes(struct batch_options *options)
{
    static const struct {
        enum batch_option_kind kind;
        const char *slurm, *pbs;
    } variables[] = {
        {BATCH_CPUS, "SLURM_CPUS_PER_TASK", "NCPUS"},
        {BATCH_TASKS, "SLURM_NTASKS", "PBS_NP"},
        {BATCH_TASKS_PER_NODE, "SLURM_NTASKS_PER_NODE", NULL},
    };
    bool pbs = strcmp(options->marker, "#PBS") == 0;
    for (size_t i = 0; i < ARRAY_COUNT(variables); i++) {
        const struct batch_option *option = batch_options_find(options, variables[i].kind);
        const char *name = pbs ? variables[i].pbs : variables[i].slurm;
        if (option && name && !value_get(options->environment, name))
            batch_options_add_variable(
                options, option->place, text_of(name),
                arena_printf(options->reading->arena, "%" PRId64, option->number));
    }
}

void shares_put(struct batch_options *options, struct value *root)
{
    const struct batch_option *size = first_size(options), *cpu_option, *gpu_option = NULL,
                              *memory_option;
    struct text type = type_of(root);
    struct layout layout = layout_of(options, type);
    struct value *role = find_role(options, root);
    char size_text[QUANTITY_TEXT_SIZE];
    if (!size && !role)
        return;
    if (!role) {
        batch_options_refuse(
            options, size->shown, size->place,
            "found beside #DL lines with several roles, expected the size of each there, "
            "such as #DL tasks.ROLE.cpus=4");
        return;
    }
    check_nodes(options, root, type, &layout);
    int64_t gpus = gpus_of_task(options, &layout, &gpu_option);
    int64_t cpus = cpus_of_task(options, &layout, gpus, &cpu_option);
    int64_t memory = memory_of_task(options, &layout, cpus, gpus, &memory_option);
    if (layout.count)
        put_number(options, role, "count", size, layout.count);
    put_number(options, role, "cpus", cpu_option, cpus);
    put_number(options, role, "gpus", gpu_option, gpus);
    if (memory_option)
        batch_options_put(
            options, role, "memory", memory_option,
            value_text(options->reading->arena,
                       arena_printf(options->reading->arena, "%" PRId64 "Ki", memory >> 10)));
    else if (!fields_given(role, "memory"))
        request_notes_add(options->reading->arena, options->notes, "memory",
                          "%s for each task, as no line says how much it needs",
                          quantity_format_bytes(DEFAULT_MEMORY, size_text));
    if (layout.once)
        tell_sizes(options);
}
