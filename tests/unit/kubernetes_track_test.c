/* tests/unit/kubernetes_track_test.c - poll and output against a stand-in API server */
#include <fcntl.h>

#include "base/file.h"
#include "base/names.h"
#include "executors/kubernetes/inside.h"
#include "tests/unit/kubernetes_stand_in.h"
#include "tests/unit/never_started.h"

static struct executor *executor;
static struct arena *arena;
static struct job_poll last;
static struct names *unreachable; /* what poll() is told */

static void poll_once(const char *id)
{
    struct error error;
    struct job_poll *polls[] = {&last};
    arena_reset(arena);
    last = (struct job_poll){.id = id, .attempt = 1, .unreachable = unreachable};
    if (executor->operations->poll(executor, arena, polls, 1, &error))
        print_message("%s\n", error.text);
}

/* Poll until the phase is that, and the detail has the words. */
static void wait_for(const char *id, enum job_phase phase, const char *words)
{
    for (int64_t begin = clock_elapsed(); clock_elapsed() - begin < STAND_IN_PATIENCE;) {
        poll_once(id);
        if (last.phase == phase && strstr(last.detail, words))
            return;
        stand_in_pause(50);
    }
    fail_msg("%s: phase %d, %s: %s", id, (int)last.phase, last.reason, last.detail);
}

static void submit(const char *id, const char *fate)
{
    if (fate[0])
        order("\"order\": \"fate\", \"pattern\": \"%s\", %s", id, fate);
    assert_int_equal(stand_in_submit(executor, stand_in_single, id).outcome, SUBMIT_ACCEPTED);
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    executor = stand_in_executor("");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    order("\"order\": \"calm\"");
    order("\"order\": \"no_fates\"");
    executor->operations->close(executor);
    arena_free(arena);
    return 0;
}

static void jobs_end_as_their_pods_do(void **state)
{
    (void)state;
    submit("good", "");
    submit("bad", "\"exit_code\": 42");
    submit("oom", "\"oom\": true");
    submit("nope", "\"start_error\": \"exec: nope: not found\"");
    submit("evicted", "\"seconds\": 0.1, \"evict\": \"The node was low on resource: memory.\"");
    wait_for("good", PHASE_SUCCEEDED, "");
    assert_int_equal(last.task_count, 1);
    assert_true(last.tasks[0].ended);
    wait_for("bad", PHASE_FAILED, "task main-0 ended with exit code 42");
    assert_int_equal(last.exit_code, 42);
    wait_for("oom", PHASE_FAILED, "");
    assert_string_equal(last.reason, "OOMKilled");
    wait_for("nope", PHASE_FAILED, "not found");
    assert_string_equal(last.reason, "StartError");
    wait_for("evicted", PHASE_FAILED, "low on resource");
    assert_string_equal(last.reason, "Evicted");
}

/* Through the track stage, with units that are counted. */
static void one_that_never_ran_fails(void **state)
{
    (void)state;
    submit(NEVER_STARTED, "\"start_error\": \"exec: nope: not found\"");
    never_started_fails(executor, "StartError");
}

#define SWEEP                                                                                      \
    STAND_IN_LIST                                                                                  \
    "- apiVersion: batch/v1\n  kind: Job\n"                                                        \
    "  metadata:\n    name: \"@\"\n    labels: {dlspool/role: main}\n"                             \
    "    annotations: {dlspool/complete: '{\"main\":{\"each\":true}}'}\n"                          \
    "  spec:\n    completionMode: Indexed\n    completions: 6\n    parallelism: 2\n"               \
    "    backoffLimitPerIndex: 0\n    podReplacementPolicy: Failed\n"                              \
    "    template:\n      spec:\n        restartPolicy: Never\n        containers:\n"              \
    "        - name: main\n          image: busybox\n          command: [\"true\"]\n"              \
    "          resources: {requests: {cpu: 500m, memory: 1Gi}}\n"

static int pods_made(const char *prefix)
{
    const struct value *pods = value_get(
        order("\"order\": \"dump\", \"what\": \"creations\", \"kind\": \"pods\""), "creations");
    int count = 0;
    for (size_t i = 0; i < pods->list.count; i++)
        count += text_starts(value_get_text(pods->list.items[i], "name"), prefix);
    return count;
}

static void a_sweep_runs_some_at_a_time_to_its_end(void **state)
{
    (void)state;
    order("\"order\": \"fate\", \"pattern\": \"/sweep-a1-[24]-\", \"exit_code\": 7");
    order("\"order\": \"fate\", \"pattern\": \"/sweep-a1-[01]-\", \"seconds\": 1");
    assert_int_equal(stand_in_submit(executor, SWEEP, "sweep").outcome, SUBMIT_ACCEPTED);
    wait_for("sweep", PHASE_RUNNING, "");
    assert_int_equal(last.task_count, 6);
    assert_int_equal(pods_made("sweep-a1-"), 2);
    wait_for("sweep", PHASE_FAILED, "task main-2 ended with exit code 7");
    assert_int_equal(pods_made("sweep-a1-"), 6);
    for (int i = 0; i < 6; i++) {
        assert_true(last.tasks[i].ended);
        assert_int_equal(last.tasks[i].exit_code, i == 2 || i == 4 ? 7 : 0);
    }
    assert_int_equal(executor_remove(executor, "sweep", 1, NULL), 0);
    /* One that is told to end makes no more pods. */
    order("\"order\": \"fate\", \"pattern\": \"/stopped-\", \"seconds\": 1000");
    assert_int_equal(stand_in_submit(executor, SWEEP, "stopped").outcome, SUBMIT_ACCEPTED);
    wait_for("stopped", PHASE_RUNNING, "");
    assert_int_equal(executor_cancel(executor, "stopped", 1, true, NULL), 0);
    wait_for("stopped", PHASE_FAILED, "");
    assert_int_equal(pods_made("stopped-a1-"), 2);
    assert_int_equal(executor_remove(executor, "stopped", 1, NULL), 0);
}

static void it_says_why_it_waits(void **state)
{
    (void)state;
    submit("image", "\"image_error\": \"docker.io/nope:1: i/o timeout\"");
    submit("place", "\"unschedulable\": \"0/2 nodes are available: 2 Insufficient cpu.\"");
    wait_for("image", PHASE_WAITING, "i/o timeout");
    wait_for("place", PHASE_WAITING, "Unschedulable: 0/2 nodes are available: 2 Insufficient cpu.");
    for (int i = 0; i < 20; i++) {
        poll_once("image");
        assert_true(text_starts(text_of(last.detail), "ErrImagePull"));
        stand_in_pause(50);
    }
}

static void unknown_jobs_have_vanished(void **state)
{
    (void)state;
    poll_once("never-heard-of");
    assert_int_equal(last.phase, PHASE_VANISHED);
    submit("running", "\"seconds\": -1");
    wait_for("running", PHASE_RUNNING, "");
    struct error error;
    assert_int_equal(executor_cancel(executor, "running", 1, false, &error), 0);
    wait_for("running", PHASE_FAILED, "");
    assert_string_equal(last.reason, "Killed");
    assert_int_equal(executor_remove(executor, "running", 1, &error), 0);
    wait_for("running", PHASE_VANISHED, "");
}

/* However often it is asked: what there is comes by itself. */
static void polling_asks_for_nothing(void **state)
{
    (void)state;
    submit("quiet", "\"seconds\": -1");
    wait_for("quiet", PHASE_RUNNING, "");
    for (int i = 0; i < 10; i++) { /* all watches have begun by then */
        poll_once("quiet");
        stand_in_pause(50);
    }
    long before = stand_in_requests();
    for (int i = 0; i < 50; i++)
        poll_once("quiet");
    assert_int_equal(stand_in_requests(), before);
}

static void watches_survive_what_servers_do(void **state)
{
    (void)state;
    static const char *const orders[] = {
        "\"order\": \"watches\", \"action\": \"end\"",
        "\"order\": \"watches\", \"action\": \"cut\"",
        "\"order\": \"watches\", \"action\": \"expire\"",
        "\"order\": \"watches\", \"action\": \"compact\"",
        "\"order\": \"restart\", \"down\": 1",
    };
    for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
        char id[32];
        snprintf(id, sizeof(id), "survivor-%zu", i);
        submit(id, "\"seconds\": 1");
        poll_once(id);
        order("%s", orders[i]);
        wait_for(id, PHASE_SUCCEEDED, "");
    }
}

static void holds(int directory, const char *name, const char *wanted)
{
    struct buffer bytes = {0};
    file_read_at(directory, name, 1 << 24, &bytes, NULL);
    assert_string_equal(bytes.data ? bytes.data : "", wanted);
    buffer_free(&bytes);
}

static void output_is_copied_while_it_comes(void **state)
{
    (void)state;
    struct error error;
    char *path = unit_directory();
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    submit("talker", "\"seconds\": 3, \"output\": \"one\\ntwo\\nthree\"");
    wait_for("talker", PHASE_RUNNING, "");
    struct stat status;
    int64_t begin = clock_elapsed();
    do {
        stand_in_pause(100);
        assert_int_equal(executor_output(executor, "talker", 1, directory, false, &error), 0);
    } while ((fstatat(directory, "main-0.log", &status, 0) || status.st_size == 0) &&
             clock_elapsed() - begin < STAND_IN_PATIENCE);
    /* A new process goes on where the last one was. */
    executor->operations->close(executor);
    executor = stand_in_executor("");
    wait_for("talker", PHASE_SUCCEEDED, "");
    assert_int_equal(executor_output(executor, "talker", 1, directory, true, &error), 0);
    holds(directory, "main-0.log", "one\ntwo\nthree");
    close(directory);
    unit_remove(path);
}

/* A node ends its pods by force when their grace is over; until then nobody else is to. */
static void a_pod_has_its_own_grace(void **state)
{
    (void)state;
    submit("deaf", "\"seconds\": -1, \"term_seconds\": 1000");
    wait_for("deaf", PHASE_RUNNING, "");
    struct job_call call = {.id = "deaf", .attempt = 1}, *calls[] = {&call};
    executor->operations->cancel(executor, calls, 1);
    assert_int_equal(call.result, 0);
    assert_int_equal(call.grace, 30000 + 5000); /* a pod's default */
    call.id = "never-heard-of";
    executor->operations->cancel(executor, calls, 1);
    assert_int_equal(call.grace, 0);
    assert_int_equal(executor_cancel(executor, "deaf", 1, true, NULL), 0);
    wait_for("deaf", PHASE_FAILED, "");
}

/* Killing and removing many jobs: a list for each forty of them, and a request for each. */
static void a_mass_kill_costs_what_it_must(void **state)
{
    (void)state;
    enum { COUNT = 80 };
    char ids[COUNT][16];
    struct job_call calls[COUNT], *batch[COUNT];
    order("\"order\": \"fate\", \"pattern\": \"/mass\", \"seconds\": -1");
    for (int i = 0; i < COUNT; i++) {
        snprintf(ids[i], sizeof(ids[i]), "mass%d", i);
        stand_in_accept(executor, stand_in_single, ids[i]);
        calls[i] = (struct job_call){.id = ids[i], .attempt = 1};
        batch[i] = &calls[i];
    }
    for (int i = 0; i < COUNT; i++)
        wait_for(ids[i], PHASE_RUNNING, "");
    long before = stand_in_requests();
    executor->operations->cancel(executor, batch, COUNT);
    assert_int_equal(stand_in_requests() - before, COUNT / 40 + COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(calls[i].result, 0);
        wait_for(ids[i], PHASE_FAILED, "");
        assert_string_equal(last.reason, "Killed");
    }
    before = stand_in_requests();
    executor->operations->remove(executor, batch, COUNT);
    assert_int_equal(stand_in_requests() - before, COUNT); /* the watch has shown all of them */
}

/* ---- what tasks print last ---- */

static int copy_output(const char *id, int directory, bool ending, bool end)
{
    struct job_call call = {
        .id = id, .attempt = 1, .directory = directory, .ending = ending, .last = end};
    struct job_call *calls[] = {&call};
    executor->operations->output(executor, calls, 1);
    if (call.result)
        print_message("%s\n", call.error.text);
    return call.result;
}

/* Until the last of it has come. */
static void copy_to_the_end(const char *id, int directory)
{
    int64_t begin = clock_elapsed();
    while (copy_output(id, directory, true, true))
        assert_true(clock_elapsed() - begin < STAND_IN_PATIENCE);
}

static bool has_pod(const char *id)
{
    const struct value *pods = stand_in_objects("pods");
    for (size_t i = 0; i < pods->list.count; i++)
        if (stand_in_belongs(pods->list.items[i], id))
            return true;
    return false;
}

/* The pod is gone as soon as it has ended. */
static void what_is_printed_after_a_kill_is_kept(void **state)
{
    (void)state;
    char *path = unit_directory();
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    submit("saver", "\"seconds\": -1, \"output\": \"up\\n\", \"term\": 3, \"term_seconds\": 0.3, "
                    "\"term_output\": \"got TERM\\r\\nsaved\"");
    submit("mute", "\"seconds\": -1, \"output\": \"\", \"term_output\": \"bye\\n\"");
    wait_for("mute", PHASE_RUNNING, "");
    wait_for("saver", PHASE_RUNNING, "");
    assert_int_equal(copy_output("saver", directory, false, false), 0);
    holds(directory, "main-0.log", "up\n");
    assert_int_equal(copy_output("saver", directory, true, false), 0);
    assert_int_equal(executor_cancel(executor, "saver", 1, false, NULL), 0);
    wait_for("saver", PHASE_FAILED, "");
    for (int64_t begin = clock_elapsed(); has_pod("saver");)
        assert_true(clock_elapsed() - begin < STAND_IN_PATIENCE);
    copy_to_the_end("saver", directory);
    holds(directory, "main-0.log", "up\ngot TERM\r\nsaved");
    /* It is not asked for again, and one that has printed nothing before is followed as well. */
    long before = stand_in_requests();
    assert_int_equal(copy_output("saver", directory, true, true), 0);
    assert_int_equal(stand_in_requests(), before);
    close(directory);
    unit_remove(path);

    path = unit_directory();
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(copy_output("mute", directory, true, false), 0);
    assert_int_equal(executor_cancel(executor, "mute", 1, false, NULL), 0);
    wait_for("mute", PHASE_FAILED, "");
    copy_to_the_end("mute", directory);
    holds(directory, "main-0.log", "bye\n");
    close(directory);
    unit_remove(path);
}

/* A process that has begun just now, and is told since when, has no new patience. */
static void a_lost_node_is_given_up_after_a_restart(void **state)
{
    (void)state;
    submit("lost", "\"seconds\": -1");
    wait_for("lost", PHASE_RUNNING, "");
    for (int i = 1; i <= 2; i++)
        order("\"order\": \"node\", \"name\": \"node-%d\", \"action\": \"lose\"", i);
    for (int64_t begin = clock_elapsed();
         !last.tasks[0].unreachable && clock_elapsed() - begin < STAND_IN_PATIENCE;) {
        poll_once("lost");
        stand_in_pause(50);
    }
    assert_non_null(last.tasks[0].unreachable);
    unreachable = names_new(1, sizeof(int64_t));
    int64_t *since = names_add(unreachable, text_of(last.tasks[0].unreachable));
    *since = clock_now() - 80000;
    executor->operations->close(executor);
    executor = stand_in_executor("");
    wait_for("lost", PHASE_RUNNING, "");
    *since = clock_now() - 91000; /* its grace, and a minute more */
    wait_for("lost", PHASE_FAILED, "task main-0 was lost: its node does not answer");
    assert_string_equal(last.reason, "NodeLost");
    names_free(unreachable);
    unreachable = NULL;
    for (int i = 1; i <= 2; i++)
        order("\"order\": \"node\", \"name\": \"node-%d\", \"action\": \"back\"", i);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(one_that_never_ran_fails),
        TEST(jobs_end_as_their_pods_do),
        TEST(it_says_why_it_waits),
        TEST(a_sweep_runs_some_at_a_time_to_its_end),
        TEST(unknown_jobs_have_vanished),
        TEST(polling_asks_for_nothing),
        TEST(watches_survive_what_servers_do),
        TEST(output_is_copied_while_it_comes),
        TEST(what_is_printed_after_a_kill_is_kept),
        TEST(a_pod_has_its_own_grace),
        TEST(a_mass_kill_costs_what_it_must),
        TEST(a_lost_node_is_given_up_after_a_restart),
    };
    if (stand_in_start()) {
        printf("the stand-in does not start\n");
        return 1;
    }
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    stand_in_stop();
    return result;
}
