/* executors/resources.c - what this machine has for jobs, and what they have taken */
#include "executors/resources.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"

struct demand demand_typed(int64_t cpus, int64_t memory, int gpus, struct text gpu_type)
{
    struct demand demand = {cpus, memory, gpus, ""};
    snprintf(demand.gpu_type, sizeof(demand.gpu_type), "%.*s", (int)gpu_type.length,
             gpu_type.length ? gpu_type.data : "");
    return demand;
}

void gpu_types_add(struct buffer *types, const char *type)
{
    struct text rest = buffer_text(types), known;
    bool listed = !type[0];
    while (!listed && rest.length && text_next(&rest, ',', &known))
        listed = text_is(known, type);
    if (!listed)
        buffer_printf(types, "%s%s", types->length ? "," : "", type);
}

void room_empty(struct room *room, struct arena *arena, const struct machine *machine)
{
    *room = (struct room){
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

static bool counts(const struct room *room, size_t gpu)
{
    return is_of_type(room->machine, gpu, room->gpu_type);
}

void room_want(struct room *room, struct text gpu_type)
{
    room->gpu_type = gpu_type;
    room->gpus = 0;
    for (size_t i = 0; i < room->machine->gpu_count; i++)
        room->gpus += counts(room, i) && !room->gpu_taken[i];
}

size_t machine_gpus_of(const struct machine *machine, struct text gpu_type)
{
    size_t count = 0;
    if (!gpu_type.length)
        return machine->gpu_count;
    for (size_t i = 0; i < machine->gpu_count; i++)
        count += is_of_type(machine, i, gpu_type);
    return count;
}

static void mark_gpus(struct room *room, struct text gpus, bool taken)
{
    struct text name;
    while (gpus.length && text_next(&gpus, ',', &name)) {
        for (size_t i = 0; i < room->machine->gpu_count; i++) {
            if (!text_equal(room->machine->gpus[i], name) || room->gpu_taken[i] == taken)
                continue;
            room->gpu_taken[i] = taken;
            if (counts(room, i))
                room->gpus += taken ? -1 : 1;
        }
    }
}

void room_take(struct room *room, struct demand demand, struct text gpus)
{
    room->cpus -= demand.cpus;
    room->memory -= demand.memory;
    mark_gpus(room, gpus, true);
}

void room_give(struct room *room, struct demand demand, struct text gpus)
{
    room->cpus += demand.cpus;
    room->memory += demand.memory;
    mark_gpus(room, gpus, false);
}

void room_withhold(struct room *room, size_t gpu, const char *why)
{
    if (room->gpu_taken[gpu])
        return;
    room->gpu_taken[gpu] = true;
    room->gpus -= counts(room, gpu);
    if (!room->withheld)
        room->withheld = why;
}

/* How much others want a GPU: 0 when nobody does, most for the first type of the list. */
static size_t how_wanted(const struct room *room, size_t gpu)
{
    struct text rest = room->gpus_wanted, type;
    size_t wanted = 0;
    bool found = false;
    while (rest.length && text_next(&rest, ',', &type)) {
        found =
            found || (room->machine->gpu_types && text_equal(room->machine->gpu_types[gpu], type));
        wanted += found;
    }
    return wanted;
}

/* The free device that is wanted least, the first of several; gpu_count when none is free. */
static size_t choose_gpu(const struct room *room)
{
    size_t chosen = room->machine->gpu_count, least = SIZE_MAX;
    for (size_t i = 0; i < room->machine->gpu_count && least > 0; i++) {
        size_t wanted = room->gpu_taken[i] || !counts(room, i) ? SIZE_MAX : how_wanted(room, i);
        if (wanted >= least)
            continue;
        chosen = i;
        least = wanted;
    }
    return chosen;
}

struct text room_assign(struct room *room, struct arena *arena, int count)
{
    struct buffer names = {0};
    for (; count > 0; count--) {
        size_t gpu = choose_gpu(room);
        if (gpu == room->machine->gpu_count)
            break;
        room->gpu_taken[gpu] = true;
        room->gpus--;
        buffer_printf(&names, "%s%s", names.length ? "," : "", room->machine->gpus[gpu].data);
    }
    struct text result = arena_text(arena, names.data ? names.data : "", names.length);
    buffer_free(&names);
    return result;
}

static int64_t not_negative(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

int room_fits_ever(const struct machine *machine, struct demand demand, struct error *error)
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

int room_fits_now(const struct room *room, struct demand demand, struct error *error)
{
    char sentence[512] = "";
    size_t used = 0;
    char asked[QUANTITY_TEXT_SIZE], left[QUANTITY_TEXT_SIZE], all[QUANTITY_TEXT_SIZE];
    const struct machine *machine = room->machine;
    if (demand.cpus > room->cpus)
        used += (size_t)snprintf(
            sentence + used, sizeof(sentence) - used, "; %s CPU%s, %s of %s free",
            quantity_format_cpus(demand.cpus, asked), quantity_plural_cpus(demand.cpus),
            quantity_format_cpus(not_negative(room->cpus), left),
            quantity_format_cpus(machine->cpus, all));
    if (demand.memory > room->memory)
        used += (size_t)snprintf(sentence + used, sizeof(sentence) - used,
                                 "; %s of memory, %s of %s free",
                                 quantity_format_bytes(demand.memory, asked),
                                 quantity_format_bytes(not_negative(room->memory), left),
                                 quantity_format_bytes(machine->memory, all));
    if (demand.gpus > room->gpus)
        used += (size_t)snprintf(
            sentence + used, sizeof(sentence) - used, "; %d GPU%s%s%.63s, %d of %zu free",
            demand.gpus, quantity_plural(demand.gpus), room->gpu_type.length ? " of type " : "",
            room->gpu_type.length ? room->gpu_type.data : "", (int)not_negative(room->gpus),
            machine_gpus_of(machine, room->gpu_type));
    if (demand.gpus > room->gpus && room->withheld && used < sizeof(sentence))
        used += (size_t)snprintf(sentence + used, sizeof(sentence) - used, " (%s)", room->withheld);
    if (used == 0)
        return 0;
    return error_set(error, "needs %s", sentence + 2);
}
