/* tests/bench/slurm_bench.c - how fast the executor hands jobs to a Slurm; prints, asserts nothing
 *
 * Usage: slurm_bench SOCKET DIRECTORY MANIFEST [JOBS [IN_FLIGHT [BATCH]]]      (2000, 8, 256)
 *
 * SOCKET is slurmrestd's, DIRECTORY an empty one for the jobs' files, MANIFEST a file that `dlspool
 * render` wrote.  As always, the first jobs are handed in held and released, and the others so that
 * they begin at once.  Tells jobs a second, and the processor time that the executor itself took for each.  tests/bench/slurm starts what it needs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/yaml.h"
#include "executors/executor.h"
#include "executors/registry/registry.h"

static double processor_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static struct text read_manifest(struct arena *arena, const char *path)
{
    struct buffer text = {0};
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    for (size_t got = 1; got > 0; text.length += got)
        got = fread(buffer_reserve(&text, 65536), 1, 65536, file);
    fclose(file);
    struct text manifest = arena_text(arena, text.data, text.length);
    buffer_free(&text);
    return manifest;
}

static struct executor *open_executor(struct arena *arena, char **words, long in_flight)
{
    struct error error;
    struct text text = arena_printf(arena,
                                    "executor: slurm\nslurm:\n  address: \"unix:%s\"\n"
                                    "  directory: \"%s\"\n  in_flight: %ld\n  live_max: 0\n",
                                    words[1], words[2], in_flight);
    const struct value *settings = yaml_read(arena, text, "settings", &yaml_trusted_limits, &error);
    struct executor *executor =
        settings ? registry_open(settings, "bench", words[2], &error) : NULL;
    if (!executor) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return executor;
}

static size_t submit_batch(struct executor *executor, struct text manifest, long first, long count)
{
    struct arena *arena = arena_new();
    struct submission *submissions = arena_allocate(arena, (size_t)count * sizeof(*submissions));
    struct submission **batch = arena_allocate(arena, (size_t)count * sizeof(struct submission *));
    size_t accepted = 0;
    for (long i = 0; i < count; i++) {
        submissions[i] =
            (struct submission){.attempt = 1,
                                .uid = getuid(),
                                .gid = getgid(),
                                .id = arena_printf(arena, "bench-%07ld", first + i).data,
                                .manifest = manifest,
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

int main(int count, char **words)
{
    long jobs = count > 4 ? atol(words[4]) : 2000, in_flight = count > 5 ? atol(words[5]) : 8;
    long batch = count > 6 ? atol(words[6]) : 256;
    if (count < 4 || jobs < 1 || in_flight < 1 || batch < 1) {
        fprintf(stderr,
                "usage: slurm_bench SOCKET DIRECTORY MANIFEST [JOBS [IN_FLIGHT [BATCH]]]\n");
        return 2;
    }
    struct arena *arena = arena_new();
    struct text manifest = read_manifest(arena, words[3]);
    struct executor *executor = open_executor(arena, words, in_flight);
    size_t accepted = 0;
    double processor = processor_seconds();
    int64_t begin = clock_elapsed();
    for (long i = 0; i < jobs; i += batch)
        accepted += submit_batch(executor, manifest, i, jobs - i < batch ? jobs - i : batch);
    double seconds = (double)(clock_elapsed() - begin) / 1000;
    printf("executor alone, %ld in flight: %.0f jobs/s submitted; executor %.0f us a "
           "job; %zu of %ld accepted\n",
           in_flight, (double)jobs / seconds,
           (processor_seconds() - processor) * 1e6 / (double)jobs, accepted, jobs);
    executor->operations->close(executor);
    arena_free(arena);
    return 0;
}
