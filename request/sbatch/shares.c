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

static int64_t number_of(const struct wishes *wishes, enum wish_kind kind, int64_t otherwise)
{
    const struct wish *wish = wishes_find(wishes, kind);
    return wish ? wish->number : otherwise;
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

static struct layout layout_of(const struct wishes *wishes, struct text type)
{
    int64_t nodes = number_of(wishes, WISH_NODES, 0);
    int64_t near = number_of(wishes, WISH_TASKS_PER_NODE, 0);
    int64_t tasks = number_of(wishes, WISH_TASKS, 0);
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
static bool shares_nodes(const struct wish *nodes)
{
    return strcmp(nodes->shown, "-l select") == 0;
}

/* Add a problem when a script that runs once asks for several nodes.  Tasks of which each has a node are
 * spread over them. */
static void check_nodes(struct wishes *wishes, struct value *root, struct text type,
                        const struct layout *layout)
{
    const struct wish *nodes = wishes_find(wishes, WISH_NODES);
    struct error_quote_buffer buffer;
    if (nodes && nodes->number > 1 && layout->once)
        wishes_refuse(wishes, nodes->shown, nodes->place,
                      "found %" PRId64 " nodes, expected 1, as the script runs once, in one place "
                      "(type: %s); write #DL type=distributed to run it in each task at the same "
                      "time, or #DL type=mpi to have it start others by mpirun",
                      nodes->number, error_quote(&buffer, type.data, type.length));
    else if (nodes && nodes->number > 1 && layout->near == 1 && !shares_nodes(nodes)) {
        if (!fields_given(root, "spread"))
            wishes_put(wishes, root, "spread", nodes,
                       value_text(wishes->reading->arena, TEXT("require")));
    } else if (nodes && nodes->number > 1 && layout->near > 1)
        wishes_note(wishes, nodes->shown, nodes->place,
                    "tasks go where there is room: how many share a node is not chosen");
}

/* The GPUs of a task; *wish is what asks for them.  0 when there are none, or after a problem. */
static int64_t gpus_of_task(struct wishes *wishes, const struct layout *layout,
                            const struct wish **wish)
{
    static const enum wish_kind kinds[] = {WISH_GPUS_PER_TASK, WISH_GPUS_PER_NODE, WISH_GPUS};
    const int64_t slots = layout->slots, near = layout->near,
                  count = layout->count ? layout->count : 1;
    const int64_t factors[] = {slots, 1, 1}, parts[] = {1, near, count};
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        const struct wish *found = wishes_find(wishes, kinds[i]);
        if (!found)
            continue;
        if (*wish)
            wishes_note(wishes, found->shown, found->place,
                        "no effect: %s says how many GPUs a "
                        "task has",
                        (*wish)->shown);
        else
            *wish = found;
    }
    for (size_t i = 0; *wish && i < ARRAY_COUNT(kinds); i++) {
        if (*wish != wishes_find(wishes, kinds[i]))
            continue;
        if ((*wish)->number % parts[i] == 0)
            return times((*wish)->number, factors[i]) / parts[i];
        wishes_refuse(wishes, (*wish)->shown, (*wish)->place,
                      "found %" PRId64 " GPUs for %" PRId64 " tasks, expected as many for each; "
                      "write --gpus-per-task",
                      (*wish)->number, parts[i]);
    }
    return 0;
}

/* The CPUs of a task; *wish is what asks for them, and stays NULL when nothing does. */
static int64_t cpus_of_task(struct wishes *wishes, const struct layout *layout, int64_t gpus,
                            const struct wish **wish)
{
    *wish = wishes_find(wishes, WISH_CPUS);
    const struct wish *by_gpu = wishes_find(wishes, WISH_CPUS_PER_GPU);
    if (by_gpu && *wish) {
        wishes_note(wishes, by_gpu->shown, by_gpu->place,
                    "no effect: %s says how many CPUs a task "
                    "has",
                    (*wish)->shown);
    } else if (by_gpu) {
        *wish = by_gpu;
        return times(by_gpu->number, gpus ? gpus : 1);
    }
    for (enum wish_kind kind = WISH_NODES; !*wish && kind <= WISH_TASKS_PER_NODE; kind++)
        *wish = wishes_find(wishes, kind);
    return times(number_of(wishes, WISH_CPUS, 1), layout->slots);
}

/* The bytes of a task; *wish is what asks for them. */
static int64_t memory_of_task(struct wishes *wishes, const struct layout *layout, int64_t cpus,
                              int64_t gpus, const struct wish **wish)
{
    const struct {
        enum wish_kind kind;
        int64_t factor, part;
    } kinds[] = {
        {WISH_MEMORY_PER_NODE, 1, layout->near},
        {WISH_MEMORY_PER_CPU, cpus, 1},
        {WISH_MEMORY_PER_GPU, gpus ? gpus : 1, 1},
        {WISH_MEMORY, 1, layout->count ? layout->count : 1},
    };
    int64_t bytes = 0;
    *wish = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        const struct wish *found = wishes_find(wishes, kinds[i].kind);
        if (!found)
            continue;
        if (*wish)
            wishes_refuse(wishes, found->shown, found->place,
                          "found beside %s in line %u, expected one of them", (*wish)->shown,
                          (*wish)->place.line);
        *wish = found;
        bytes = times(found->number, kinds[i].factor) / kinds[i].part;
    }
    return bytes;
}

/* The role that the sizes are of: the only one of #DL lines, or main.  NULL when there are several
 * or what the lines say is no map. */
static struct value *find_role(struct wishes *wishes, struct value *root)
{
    struct arena *arena = wishes->reading->arena;
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

/* The first wish that is a size, or NULL. */
static const struct wish *first_size(const struct wishes *wishes)
{
    for (enum wish_kind kind = WISH_NODES; kind <= WISH_GPUS_PER_TASK; kind++)
        if (wishes_find(wishes, kind))
            return wishes_find(wishes, kind);
    return NULL;
}

static void put_number(struct wishes *wishes, struct value *role, const char *field,
                       const struct wish *wish, int64_t number)
{
    if (wish)
        wishes_put(wishes, role, field, wish, value_number(wishes->reading->arena, (double)number));
}

/* Slurm tells its scripts what was asked for; so do these variables, where the script runs once. */
static void tell_sizes(struct wishes *wishes)
{
    static const struct {
        enum wish_kind kind;
        const char *slurm, *pbs;
    } variables[] = {
        {WISH_CPUS, "SLURM_CPUS_PER_TASK", "NCPUS"},
        {WISH_TASKS, "SLURM_NTASKS", "PBS_NP"},
        {WISH_TASKS_PER_NODE, "SLURM_NTASKS_PER_NODE", NULL},
    };
    bool pbs = strcmp(wishes->marker, "#PBS") == 0;
    for (size_t i = 0; i < ARRAY_COUNT(variables); i++) {
        const struct wish *wish = wishes_find(wishes, variables[i].kind);
        const char *name = pbs ? variables[i].pbs : variables[i].slurm;
        if (wish && name && !value_get(wishes->environment, name))
            wishes_add_variable(wishes, wish->place, text_of(name),
                                arena_printf(wishes->reading->arena, "%" PRId64, wish->number));
    }
}

void shares_put(struct wishes *wishes, struct value *root)
{
    const struct wish *size = first_size(wishes), *cpu_wish, *gpu_wish = NULL, *memory_wish;
    struct text type = type_of(root);
    struct layout layout = layout_of(wishes, type);
    struct value *role = find_role(wishes, root);
    char size_text[QUANTITY_TEXT_SIZE];
    if (!size && !role)
        return;
    if (!role) {
        wishes_refuse(wishes, size->shown, size->place,
                      "found beside #DL lines with several roles, expected the size of each there, "
                      "such as #DL tasks.ROLE.cpus=4");
        return;
    }
    check_nodes(wishes, root, type, &layout);
    int64_t gpus = gpus_of_task(wishes, &layout, &gpu_wish);
    int64_t cpus = cpus_of_task(wishes, &layout, gpus, &cpu_wish);
    int64_t memory = memory_of_task(wishes, &layout, cpus, gpus, &memory_wish);
    if (layout.count)
        put_number(wishes, role, "count", size, layout.count);
    put_number(wishes, role, "cpus", cpu_wish, cpus);
    put_number(wishes, role, "gpus", gpu_wish, gpus);
    if (memory_wish)
        wishes_put(wishes, role, "memory", memory_wish,
                   value_text(wishes->reading->arena,
                              arena_printf(wishes->reading->arena, "%" PRId64 "Ki", memory >> 10)));
    else if (!fields_given(role, "memory"))
        request_notes_add(wishes->reading->arena, wishes->notes, "memory",
                          "%s for each task, as no line says how much it needs",
                          quantity_format_bytes(DEFAULT_MEMORY, size_text));
    if (layout.once)
        tell_sizes(wishes);
}
