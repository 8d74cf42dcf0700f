/* stages/guard.c - which job a process was working on when it died */
#include "stages/guard.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "spool/id.h"

const int guard_patience = 5;
const int64_t guard_memory = (int64_t)1 << 30;

static struct guard *own, *watched;

struct guard *guard_new(struct error *error)
{
    struct guard *guard =
        mmap(NULL, sizeof(*guard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (guard != MAP_FAILED)
        return guard;
    error_errno(error, "no memory to share with the processes that read job files");
    return NULL;
}

void guard_free(struct guard *guard)
{
    if (guard)
        munmap(guard, sizeof(*guard));
}

void guard_set(struct guard *guard)
{
    own = guard;
}

struct guard *guard_own(void)
{
    if (!own)
        own = guard_new(NULL);
    return own;
}

void guard_enter(struct guard *guard, const char *name, int tries)
{
    if (!guard)
        return;
    snprintf(guard->name, sizeof(guard->name), "%s", name);
    guard->tries = (uint32_t)tries;
    guard->reading = ++guard->count;
}

void guard_leave(struct guard *guard)
{
    if (guard)
        guard->reading = 0;
}

bool guard_blames(const struct guard *guard)
{
    return guard && guard->reading;
}

bool guard_begin(struct guard *guard, const char *name, struct guard_before *before)
{
    if (guard_tries(guard, name) >= GUARD_MOST_TRIES)
        return false;
    if (!guard)
        return true;
    before->reading = guard->reading;
    before->tries = guard->tries;
    memcpy(before->name, guard->name, sizeof(before->name));
    guard_enter(guard, name, 0);
    return true;
}

void guard_return(struct guard *guard, const struct guard_before *before)
{
    guard_leave(guard);
    if (guard && before->reading)
        guard_enter(guard, before->name, (int)before->tries);
}

void guard_clear(struct guard *guard)
{
    if (guard)
        memset(guard, 0, sizeof(*guard));
}

const char *guard_describe_end(int status, char buffer[static GUARD_END_SIZE])
{
    if (WIFSIGNALED(status))
        snprintf(buffer, GUARD_END_SIZE, "signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == GUARD_STALLED)
        snprintf(buffer, GUARD_END_SIZE, "more than %d s of processor time", guard_patience);
    else
        snprintf(buffer, GUARD_END_SIZE, "status %d", WEXITSTATUS(status));
    return buffer;
}

/* Called after each second of processor time: end a process that is still at the same job file after
 * guard_patience.  For job files that are read in time this costs nothing. */
static void check_patience(int signal)
{
    static uint64_t seen;
    static int seconds;
    (void)signal;
    uint64_t reading = watched->reading;
    if (!reading || reading != seen)
        seconds = 0;
    seen = reading;
    if (reading && seconds++ >= guard_patience)
        _exit(GUARD_STALLED);
}

/* ---- counting ---- */

enum { PART_BITS = 4, MOST_NARROWING = 3 }; /* a batch of 1,024: 64, 4, 1 job */
static const int64_t forget_after = 600000; /* milliseconds since the last end over a job ... */
static const int64_t widen_after = 60000;   /* ... or over a batch */

static struct guard_counted *find_counted(const struct guard *guard, const char *name)
{
    for (int i = 0; guard && i < GUARD_COUNTED; i++)
        if (guard->counted[i].tries && strcmp(guard->counted[i].name, name) == 0)
            return (struct guard_counted *)(uintptr_t)&guard->counted[i];
    return NULL;
}

static struct guard_counted *add_counted(struct guard *guard, const char *name)
{
    struct guard_counted *counted = find_counted(guard, name);
    if (counted)
        return counted;
    counted = &guard->counted[0];
    for (int i = 1; i < GUARD_COUNTED; i++)
        if (guard->counted[i].tries < counted->tries)
            counted = &guard->counted[i];
    snprintf(counted->name, sizeof(counted->name), "%s", name);
    counted->tries = 0;
    return counted;
}

void guard_count(struct guard *guard, const char *stage)
{
    if (!guard_blames(guard))
        return;
    if (guard->name[0]) {
        struct guard_counted *counted = add_counted(guard, guard->name);
        counted->tries++;
        counted->time = clock_elapsed();
        bool is_job = id_valid(text_of(counted->name));
        log_warn("%s ended over %s%s (%u of %d times; then it %s)", stage, is_job ? "the job " : "",
                 counted->name, counted->tries, GUARD_MOST_TRIES,
                 is_job ? "is quarantined" : "is left out for ten minutes");
    } else if (guard->ends < MOST_NARROWING) {
        guard->ends++;
        guard->time = clock_elapsed();
        log_warn(
            "%s ended over several jobs; it takes fewer jobs at a time until the one to blame is found",
            stage);
    }
    guard_leave(guard);
}

int guard_tries(const struct guard *guard, const char *name)
{
    const struct guard_counted *counted = find_counted(guard, name);
    return counted ? (int)counted->tries : 0;
}

void guard_forget(struct guard *guard, const char *name)
{
    struct guard_counted *counted = find_counted(guard, name);
    if (counted)
        counted->tries = 0;
}

void guard_passed(struct guard *guard, const char *name)
{
    struct guard_counted *counted = find_counted(guard, name);
    if (counted && counted->tries != GUARD_SHUNNED &&
        clock_elapsed() - counted->time > forget_after)
        counted->tries = 0;
}

void guard_shun(struct guard *guard, const char *name)
{
    if (guard)
        add_counted(guard, name)->tries = GUARD_SHUNNED;
}

size_t guard_narrow(const struct guard *guard, size_t most)
{
    size_t part = guard ? most >> PART_BITS * guard->ends : most;
    return part ? part : 1;
}

bool guard_is_narrow(const struct guard *guard)
{
    return guard && guard->ends;
}

void guard_widen(struct guard *guard)
{
    if (guard && guard->ends && clock_elapsed() - guard->time > widen_after)
        guard->ends--;
}

/* ---- limits ---- */

int guard_limit(struct guard *guard, struct error *error)
{
    struct rlimit memory = {(rlim_t)guard_memory, (rlim_t)guard_memory};
    struct sigaction action = {.sa_handler = check_patience, .sa_flags = SA_RESTART};
    const struct itimerval second = {{1, 0}, {1, 0}};
    if (setrlimit(RLIMIT_DATA, &memory))
        return error_errno(error, "the memory of this process could not be limited");
    if (!guard)
        return 0;
    watched = guard;
    if (sigaction(SIGPROF, &action, NULL) || setitimer(ITIMER_PROF, &second, NULL))
        return error_errno(error, "the time of this process could not be limited");
    return 0;
}
