/* tests/crash/harness.c - many short runs in processes of their own, counted */
#include "tests/crash/harness.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/crash/calls.h"
#include "tests/crash/tree.h"

enum {
    MOST_WORKERS = 4,
    PROCESSOR_LIMIT = 20, /* seconds that a child may compute ... */
    TIME_LIMIT = 200,     /* ... and be there: it gives way to other tests */
    MOST_SAID = 8,        /* comments on findings of one test */
    STATE_SLOTS = 1 << 20
};

char harness_top[400];
static _Atomic uint64_t *states;

void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        harness_failed("no shared memory");
    return memory;
}

void shared_memory_free(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

void harness_start(void)
{
    const char *parent = getenv("TMPDIR");
    if (!parent)
        parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(harness_top, sizeof(harness_top), "%s/dlspool-crash.XXXXXX", parent);
    if (!mkdtemp(harness_top))
        harness_failed("%s could not be made", harness_top);
    states = shared_memory(STATE_SLOTS * sizeof(*states));
    world_prepare(harness_top);
}

void harness_end(void)
{
    tree_remove(harness_top);
}

bool harness_wants(const char *title)
{
    const char *words = getenv("CRASH_SCENE");
    return !words || strstr(title, words);
}

int harness_one_in(int usual)
{
    const char *fewer = getenv("CRASH_FEWER");
    if (getenv("CRASH_EVERY"))
        return 1;
    return fewer && atoi(fewer) > 0 ? usual * atoi(fewer) : usual;
}

void harness_forget_states(void)
{
    for (size_t i = 0; i < STATE_SLOTS; i++)
        atomic_store_explicit(&states[i], 0, memory_order_relaxed);
}

bool harness_is_new(uint64_t digest)
{
    if (digest == 0)
        digest = 1;
    for (size_t slot = digest % STATE_SLOTS, tries = 0; tries < STATE_SLOTS;
         slot = (slot + 1) % STATE_SLOTS, tries++) {
        uint64_t empty = 0;
        if (atomic_compare_exchange_strong(&states[slot], &empty, digest))
            return true;
        if (empty == digest)
            return false;
    }
    harness_failed("too many states");
}

/* Children */

/* That a job came to its end is said once for each job, whatever fails: it is no noise. */
static bool tells_an_end(struct text line)
{
    return memmem(line.data, line.length, ": owner=", 8) &&
           memmem(line.data, line.length, " state=", 7);
}

static int count_lines(const char *path, char said[static 256])
{
    struct buffer text = tree_read(path);
    int lines = 0;
    for (size_t i = 0, begin = 0; i < text.length; i++) {
        if (text.data[i] != '\n')
            continue;
        lines += !tells_an_end((struct text){text.data + begin, i - begin});
        begin = i + 1;
    }
    size_t start = text.length ? text.length - 1 : 0;
    while (start > 0 && text.data[start - 1] != '\n')
        start--;
    snprintf(said, 256, "%.*s", text.length ? (int)(text.length - start - 1) : 0,
             text.length ? text.data + start : "");
    buffer_free(&text);
    return lines;
}

static void say_into(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0 || dup2(file, STDERR_FILENO) < 0)
        harness_failed("%s could not be opened", path);
}

void harness_silence(void)
{
    say_into("/dev/null");
}

enum ending harness_run(struct worker *worker, harness_body *body, void *context)
{
    char said[512];
    int status;
    snprintf(said, sizeof(said), "%s/said", worker->top);
    *worker->result = (struct result){.ending = END_CRASHED};
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        harness_failed("no process");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setrlimit(RLIMIT_CPU, &(struct rlimit){PROCESSOR_LIMIT, PROCESSOR_LIMIT});
        alarm(TIME_LIMIT);
        say_into(said);
        body(worker->result, context);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == KILLED_STATUS)
        worker->result->ending = END_KILLED;
    else if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0)
        snprintf(worker->result->why, WHY_SIZE, "it ended by %s %d",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0)
        worker->result->ending = worker->result->ending == END_KILLED ? END_KILLED : END_CRASHED;
    worker->result->lines = count_lines(said, worker->result->said);
    return worker->result->ending;
}

/* Workers */

int harness_workers(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
    return count < 1 ? 1 : count > MOST_WORKERS ? MOST_WORKERS : count;
}

void harness_try(const char *test, struct tally *tally, int64_t first, int64_t last,
                 harness_point *point, void *context)
{
    atomic_llong *next = shared_memory(sizeof(*next));
    pid_t children[MOST_WORKERS];
    int count = harness_workers();
    atomic_store(next, first);
    fflush(stdout);
    for (int i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] < 0)
            harness_failed("no process");
        if (children[i] > 0)
            continue;
        struct worker worker = {.tally = tally, .test = test};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(worker.top, sizeof(worker.top), "%s/worker-%d", harness_top, i);
        tree_remove(worker.top);
        tree_make(worker.top, 0755);
        char templates[512], link[512];
        snprintf(templates, sizeof(templates), "%s/templates.git", harness_top);
        snprintf(link, sizeof(link), "%s/templates.git", worker.top);
        if (symlink(templates, link))
            harness_failed("templates.git could not be shared");
        worker.result = shared_memory(sizeof(*worker.result));
        for (int64_t number; (number = atomic_fetch_add(next, 1)) <= last;)
            point(&worker, context, number);
        tree_remove(worker.top);
        _exit(0);
    }
    for (int i = 0; i < count; i++) {
        int status = 1;
        waitpid(children[i], &status, 0);
        if (status)
            atomic_fetch_add(&tally->crashed, 1);
    }
    munmap(next, sizeof(*next));
}

static const char *kind_of(const struct result *result)
{
    static const char *const findings[FOUND_KINDS] = {"good", "lost", "doubled", "wrong"};
    static const char *const endings[] = {"", "killed", "wedged", "noisy", "silent", "crashed"};
    return result->ending == END_CHECKED ? findings[result->finding] : endings[result->ending];
}

void harness_count(struct worker *worker, const char *format, ...)
{
    struct tally *tally = worker->tally;
    const struct result *result = worker->result;
    bool good = result->ending == END_CHECKED && result->finding == FOUND_GOOD;
    if (good)
        return;
    atomic_llong *counters[] = {[END_KILLED] = &tally->crashed,
                                [END_WEDGED] = &tally->wedged,
                                [END_NOISY] = &tally->noisy,
                                [END_SILENT] = &tally->noisy,
                                [END_CRASHED] = &tally->crashed};
    atomic_llong *findings[FOUND_KINDS] = {NULL, &tally->lost, &tally->doubled, &tally->wrong};
    atomic_fetch_add(
        result->ending == END_CHECKED ? findings[result->finding] : counters[result->ending], 1);
    if (atomic_fetch_add(&tally->said, 1) >= MOST_SAID && !getenv("CRASH_VERBOSE"))
        return;
    char where[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(where, sizeof(where), format, arguments);
    va_end(arguments);
    tap_comment("%s, %s: %s: %s [%s]", worker->test, where, kind_of(result), result->why,
                result->said);
}

/* TAP */

static int tests, failures;

void tap_comment(const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    /* One write, since workers say things at the same time. */
    printf("# %s\n", line);
    fflush(stdout);
}

void tap_ok(bool held, const char *format, ...)
{
    va_list arguments;
    printf("%sok %d - ", held ? "" : "not ", ++tests);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    failures += !held;
}

int tap_done(void)
{
    printf("1..%d\n", tests);
    return failures ? 1 : 0;
}

bool tally_clean(const struct tally *tally)
{
    return tally->lost == 0 && tally->doubled == 0 && tally->wrong == 0 && tally->wedged == 0 &&
           tally->noisy == 0 && tally->crashed == 0;
}
