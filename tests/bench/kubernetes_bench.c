/* tests/bench/kubernetes_bench.c - how fast Jobs are created in a cluster; prints, asserts nothing
 *
 * Usage: kubernetes_bench [JOBS [IN_FLIGHT [BATCH]]]      (3000, 32, 256), in the project's
 *                                                         directory
 *        kubernetes_bench --plain DIRECTORY BODY JOBS IN_FLIGHT
 *
 * Starts the stand-in for an API server (tests/stand-in/kubernetes), and creates the same Jobs by turns, a few
 * times: by a plain client (kubernetes_plain.h), and through the executor in batches; then jobs of
 * four objects.  Tells jobs a second, the processor time that each took of this process for a job, and
 * whether any object was created twice.  The stand-in, which checks and stores every object and runs the
 * pods, shares the machine.
 *
 * With --plain, Jobs are created by the plain client alone, in a stand-in that runs already and whose files are
 * in DIRECTORY: of the file BODY, in which @ stands for the name.  Prints the seconds that took.
 */
#include <sys/resource.h>

#include "tests/bench/kubernetes_plain.h"
#include "tests/unit/kubernetes_stand_in.h"

enum { TURNS = 5 };

static double processor_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static struct submission a_submission(struct arena *arena, const char *pattern, const char *id)
{
    return (struct submission){.id = id,
                               .attempt = 1,
                               .uid = 1000,
                               .gid = 1000,
                               .manifest = stand_in_manifest(arena, pattern, id),
                               .owner = TEXT("ann")};
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
        submissions[i] = a_submission(arena, pattern, id);
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

/* The seconds that the executor takes for so many jobs. */
static double submit_many(struct executor *executor, const char *pattern, const char *prefix,
                          long jobs, long batch, long *accepted)
{
    int64_t begin = clock_elapsed();
    *accepted = 0;
    for (long i = 0; i < jobs; i += batch)
        *accepted +=
            (long)submit_batch(executor, pattern, prefix, i, jobs - i < batch ? jobs - i : batch);
    return (double)(clock_elapsed() - begin) / 1000;
}

/* ---- bodies of the plain client ---- */

/* A body for each name, <prefix>-<number>, of a pattern in which `mark` stands for it. */
static struct buffer *make_bodies(const char *pattern, const char *mark, const char *prefix,
                                  long count)
{
    struct buffer *bodies = memory_allocate((size_t)count * sizeof(*bodies));
    for (long i = 0; i < count; i++) {
        bodies[i] = (struct buffer){0};
        for (const char *at = pattern; *at;) {
            const char *next = strstr(at, mark);
            buffer_add(&bodies[i], at, next ? (size_t)(next - at) : strlen(at));
            if (!next)
                break;
            buffer_printf(&bodies[i], "%s-%ld", prefix, i);
            at = next + strlen(mark);
        }
    }
    return bodies;
}

static void free_bodies(struct buffer *bodies, long count)
{
    for (long i = 0; i < count; i++)
        buffer_free(&bodies[i]);
    free(bodies);
}

/* What the executor sends for a job of that id. */
static const char *body_of(struct executor *executor, struct arena *arena, const char *id)
{
    struct submission submission = a_submission(arena, stand_in_single, id);
    struct buffer yaml = {0};
    struct error error;
    if (executor->operations->sent(executor, &submission, &yaml, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    const struct value *list =
        yaml_read(arena, buffer_text(&yaml), "sent", &yaml_trusted_limits, &error);
    return json_text(arena, value_get(list, "items")->list.items[0]).data;
}

/* ---- rows ---- */

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double middle(double *values)
{
    qsort(values, TURNS, sizeof(*values), compare);
    return values[TURNS / 2];
}

/* The same Jobs by turns: by the plain client and by the executor. */
static void compare_clients(struct executor *executor, long jobs, long batch, int in_flight)
{
    struct arena *arena = arena_new();
    const char *pattern = body_of(executor, arena, "pattern");
    struct plain plain = plain_open(stand_in.directory, in_flight);
    double alone[TURNS], whole[TURNS], ratio[TURNS], cost[2] = {0};
    long created, accepted, all = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        char prefix[32];
        snprintf(prefix, sizeof(prefix), "plain-%d", turn);
        struct buffer *bodies = make_bodies(pattern, "pattern-a1", prefix, jobs);
        double before = processor_seconds();
        alone[turn] = (double)jobs / plain_create(&plain, bodies, jobs, &created);
        cost[0] += processor_seconds() - before;
        free_bodies(bodies, jobs);
        snprintf(prefix, sizeof(prefix), "one-%d", turn);
        before = processor_seconds();
        whole[turn] =
            (double)jobs / submit_many(executor, stand_in_single, prefix, jobs, batch, &accepted);
        cost[1] += processor_seconds() - before;
        ratio[turn] = 100 * whole[turn] / alone[turn];
        all += created + accepted;
    }
    double median = middle(ratio); /* which sorts them */
    printf(
        "%d times %ld jobs of 1 object, by turns, %d in flight: plain client %.0f jobs/s (%.0f us a "
        "job), executor %.0f jobs/s (%.0f us a job): %.0f %%, from %.0f to %.0f; %ld created\n",
        TURNS, jobs, in_flight, middle(alone), cost[0] * 1e6 / (double)(jobs * TURNS),
        middle(whole), cost[1] * 1e6 / (double)(jobs * TURNS), median, ratio[0], ratio[TURNS - 1],
        all);
    plain_close(&plain);
    arena_free(arena);
}

static void measure_several(struct executor *executor, long jobs, long batch)
{
    long accepted;
    double processor = processor_seconds();
    double seconds = submit_many(executor, stand_in_several, "four", jobs, batch, &accepted);
    printf("%ld jobs of 4 objects: %.0f jobs/s, %.0f objects/s; executor %.0f us a job; %ld "
           "accepted\n",
           jobs, (double)jobs / seconds, 4 * (double)jobs / seconds,
           (processor_seconds() - processor) * 1e6 / (double)jobs, accepted);
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

static int create_plain(const char *directory, const char *file, long jobs, int in_flight)
{
    char prefix[64];
    long created;
    char *pattern = plain_file("", file);
    struct plain plain = plain_open(directory, in_flight);
    snprintf(prefix, sizeof(prefix), "plain-%lld", (long long)clock_now());
    struct buffer *bodies = make_bodies(pattern, "@", prefix, jobs);
    printf("%.3f\n", plain_create(&plain, bodies, jobs, &created));
    free_bodies(bodies, jobs);
    plain_close(&plain);
    free(pattern);
    return created == jobs ? 0 : 1;
}

int main(int count, char **words)
{
    char settings[64];
    if (count == 6 && strcmp(words[1], "--plain") == 0)
        return create_plain(words[2], words[3], atol(words[4]), atoi(words[5]));
    long jobs = count > 1 ? atol(words[1]) : 3000, batch = count > 3 ? atol(words[3]) : 256;
    int in_flight = count > 2 ? atoi(words[2]) : 32;
    snprintf(settings, sizeof(settings), "  in_flight: %d\n", in_flight);
    if (jobs < TURNS || batch < 1 || in_flight < 1 || in_flight > PLAIN_MOST || stand_in_start()) {
        fprintf(stderr, "the stand-in did not start\n");
        return 1;
    }
    struct executor *executor = stand_in_executor(settings);
    submit_batch(executor, stand_in_single, "warm", 0, 64);
    measure_several(executor, jobs / 4, batch);
    /* What is compared takes its turns, and the pods that each leaves would run in the other's. */
    order("\"order\": \"set\", \"name\": \"controllers\", \"value\": false");
    compare_clients(executor, jobs / TURNS, batch, in_flight);
    tell_doubles();
    executor->operations->close(executor);
    stand_in_stop();
    return 0;
}
