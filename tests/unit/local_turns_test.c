/* tests/unit/local_turns_test.c - tasks that take turns, against a podman that misbehaves on order
 *
 * Seen to fail with: tests/mutants/turns-count-none-that-run.patch, turns-note-no-refusal.patch,
 * turns-need-no-lock.patch, turns-do-not-look-again.patch, turns-take-twice-as-many.patch,
 * labels-count-what-waits.patch, local-poll-*.patch, local-ends-nothing-that-waits.patch,
 * layout-gives-each-its-devices.patch and layout-forgets-who-has-a-place.patch.
 */
#include "executors/registry/registry.h"
#include "tests/unit/stand_in.h"

#define HEAD "kind: dlspool/local/v1\nparallelism: 2\ncomplete: {main: {each: true}}\ntasks:\n"
#define TASK(index, more)                                                                          \
    "- {role: main, index: " index ", image: host, cpus: 1, memory: 1Mi, command: [x]" more "}\n"
#define FIVE(more)                                                                                 \
    HEAD TASK("0", more) TASK("1", more) TASK("2", more) TASK("3", more) TASK("4", more)

enum { REQUEST_TIMEOUT = 300 }; /* milliseconds */

static struct arena *arena, *kept; /* of a test; of all */
static struct executor *executor;
static struct error error;
static const struct value *settings;

static int start(void **state)
{
    (void)state;
    char text[512];
    if (stand_in_start())
        return -1;
    snprintf(text, sizeof(text),
             "executor: local\nlocal:\n  socket: %s/podman\n  cpus: 4\n  memory: 64Gi\n"
             "  gpus: [g0, g1, g2]\n  request_timeout: %dms\n  in_flight: 1\n",
             stand_in.directory, REQUEST_TIMEOUT);
    arena = arena_new();
    kept = arena_new();
    settings = yaml_read(kept, text_of(text), "dlspool.yaml", &yaml_trusted_limits, &error);
    executor = settings ? registry_open(settings, "test", stand_in.directory, &error) : NULL;
    if (!executor)
        print_message("%s\n", error.text);
    return executor ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    if (executor)
        executor->operations->close(executor);
    arena_free(arena);
    arena_free(kept);
    stand_in_stop();
    return 0;
}

static void reopen(void)
{
    executor->operations->close(executor);
    executor = registry_open(settings, "test", stand_in.directory, &error);
    assert_non_null(executor);
}

static int64_t time_limit; /* of what is submitted */

static enum submit_outcome hand_in(const char *id, const char *manifest, bool repeated)
{
    struct submission submission = fixture_submission(id, manifest), *batch[] = {&submission};
    submission.repeated = repeated;
    submission.time_limit = time_limit;
    executor->operations->submit(executor, batch, 1);
    error = submission.error;
    return submission.outcome;
}

static void submit(const char *id, const char *manifest)
{
    if (hand_in(id, manifest, false) != SUBMIT_ACCEPTED)
        fail_msg("%s", error.text);
}

static struct job_poll poll_of(const char *id, bool ending)
{
    struct job_poll poll = {.id = id, .attempt = 1, .ending = ending}, *polls[] = {&poll};
    assert_int_equal(executor->operations->poll(executor, arena, polls, 1, &error), 0);
    return poll;
}

/* What became of the tasks of t-1, a letter for each: - none, c made, r runs, e ended; and how often
 * each ran. */
static void expect(const char *states, const char *runs)
{
    char found[16] = "", counts[16] = "", name[64];
    const char *all = order("states");
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "t-1-a1-main-%d=", i);
        const char *at = strstr(all, name);
        found[i] = at ? at[strlen(name)] : '-';
    }
    all = order("runs");
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "t-1-a1-main-%d=", i);
        const char *at = strstr(all, name);
        counts[i] = at ? at[strlen(name)] : '0';
    }
    if (strcmp(found, states) != 0 || strcmp(counts, runs) != 0)
        fail_msg("found %s, run %s; expected %s, run %s", found, counts, states, runs);
    assert_string_equal(order("complaints"), "none");
}

static void expect_phase(enum job_phase phase)
{
    struct job_poll poll = poll_of("t-1", false);
    if (poll.phase != phase)
        fail_msg("phase %d, expected %d: %s", (int)poll.phase, (int)phase, poll.detail);
}

static void so_many_run_at_once_and_each_once(void **state)
{
    (void)state;
    order("reset");
    submit("t-1", FIVE(""));
    expect("rrccc", "11000");
    expect_phase(PHASE_RUNNING);
    expect("rrccc", "11000");
    order("end t-1-a1-main-1 0");
    expect_phase(PHASE_RUNNING);
    expect("rercc", "11100");
    order("end t-1-a1-main-0 3\nend t-1-a1-main-2 0");
    reopen(); /* nothing is kept in memory */
    expect_phase(PHASE_RUNNING);
    expect("eeerr", "11111");
    order("end t-1-a1-main-3 4");
    expect_phase(PHASE_RUNNING);
    order("end t-1-a1-main-4 0");
    struct job_poll poll = poll_of("t-1", false);
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_int_equal(poll.exit_code, 3);
    assert_string_equal(poll.detail, "task main-0 ended with exit code 3");
    assert_int_equal(poll.task_count, 5);
    assert_int_equal(poll.tasks[3].exit_code, 4);
    expect("eeeee", "11111");
}

/* What must be free for it to start: all tasks that run at once, or one of those that take turns. */
static void needs_are_of_what_starts_at_once(void **state)
{
    (void)state;
    static const char two[] =
        "kind: dlspool/local/v1\ntasks:\n"
        "- {role: a, image: host, cpus: 2, memory: 1Mi, command: [x]}\n"
        "- {role: b, image: host, cpus: 0.5, memory: 3Mi, gpus: 2, command: [x]}\n";
    struct demand needs, one;
    assert_int_equal(executor->operations->needs(executor, text_of(two), &needs), 0);
    assert_int_equal(needs.cpus, 2500);
    assert_int_equal(needs.memory, 4 << 20);
    assert_int_equal(needs.gpus, 2);
    assert_int_equal(executor->operations->needs(executor, text_of(FIVE(", gpus: 1")), &needs), 0);
    assert_int_equal(needs.gpus, 1);
    assert_int_equal(
        executor->operations->needs(executor, text_of(HEAD TASK("0", ", gpus: 1")), &one), 0);
    assert_memory_equal(&needs, &one, sizeof(one));
    assert_int_equal(executor->operations->needs(executor, TEXT("kind: other\n"), &needs), -1);
}

static void only_what_runs_counts(void **state)
{
    (void)state;
    struct capacity capacity;
    order("reset");
    submit("t-1", FIVE(""));
    assert_int_equal(executor->operations->capacity(executor, &capacity, &error), 0);
    assert_int_equal(capacity.cpus_free, 2000);
    /* Another job leaves room for one of two, and then for none. */
    submit("o-1", "kind: dlspool/local/v1\ntasks:\n"
                  "- {role: main, image: host, cpus: 2, memory: 1Mi, command: [x]}\n");
    assert_int_equal(hand_in("t-2", FIVE(""), false), SUBMIT_NO_ROOM);
    assert_null(strstr(order("states"), "t-2"));
    order("end t-1-a1-main-0 0");
    submit("t-2", FIVE(""));
    assert_string_equal(order("runs"),
                        "o-1-a1-main-0=1 t-1-a1-main-0=1 t-1-a1-main-1=1 t-2-a1-main-0=1");
    expect_phase(PHASE_RUNNING);
    expect("erccc", "11000");
    /* When there is room it grows to what it may have. */
    order("end o-1-a1-main-0 0");
    assert_int_equal(poll_of("t-2", false).phase, PHASE_RUNNING);
    assert_non_null(strstr(order("runs"), "t-2-a1-main-1=1"));
    assert_null(strstr(order("runs"), "t-2-a1-main-2=1"));
    expect_phase(PHASE_RUNNING);
    expect("errcc", "11100");
    /* Larger than the machine is one thing, more tasks than the machine holds another. */
    assert_int_equal(hand_in("t-3",
                             HEAD "- {role: main, image: host, cpus: 5, memory: 1Mi, "
                                  "command: [x]}\n",
                             false),
                     SUBMIT_NEVER_FITS);
}

static void a_place_has_its_devices(void **state)
{
    (void)state;
    order("reset");
    submit("t-1", FIVE(", gpus: 1"));
    expect("rrccc", "11000");
    /* g2 is left, and stays so while the tasks change. */
    submit("o-1", "kind: dlspool/local/v1\ntasks:\n"
                  "- {role: main, image: host, cpus: 1, memory: 1Mi, command: [x], gpus: 1}\n");
    order("end t-1-a1-main-0 0");
    assert_int_equal(hand_in("o-2",
                             "kind: dlspool/local/v1\ntasks:\n"
                             "- {role: main, image: host, cpus: 1, memory: 1Mi, command: [x], "
                             "gpus: 1}\n",
                             false),
                     SUBMIT_NO_ROOM);
    expect_phase(PHASE_RUNNING);
    expect("errcc", "11100");
    /* 2 had what 0 had; of 3 and 4 only 3 has what 1 had. */
    order("end t-1-a1-main-1 0");
    expect_phase(PHASE_RUNNING);
    expect("eerrc", "11110");
    order("end t-1-a1-main-3 0");
    expect_phase(PHASE_RUNNING);
    expect("eerec", "11110");
    order("end t-1-a1-main-2 0");
    expect_phase(PHASE_RUNNING);
    expect("eeeer", "11111");
}

static void what_is_to_end_goes_no_further(void **state)
{
    (void)state;
    order("reset");
    submit("t-1", FIVE(""));
    order("end t-1-a1-main-0 0");
    assert_int_equal(poll_of("t-1", true).phase, PHASE_RUNNING);
    expect("erccc", "11000");
    assert_int_equal(executor_cancel(executor, "t-1", 1, true, &error), 0);
    expect("ee---", "11000");
    poll_of("t-1", true);
    expect("ee---", "11000");
}

/* One that podman refuses has failed, and the others take their turns; but not for want of time. */
static void one_that_cannot_be_started_has_failed(void **state)
{
    (void)state;
    order("reset");
    submit("t-1", FIVE(""));
    order("end t-1-a1-main-0 0\norder start status 500");
    expect_phase(PHASE_RUNNING);
    expect("ercrc", "11010");
    order("end t-1-a1-main-1 0\norder start status 503");
    expect_phase(PHASE_RUNNING);
    expect("eecrc", "11010");
    expect_phase(PHASE_RUNNING);
    expect("eecrr", "11011");
    order("end t-1-a1-main-3 0\nend t-1-a1-main-4 0");
    struct job_poll poll = poll_of("t-1", false);
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "StartError");
    assert_string_equal(poll.detail, "task main-2 could not be started: out of order");
    assert_int_equal(executor_remove(executor, "t-1", 1, &error), 0);
    assert_string_equal(order("states"), "none");
}

/* A task whose start was answered by nothing, or by nonsense, runs once. */
static void whatever_is_answered_each_runs_once(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "close",       "hang",          "hang-after",       "slow 20",
        "status 503",  "status 404",    "status-after 500", "status-after 503",
        "late 50 500", "late 1000 500", "garbage",          "empty",
        "twice"};
    static const char *const calls[] = {"list", "start", "inspect"};
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++)
        for (size_t j = 0; j < ARRAY_COUNT(calls); j++) {
            order("reset");
            submit("t-1", FIVE(""));
            order("end t-1-a1-main-0 0\nend t-1-a1-main-1 0\norder %s %s", calls[j], ways[i]);
            struct job_poll poll = {.id = "t-1", .attempt = 1}, *polls[] = {&poll};
            for (int tries = 0; tries < 6; tries++) {
                executor->operations->poll(executor, arena, polls, 1, &error);
                if (poll.phase != PHASE_RUNNING && poll.phase != PHASE_UNKNOWN)
                    fail_msg("%s %s: phase %d", calls[j], ways[i], (int)poll.phase);
            }
            expect("eerrc", "11110");
        }
}

/* Cut at any byte, each look at it, repeated until it is answered, starts what is due once. */
static void a_look_cut_anywhere_starts_each_once(void **state)
{
    (void)state;
    enum { STEP = 13, MOST = 3000 };
    order("reset");
    submit("t-1", FIVE(""));
    order("end t-1-a1-main-0 0\nend t-1-a1-main-1 0\nsave");
    for (int exchange = 0; exchange < 5; exchange++) {
        for (int byte = 0; byte < MOST; byte += STEP) {
            order("restore\narm\ncut %d %d", exchange, byte);
            struct job_poll poll = {.id = "t-1", .attempt = 1}, *polls[] = {&poll};
            for (int tries = 0; tries < 3; tries++)
                executor->operations->poll(executor, arena, polls, 1, &error);
            expect("eerrc", "11110");
            arena_reset(arena);
        }
    }
}

/* Handed in again after an answer was lost, it is not begun a second time. */
static void a_submission_that_is_repeated_begins_once(void **state)
{
    (void)state;
    static const char *const orders[] = {"order start hang",
                                         "order start hang-after",
                                         "order create hang",
                                         "order create hang-after",
                                         "order start close\norder start close",
                                         "order create slow 0\norder create close"};
    for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
        order("reset\n%s", orders[i]);
        enum submit_outcome outcome = hand_in("t-1", FIVE(""), false);
        for (int tries = 0; outcome != SUBMIT_ACCEPTED && tries < 4; tries++)
            outcome = hand_in("t-1", FIVE(""), true);
        assert_int_equal(outcome, SUBMIT_ACCEPTED);
        expect_phase(PHASE_RUNNING);
        expect("rrccc", "11000");
    }
    /* What has begun is there, room or not. */
    order("reset\norder start hang-after");
    assert_int_equal(hand_in("t-1", FIVE(""), false), SUBMIT_UNKNOWN);
    submit("o-1", "kind: dlspool/local/v1\ntasks:\n"
                  "- {role: main, image: host, cpus: 2, memory: 1Mi, command: [x]}\n");
    submit("o-2", "kind: dlspool/local/v1\ntasks:\n"
                  "- {role: main, image: host, cpus: 1, memory: 1Mi, command: [x]}\n");
    assert_int_equal(hand_in("t-1", FIVE(""), true), SUBMIT_ACCEPTED);
    expect_phase(PHASE_RUNNING);
    expect("rcccc", "10000");
}

/* Two of five were made when podman went away; each place has its device once. */
static void devices_are_given_once(void **state)
{
    (void)state;
    struct capacity capacity;
    order("reset\norder create slow 0\norder create slow 0\norder create hang");
    assert_int_equal(hand_in("t-1", FIVE(", gpus: 1"), false), SUBMIT_UNKNOWN);
    assert_int_equal(hand_in("t-1", FIVE(", gpus: 1"), true), SUBMIT_ACCEPTED);
    expect("rrccc", "11000");
    assert_int_equal(executor->operations->capacity(executor, &capacity, &error), 0);
    assert_int_equal(capacity.gpus_free, 1);
    order("reset\norder create slow 0\norder create hang");
    assert_int_equal(hand_in("t-1", FIVE(", gpus: 1"), false), SUBMIT_UNKNOWN);
    /* Another takes what the first had in mind for its second place. */
    submit("o-1", "kind: dlspool/local/v1\ntasks:\n"
                  "- {role: main, image: host, cpus: 1, memory: 1Mi, command: [x], gpus: 2}\n");
    assert_int_equal(hand_in("t-1", FIVE(", gpus: 1"), true), SUBMIT_NO_ROOM);
    assert_null(strstr(order("runs"), "t-1"));
}

/* While another process counts what is there, and makes what it has counted, nothing is started. */
static void one_process_at_a_time_gives_away_room(void **state)
{
    (void)state;
    char path[256], byte = 0;
    int ready[2];
    order("reset");
    submit("t-1", FIVE(""));
    order("end t-1-a1-main-0 0");
    snprintf(path, sizeof(path), "%s/.podman/turns", stand_in.directory);
    assert_int_equal(pipe(ready), 0);
    pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int file = open(path, O_RDWR | O_CLOEXEC);
        if (file < 0 || fcntl(file, F_SETLK, &lock) || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    expect_phase(PHASE_RUNNING);
    expect("erccc", "11000");
    /* A submission goes on all the same after a while: the other may have stopped for ever. */
    submit("o-1", "kind: dlspool/local/v1\ntasks:\n"
                  "- {role: main, image: host, cpus: 1, memory: 1Mi, command: [x]}\n");
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    expect_phase(PHASE_RUNNING);
    expect("errcc", "11100");
    close(ready[0]);
    close(ready[1]);
}

/* What tasks mount is opened as their user again when they get their turn, perhaps days later. */
static void what_a_user_may_no_longer_mount_is_not_started(void **state)
{
    (void)state;
    char path[512], manifest[4096];
    if (geteuid() != 0) {
        print_message("skipped: without root nothing is looked at again\n");
        skip();
    }
    order("reset");
    snprintf(path, sizeof(path), "%s/data", stand_in.directory);
    snprintf(manifest, sizeof(manifest), FIVE(", mounts: [{source: '%s', target: /d}]"), path, path,
             path, path, path);
    assert_int_equal(mkdir(path, 0755), 0);
    submit("t-1", manifest);
    order("end t-1-a1-main-0 0");
    expect_phase(PHASE_RUNNING);
    expect("errcc", "11100");
    assert_int_equal(rmdir(path), 0);
    order("end t-1-a1-main-1 0");
    expect_phase(PHASE_RUNNING);
    expect("eercc", "11100");
    order("end t-1-a1-main-2 0");
    struct job_poll poll = poll_of("t-1", false);
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_non_null(strstr(poll.detail, "/data: No such file or directory"));
    assert_true(poll.tasks[3].ended);
    assert_true(poll.tasks[4].ended);
    expect("eeecc", "11100");
}

/* ---- tasks that are started again ---- */

#define ELASTIC(task)                                                                              \
    "kind: dlspool/local/v1\ncomplete: {main: {failed: 3, again: 2}}\ntasks:\n" task("0", "")      \
        task("1", "") task("2", "")
#define ONE_GPU(index, more)                                                                       \
    "- {role: main, index: " index                                                                 \
    ", image: host, cpus: 1, memory: 1Mi, gpus: 1, command: [x]" more "}\n"

static int64_t later; /* milliseconds that the time of day is ahead */

static int64_t say_later(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + later;
}

static void begin_later(void)
{
    order("reset");
    reopen(); /* how often tasks were started is forgotten */
    later = 0;
    clock_replace(say_later, NULL);
}

static void what_is_lost_is_started_again(void **state)
{
    (void)state;
    begin_later();
    submit("t-1", ELASTIC(TASK));
    order("end t-1-a1-main-2 137");
    expect_phase(PHASE_RUNNING);
    expect("rre--", "11100"); /* it rests first */
    later = 12000;
    struct job_poll poll = poll_of("t-1", true);
    assert_int_equal(poll.phase, PHASE_RUNNING);
    expect("rre--", "11100"); /* the job is to end */
    poll = poll_of("t-1", false);
    assert_int_equal(poll.phase, PHASE_RUNNING);
    assert_false(poll.tasks[2].ended);
    expect("rrr--", "11200");
    order("end t-1-a1-main-2 1");
    later += 12000;
    expect_phase(PHASE_RUNNING);
    expect("rrr--", "11300");
    order("end t-1-a1-main-2 1");
    later += 12000;
    expect_phase(PHASE_RUNNING);
    expect("rre--", "11300"); /* often enough */
    order("end t-1-a1-main-1 0\nend t-1-a1-main-0 0");
    later += 12000;
    expect_phase(PHASE_SUCCEEDED);
    expect("eee--", "11300"); /* nobody is there any more to work with */
    clock_replace(NULL, NULL);
}

/* Nor is the one at which the others meet; nor what has ended well. */
static void task_0_is_not_started_again(void **state)
{
    (void)state;
    begin_later();
    submit("t-1", ELASTIC(TASK));
    order("end t-1-a1-main-0 137\nend t-1-a1-main-1 0");
    later = 12000;
    expect_phase(PHASE_RUNNING);
    expect("eer--", "11100");
    clock_replace(NULL, NULL);
}

/* podman counts a time limit from the last start; the job's is from the first. */
static void the_time_limit_is_that_of_the_first_start(void **state)
{
    (void)state;
    begin_later();
    time_limit = 60000;
    submit("t-1", ELASTIC(TASK));
    time_limit = 0;
    order("end t-1-a1-main-2 137");
    later = 20000;
    expect_phase(PHASE_RUNNING);
    expect("rrr--", "11200");
    order("end t-1-a1-main-1 137");
    later = 55000;
    expect_phase(PHASE_RUNNING);
    expect("rer--", "11200"); /* it is not worth it any more */
    order("end t-1-a1-main-0 137");
    later = 70000;
    poll_of("t-1", false);
    expect("eee--", "11200");
    expect_phase(PHASE_FAILED);
    clock_replace(NULL, NULL);
}

/* What others have taken meanwhile is theirs. */
static void without_room_nothing_is_started_again(void **state)
{
    (void)state;
    begin_later();
    submit("t-1", ELASTIC(ONE_GPU));
    order("end t-1-a1-main-2 137");
    submit("t-2", "kind: dlspool/local/v1\ntasks:\n" ONE_GPU("0", ""));
    later = 12000;
    expect_phase(PHASE_RUNNING);
    expect("rre--", "11100");
    order("end t-2-a1-main-0 0");
    expect_phase(PHASE_RUNNING);
    expect("rrr--", "11200");
    clock_replace(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_run_at_once_and_each_once),
        cmocka_unit_test(needs_are_of_what_starts_at_once),
        cmocka_unit_test(only_what_runs_counts),
        cmocka_unit_test(a_place_has_its_devices),
        cmocka_unit_test(what_is_to_end_goes_no_further),
        cmocka_unit_test(one_that_cannot_be_started_has_failed),
        cmocka_unit_test(whatever_is_answered_each_runs_once),
        cmocka_unit_test(a_look_cut_anywhere_starts_each_once),
        cmocka_unit_test(a_submission_that_is_repeated_begins_once),
        cmocka_unit_test(devices_are_given_once),
        cmocka_unit_test(one_process_at_a_time_gives_away_room),
        cmocka_unit_test(what_a_user_may_no_longer_mount_is_not_started),
        cmocka_unit_test(what_is_lost_is_started_again),
        cmocka_unit_test(task_0_is_not_started_again),
        cmocka_unit_test(the_time_limit_is_that_of_the_first_start),
        cmocka_unit_test(without_room_nothing_is_started_again),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
