/* base/tally.c - what the processes of a daemon count, in memory that they share */
#include "base/tally.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct count {
    char name[TALLY_NAME_SIZE];
    volatile uint64_t count; /* 0: the name is not there yet */
    volatile double sum;
};

struct process {
    struct count counts[TALLY_NAMES];
};

static struct {
    struct process *processes; /* the last is of what came before */
    size_t count;
    struct process *own;
    bool *has_before; /* in shared memory, too */
} tally;

static size_t shared_size(size_t processes)
{
    return (processes + 1) * sizeof(struct process) + sizeof(bool);
}

int tally_start(size_t processes, struct error *error)
{
    struct process *shared = mmap(NULL, shared_size(processes), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return error_errno(error, "no memory to share counts with the stages");
    tally.processes = shared;
    tally.count = processes;
    tally.has_before = (bool *)(shared + processes + 1);
    return 0;
}

void tally_end(void)
{
    if (tally.processes)
        munmap(tally.processes, shared_size(tally.count));
    memset(&tally, 0, sizeof(tally));
}

void tally_use(size_t process)
{
    tally.own = tally.processes ? &tally.processes[process] : NULL;
}

void tally_clear(void)
{
    if (tally.processes)
        memset(tally.processes, 0, shared_size(tally.count));
}

static void add(struct process *process, const char *name, uint64_t count, double sum)
{
    for (size_t i = 0; i < TALLY_NAMES; i++) {
        struct count *there = &process->counts[i];
        if (there->count && strcmp(there->name, name) != 0)
            continue;
        if (!there->count)
            snprintf(there->name, sizeof(there->name), "%s", name);
        there->sum = there->sum + sum;
        __atomic_thread_fence(__ATOMIC_RELEASE); /* who sees the count sees the name */
        there->count = there->count + count;
        return;
    }
}

void tally_add(const char *series, const char *labels, double amount)
{
    char name[TALLY_NAME_SIZE];
    if (!tally.own)
        return;
    int length = snprintf(name, sizeof(name), *labels ? "%s{%s}" : "%s", series, labels);
    if (length > 0 && (size_t)length < sizeof(name))
        add(tally.own, name, 1, amount);
}

bool tally_is_started(void)
{
    return tally.processes != NULL;
}

bool tally_wants_before(void)
{
    return tally.processes && !*tally.has_before;
}

void tally_before(struct text text, uint64_t count, double sum)
{
    char name[TALLY_NAME_SIZE];
    text_copy(name, sizeof(name), text);
    if (tally.processes && count && text.length < sizeof(name))
        add(&tally.processes[tally.count], name, count, sum);
}

void tally_has_before(void)
{
    if (tally.processes)
        *tally.has_before = true;
}

/* Has the name an end, and no line's end within?  A process that was taken over can write anything there. */
static bool is_name(const char name[static TALLY_NAME_SIZE])
{
    size_t length = strnlen(name, TALLY_NAME_SIZE);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ')
            return false;
    return length < TALLY_NAME_SIZE;
}

void tally_each(tally_visit *visit, void *context)
{
    for (size_t i = 0; tally.processes && i <= tally.count; i++)
        for (size_t j = 0; j < TALLY_NAMES; j++) {
            const struct count *there = &tally.processes[i].counts[j];
            uint64_t count = there->count;
            if (!count)
                break;
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            if (is_name(there->name))
                visit(context, text_of(there->name), count, there->sum);
        }
}
