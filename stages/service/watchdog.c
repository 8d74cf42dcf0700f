/* stages/service/watchdog.c - tells systemd whether the service is alive */
#include "stages/service/watchdog.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/text.h"

static const int64_t silent_after =
    300000; /* milliseconds without a sign of life, unless systemd sets a time */

struct pulse {
    bool expected; /* the stage runs */
    bool said;     /* that it gives no sign of life */
};

struct watchdog {
    struct heart *hearts; /* shared with the stages */
    struct pulse *pulses;
    size_t count;
    int64_t patience; /* milliseconds without a sign of life */
    int64_t interval; /* between two messages; 0: nobody wants them */
    int64_t next;     /* of clock_elapsed */
};

struct watchdog *watchdog_new(size_t count, struct error *error)
{
    int64_t within = notify_open();
    struct heart *hearts = mmap(NULL, count * sizeof(*hearts), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (hearts == MAP_FAILED) {
        error_errno(error, "no memory to share with the stages");
        return NULL;
    }
    struct watchdog *watchdog = memory_allocate(sizeof(*watchdog));
    *watchdog = (struct watchdog){
        .hearts = hearts,
        .pulses = memory_allocate(count * sizeof(*watchdog->pulses)),
        .count = count,
        .patience = within ? within / 2 : silent_after,
        .interval = within / 4,
    };
    for (size_t i = 0; i < count; i++)
        watchdog->pulses[i] = (struct pulse){0};
    return watchdog;
}

void watchdog_free(struct watchdog *watchdog)
{
    if (!watchdog)
        return;
    munmap(watchdog->hearts, watchdog->count * sizeof(*watchdog->hearts));
    free(watchdog->pulses);
    free(watchdog);
}

struct heart *watchdog_heart(struct watchdog *watchdog, size_t which)
{
    struct heart *heart = &watchdog->hearts[which];
    heart->beat = clock_elapsed();
    heart->interval = watchdog->patience / 4;
    watchdog->pulses[which] = (struct pulse){.expected = true};
    return heart;
}

void watchdog_rest(struct watchdog *watchdog, size_t which)
{
    watchdog->pulses[which].expected = false;
}

static bool is_well(struct watchdog *watchdog, size_t which, const char *name, int64_t now)
{
    struct pulse *pulse = &watchdog->pulses[which];
    int64_t silent = now - watchdog->hearts[which].beat;
    char buffer[CLOCK_TEXT_SIZE];
    if (!pulse->expected || silent <= watchdog->patience) {
        if (pulse->said && pulse->expected)
            log_say("%s makes progress again", name);
        pulse->said = false;
        return true;
    }
    if (!pulse->said)
        log_warn("%s has made no progress for %s: it waits for the file system, or hangs", name,
                 duration_format(silent, buffer));
    pulse->said = true;
    return false;
}

void watchdog_check(struct watchdog *watchdog, const char *const *names)
{
    int64_t now = clock_elapsed();
    bool well = true;
    for (size_t i = 0; i < watchdog->count; i++)
        if (!is_well(watchdog, i, names[i], now))
            well = false;
    if (!well || !watchdog->interval || now < watchdog->next)
        return;
    notify_send("WATCHDOG=1");
    watchdog->next = now + watchdog->interval;
}

void watchdog_ready(const char *sentence)
{
    notify_send("READY=1\nSTATUS=%s", sentence);
}
