/* stages/stage.c - what the four stages have in common */
#include "stages/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fence.h"
#include "base/heartbeat.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/tally.h"
#include "executors/registry/registry.h"
#include "spool/file.h"
#include "spool/identity.h"
#include "spool/seal.h"
#include "stages/lease.h"

/* Milliseconds for which the answer to a look at the lease is used again while requests are sent; fewer where
 * takeover_time is short. */
static const int64_t fence_trust = 500;

/* So scans of up to 1.2 s, of some 900,000 names, take a hundredth of the time. */
const int64_t stage_longest_scan = 120000;

static int64_t current_epoch;

void stage_set_epoch(int64_t epoch)
{
    current_epoch = epoch;
}

bool stage_is_fenced(struct stage *stage)
{
    heartbeat();
    if (stage->failed)
        return true;
    int ours = lease_check_epoch(&stage->spool, stage->epoch);
    if (ours > 0)
        return false;
    if (ours < 0)
        log_warn("it is unknown whether this daemon still serves: .lease could not be read (%s)",
                 strerror(errno));
    else
        log_warn("another daemon has taken over; this one does nothing more");
    stage->failed = true;
    return true;
}

int stage_open(struct stage *stage, const char *name, const char *directory, struct error *error)
{
    *stage = (struct stage){.name = name, .signals = -1, .epoch = current_epoch};
    log_name(name);
    gethostname(stage->host, sizeof(stage->host) - 1);
    if (spool_open(&stage->spool, directory, error))
        return -1;
    stage->spool.epoch = stage->epoch;
    if (settings_read(&stage->settings, &stage->spool, error)) {
        spool_close(&stage->spool);
        return -1;
    }
    stage->spool.sync_mode = stage->settings.sync;
    if (seal_is_needed(stage->settings.user)) {
        const struct passwd *user = getpwnam(stage->settings.user.data);
        spool_file_give_to(user ? user->pw_uid : (uid_t)-1);
    }
    static const int taken[] = {SIGTERM, SIGINT};
    stage->signals = signals_take(taken, ARRAY_COUNT(taken), NULL, error);
    if (stage->signals < 0) {
        stage_close(stage);
        return -1;
    }
    return 0;
}

void stage_close(struct stage *stage)
{
    fence_clear(stage);
    if (stage->signals >= 0)
        close(stage->signals);
    settings_free(&stage->settings);
    spool_close(&stage->spool);
}

bool stage_wait(struct stage *stage, int descriptor, int64_t until)
{
    struct pollfd descriptors[2] = {{.fd = stage->signals, .events = POLLIN},
                                    {.fd = descriptor, .events = POLLIN}};
    if (stage->stopping)
        return false;
    int ready = 0;
    for (bool again = true; again && !ready;) {
        int64_t left = until - clock_elapsed();
        int64_t nap = heartbeat_nap(left < 0 ? 0 : left > INT_MAX ? INT_MAX : left);
        ready = poll(descriptors, 2, (int)nap);
        again = nap < left;
    }
    if (ready < 0 && errno != EINTR)
        log_warn("poll: waiting failed; going on");
    if (descriptors[0].revents)
        stage->stopping = true;
    return !stage->stopping;
}

executor_opener *stage_open_executor = registry_open;

/* For fence_set(): like stage_is_fenced(), which says so and stops the stage when the requests have ended. */
static bool may_act(void *context)
{
    const struct stage *stage = context;
    return lease_check_epoch(&stage->spool, stage->epoch) > 0;
}

struct executor *stage_executor(struct stage *stage, struct error *error)
{
    /* The spool's path is what tells its jobs from those of another spool on this machine. */
    char digest[SHA256_HEX_SIZE];
    sha256_hex(text_of(stage->spool.path), digest);
    digest[16] = '\0';
    struct executor *executor =
        stage_open_executor(stage->settings.tree, digest, stage->spool.path, error);
    _Static_assert(sizeof(executor->identity) == IDENTITY_SIZE, "an identity");
    if (executor)
        identity_read(&stage->spool, executor->identity);
    int64_t quarter = stage->settings.takeover_time / 4;
    if (stage->epoch)
        fence_set(may_act, stage, quarter < fence_trust ? quarter : fence_trust);
    return executor;
}

struct repository *stage_repository(struct stage *stage, struct error *error)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/templates.git", stage->spool.path);
    struct repository *repository = repository_open(path, "HEAD", error);
    if (repository)
        repository_read_host(repository, stage->spool.path);
    return repository;
}

static int64_t make_round(const struct stage_operations *operations, struct stage *stage)
{
    char labels[64];
    int64_t begin = clock_elapsed();
    int64_t until = operations->round(stage);
    snprintf(labels, sizeof(labels), "stage=\"%s\"", operations->name);
    tally_add("stage_seconds", labels, (double)(clock_elapsed() - begin) / 1000);
    return until;
}

/* Have malloc() give large pieces, such as the blocks of arenas, back to the system when they are freed.  By itself it
 * would soon put them between the names that stay, and keep a hole for each. */
static void give_back_memory(void)
{
    enum { LARGE_PIECE = 256 << 10, MOST_KEPT = 1 << 20 }; /* bytes */
    mallopt(M_MMAP_THRESHOLD, LARGE_PIECE);
    mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
}

int stage_run(const struct stage_operations *operations, const char *directory)
{
    struct error error;
    int64_t until = 0;
    log_name(operations->name);
    give_back_memory();
    struct stage *stage = operations->open(directory, &error);
    if (!stage) {
        log_warn("%s", error.text);
        return 1;
    }
    stage->confined = true;
    if (operations->confine && operations->confine(stage, &error)) {
        log_warn("%s", error.text);
        stage->failed = true;
    }
    while (!stage->failed && stage_wait(stage, operations->descriptor(stage), until))
        until = make_round(operations, stage);
    int status = stage->failed;
    operations->close(stage);
    return status;
}

int stage_lock_pass(const struct stage *stage, const char *name, int *lock, struct error *error)
{
    *lock = spool_file_open_lock(stage->spool.root, name);
    if (*lock < 0)
        return error_errno(error, "%s could not be opened", name);
    if (sys.lock(*lock, F_WRLCK) == 0)
        return 0;
    int reason = errno;
    sys.close(*lock);
    if (reason == EAGAIN || reason == EACCES)
        return 1;
    errno = reason;
    return error_errno(error, "%s could not be locked", name);
}
