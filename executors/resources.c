/* executors/resources.c - what this machine has for jobs, and how much of it is free */
#include "executors/resources.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"

struct demand resources_demand(int64_t cpus, int64_t memory, int gpus, struct text gpu_type)
{
    struct demand demand = {cpus, memory, gpus, ""};
    snprintf(demand.gpu_type, sizeof(demand.gpu_type), "%.*s", (int)gpu_type.length,
             gpu_type.length ? gpu_type.data : "");
    return demand;
}

void resources_add_gpu_type(struct buffer *types, const char *type)
{
    struct text rest = buffer_text(types), known;
    bool listed = !type[0];
    while (!listed && rest.length && text_next(&rest, ',', &known))
        listed = text_is(known, type);
    if (!listed)
        buffer_printf(types, "%s%s", types->length ? "," : "", type);
}

void resources_all_free(struct free_resources *available, struct arena *arena,
                        const struct machine *machine)
{
    *available = (struct free_resources){
        .machine = machine,
        .cpus = machine->cpus,
        .memory = machine->memory,
        .gpus = (int)machine->gpu_count,
        .gpu_taken = arena_allocate(arena, machine->gpu_count + 1),
    };
}

static bool is_of_type(const struct machine *machine, size_t gpu, struct text type)
{
    return type.length == 0 || (machine->gpu_types && text_equal(machine->gpu_types[gpu], type));
}

static bool gpu_counts(const struct free_resources *available, size_t gpu)
{
    return is_of_type(available->machine, gpu, available->gpu_type);
}

void resources_want_gpu_type(struct free_resources *available, struct text gpu_type)
{
    available->gpu_type = gpu_type;
    available->gpus = 0;
    for (size_t i = 0; i < available->machine->gpu_count; i++)
        available->gpus += gpu_counts(available, i) && !available->gpu_taken[i];
}

size_t resources_count_gpus(const struct machine *machine, struct text gpu_type)
{
    size_t count = 0;
    if (!gpu_type.length)
        return machine->gpu_count;
    for (size_t i = 0; i < machine->gpu_count; i++)
        count += is_of_type(machine, i, gpu_type);
    return count;
}

static void mark_gpus(struct free_resources *available, struct text gpus, bool taken)
{
    struct text name;
    while (gpus.length && text_next(&gpus, ',', &name)) {
        for (size_t i = 0; i < available->machine->gpu_count; i++) {
            if (!text_equal(available->machine->gpus[i], name) || available->gpu_taken[i] == taken)
                continue;
            available->gpu_taken[i] = taken;
            if (gpu_counts(available, i))
                available->gpus += taken ? -1 : 1;
        }
    }
}

void resources_take(struct free_resources *available, struct demand demand, struct text gpus)
{
    available->cpus -= demand.cpus;
    available->memory -= demand.memory;
    mark_gpus(available, gpus, true);
}

void resources_give_back(struct free_resources *available, struct demand demand, struct text gpus)
{
    available->cpus += demand.cpus;
    available->memory += demand.memory;
    mark_gpus(available, gpus, false);
}

void resources_withhold_gpu(struct free_resources *available, size_t gpu, const char *why)
{
    if (available->gpu_taken[gpu])
        return;
    available->gpu_taken[gpu] = true;
    available->gpus -= gpu_counts(available, gpu);
    if (!available->withheld)
        available->withheld = why;
}

/* How urgently other jobs need a GPU of this type: 0 when none waits for it, the highest for the first type
 * of the list. */
static size_t gpu_demand(const struct free_resources *available, size_t gpu)
{
    struct text rest = available->gpus_wanted, type;
    size_t wanted = 0;
    bool found = false;
    while (rest.length && text_next(&rest, ',', &type)) {
        found = found || (available->machine->gpu_types &&
                          text_equal(available->machine->gpu_types[gpu], type));
        wanted += found;
    }
    return wanted;
}

/* Choose the free GPU that other jobs need least, the first of equals; gpu_count when none is free. */
static size_t choose_gpu(const struct free_resources *available)
{
    size_t chosen = available->machine->gpu_count, least = SIZE_MAX;
    for (size_t i = 0; i < available->machine->gpu_count && least > 0; i++) {
        size_t wanted = available->gpu_taken[i] || !gpu_counts(available, i)
                            ? SIZE_MAX
                            : gpu_demand(available, i);
        if (wanted >= least)
            continue;
        chosen = i;
        least = wanted;
    }
    return chosen;
}

struct text resources_assign_gpus(struct free_resources *available, struct arena *arena, int count)
{
    struct buffer names = {0};
    for (; count > 0; count--) {
        size_t gpu = choose_gpu(available);
        if (gpu == available->machine->gpu_count)
            break;
        available->gpu_taken[gpu] = true;
        available->gpus--;
        buffer_printf(&names, "%s%s", names.length ? "," : "", available->machine->gpus[gpu].data);
    }
    return arena_take(arena, &names);
}

static int64_t not_negative(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

int resources_fit_ever(const struct machine *machine, struct demand demand, struct error *error)
{
    char sentence[512] = "";
    size_t used = 0;
    char asked[QUANTITY_TEXT_SIZE], there[QUANTITY_TEXT_SIZE];
    if (demand.cpus > machine->cpus)
        used += (size_t)snprintf(sentence + used, sizeof(sentence) - used, ", %s CPU%s of %s",
                                 quantity_format_cpus(demand.cpus, asked),
                                 quantity_plural_cpus(demand.cpus),
                                 quantity_format_cpus(machine->cpus, there));
    if (demand.memory > machine->memory)
        used += (size_t)snprintf(sentence + used, sizeof(sentence) - used, ", %s of memory of %s",
                                 quantity_format_bytes(demand.memory, asked),
                                 quantity_format_bytes(machine->memory, there));
    if (demand.gpus > (int64_t)machine->gpu_count)
        used += (size_t)snprintf(sentence + used, sizeof(sentence) - used, ", %d GPU%s of %zu",
                                 demand.gpus, quantity_plural(demand.gpus), machine->gpu_count);
    if (used == 0)
        return 0;
    return error_set(error, "the job requests more than this machine has for jobs: %s",
                     sentence + 2);
}

int resources_fit_now(const struct free_resources *available, struct demand demand,
                      struct error *error)
{
    char sentence[512] = "";
    size_t used = 0;
    char asked[QUANTITY_TEXT_SIZE], left[QUANTITY_TEXT_SIZE], all[QUANTITY_TEXT_SIZE];
    const struct machine *machine = available->machine;
    if (demand.cpus > available->cpus)
        used += (size_t)snprintf(
            sentence + used, sizeof(sentence) - used, "; %s CPU%s, %s of %s free",
            quantity_format_cpus(demand.cpus, asked), quantity_plural_cpus(demand.cpus),
            quantity_format_cpus(not_negative(available->cpus), left),
            quantity_format_cpus(machine->cpus, all));
    if (demand.memory > available->memory)
        used += (size_t)snprintf(sentence + used, sizeof(sentence) - used,
                                 "; %s of memory, %s of %s free",
                                 quantity_format_bytes(demand.memory, asked),
                                 quantity_format_bytes(not_negative(available->memory), left),
                                 quantity_format_bytes(machine->memory, all));
    if (demand.gpus > available->gpus)
        used += (size_t)snprintf(
            sentence + used, sizeof(sentence) - used, "; %d GPU%s%s%.63s, %d of %zu free",
            demand.gpus, quantity_plural(demand.gpus),
            available->gpu_type.length ? " of type " : "",
            available->gpu_type.length ? available->gpu_type.data : "",
            (int)not_negative(available->gpus), resources_count_gpus(machine, available->gpu_type));
    if (demand.gpus > available->gpus && available->withheld && used < sizeof(sentence))
        used += (size_t)snprintf(sentence + used, sizeof(sentence) - used, " (%s)",
                                 available->withheld);
    if (used == 0)
        return 0;
    return error_set(error, "needs %s", sentence + 2);
}
