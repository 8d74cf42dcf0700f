/* the sandbox of intake and of what reads requests again: the spool can be used, and nothing else
 *
 * Each case runs in a child, since nobody comes out of a sandbox again.  What is tried is in sandbox_trials.h.
 * What it is seen to fail with is tests/mutants/sandbox-*.patch.
 */
#include "spool/file.h"
#include "spool/job.h"
#include "tests/unit/sandbox_trials.h"
#include "tests/unit/unit.h"

#include <linux/landlock.h>
#include <sys/wait.h>

#include "stages/sandbox.h"

struct fixture {
    char *path;
    struct spool spool;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct error error;
    fixture->path = unit_directory();
    if (spool_create(fixture->path, &error) || spool_open(&fixture->spool, fixture->path, &error))
        return -1;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    spool_close(&fixture->spool);
    unit_remove(fixture->path);
    free(fixture);
    return 0;
}

static long landlock_abi(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static int wait_for_end(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* How the child of a trial ends; none is what a program ends with that it may have become. */
enum { REFUSED = 42, DONE, NO_GOOD, NO_SANDBOX };

static void enter_or_end(const struct fixture *fixture, enum sandbox_reader reader)
{
    struct error error;
    if (!sandbox_enter(&fixture->spool, TEXT(""), reader, &error))
        return;
    fprintf(stderr, "%s\n", error.text);
    _exit(NO_SANDBOX);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
}

static void spool_has(const struct fixture *fixture, const char *name, const char *text)
{
    char path[4300];
    snprintf(path, sizeof(path), "%s/%s", fixture->path, name);
    if (text)
        write_file(path, text, 0644);
    else
        assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
}

/* Everything as it is before a trial. */
static void lay_out(const struct fixture *fixture)
{
    snprintf(prey.directory, sizeof(prey.directory), "%s-outside", fixture->path);
    assert_true(mkdir(prey.directory, 0755) == 0 || errno == EEXIST);
    snprintf(prey.victim, sizeof(prey.victim), "%s/victim", prey.directory);
    snprintf(prey.program, sizeof(prey.program), "%s/program", prey.directory);
    snprintf(prey.device, sizeof(prey.device), "%s/new", prey.directory);
    write_file(prey.victim, "victim\n", 0644);
    write_file(prey.program, "#!/bin/sh\nexit 77\n", 0755);
    unlink(prey.device);
    spool_has(fixture, "dlspool.yaml", "executor: \"null\"\n");
    spool_has(fixture, ".lease", "1 here 1 locked 1\n");
    spool_has(fixture, "templates.git", NULL);
    spool_has(fixture, "messages", NULL);
    spool_has(fixture, ".podman", NULL);
    spool_has(fixture, ".podman/secret", "secret\n");
    spool_has(fixture, "incoming/mine", "mine\n");
    spool_has(fixture, "history", NULL);
    spool_has(fixture, "history/archive", NULL);
    prey.spool = fixture->spool.root;
    prey.outside = open(prey.directory, O_PATH); /* a script is found by it */
    prey.process = fork();
    if (prey.process == 0)
        for (;;)
            pause();
}

static void clear_up(void)
{
    kill(prey.process, SIGKILL);
    waitpid(prey.process, NULL, 0);
    close(prey.outside);
    unit_remove(strdup(prey.directory));
}

/* Of what this process tries: REFUSED, DONE or NO_GOOD. */
static int result_of(const struct trial *trial)
{
    errno = 0;
    if (trial->attempt() >= 0)
        return DONE;
    int number = errno;
    if (number == EPERM || number == ENOSYS || number == EACCES || number == EXDEV)
        return REFUSED;
    fprintf(stderr, "%s: %s\n", trial->name, strerror(number));
    return NO_GOOD;
}

/* A file such as the process makes itself. */
static void make_own_file(const char *name)
{
    prey.file = openat(prey.spool, name, O_RDWR | O_CREAT, 0644);
    if (prey.file < 0)
        _exit(NO_GOOD);
}

static const char *const own_files[SANDBOX_READERS] = {
    [SANDBOX_INTAKE] = ".new/own",           [SANDBOX_REREAD] = "failed/own",
    [SANDBOX_NOTIFY] = "messages/own",       [SANDBOX_PAGE] = "incoming/own",
    [SANDBOX_PRUNE] = "history/archive/own",
};
/* What it is there for; of a page as far as its user may. */
static const char *const may[SANDBOX_READERS] = {
    [SANDBOX_PAGE] =
        " etc_passwd etc_shadow usr read_settings storage socket_unix connect sendmsg ",
    [SANDBOX_PRUNE] = " done ",
};

static bool may_do(enum sandbox_reader reader, const char *name)
{
    char word[64];
    snprintf(word, sizeof(word), " %s ", name);
    return may[reader] && strstr(may[reader], word);
}

/* Try everything in one confined process, as somebody would who has taken it over. */
static void try_all(const struct fixture *fixture, enum sandbox_reader reader)
{
    const char **trying =
        mmap(NULL, sizeof(*trying), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(trying != MAP_FAILED);
    lay_out(fixture);
    pid_t child = fork();
    if (child == 0) {
        bool refused = true;
        enter_or_end(fixture, reader);
        make_own_file(own_files[reader]);
        for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++) {
            *trying = trials[i].name;
            if (may_do(reader, trials[i].name) || result_of(&trials[i]) == REFUSED)
                continue;
            fprintf(stderr, "%s: not refused\n", trials[i].name);
            refused = false;
        }
        _exit(refused ? REFUSED : DONE);
    }
    int end = wait_for_end(child);
    if (end != REFUSED)
        fprintf(stderr, "the process ended with %d; tried last: %s\n", end, *trying);
    clear_up();
    assert_int_equal(end, REFUSED);
}

static void intake_can_do_nothing_else(void **state)
{
    if (landlock_abi() < 3)
        skip();
    try_all(*state, SANDBOX_INTAKE);
}

static void reading_again_can_do_nothing_else(void **state)
{
    if (landlock_abi() < 3)
        skip();
    try_all(*state, SANDBOX_REREAD);
}

static void telling_owners_can_do_nothing_else(void **state)
{
    if (landlock_abi() < 3)
        skip();
    try_all(*state, SANDBOX_NOTIFY);
}

static void pruning_can_do_nothing_else(void **state)
{
    if (landlock_abi() < 3)
        skip();
    try_all(*state, SANDBOX_PRUNE);
}

static void a_page_can_do_nothing_else(void **state)
{
    if (landlock_abi() < 3)
        skip();
    try_all(*state, SANDBOX_PAGE);
}

/* A trial that fails everywhere would show nothing. */
static void outside_the_sandbox_trials_succeed(void **state)
{
    struct fixture *fixture = *state;
    int failures = 0;
    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++) {
        if (!trials[i].shown)
            continue;
        lay_out(fixture);
        pid_t child = fork();
        if (child == 0) {
            make_own_file(".new/own");
            _exit(result_of(&trials[i]));
        }
        int end = wait_for_end(child);
        clear_up();
        tear_down(state);
        assert_int_equal(set_up(state), 0);
        fixture = *state;
        if (end == DONE || end == RAN)
            continue;
        fprintf(stderr, "%s: fails also outside the sandbox (%d)\n", trials[i].name, end);
        failures++;
    }
    assert_int_equal(failures, 0);
}

/* Make a job as intake does: claimed, written, given to a group, published, notified. */
static int use_spool(struct fixture *fixture)
{
    struct spool *spool = &fixture->spool;
    struct error error;
    struct job_place place = {.id = "x-0123456789abc", .state = STATE_RENDERED};
    if (sys.renameat(spool->incoming, "mine", spool->claims, "mine") ||
        sys.open_beneath(spool->claims, "mine", O_RDONLY) < 0)
        return 1;
    int job = job_create(spool, place.id, &error);
    if (job < 0 || spool_file_create(job, "log", TEXT("x\n"), 0644, &error) ||
        spool_file_create_private(job, "request.yaml", TEXT("x\n"), getegid(), &error) ||
        job_publish(spool, place.id, STATE_RENDERED, &error) ||
        sys.renameat(spool->claims, "mine", job, "dropped"))
        return 2;
    job_notify(spool, &place, job);
    if (sys.utimensat(job, NULL, NULL, 0) ||
        spool_file_replace(job, "why", TEXT("y"), 0644, &error))
        return 3;
    return spool_sync(spool, &error) || spool_sync_state(spool, STATE_RENDERED, &error);
}

static void the_spool_can_be_used(void **state)
{
    lay_out(*state);
    pid_t child = fork();
    if (child == 0) {
        enter_or_end(*state, SANDBOX_INTAKE);
        _exit(use_spool(*state));
    }
    assert_int_equal(wait_for_end(child), 0);
    clear_up();
}

/* Move jobs between failed/, held/ and rendered/. */
static void jobs_can_be_moved_back(void **state)
{
    struct fixture *fixture = *state;
    spool_has(fixture, "failed/x-0123456789abc", NULL);
    spool_has(fixture, "failed/x-0123456789abc/why", "z\n");
    pid_t child = fork();
    if (child == 0) {
        struct error error;
        struct job_place place = {.id = "x-0123456789abc", .state = STATE_FAILED};
        enter_or_end(fixture, SANDBOX_REREAD);
        _exit(job_move(&fixture->spool, &place, STATE_HELD, 0, &error) ||
              job_move(&fixture->spool, &place, STATE_RENDERED, 0, &error) ||
              job_move(&fixture->spool, &place, STATE_FAILED, 0, &error));
    }
    assert_int_equal(wait_for_end(child), 0);
}

static void abort_still_aborts(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        enter_or_end(*state, SANDBOX_INTAKE);
        abort();
    }
    assert_int_equal(wait_for_end(child), 1000 + SIGABRT);
}

/* What is left of capabilities, as CapEff and CapPrm: 0 when it is `wanted`. */
static int has_other_capabilities(unsigned int wanted)
{
    /* By a file that was opened before: nothing else is left. */
    char text[8192] = "", line[128];
    if (pread(prey.outside, text, sizeof(text) - 1, 0) <= 0)
        return 1;
    snprintf(line, sizeof(line), "CapInh:\t%016x\nCapPrm:\t%016x\nCapEff:\t%016x\n", 0, wanted,
             wanted);
    if (strstr(text, line) && strstr(text, "NoNewPrivs:\t1\nSeccomp:\t2\n"))
        return 0;
    fprintf(stderr, "%s", text);
    return 1;
}

static int check_capabilities(const struct fixture *fixture, const char *user,
                              enum sandbox_reader reader, unsigned int wanted)
{
    pid_t child = fork();
    if (child == 0) {
        struct error error;
        prey.outside = open("/proc/self/status", O_RDONLY);
        if (sandbox_enter(&fixture->spool, text_of(user), reader, &error)) {
            fprintf(stderr, "%s\n", error.text);
            _exit(NO_SANDBOX);
        }
        _exit(has_other_capabilities(wanted));
    }
    return wait_for_end(child);
}

static void capabilities_are_those_that_are_needed(void **state)
{
    const unsigned int reread = 1u << CAP_DAC_OVERRIDE | 1u << CAP_CHOWN;
    const unsigned int intake = reread | 1u << CAP_FOWNER | 1u << CAP_LEASE;
    if (geteuid() != 0)
        skip();
    assert_int_equal(check_capabilities(*state, "", SANDBOX_INTAKE, intake), 0);
    assert_int_equal(check_capabilities(*state, "", SANDBOX_REREAD, reread), 0);
    struct fixture *fixture = *state;
    assert_int_equal(chmod(fixture->path, 0755), 0);
    spool_close(&fixture->spool);
    char command[4300];
    snprintf(command, sizeof(command), "chown -R nobody '%s'", fixture->path);
    assert_int_equal(system(command), 0);
    assert_int_equal(spool_open(&fixture->spool, fixture->path, NULL), 0);
    assert_int_equal(check_capabilities(fixture, "nobody", SANDBOX_INTAKE, 1u << CAP_LEASE), 0);
    assert_int_equal(check_capabilities(fixture, "nobody", SANDBOX_REREAD, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_spool_can_be_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(jobs_can_be_moved_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(intake_can_do_nothing_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reading_again_can_do_nothing_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pruning_can_do_nothing_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_can_do_nothing_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(telling_owners_can_do_nothing_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outside_the_sandbox_trials_succeed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(abort_still_aborts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(capabilities_are_those_that_are_needed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
