/* tests/bench/kubernetes_bench.c - how fast jobs are created in a cluster; prints, asserts nothing
 *
 * Usage: kubernetes_bench [JOBS [IN_FLIGHT [BATCH]]]      (3000, 32, 256), in the project's
 * directory
 *
 * Starts the stand-in for an API server (tests/stand-in/kubernetes), submits jobs of one object and
 * then of four in batches through the executor, and tells jobs and objects a second, the processor
 * time that the executor itself took for each job, and whether any object was created twice.  The
 * stand-in, which checks and stores every object and runs the pods, shares the machine.
 */
#include <sys/resource.h>

#include "tests/unit/kubernetes_stand_in.h"

static double processor_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static size_t submit_batch(struct executor *executor, const char *pattern, const char *prefix,
                           long first, long count)
{
    struct arena *arena = arena_new();
    struct submission *submissions = arena_allocate(arena, (size_t)count * sizeof(*submissions));
    struct submission **batch = arena_allocate(arena, (size_t)count * sizeof(struct submission *));
    size_t accepted = 0;
    for (long i = 0; i < count; i++) {
        const char *id = arena_printf(arena, "%s-%ld", prefix, first + i).data;
        submissions[i] = (struct submission){.id = id,
                                             .attempt = 1,
                                             .uid = 1000,
                                             .gid = 1000,
                                             .manifest = stand_in_manifest(arena, pattern, id),
                                             .owner = TEXT("ann")};
        batch[i] = &submissions[i];
    }
    executor->operations->submit(executor, batch, (size_t)count);
    for (long i = 0; i < count; i++) {
        if (submissions[i].outcome == SUBMIT_ACCEPTED)
            accepted++;
        else
            fprintf(stderr, "%s: %s\n", submissions[i].id, submissions[i].error.text);
    }
    arena_free(arena);
    return accepted;
}

static void measure(struct executor *executor, const char *pattern, const char *prefix, long jobs,
                    long batch, int objects)
{
    size_t accepted = 0;
    double processor = processor_seconds();
    int64_t begin = clock_elapsed();
    for (long i = 0; i < jobs; i += batch)
        accepted += submit_batch(executor, pattern, prefix, i, jobs - i < batch ? jobs - i : batch);
    double seconds = (double)(clock_elapsed() - begin) / 1000;
    printf("%ld jobs of %d object%s: %.0f jobs/s, %.0f objects/s; executor %.0f us a job; %zu "
           "accepted\n",
           jobs, objects, objects == 1 ? "" : "s", (double)jobs / seconds,
           (double)jobs * objects / seconds, (processor_seconds() - processor) * 1e6 / (double)jobs,
           accepted);
}

static void tell_doubles(void)
{
    const struct value *list =
        value_get(order("\"order\": \"dump\", \"what\": \"creations\""), "creations");
    struct arena *arena = arena_new();
    struct value *seen = value_object(arena);
    long doubles = 0;
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *one = list->list.items[i];
        struct text key = arena_printf(arena, "%s %s", value_get_text(one, "resource").data,
                                       value_get_text(one, "name").data);
        doubles += value_member(seen, key) != NULL;
        value_set(arena, seen, key, value_null(arena));
    }
    printf("%zu objects were created; %ld of them under a name that was there before\n",
           list->list.count, doubles);
    arena_free(arena);
}

int main(int count, char **words)
{
    char settings[64];
    long jobs = count > 1 ? atol(words[1]) : 3000, batch = count > 3 ? atol(words[3]) : 256;
    snprintf(settings, sizeof(settings), "  in_flight: %ld\n", count > 2 ? atol(words[2]) : 32);
    if (jobs < 1 || batch < 1 || stand_in_start()) {
        fprintf(stderr, "the stand-in did not start\n");
        return 1;
    }
    struct executor *executor = stand_in_executor(settings);
    submit_batch(executor, stand_in_single, "warm", 0, 64);
    measure(executor, stand_in_single, "one", jobs, batch, 1);
    measure(executor, stand_in_several, "four", jobs / 4, batch, 4);
    tell_doubles();
    executor->operations->close(executor);
    stand_in_stop();
    return 0;
}
