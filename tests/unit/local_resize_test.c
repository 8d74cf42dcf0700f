/* tests/unit/local_resize_test.c - real containers: their processors changed while they run, their
 * use of them, and signals for what they run */
#include "base/clock.h"
#include "tests/unit/local_fixture.h"

#include <signal.h>

#define HEAD "kind: dlspool/local/v1\nnetwork: private\n"
#define TASK(role, cpus, command)                                                                  \
    "- {role: " role ", image: host, cpus: " cpus ", memory: 128Mi, command: " command "}\n"
#define JOB(cpus, command) HEAD "tasks:\n" TASK("main", cpus, command)
#define SLEEPS "[sleep, '600']"

static struct job_resize resize(struct fixture *f, const char *id, int64_t size)
{
    struct job_resize job = {.id = id, .attempt = 1, .kind = SIZE_CPUS, .size = size};
    struct job_resize *batch[] = {&job};
    f->executor->operations->resize(f->executor, batch, 1);
    return job;
}

static void expect(struct job_resize job, enum resize_outcome outcome, const char *words)
{
    if (job.outcome != outcome)
        fail_msg("outcome %d: %s", job.outcome, job.error.text);
    if (words && !strstr(job.error.text, words))
        fail_msg("\"%s\" lacks \"%s\"", job.error.text, words);
}

static int64_t free_cpus(struct fixture *f)
{
    struct capacity capacity;
    struct error error = {""};
    if (f->executor->operations->capacity(f->executor, &capacity, &error))
        fail_msg("%s", error.text);
    return capacity.cpus_free;
}

/* The kernel may lack what limits processors. */
static bool lacks_limits(struct fixture *f)
{
    if (resize(f, "a", 500).outcome != RESIZE_NOT_POSSIBLE)
        return false;
    print_message("skipped: the kernel limits no processors here\n");
    return true;
}

static void processors_are_given_and_taken_while_it_runs(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 2\n");
    fixture_submit(f, "a", JOB("0.5", SLEEPS));
    fixture_submit(f, "b", JOB("0.5", SLEEPS));
    if (lacks_limits(f))
        skip();
    assert_int_equal(free_cpus(f), 1000);
    expect(resize(f, "a", 1500), RESIZE_DONE, NULL);
    assert_int_equal(free_cpus(f), 0);
    expect(resize(f, "a", 1500), RESIZE_DONE, NULL);
    assert_int_equal(free_cpus(f), 0);
    /* What is taken is nobody else's, of running and of new jobs; also after a restart. */
    expect(resize(f, "b", 1000), RESIZE_NO_ROOM, "0.5 CPUs, 0 of 2 free");
    fixture_reopen(f);
    assert_int_equal(free_cpus(f), 0);
    struct submission more = fixture_submission("c", JOB("0.5", SLEEPS));
    fixture_hand_in(f, &more);
    assert_int_equal(more.outcome, SUBMIT_NO_ROOM);
    expect(resize(f, "b", 2500), RESIZE_NOT_POSSIBLE, "2.5 CPUs of 2");
    expect(resize(f, "none", 500), RESIZE_UNAVAILABLE, "no container");

    /* One takes what the other gives, in either order. */
    struct job_resize grows = {.id = "b", .attempt = 1, .kind = SIZE_CPUS, .size = 1750};
    struct job_resize shrinks = {.id = "a", .attempt = 1, .kind = SIZE_CPUS, .size = 250};
    struct job_resize gpus = {.id = "a", .attempt = 1, .kind = SIZE_GPUS, .size = 1};
    struct job_resize *batch[] = {&grows, &gpus, &shrinks};
    f->executor->operations->resize(f->executor, batch, 3);
    expect(grows, RESIZE_DONE, NULL);
    expect(shrinks, RESIZE_DONE, NULL);
    expect(gpus, RESIZE_NOT_POSSIBLE, "GPUs");
    assert_int_equal(free_cpus(f), 0);
    assert_int_equal(fixture_poll(f, "a").phase, PHASE_RUNNING);
    expect(resize(f, "b", 250), RESIZE_DONE, NULL);
    fixture_hand_in(f, &more);
    assert_int_equal(more.outcome, SUBMIT_ACCEPTED);
    assert_int_equal(free_cpus(f), 1000);

    assert_int_equal(executor_cancel(f->executor, "a", 1, true, NULL), 0);
    fixture_wait(f, "a");
    expect(resize(f, "a", 1000), RESIZE_UNAVAILABLE, "does not run");
}

/* A seventh of a processor lies between the two, whatever else this machine does. */
static void it_runs_as_fast_as_its_size(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 2\n");
    fixture_submit(f, "a",
                   JOB("0.1", "[python3, -uc, \"import time, sys\\nused = time.process_time\\n"
                              "while True:\\n a, b = used(), time.time()\\n"
                              " while time.time() < b + 0.4: pass\\n"
                              " share = (used() - a) / (time.time() - b)\\n"
                              " print('slow' if share < 0.15 else 'fast')\"]"));
    if (resize(f, "a", 100).outcome == RESIZE_NOT_POSSIBLE)
        skip();
    fixture_await_output(f, "a", "main-0.log", "slow\n");
    int64_t before = fixture_poll(f, "a").cpu_time;
    expect(resize(f, "a", 1000), RESIZE_DONE, NULL);
    fixture_await_output(f, "a", "main-0.log", "fast\n");
    expect(resize(f, "a", 100), RESIZE_DONE, NULL);
    fixture_await_output(f, "a", "main-0.log", "fast\nslow\n");
    struct job_poll poll = fixture_poll(f, "a");
    assert_true(before > 0 && poll.cpu_time > before);
    assert_true(poll.memory_peak > 1 << 20 && poll.nodes == 1);
    assert_in_range(poll.task_time, poll.cpu_time / 2, clock_now() - poll.started);
    /* What it had used is known when it has ended. */
    assert_int_equal(executor_cancel(f->executor, "a", 1, true, NULL), 0);
    struct job_poll end = fixture_wait(f, "a");
    assert_true(end.cpu_time >= poll.cpu_time && end.memory_peak >= poll.memory_peak);
    assert_int_equal(end.task_time, end.ended - end.started);
    assert_int_equal(executor_remove(f->executor, "a", 1, NULL), 0);
    assert_int_equal(fixture_poll(f, "a").cpu_time, 0);
}

static void only_one_task_can_be_resized(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 2\n");
    static const char two[] = HEAD "tasks:\n" TASK("x", "0.5", SLEEPS) TASK("y", "0.5", SLEEPS);
    static const char turns[] = HEAD "parallelism: 1\ntasks:\n" TASK("x", "0.5", SLEEPS);
    const struct executor_operations *operations = f->executor->operations;
    assert_true(operations->resizable(f->executor, TEXT(JOB("0.5", SLEEPS)), SIZE_CPUS));
    assert_false(operations->resizable(f->executor, TEXT(JOB("0.5", SLEEPS)), SIZE_GPUS));
    assert_false(operations->resizable(f->executor, TEXT(JOB("0.5", SLEEPS)), SIZE_TASKS));
    assert_false(operations->resizable(f->executor, text_of(two), SIZE_CPUS));
    assert_false(operations->resizable(f->executor, text_of(turns), SIZE_CPUS));
    assert_false(operations->resizable(f->executor, TEXT("nonsense"), SIZE_CPUS));
    fixture_submit(f, "a", two);
    expect(resize(f, "a", 250), RESIZE_NOT_POSSIBLE, "several tasks");
    fixture_shell(f, "kill -9 $(cut -d' ' -f1 $D/.podman/service.pid)");
    expect(resize(f, "a", 250), RESIZE_NOT_POSSIBLE, NULL); /* podman was started again */
}

static int send_signal(struct fixture *f, const char *id, int number)
{
    struct job_call call = {.id = id, .attempt = 1, .signal = number}, *batch[] = {&call};
    f->executor->operations->signal(f->executor, batch, 1);
    if (call.result)
        print_message("%s\n", call.error.text);
    return call.result;
}

/* A program behind two shells, beside a process that ends of any signal; what the program has made
 * inherits its way of dealing with the signal, and is not to be told as well. */
#define BEHIND_SHELLS                                                                              \
    HEAD "tasks:\n- role: main\n  image: host\n  cpus: 0.5\n  memory: 128Mi\n"                     \
         "  command: [sh, -c, 'sleep 600 & sh -c \"python3 -u /job/program; true\"; echo over']\n" \
         "  files:\n  - path: /job/program\n    content: |\n"                                      \
         "      import os, signal, time\n"                                                         \
         "      signal.signal(signal.SIGUSR1, lambda *_: print('told'))\n"                         \
         "      if os.fork():\n"                                                                   \
         "          print('ready')\n"                                                              \
         "      while True:\n"                                                                     \
         "          time.sleep(600)\n"

static void signals_reach_the_program_behind_its_shells(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 2\n");
    fixture_submit(f, "a", BEHIND_SHELLS);
    fixture_await_output(f, "a", "main-0.log", "ready\n");
    assert_int_equal(send_signal(f, "a", SIGUSR2), 0); /* nobody wants it, and nobody ends of it */
    assert_int_equal(send_signal(f, "a", SIGUSR1), 0);
    fixture_await_output(f, "a", "main-0.log", "told\n");
    assert_int_equal(send_signal(f, "a", SIGUSR1), 0);
    fixture_await_output(f, "a", "main-0.log", "told\ntold\n");
    fixture_pause(100);
    assert_string_equal(fixture_output(f, "a", "main-0.log"), "ready\ntold\ntold\n");
    assert_int_equal(fixture_poll(f, "a").phase, PHASE_RUNNING);
    assert_int_equal(send_signal(f, "none", SIGUSR1), 0);
    assert_int_equal(executor_cancel(f->executor, "a", 1, true, NULL), 0);
    fixture_wait(f, "a");
    assert_int_equal(send_signal(f, "a", SIGUSR1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(processors_are_given_and_taken_while_it_runs),
        FIXTURE_TEST(it_runs_as_fast_as_its_size),
        FIXTURE_TEST(only_one_task_can_be_resized),
        FIXTURE_TEST(signals_reach_the_program_behind_its_shells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
