/* stages/service/supervisor.c - dlspool run: starts the stages, restarts those that end, stops them in order
 *
 * A stage that ends without having been told to is restarted, at once the first time and then after a
 * growing pause.  When dlspool.yaml changes, the stages are stopped and started, so that they read it
 * again; a faulty dlspool.yaml is logged, and the old settings stay in force.
 */
#include "stages/service/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/signals.h"
#include "base/tally.h"
#include "executors/registry/registry.h"
#include "spool/access_token.h"
#include "spool/identity.h"
#include "spool/seal.h"
#include "spool/submission_key.h"
#include "spool/subscription.h"
#include "stages/guard.h"
#include "stages/lease.h"
#include "stages/metrics/metrics.h"
#include "stages/prune/prune.h"
#include "stages/service/ask_host.h"
#include "stages/service/drain.h"
#include "stages/service/trust.h"
#include "stages/service/watchdog.h"
#include "stages/stage.h"

/* In the order in which they are started, and stopped; those that are not always wanted last. */
static const struct stage_operations *const stage_table[] = {
    &intake_stage, &resubmit_stage, &submit_stage, &track_stage,
    &notify_stage, &metrics_stage,  &prune_stage};
enum { STAGES = ARRAY_COUNT(stage_table) };

static const int64_t first_pause = 100, longest_pause = 30000; /* milliseconds, between restarts */
static const int64_t stable_after =
    10000; /* milliseconds after which the pause of a running stage starts again from the first */
static const int64_t stop_patience = 30000; /* until a stage that does not stop is killed */
static const int64_t standby_interval = 1000, tick = 500;

struct child {
    pid_t process; /* 0: not running */
    int64_t started, pause, start_at;
};

struct supervisor {
    const char *directory;
    struct spool spool;
    struct settings settings;
    struct child children[STAGES];
    struct lease lease;
    struct guard *guards[STAGES];
    uint64_t guard_counts[STAGES]; /* what they had counted when the stage was started last */
    int signals;
    bool stopping;        /* told to stop, for good */
    bool stopping_stages; /* stages are being stopped: their ends are not logged */
    bool hangup;          /* SIGHUP has come */
    bool on_terminal;     /* messages go to a terminal */
    struct drain drain;
    struct watchdog *watchdog;
};

static void look_after(const struct supervisor *supervisor)
{
    const char *names[STAGES];
    for (int i = 0; i < STAGES; i++)
        names[i] = stage_table[i]->name;
    watchdog_check(supervisor->watchdog, names);
}

/* Sleep until a signal comes or the time is over; notes a request to stop, and SIGHUP.  When its terminal is
 * gone, the daemon stops: the person who started it there has left. */
static void wait_for_signal(struct supervisor *supervisor, int64_t milliseconds)
{
    struct pollfd descriptor = {.fd = supervisor->signals, .events = POLLIN};
    struct signalfd_siginfo signal;
    poll(&descriptor, 1, (int)milliseconds);
    while (read(supervisor->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal))
        if (signal.ssi_signo == SIGHUP && !supervisor->on_terminal)
            supervisor->hangup = true;
        else if (signal.ssi_signo != SIGCHLD)
            supervisor->stopping = true;
    look_after(supervisor);
}

/* Will this error pass by itself?  So will a full disk or quota, a file system that is mounted read-only for
 * now, and a server that does not answer (a `soft` mount). */
static bool will_pass(const struct spool *spool, int number)
{
    enum { FEW = 16 };
    struct statvfs status;
    if (number == ENOSPC || number == EDQUOT || number == EROFS || number == EIO ||
        number == ESTALE || number == ETIMEDOUT)
        return true;
    return !sys.fstatvfs(spool->root, &status) &&
           (status.f_bavail < FEW || (status.f_files && status.f_favail < FEW));
}

/* Wait until this daemon may serve the spool.  1 when told to stop instead, -1 and a sentence. */
static int take_lease(struct supervisor *supervisor, struct error *error)
{
    char who[LEASE_WHO_SIZE], last_who[LEASE_WHO_SIZE] = "";
    char last_problem[ERROR_TEXT_SIZE] = "";
    for (;;) {
        int taken = lease_take(&supervisor->lease, who, error);
        if (taken < 0 && !will_pass(&supervisor->spool, errno))
            return -1;
        if (taken > 0)
            break;
        if (taken < 0 && strcmp(last_problem, error->text) != 0) {
            log_warn("%s; waiting until it can", error->text);
            watchdog_ready(error->text);
        }
        snprintf(last_problem, sizeof(last_problem), "%s", taken < 0 ? error->text : "");
        if (taken == 0 && strcmp(last_who, who) != 0) {
            log_say("%s; standing by", who);
            watchdog_ready("standing by: another daemon serves this spool");
            snprintf(last_who, sizeof(last_who), "%s", who);
        }
        wait_for_signal(supervisor, standby_interval);
        if (supervisor->stopping)
            return 1;
    }
    if (*last_who)
        log_say("taking over");
    stage_set_epoch(supervisor->lease.epoch);
    if (identity_make(&supervisor->spool, error))
        log_warn(
            "the spool's identity could not be written (%s); tasks of jobs that are removed by hand may "
            "stay at the executor",
            error->text);
    return 0;
}

/* Starting and stopping */

/* Where root has started the daemon in a terminal, what reads strangers' bytes must not be able to read what is typed
 * there: not from standard input, nor from what messages go to. */
static void leave_input(void)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    for (int output = STDOUT_FILENO; output <= STDERR_FILENO; output++) {
        char path[32];
        snprintf(path, sizeof(path), "/proc/self/fd/%d", output);
        int written = isatty(output) ? open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC) : -1;
        if (written >= 0)
            dup2(written, output);
        if (written >= 0)
            close(written);
    }
    if (nothing > STDERR_FILENO)
        close(nothing);
}

/* Start a stage as a child process, which ends with the supervisor.  When it cannot be forked it is tried
 * again after the longest pause. */
static void start_child(struct supervisor *supervisor, int which, const sigset_t *signals)
{
    struct child *child = &supervisor->children[which];
    pid_t parent = getpid();
    /* Pruning has the lowest priority, and may stand still while others have work; metrics may wait for a
     * directory that is not ours. */
    bool watched = stage_table[which] != &prune_stage && stage_table[which] != &metrics_stage;
    struct heart *heart = watched ? watchdog_heart(supervisor->watchdog, (size_t)which) : NULL;
    child->started = clock_elapsed();
    supervisor->guard_counts[which] = supervisor->guards[which]->count;
    pid_t process = fork();
    if (process < 0) {
        log_warn("%s could not be started: %s", stage_table[which]->name, strerror(errno));
        watchdog_rest(supervisor->watchdog, (size_t)which);
        child->start_at = clock_elapsed() + longest_pause;
        return;
    }
    if (process == 0) {
        /* A supervisor that dies takes its stages with it; the lock is then free. */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(1);
        close(supervisor->signals);
        leave_input();
        sigprocmask(SIG_SETMASK, signals, NULL);
        prctl(PR_SET_NAME, stage_table[which]->name);
        spool_close(&supervisor->spool);
        settings_free(&supervisor->settings);
        guard_set(supervisor->guards[which]);
        heartbeat_set(heart);
        tally_use((size_t)which);
        _exit(stage_run(stage_table[which], supervisor->directory));
    }
    child->process = process;
}

/* How long to wait before a stage that ended is restarted: not at all when its end was counted against a job
 * file or a job, since that comes to an end. */
static int64_t next_pause(const struct child *child, int64_t now, bool blamed)
{
    if (blamed || child->pause == 0 || now - child->started > stable_after)
        return first_pause;
    return child->pause * 2 < longest_pause ? child->pause * 2 : longest_pause;
}

static void note_end(struct supervisor *supervisor, pid_t process, int status)
{
    for (int i = 0; i < STAGES; i++) {
        struct child *child = &supervisor->children[i];
        char end[GUARD_END_SIZE];
        if (child->process != process)
            continue;
        child->process = 0;
        watchdog_rest(supervisor->watchdog, (size_t)i);
        int64_t now = clock_elapsed();
        bool blamed = guard_blames(supervisor->guards[i]) &&
                      supervisor->guards[i]->count != supervisor->guard_counts[i];
        child->pause = next_pause(child, now, blamed);
        child->start_at = now + child->pause;
        if (!supervisor->stopping && !supervisor->stopping_stages)
            log_warn("%s was ended by %s; it is started again", stage_table[i]->name,
                     guard_describe_end(status, end));
    }
}

static void reap_stages(struct supervisor *supervisor)
{
    int status;
    pid_t process;
    while ((process = waitpid(-1, &status, WNOHANG)) > 0)
        note_end(supervisor, process, status);
}

static void stop_child(struct supervisor *supervisor, int which)
{
    struct child *child = &supervisor->children[which];
    int64_t until = clock_elapsed() + stop_patience;
    bool killed = false;
    if (child->process == 0)
        return;
    kill(child->process, SIGTERM);
    watchdog_rest(supervisor->watchdog, (size_t)which);
    while (child->process) {
        reap_stages(supervisor);
        if (child->process && clock_elapsed() > until) {
            log_warn("%s does not stop and is killed", stage_table[which]->name);
            kill(child->process, SIGKILL);
            killed = true;
            until = clock_elapsed() + stop_patience;
        }
        if (child->process)
            wait_for_signal(supervisor, 20);
    }
    if (killed)
        guard_leave(
            supervisor->guards[which]); /* what it was reading when it was killed is not to blame */
}

static void stop_all(struct supervisor *supervisor)
{
    supervisor->stopping_stages = true;
    for (int i = 0; i < STAGES; i++)
        stop_child(supervisor, i);
    supervisor->stopping_stages = false;
}

/* Owners are told of their jobs where the settings say how; jobs go to archives where they say when. */
static bool is_wanted(const struct supervisor *supervisor, int which)
{
    return (stage_table[which] != &notify_stage || settings_has_messages(&supervisor->settings)) &&
           (stage_table[which] != &prune_stage || settings_prunes(&supervisor->settings)) &&
           (stage_table[which] != &metrics_stage || supervisor->settings.metrics.file.length);
}

static void start_missing(struct supervisor *supervisor, const sigset_t *signals)
{
    for (int i = 0; i < STAGES; i++)
        if (supervisor->children[i].process == 0 && is_wanted(supervisor, i) &&
            clock_elapsed() >= supervisor->children[i].start_at)
            start_child(supervisor, i, signals);
}

/* Settings */

static int read_settings(struct settings *settings, const struct spool *spool, struct error *error)
{
    if (settings_read(settings, spool, error))
        return -1;
    if (registry_check_settings(settings->tree, error) ||
        (geteuid() == 0 && trust_check(spool, settings, error))) {
        settings_free(settings);
        return -1;
    }
    return 0;
}

/* The directories of what owners are to be told, of their tokens and of keys belong to who writes there. */
static void make_directories(const struct supervisor *supervisor)
{
    struct error error;
    struct text name = supervisor->settings.user;
    const struct passwd *user = name.length ? getpwnam(name.data) : NULL;
    uid_t uid = user ? user->pw_uid : (uid_t)-1;
    gid_t gid = user ? user->pw_gid : (gid_t)-1;
    if (settings_has_messages(&supervisor->settings) &&
        subscription_make_directory(&supervisor->spool, uid, gid, &error))
        log_warn("%s", error.text);
    if (supervisor->settings.web.token_longest &&
        access_token_make_directory(&supervisor->spool, uid, gid, &error))
        log_warn("%s", error.text);
    if (submission_key_make_directory(&supervisor->spool, uid, gid, &error))
        log_warn("%s", error.text);
}

/* Before a stage starts: find out which libraries the machine has, and make a key where records are sealed. */
static void prepare_stages(struct supervisor *supervisor)
{
    struct error error;
    if (seal_is_needed(supervisor->settings.user) && seal_make_key(&supervisor->spool, &error))
        log_warn("%s; jobs wait until there is a key for seals", error.text);
    trust_warn(&supervisor->spool, &supervisor->settings);
    make_directories(supervisor);
    if (ask_host(&supervisor->spool, &supervisor->settings, &error))
        log_warn("%s; this machine's libraries stay as last known", error.text);
}

/* dlspool.yaml has changed: if it is good, put it in force and stop all stages, which are then restarted with
 * it.  A bad one is logged once, and the old settings stay in force. */
static void follow_settings(struct supervisor *supervisor)
{
    struct settings settings;
    struct error error;
    static char last_problem[ERROR_TEXT_SIZE];
    if (read_settings(&settings, &supervisor->spool, &error)) {
        if (strcmp(last_problem, error.text) != 0 || supervisor->hangup)
            log_warn("%s; the settings before it stay in force", error.text);
        snprintf(last_problem, sizeof(last_problem), "%s", error.text);
        return;
    }
    bool same = strcmp(settings.sha256, supervisor->settings.sha256) == 0;
    if (same && last_problem[0])
        log_say("dlspool.yaml is the same as the settings in force again");
    else if (same && supervisor->hangup)
        log_say("SIGHUP: dlspool.yaml is what is in force");
    last_problem[0] = '\0';
    if (same) {
        settings_free(&settings);
        return;
    }
    log_say("dlspool.yaml has changed and is good; it is in force from now on");
    settings_free(&supervisor->settings);
    supervisor->settings = settings;
    stop_all(supervisor);
    if (supervisor->stopping)
        return;
    prepare_stages(supervisor);
    for (int i = 0; i < STAGES; i++)
        supervisor->children[i] = (struct child){0};
}

/* Serve until told to stop: 0; -1 and a sentence when another daemon has taken over. */
static int serve_spool(struct supervisor *supervisor, bool drain, const sigset_t *signals,
                       struct error *error)
{
    bool said = false;
    prepare_stages(supervisor);
    while (!supervisor->stopping) {
        start_missing(supervisor, signals);
        if (!said)
            watchdog_ready("serving");
        said = true;
        wait_for_signal(supervisor, tick);
        reap_stages(supervisor);
        if (supervisor->stopping)
            break;
        if (lease_renew(&supervisor->lease, error)) {
            stop_all(supervisor);
            return -1;
        }
        follow_settings(supervisor);
        supervisor->hangup = false;
        if (drain && drain_is_done(&supervisor->drain, &supervisor->spool))
            break;
    }
    log_detail("stopping");
    notify_send("STOPPING=1\nSTATUS=stopping");
    stop_all(supervisor);
    return 0;
}

/* Stop the service that an executor may have started. */
static void stop_service(struct supervisor *supervisor)
{
    struct stage stage = {.spool = supervisor->spool, .settings = supervisor->settings};
    struct error error;
    struct executor *executor = stage_executor(&stage, &error);
    if (!executor)
        return;
    if (executor->operations->stop)
        executor->operations->stop(executor);
    executor->operations->close(executor);
}

/* Another daemon has taken over: stop the stages, and stand by. */
static void stand_back(struct supervisor *supervisor, const struct error *error)
{
    log_warn("%s", error->text);
    lease_release(&supervisor->lease);
    lease_open(&supervisor->lease, &supervisor->spool, supervisor->settings.takeover_time);
    for (int i = 0; i < STAGES; i++) {
        supervisor->children[i] = (struct child){0};
        guard_clear(supervisor->guards[i]); /* crashes of other daemons' stages are not known */
    }
    tally_clear(); /* the other one has counted on */
}

int supervisor_run(const char *directory, bool drain, struct error *error)
{
    struct supervisor supervisor = {
        .directory = directory, .lease = {.lock = -1, .file = -1}, .signals = -1};
    static const int signals_taken[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    supervisor.on_terminal = isatty(STDERR_FILENO);
    sigset_t signals;
    int result = -1;
    if (spool_open(&supervisor.spool, directory, error))
        return -1;
    if (spool_check_service(&supervisor.spool, error) ||
        read_settings(&supervisor.settings, &supervisor.spool, error))
        goto done;
    signals_ignore();
    supervisor.signals = signals_take(signals_taken, ARRAY_COUNT(signals_taken), &signals, error);
    if (supervisor.signals < 0)
        goto done;
    for (int i = 0; i < STAGES; i++) {
        supervisor.guards[i] = guard_new(error);
        if (!supervisor.guards[i])
            goto done;
    }
    supervisor.watchdog = watchdog_new(STAGES, error);
    if (!supervisor.watchdog || tally_start(STAGES, error))
        goto done;
    lease_open(&supervisor.lease, &supervisor.spool, supervisor.settings.takeover_time);
    for (bool again = true; again && !supervisor.stopping;) {
        int taken = take_lease(&supervisor, error);
        if (taken < 0)
            goto done;
        again = taken == 0 && serve_spool(&supervisor, drain, &signals, error);
        if (again)
            stand_back(&supervisor, error);
        else if (taken == 0)
            stop_service(&supervisor);
    }
    result = 0;
done:
    if (supervisor.signals >= 0)
        close(supervisor.signals);
    lease_release(&supervisor.lease);
    for (int i = 0; i < STAGES; i++)
        guard_free(supervisor.guards[i]);
    watchdog_free(supervisor.watchdog);
    tally_end();
    settings_free(&supervisor.settings);
    spool_close(&supervisor.spool);
    return result;
}
