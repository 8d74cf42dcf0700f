/* tests/unit/slurm_assess_test.c - jobs that Slurm tells of otherwise than their files do, and what
 * is left of them
 */
#include "tests/unit/slurm_fake.h"

/* Have a file of the job's be written that many seconds ago. */
static void age(const char *id, const char *name, int seconds)
{
    char path[1024];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    const struct timespec times[2] = {now, now};
    snprintf(path, sizeof(path), "%s/jobs/%s-a1/job/%s", fake.directory, id, name);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void set_state(const char *word)
{
    fake_order("{\"set\": {\"job_id\": 1, \"job_state\": \"%s\", \"start_time\": 1795000000, "
               "\"state_reason\": \"None\"}}",
               word);
    fake_ahead += 2000;
}

/* A job that ran, and that slurmctld has waiting after it has crashed. */
static void put_back(void)
{
    fake_submit("j-1", fake_manifest);
    set_state("RUNNING");
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_write("j-1", "started", "1 n1\n");
    age("j-1", "started", 3600);
    fake_write("j-1", "alive", "1.7\n");
    set_state("PENDING");
}

static void what_was_put_back_runs_while_its_heart_beats(void **state)
{
    (void)state;
    put_back();
    for (int i = 0; i < 3; i++) {
        struct job_poll poll = fake_poll("j-1");
        assert_int_equal(poll.phase, PHASE_RUNNING);
        assert_says(poll.detail, "put job 1 back into its queue, and it still runs");
        age("j-1", "alive", 30);
    }
    /* What waits at Slurm is left there. */
    assert_string_equal(value_get_text(fake_job(0), "job_state").data, "PENDING");
    fake_write("j-1", "worker-0.ended", "0");
    fake_write("j-1", "worker-1.ended", "0");
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_write("j-1", "ended", "0");
    assert_int_equal(fake_poll("j-1").phase, PHASE_SUCCEEDED);
}

static void what_was_put_back_and_whose_heart_stopped_is_lost(void **state)
{
    (void)state;
    put_back();
    age("j-1", "alive", 30);
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    age("j-1", "alive", 50);
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "NodeLost");
    assert_says(poll.detail, "preempted or requeued");
}

/* Its user can have the file say anything; a time to come is no beat. */
static void a_heart_does_not_beat_in_the_future(void **state)
{
    (void)state;
    put_back();
    age("j-1", "alive", -100000);
    assert_string_equal(fake_poll("j-1").reason, "NodeLost");
}

static void a_start_is_a_beat(void **state)
{
    (void)state;
    put_back();
    age("j-1", "alive", 3600);
    age("j-1", "started", 1);
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
}

static void only_what_the_jobs_tasks_print_is_copied(void **state)
{
    static const char *const others[] = {"x-1.log", "worker-2.log", "worker-1234567.log",
                                         "ps-0.log"};
    struct error error;
    (void)state;
    fake_submit("j-1", fake_manifest);
    mkdir(fake_path("out"), 0700);
    int directory = open(fake_path("out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fake_write("j-1", "worker-1.log", "one\n");
    fake_write("j-1", "batch.log", "slurmstepd: error\n");
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        fake_write("j-1", others[i], "a lot\n");
    assert_int_equal(executor_output(fake.executor, "j-1", 1, directory, true, &error), 0);
    assert_int_equal(faccessat(directory, "worker-1.log", F_OK, 0), 0);
    assert_int_equal(faccessat(directory, "batch.log", F_OK, 0), 0);
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (faccessat(directory, others[i], F_OK, 0) == 0)
            fail_msg("%s was copied, which is of no task", others[i]);
    close(directory);
}

static const char one_task[] = "kind: dlspool/slurm/v1\n"
                               "job: {partition: gpu, time_limit: 10}\n"
                               "components:\n"
                               "  - {tasks: 1, cpus_per_task: 1, memory_per_task: 1Gi, nodes: 1}\n"
                               "tasks: [{role: main, count: 1}]\n"
                               "script: |\n"
                               "  #!/bin/bash\n"
                               "  true\n";

static const char elastic[] = "kind: dlspool/slurm/v1\n"
                              "job: {partition: gpu, time_limit: 10}\n"
                              "components:\n"
                              "  - {tasks: 3, cpus_per_task: 1, memory_per_task: 1Gi, nodes: 3}\n"
                              "tasks: [{role: worker, count: 3}]\n"
                              "complete: {worker: {failed: 2, again: 3}}\n"
                              "script: |\n"
                              "  #!/bin/bash\n"
                              "  true\n";

static void forget_end(const char *id, int index)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/jobs/%s-a1/job/worker-%d.ended", fake.directory, id, index);
    assert_int_equal(unlink(path), 0);
    fake_ahead += 2000;
}

static void expect_ended(const char *id, const char *ended)
{
    struct job_poll poll = fake_poll(id);
    assert_int_equal(poll.phase, PHASE_RUNNING);
    for (size_t i = 0; i < poll.task_count; i++)
        assert_int_equal(poll.tasks[i].ended, ended[i] == 'e');
}

/* The script takes the file away when it starts a task again. */
static void a_task_that_is_started_again_has_not_ended(void **state)
{
    (void)state;
    fake_submit("j-1", elastic);
    fake_write("j-1", "started", "1 n1\n");
    set_state("RUNNING");
    expect_ended("j-1", "rrr");
    fake_write("j-1", "worker-1.ended", "137 OOMKilled\n");
    fake_ahead += 2000;
    expect_ended("j-1", "rer");
    assert_string_equal(fake_poll("j-1").tasks[1].reason, "OOMKilled");
    forget_end("j-1", 1);
    expect_ended("j-1", "rrr");
    assert_string_equal(fake_poll("j-1").tasks[1].reason, "");
    /* The first one's end stays. */
    fake_write("j-1", "worker-0.ended", "1\n");
    fake_ahead += 2000;
    expect_ended("j-1", "err");
    forget_end("j-1", 0);
    expect_ended("j-1", "err");
    fake_write("j-1", "worker-2.ended", "1\n");
    fake_ahead += 2000;
    assert_int_equal(fake_poll("j-1").phase, PHASE_FAILED);
}

/* A node that is down keeps Slurm freeing it for hours. */
static void a_job_that_has_ended_is_not_kept_by_its_nodes(void **state)
{
    static const struct {
        const char *code;
        enum job_phase phase;
        int exit_code;
    } cases[] = {{"0", PHASE_SUCCEEDED, 0}, {"3", PHASE_FAILED, 3}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char id[32];
        snprintf(id, sizeof(id), "j-%zu", i);
        fake_submit(id, one_task);
        fake_write(id, "started", "1 n1\n");
        fake_order("{\"set\": {\"job_id\": %zu, \"job_state\": \"COMPLETING\", \"start_time\": "
                   "1795000000}}",
                   i + 1);
        assert_int_equal(fake_poll(id).phase, PHASE_RUNNING);
        fake_ahead += 100000;
        assert_int_equal(fake_poll(id).phase, PHASE_RUNNING); /* no file tells its end */
        fake_write(id, "main-0.ended", cases[i].code);
        fake_write(id, "ended", cases[i].code);
        fake_ahead += 2000;
        assert_int_equal(fake_poll(id).phase, PHASE_RUNNING);
        fake_ahead += 50000;
        assert_int_equal(fake_poll(id).phase, PHASE_RUNNING);
        fake_ahead += 20000;
        struct job_poll poll = fake_poll(id);
        assert_int_equal(poll.phase, cases[i].phase);
        assert_int_equal(poll.exit_code, cases[i].exit_code);
        /* Slurm may call it what it similar afterwards. */
        fake_set_state(i + 1, "NODE_FAIL");
        poll = fake_poll(id);
        assert_int_equal(poll.phase, cases[i].phase);
        assert_int_equal(poll.exit_code, cases[i].exit_code);
    }
}

static const char array[] = "kind: dlspool/slurm/v1\n"
                            "job: {partition: gpu}\n"
                            "array: {count: 2}\n"
                            "components:\n"
                            "  - {tasks: 1, cpus_per_task: 1, memory_per_task: 1Gi, nodes: 1}\n"
                            "tasks: [{role: main, count: 2}]\n"
                            "script: |\n"
                            "  #!/bin/bash\n"
                            "  true\n";

static void nor_is_an_array(void **state)
{
    (void)state;
    fake_submit("j-1", array);
    fake_write("j-1", "started-0", "1 n1\n");
    fake_write("j-1", "started-1", "2 n2\n");
    fake_write("j-1", "ended-0", "0");
    fake_order(
        "{\"set\": {\"job_id\": 1, \"array_job_id\": 1, \"array_task_id\": 1, "
        "\"array_task_string\": \"\", \"job_state\": \"COMPLETING\", \"start_time\": 1795000000}}");
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_ahead += 100000;
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_write("j-1", "ended-1", "0");
    fake_ahead += 2000;
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_ahead += 70000;
    assert_int_equal(fake_poll("j-1").phase, PHASE_SUCCEEDED);
}

/* An array of two whose element 0 has ended well and whose element 1, Slurm's job 2, is back in Slurm's queue after
 * so many launches, held because the node would not launch it. */
static void put_element_back(int restarts)
{
    fake_submit("j-1", array);
    fake_write("j-1", "started-0", "1 n1\n");
    fake_write("j-1", "ended-0", "0");
    fake_order("{\"set\": {\"job_id\": 1, \"array_job_id\": 1, \"array_task_id\": 0, "
               "\"array_task_string\": \"\", \"job_state\": \"COMPLETED\"}}");
    fake_order("{\"add\": {\"name\": \"j-1-a1\", \"comment\": \"dlspool:test:j-1:1:released\", "
               "\"user_name\": \"%s\", \"array_job_id\": 1, \"array_task_id\": 1, "
               "\"priority\": 0, \"restart_cnt\": %d, \"state_reason\": \"JobHeldUser\", "
               "\"state_description\": \"launch failed requeued held\"}}",
               fake_self(), restarts);
    fake_ahead += 2000;
}

static const char *state_of_element(void)
{
    return value_get_text(fake_job(1), "job_state").data;
}

/* slurmctld was restarted with an older state, and started an element again that had ended by then. */
static void an_element_that_was_put_back_and_has_ended_is_over(void **state)
{
    (void)state;
    put_element_back(1);
    fake_write("j-1", "started-1", "2 n2\n");
    fake_write("j-1", "ended-1", "0");
    assert_int_equal(fake_poll("j-1").phase, PHASE_SUCCEEDED);
    assert_string_equal(state_of_element(), "CANCELLED");
}

static void an_element_that_was_put_back_runs_while_its_heart_beats(void **state)
{
    (void)state;
    put_element_back(1);
    fake_write("j-1", "started-1", "2 n2\n");
    age("j-1", "started-1", 3600);
    fake_write("j-1", "alive-1", "2.7\n");
    /* That of another element says nothing of this one. */
    fake_write("j-1", "alive-0", "1.7\n");
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_RUNNING);
    assert_says(poll.detail, "put job 2 (element 1) back into its queue, and it still runs");
    assert_string_equal(state_of_element(), "PENDING");
    age("j-1", "alive-1", 50);
    fake_ahead += 2000;
    poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "NodeLost");
    assert_true(poll.tasks[1].ended && poll.tasks[0].exit_code == 0);
    assert_string_equal(state_of_element(), "CANCELLED");
}

static void an_element_that_could_not_be_launched_is_let_go_again(void **state)
{
    (void)state;
    put_element_back(1);
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_RUNNING);
    assert_says(poll.detail, "launch failed requeued held");
    assert_int_equal(value_get_number(fake_job(1), "releases", 0), 1);
    fake_order("{\"set\": {\"job_id\": 2, \"priority\": 0, \"restart_cnt\": 4, \"state_reason\": "
               "\"JobHeldUser\"}}");
    fake_ahead += 2000;
    poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "LaunchFailed");
    assert_int_equal(value_get_number(fake_job(1), "releases", 0), 1);
    assert_string_equal(state_of_element(), "CANCELLED");
}

static void an_element_that_can_never_run_fails(void **state)
{
    (void)state;
    put_element_back(0);
    fake_order("{\"set\": {\"job_id\": 2, \"priority\": 100, \"state_reason\": \"BadConstraints\", "
               "\"state_description\": \"\"}}");
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "NeverFits");
    assert_string_equal(state_of_element(), "CANCELLED");
}

/* The script's own reasons are told apart from what a program ends with. */
static void a_reason_of_the_script_is_not_the_programs(void **state)
{
    static const struct {
        const char *task, *job, *reason, *says;
        int exit_code;
    } cases[] = {
        {"193", "193", "Exited", "main-0 ended with exit code 193", 193},
        {"193 LaunchFailed", "193 LaunchFailed", "LaunchFailed", "main-0 was never started", 255},
        {"193 NodeRefused", "193 NodeRefused", "NodeRefused", "main-0 was not started on the node",
         255},
        {NULL, "193 NodeLost", "NodeLost", "the job had begun, and shows no more signs of life",
         255},
        {"137 OOMKilled", "137 OOMKilled", "OOMKilled", "main-0 needed more memory", 137},
        {"137", "137", "Exited", "main-0 was ended by signal 9", 137},
        /* No other word counts. */
        {"3 Succeeded", "3 Succeeded", "Exited", "main-0 ended with exit code 3", 3},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char id[32];
        snprintf(id, sizeof(id), "j-%zu", i);
        fake_submit(id, one_task);
        fake_write(id, "started", "1 n1\n");
        if (cases[i].task)
            fake_write(id, "main-0.ended", cases[i].task);
        fake_write(id, "ended", cases[i].job);
        fake_order("{\"set\": {\"job_id\": %zu, \"job_state\": \"FAILED\", \"exit_code\": %d}}",
                   i + 1, atoi(cases[i].job) << 8);
        fake_ahead += 2000;
        struct job_poll poll = fake_poll(id);
        assert_int_equal(poll.phase, PHASE_FAILED);
        assert_string_equal(poll.reason, cases[i].reason);
        assert_int_equal(poll.exit_code, cases[i].exit_code);
        assert_says(poll.detail, cases[i].says);
    }
}

/* By OverMemoryKill the batch script is killed with the task that it runs itself, and only its log says why. */
static void a_batch_script_that_was_killed_for_memory_is_told_by_its_log(void **state)
{
    static const struct {
        const char *before, *behind, *task, *reason;
    } cases[] = {
        {"error: StepId=", ".batch exceeded memory limit (400 > 64), being killed\n", NULL,
         "OOMKilled"},
        {"error: StepId=", ".batch exceeded memory limit (400 > 64), being killed\n", "137",
         "OOMKilled"},
        {"error: Detected 1 oom_kill event in StepId=", ".batch. Some\n", NULL, "OOMKilled"},
        {"error: StepId=1", ".batch exceeded memory limit (400 > 64)\n", NULL, "Exited"},
        {"StepId=", ".batch\nexceeded memory limit\n", NULL, "Exited"},
    };
    char long_line[70000];
    (void)state;
    memset(long_line, 'x', sizeof(long_line) - 1);
    long_line[sizeof(long_line) - 1] = '\0';
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char id[32], log[sizeof(long_line) + 256];
        snprintf(id, sizeof(id), "j-%zu", i);
        fake_submit(id, one_task);
        fake_write(id, "started", "1 n1\n");
        if (cases[i].task)
            fake_write(id, "main-0.ended", cases[i].task);
        snprintf(log, sizeof(log), "%s\n%s%zu%s", long_line, cases[i].before, i + 1,
                 cases[i].behind);
        fake_write(id, "batch.log", log);
        fake_order("{\"set\": {\"job_id\": %zu, \"job_state\": \"FAILED\", \"exit_code\": 9}}",
                   i + 1);
        fake_ahead += 2000;
        struct job_poll poll = fake_poll(id);
        assert_int_equal(poll.phase, PHASE_FAILED);
        assert_string_equal(poll.reason, cases[i].reason);
        assert_int_equal(poll.exit_code, 137);
    }
}

/* It was being stopped when it was put back: it is not started again for that. */
static void an_element_that_is_being_stopped_is_not_let_go(void **state)
{
    struct error error;
    (void)state;
    put_element_back(1);
    assert_int_equal(executor_cancel(fake.executor, "j-1", 1, false, &error), 0);
    assert_string_equal(state_of_element(), "CANCELLED");
    assert_int_equal(fake_poll_ending("j-1", true).phase, PHASE_FAILED);
    assert_int_equal(value_get_number(fake_job(1), "releases", 0), 0);
}

/* Slurm believes until the time limit that it runs; its files know better. */
static void what_has_ended_and_runs_for_slurm_is_over(void **state)
{
    (void)state;
    fake_submit("j-1", one_task);
    set_state("RUNNING");
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_write("j-1", "started", "1 n1\n");
    fake_write("j-1", "main-0.ended", "0");
    fake_write("j-1", "ended", "0");
    fake_ahead += 62000; /* from the start: its files are looked at */
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_ahead += 62000;
    assert_int_equal(fake_poll("j-1").phase, PHASE_SUCCEEDED);
}

static void what_was_put_aside_is_removed_later(void **state)
{
    struct error error;
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_submit("j-2", fake_manifest);
    char command[1200];
    snprintf(command, sizeof(command), "cd %s && seq 1 9000 | sed s/^/f/ | xargs touch",
             fake_path("jobs/j-1-a1/job"));
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof(command), "mkdir -p %s && touch %s",
             fake_path("jobs/.gone-j-0-a1/job"), fake_path("jobs/.gone-j-0-a1/job/late"));
    assert_int_equal(system(command), 0);
    assert_int_equal(executor_remove(fake.executor, "j-1", 1, &error), 0);
    fake_ahead += 60000;
    assert_int_equal(executor_remove(fake.executor, "j-2", 1, &error), 0);
    assert_int_not_equal(access(fake_path("jobs/.gone-j-0-a1"), F_OK), 0);
    assert_int_not_equal(access(fake_path("jobs/.gone-j-1-a1"), F_OK), 0);
}

static void what_a_task_runs_in_is_what_its_script_says(void **state)
{
    static const char *const nonsense[] = {"", "\n", "a\tb\n", "\xff\n", "one\ntwo\n"};
    char endless[2000];
    (void)state;
    fake_submit("j-1", fake_manifest);
    set_state("RUNNING");
    fake_write("j-1", "started", "1 n1\n");
    fake_poll("j-1");
    memset(endless, 'a', sizeof(endless) - 1);
    endless[sizeof(endless) - 1] = '\0';
    fake_write("j-1", "worker.image", endless);
    fake_write("j-1", "stranger.image", "host\n");
    for (size_t i = 0; i < ARRAY_COUNT(nonsense); i++) {
        fake_ahead += 60000;
        assert_string_equal(fake_poll("j-1").tasks[0].image, "");
        fake_write("j-1", "worker.image", nonsense[i]);
    }
    fake_ahead += 60000;
    assert_string_equal(fake_poll("j-1").tasks[0].image, "");
    fake_write("j-1", "worker.image", "file of 12 bytes, modified 2026-11-22T10:00:00Z\n");
    fake_ahead += 60000;
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.task_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(poll.tasks[i].image, "file of 12 bytes, modified 2026-11-22T10:00:00Z");
}

static void where_a_task_listens_is_what_its_script_says(void **state)
{
    static const char *const nonsense[] = {"n1:17234",          "n1:80\n",    ":17234\n",
                                           "n1:70000\n",        "n1\n",       "n1:17234 x\n",
                                           "\033[2Jn1:17234\n", "a b:17234\n"};
    (void)state;
    fake_submit("j-1", fake_manifest);
    set_state("RUNNING");
    fake_write("j-1", "started", "1 n1\n");
    fake_poll("j-1");
    fake_write("j-1", "worker-9.address", "n1:17234\n");
    for (size_t i = 0; i < ARRAY_COUNT(nonsense); i++) {
        fake_write("j-1", "worker-0.address", nonsense[i]);
        fake_ahead += 60000;
        assert_string_equal(fake_poll("j-1").tasks[0].address, "");
    }
    fake_write("j-1", "worker-0.address", "n1.cluster:17234\n");
    fake_ahead += 60000;
    assert_string_equal(fake_poll("j-1").tasks[0].address, "n1.cluster:17234");
    assert_string_equal(fake_poll("j-1").tasks[1].address, "");
}

static void slurm_s_own_words_are_told(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    set_state("PENDING");
    struct job_poll poll = fake_poll("j-1");
    assert_string_equal(poll.scheduler_id, "1");
    assert_string_equal(poll.scheduler_state, "PENDING");
    set_state("CONFIGURING");
    assert_string_equal(fake_poll("j-1").scheduler_state, "CONFIGURING");
    fake_order("{\"forget\": \"all\"}");
    fake_ahead += 2000;
    assert_string_equal(fake_poll("j-1").scheduler_id, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(slurm_s_own_words_are_told),
        FAKE_TEST(where_a_task_listens_is_what_its_script_says),
        FAKE_TEST(what_was_put_back_runs_while_its_heart_beats),
        FAKE_TEST(what_was_put_back_and_whose_heart_stopped_is_lost),
        FAKE_TEST(a_heart_does_not_beat_in_the_future),
        FAKE_TEST(a_start_is_a_beat),
        FAKE_TEST(only_what_the_jobs_tasks_print_is_copied),
        FAKE_TEST(a_task_that_is_started_again_has_not_ended),
        FAKE_TEST(a_job_that_has_ended_is_not_kept_by_its_nodes),
        FAKE_TEST(nor_is_an_array),
        FAKE_TEST(a_reason_of_the_script_is_not_the_programs),
        FAKE_TEST(a_batch_script_that_was_killed_for_memory_is_told_by_its_log),
        FAKE_TEST(an_element_that_was_put_back_and_has_ended_is_over),
        FAKE_TEST(an_element_that_was_put_back_runs_while_its_heart_beats),
        FAKE_TEST(an_element_that_could_not_be_launched_is_let_go_again),
        FAKE_TEST(an_element_that_can_never_run_fails),
        FAKE_TEST(an_element_that_is_being_stopped_is_not_let_go),
        FAKE_TEST(what_has_ended_and_runs_for_slurm_is_over),
        FAKE_TEST(what_a_task_runs_in_is_what_its_script_says),
        FAKE_TEST(what_was_put_aside_is_removed_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
