/* tests/unit/slurm_executor_test.c - jobs handed in to Slurm, followed and ended, against a
 * stand-in */
#include "executors/nodes.h"
#include "tests/unit/slurm_fake.h"

static void assert_comment(const struct value *job, const char *comment)
{
    assert_string_equal(value_get_text(job, "comment").data, comment);
}

static void a_job_is_handed_in_held_and_let_go(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    assert_int_equal(fake_job_count(), 1);
    const struct value *job = fake_job(0), *asked = value_get(job, "description");
    assert_comment(job, "dlspool:test:j-1:1:released");
    assert_int_equal(value_get_number(job, "releases", 0), 1);
    assert_int_equal(value_get_number(asked, "memory_per_cpu", 0), 512);
    assert_string_equal(value_get_text(asked, "gpus_per_task").data, "a100:1");
    assert_string_equal(value_get_text(asked, "name").data, "j-1-a1");
    assert_false(value_get_boolean(asked, "requeue", true));
    const struct value *environment = value_get(asked, "environment");
    assert_string_equal(value_get_text(environment, "DLSPOOL_DIRECTORY").data,
                        fake_path("jobs/j-1-a1/job"));
    assert_string_equal(value_get_text(environment, "A").data, "b c");
    struct stat status;
    assert_int_equal(stat(fake_path("jobs/j-1-a1/job"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(stat(fake_path("jobs/j-1-a1/submission"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void every_version_has_its_own_words(void **state)
{
    static const char *const versions[] = {"36", "37", "38", "39", "40", "41,40,39", "43", "44"};
    (void)state;
    fake_stop();
    for (size_t i = 0; i < ARRAY_COUNT(versions); i++) {
        fake_start(versions[i], i < 6 ? "" : "--release 25.05.1");
        fake_submit("j-1", fake_manifest);
        assert_comment(fake_job(0), "dlspool:test:j-1:1:released");
        fake_order(
            "{\"set\": {\"job_id\": 1, \"job_state\": \"RUNNING\", \"start_time\": 1795000000}}");
        struct job_poll poll = fake_poll("j-1");
        assert_int_equal(poll.phase, PHASE_RUNNING);
        assert_true(poll.started == 1795000000000);
        fake_write("j-1", "worker-0.ended", "0\n");
        fake_write("j-1", "worker-1.ended", "0\n");
        fake_write("j-1", "ended", "0\n");
        fake_order(
            "{\"set\": {\"job_id\": 1, \"job_state\": \"COMPLETED\", \"end_time\": 1795000009}}");
        poll = fake_poll("j-1");
        assert_int_equal(poll.phase, PHASE_SUCCEEDED);
        assert_true(poll.ended == 1795000009000);
        fake_submit(
            "j-2",
            "kind: dlspool/slurm/v1\n"
            "job: {partition: gpu, exclusive: true, gres: 'nvme:1', gres_flags: disable-binding,\n"
            "  spread_job: true, deadline: '2040-01-01T00:00:00', nice: 5, time_minimum: 3}\n"
            "components:\n"
            "  - {tasks: 1, cpus_per_task: 1, memory_per_task: 1}\n"
            "  - {tasks: 1, cpus_per_task: 3, memory_per_task: 1Gi, gpus_per_task: 2}\n"
            "tasks: [{role: a, count: 1}, {role: b, count: 1}]\n"
            "script: '#!/bin/sh'\n");
        assert_int_equal(fake_job_count(), 3);
        assert_comment(fake_job(1), "dlspool:test:j-2:1:released");
        assert_comment(fake_job(2), "dlspool:test:j-2:1:released");
        fake_stop();
    }
    fake_start("38", "");
}

/* Of the jobs under a token, how many are let go, and how many wait or run. */
static void count_token(const char *name, size_t *released, size_t *live)
{
    const struct value *jobs = value_get(fake_order("{}"), "jobs");
    *released = *live = 0;
    for (size_t i = 0; i < jobs->list.count; i++) {
        const struct value *job = jobs->list.items[i];
        if (!text_is(value_get_text(job, "name"), name))
            continue;
        *released += value_get_number(job, "releases", 0) > 0;
        *live += text_is(value_get_text(job, "job_state"), "PENDING");
    }
}

/* libcurl sends a request again when a kept connection is closed on it: a job may be there twice.
 */
static void a_lost_answer_makes_no_second_run(void **state)
{
    size_t released, live;
    (void)state;
    fake_order("{\"lose\": \"POST .*submit\", \"times\": 100}");
    fake_submit("j-1", fake_manifest);
    fake_order("{\"calm\": true}");
    fake_order("{\"clock\": 20}");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    count_token("j-1-a1", &released, &live);
    assert_int_equal(released, 1);
    assert_int_equal(live, 1);
    /* The list cannot be had either: it is asked for the next time, under the same token. */
    fake_order("{\"lose\": \"POST .*submit\", \"times\": 100}");
    fake_order("{\"answer\": {\"status\": 500, \"body\": \"\"}, \"match\": \"GET .*jobs\"}");
    struct submission submission = fake_submission("j-2", fake_manifest);
    assert_int_equal(fake_submit_it(&submission), SUBMIT_UNKNOWN);
    fake_order("{\"calm\": true}");
    count_token("j-2-a1", &released, &live);
    assert_int_equal(released, 0);
    assert_true(live >= 1);
    size_t before = fake_job_count();
    submission.repeated = true;
    assert_int_equal(fake_submit_it(&submission), SUBMIT_ACCEPTED);
    assert_int_equal(fake_job_count(), before);
    fake_order("{\"clock\": 20}");
    assert_int_equal(fake_submit_it(&submission), SUBMIT_ACCEPTED);
    assert_int_equal(fake_poll("j-2").phase, PHASE_WAITING);
    count_token("j-2-a1", &released, &live);
    assert_int_equal(released, 1);
    assert_int_equal(live, 1);
    /* One that never came is handed in now. */
    submission.id = "j-3";
    assert_int_equal(fake_submit_it(&submission), SUBMIT_ACCEPTED);
    assert_int_equal(fake_job_count(), before + 1);
}

static void a_release_that_is_lost_is_made_again(void **state)
{
    (void)state;
    fake_order("{\"answer\": {\"status\": 500, \"body\": \"gone\"}, \"match\": \"POST .*job/1\"}");
    fake_submit("j-1", fake_manifest);
    assert_comment(fake_job(0), "dlspool:test:j-1:1");
    assert_int_equal(fake_poll_ending("j-1", true).phase, PHASE_WAITING);
    assert_comment(fake_job(0), "dlspool:test:j-1:1");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_comment(fake_job(0), "dlspool:test:j-1:1:released");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_int_equal(value_get_number(fake_job(0), "releases", 0), 1);
}

static void what_slurmctld_forgot_is_handed_in_again(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_submit("j-2", fake_manifest);
    fake_order("{\"forget\": \"all\"}");
    /* Its number is another's now. */
    fake_order("{\"add\": {\"comment\": \"not ours\", \"job_state\": \"COMPLETED\"}}");
    assert_int_equal(fake_poll("j-1").phase, PHASE_UNKNOWN);
    assert_int_equal(fake_job_count(), 1);
    fake_ahead += 4000;
    /* It gets a number that was another's, and is given back until it gets a new one. */
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_int_equal(fake_job_count(), 2);
    assert_comment(fake_job(1), "dlspool:test:j-1:1");
    assert_string_equal(value_get_text(fake_job(1), "job_state").data, "CANCELLED");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_int_equal(fake_job_count(), 3);
    assert_string_equal(value_get_text(fake_job(2), "job_state").data, "PENDING");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_comment(fake_job(2), "dlspool:test:j-1:1:released");
    /* So does one that is new, also after a restart. */
    fake_order("{\"forget\": \"all\"}");
    fake_open("");
    fake_submit("j-3", fake_manifest);
    assert_int_equal(fake_job_count(), 4);
    assert_string_equal(value_get_text(fake_job(2), "job_state").data, "CANCELLED");
    assert_int_equal(value_get_number(fake_job(2), "releases", 0), 0);
    assert_comment(fake_job(3), "dlspool:test:j-3:1:released");
    assert_int_equal(fake_poll("j-3").phase, PHASE_WAITING);
    /* What is to end is not begun again. */
    assert_int_equal(fake_poll_ending("j-2", true).phase, PHASE_VANISHED);
    assert_int_equal(fake_job_count(), 4);
}

static void what_began_is_waited_for_and_not_begun_again(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_write("j-1", "started", "1 n1\n");
    fake_write("j-1", "alive", "x");
    fake_order("{\"forget\": \"all\"}");
    fake_poll("j-1");
    fake_ahead += 4000;
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_ahead += 100000;
    fake_write("j-1", "alive", "xx");
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_ahead += 100000;
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    assert_int_equal(fake_job_count(), 0);
    fake_ahead += 100000;
    assert_int_equal(fake_poll("j-1").phase, PHASE_VANISHED);
    /* One that ended meanwhile has ended. */
    fake_write("j-1", "worker-0.ended", "0\n");
    fake_write("j-1", "worker-1.ended", "3\n");
    fake_write("j-1", "ended", "3\n");
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_int_equal(poll.exit_code, 3);
    assert_int_equal(fake_job_count(), 0);
    struct submission submission = fake_submission("j-1", fake_manifest);
    submission.repeated = true;
    assert_int_equal(fake_submit_it(&submission), SUBMIT_ACCEPTED);
    assert_int_equal(fake_job_count(), 0);
}

static void the_accounting_tells_of_what_was_forgotten(void **state)
{
    (void)state;
    fake_stop();
    fake_start("38", "--database");
    fake_submit("j-1", fake_manifest);
    fake_submit("j-2", fake_manifest);
    fake_order("{\"forget\": \"all\"}");
    fake_order("{\"account\": {\"job_id\": 1, \"name\": \"j-1-a1\", \"user\": \"%s\", \"state\": "
               "{\"current\": \"TIMEOUT\"},"
               "\"exit_code\": {\"status\": \"SUCCESS\", \"return_code\": 0}, \"array\": "
               "{\"job_id\": 0, \"task_id\": null},"
               "\"time\": {\"start\": 1795000000, \"end\": 1795000600}, \"het\": {\"job_id\": 0}, "
               "\"nodes\": \"n1\"}}",
               fake_self());
    fake_order("{\"account\": {\"job_id\": 2, \"name\": \"j-2-a1\", \"user\": \"%s\", \"state\": "
               "{\"current\": \"RUNNING\"}}}",
               fake_self());
    fake_poll("j-1");
    fake_poll("j-2");
    fake_ahead += 4000;
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "TimeLimit");
    assert_true(poll.ended == 1795000600000);
    assert_int_equal(fake_poll("j-2").phase, PHASE_WAITING); /* slurmdbd was not told of the loss */
    assert_int_equal(fake_job_count(), 1);
}

/* slurmdbd is told of a job's end after slurmctld, or never. */
static void what_a_job_used_is_the_accountings(void **state)
{
    (void)state;
    fake_stop();
    fake_start("38", "--database");
    fake_submit("j-1", fake_manifest);
    fake_order(
        "{\"set\": {\"job_id\": 1, \"job_state\": \"COMPLETED\", \"start_time\": 1795000000, \"end_time\": "
        "1795000010, \"nodes\": \"n[1-2]\"}}");
    fake_write("j-1", "worker-0.ended", "0\n");
    fake_write("j-1", "worker-1.ended", "0\n");
    fake_write("j-1", "ended", "0\n");
    assert_int_equal(fake_poll("j-1").phase, PHASE_UNKNOWN);
    fake_order(
        "{\"account\": {\"job_id\": 1, \"name\": \"j-1-a1\", \"user\": \"%s\", \"state\": "
        "{\"current\": \"COMPLETED\"}, \"steps\": [{\"time\": {\"total\": {\"seconds\": 7, "
        "\"microseconds\": 500000}}, \"tres\": {\"requested\": {\"max\": [{\"type\": \"mem\", "
        "\"count\": 4096}]}}}]}}",
        fake_self());
    fake_order("{\"account\": {\"job_id\": 9, \"name\": \"j-1-a1\", \"user\": \"mallory\", "
               "\"state\": {\"current\": \"COMPLETED\"}, \"steps\": [{\"time\": {\"total\": "
               "{\"seconds\": 100}}}]}}");
    for (int i = 0; i < 2; i++) { /* the second time nobody is asked */
        struct job_poll poll = fake_poll("j-1");
        assert_int_equal(poll.phase, PHASE_SUCCEEDED);
        assert_int_equal(poll.cpu_time, 7500);
        assert_int_equal(poll.memory_peak, 4096);
        assert_true(poll.nodes == 2 && poll.task_time == 10000);
    }
}

static void what_the_accounting_does_not_tell_is_not_waited_for(void **state)
{
    (void)state;
    fake_stop();
    fake_start("38", "--database");
    fake_submit("j-1", fake_manifest);
    fake_order(
        "{\"set\": {\"job_id\": 1, \"job_state\": \"COMPLETED\", \"start_time\": 1795000000, \"end_time\": "
        "1795000010}}");
    fake_write("j-1", "worker-0.ended", "0\n");
    fake_write("j-1", "worker-1.ended", "0\n");
    fake_write("j-1", "ended", "0\n");
    assert_int_equal(fake_poll("j-1").phase, PHASE_UNKNOWN);
    fake_ahead += 6000;
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_SUCCEEDED);
    assert_int_equal(poll.cpu_time, 0);
}

/* slurmrestd calls an answer of slurmdbd without jobs an error. */
static void what_the_accounting_has_nothing_of_is_handed_in_again(void **state)
{
    (void)state;
    fake_stop();
    fake_start("38", "--database");
    fake_submit("j-1", fake_manifest);
    fake_order("{\"forget\": \"all\"}");
    fake_poll("j-1");
    fake_ahead += 4000;
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_int_equal(fake_job_count(), 1);
}

static void a_job_that_is_there_twice_runs_once(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_order("{\"add\": {\"name\": \"j-1-a1\", \"comment\": \"dlspool:test:j-1:1\", "
               "\"user_name\": \"%s\"}}",
               fake_self());
    fake_order("{\"add\": {\"name\": \"j-1-a1\", \"comment\": \"dlspool:test:j-1:1\", "
               "\"user_name\": \"mallory\"}}");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_string_equal(value_get_text(fake_job(0), "job_state").data, "PENDING");
    assert_string_equal(value_get_text(fake_job(1), "job_state").data, "CANCELLED");
    assert_string_equal(value_get_text(fake_job(2), "job_state").data,
                        "PENDING"); /* it is not ours */
    assert_int_equal(value_get_number(fake_job(1), "releases", 0), 0);
}

static void a_list_is_not_sent_again_when_nothing_has_changed(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_order("{\"clock\": 5}");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    fake_order("{\"clock\": 5}");
    fake_order("{}");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    const struct value *requests = value_get(fake_order("{}"), "requests");
    assert_int_equal(requests->list.count, 2);
    assert_true(
        text_contains(value_get_text(requests->list.items[1], "what"), TEXT("?update_time=")));
    assert_int_equal(value_get_number(requests->list.items[1], "status", 0), 304);
    fake_set_state(1, "RUNNING");
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
}

static void what_waits_for_nobody_is_ended(void **state)
{
    (void)state;
    snprintf(fake.executor->identity, sizeof(fake.executor->identity), "00000000000000aa");
    fake_submit("j-1", fake_manifest);
    fake_order(
        "{\"add\": {\"name\": \"gone-1-a1\", \"comment\": \"dlspool:test:gone-1:1:00000000000000aa\"}}");
    fake_order(
        "{\"add\": {\"name\": \"gone-1-a1\", \"comment\": \"dlspool:another:gone-1:1:00000000000000aa\"}}");
    /* A spool at the same path on another host, with a directory of its own; and an older dlspool. */
    fake_order(
        "{\"add\": {\"name\": \"gone-2-a1\", \"comment\": \"dlspool:test:gone-2:1:00000000000000bb\"}}");
    fake_order("{\"add\": {\"name\": \"gone-3-a1\", \"comment\": \"dlspool:test:gone-3:1\"}}");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_string_equal(value_get_text(fake_job(1), "job_state").data, "PENDING");
    fake_order("{\"clock\": 20}");
    fake_ahead += 20000;
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_string_equal(value_get_text(fake_job(0), "job_state").data, "PENDING");
    assert_string_equal(value_get_text(fake_job(1), "job_state").data, "CANCELLED");
    for (size_t i = 2; i < 5; i++)
        assert_string_equal(value_get_text(fake_job(i), "job_state").data, "PENDING");
}

/* A release is sent to a number, and after a loss the number may be another job's. */
static void a_release_that_went_astray_makes_no_false_end(void **state)
{
    (void)state;
    fake_submit("a-1", fake_manifest);
    fake_order("{\"forget\": \"all\"}");
    fake_submit("b-1", fake_manifest);
    fake_order("{\"set\": {\"job_id\": 2, \"comment\": \"dlspool:test:a-1:1:released\", "
               "\"job_state\": \"COMPLETED\"}}");
    assert_int_equal(fake_poll("a-1").phase, PHASE_UNKNOWN);
    fake_ahead += 4000;
    assert_int_equal(fake_poll("a-1").phase, PHASE_WAITING);
    assert_int_equal(fake_job_count(), 3);
    /* And what Slurm calls good without a trace of it is no success. */
    assert_int_equal(fake_poll("b-1").phase, PHASE_UNKNOWN);
    fake_ahead += 20000;
    assert_int_equal(fake_poll("b-1").phase, PHASE_VANISHED);
    fake_write("b-1", "started", "1 n1\n");
    fake_write("b-1", "worker-0.ended", "0\n");
    fake_write("b-1", "worker-1.ended", "0\n");
    assert_int_equal(fake_poll("b-1").phase, PHASE_SUCCEEDED);
}

static void what_slurm_put_back_is_not_waited_for(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_order(
        "{\"set\": {\"job_id\": 1, \"job_state\": \"RUNNING\", \"start_time\": 1795000000}}");
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_write("j-1", "started", "1 n1\n");
    const struct timespec long_ago[2] = {{.tv_sec = 1795000000}, {.tv_sec = 1795000000}};
    assert_int_equal(utimensat(AT_FDCWD, fake_path("jobs/j-1-a1/job/started"), long_ago, 0), 0);
    fake_order("{\"set\": {\"job_id\": 1, \"job_state\": \"PENDING\", \"state_reason\": "
               "\"BeginTime\", \"restart_cnt\": 1}}");
    fake_ahead += 2000;
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "NodeLost");
    assert_false(poll.tasks[0].ended);
}

static void a_launch_that_failed_is_let_go_again(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_order("{\"set\": {\"job_id\": 1, \"priority\": 0, \"restart_cnt\": 1, \"state_reason\": "
               "\"JobHeldUser\","
               "\"state_description\": \"launch failed requeued held\"}}");
    fake_order("{\"clock\": 20}");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_int_equal(value_get_number(fake_job(0), "releases", 0), 2);
    fake_order("{\"set\": {\"job_id\": 1, \"priority\": 0, \"restart_cnt\": 4, \"state_reason\": "
               "\"JobHeldUser\","
               "\"state_description\": \"launch failed requeued held\"}}");
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "LaunchFailed");
}

static void a_role_that_decides_ends_the_job(void **state)
{
    struct error error;
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_order(
        "{\"set\": {\"job_id\": 1, \"job_state\": \"RUNNING\", \"start_time\": 1795000000}}");
    fake_write("j-1", "worker-1.ended", "137\n");
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_int_equal(poll.exit_code, 137);
    assert_string_equal(poll.detail, "worker-1 was ended by signal 9 (SIGKILL)");
    assert_false(poll.tasks[0].ended);
    assert_int_equal(executor_cancel(fake.executor, "j-1", 1, false, &error), 0);
    assert_string_equal(value_get(fake_job(0), "signals")->list.items[0]->string.data, "end");
    assert_int_equal(executor_cancel(fake.executor, "j-1", 1, true, &error), 0);
    /* What the other ends with does not count any more, nor does it after a restart. */
    fake_write("j-1", "worker-0.ended", "9\n");
    fake_open("");
    poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_int_equal(poll.exit_code, 137);
    assert_true(poll.tasks[0].ended);
}

static void elements_of_an_array_end_each_by_itself(void **state)
{
    static const char manifest[] =
        "kind: dlspool/slurm/v1\n"
        "array: {count: 4, at_once: 2}\n"
        "components: [{tasks: 1, cpus_per_task: 1, memory_per_task: 1Mi}]\n"
        "tasks: [{role: main, count: 4}]\n"
        "complete: {main: {each: true}}\n"
        "script: '#!/bin/sh'\n";
    (void)state;
    fake_submit("j-1", manifest);
    assert_string_equal(value_get_text(value_get(fake_job(0), "description"), "array").data,
                        "0-3%2");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    fake_order("{\"set\": {\"job_id\": 1, \"array_task_string\": \"2-3%%2\", \"state_reason\": "
               "\"JobArrayTaskLimit\"}}");
    for (int i = 0; i < 2; i++)
        fake_order(
            "{\"add\": {\"name\": \"j-1-a1\", \"comment\": \"dlspool:test:j-1:1:released\", "
            "\"user_name\": \"%s\", \"array_job_id\": 1,"
            "\"array_task_id\": %d, \"job_state\": \"RUNNING\", \"start_time\": 1795000000}}",
            fake_self(), i);
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_write("j-1", "main-0.ended", "0\n");
    fake_order(
        "{\"set\": {\"job_id\": 2, \"job_state\": \"COMPLETED\", \"end_time\": 1795000001}}");
    fake_order("{\"set\": {\"job_id\": 3, \"job_state\": \"OUT_OF_MEMORY\", \"exit_code\": 9, "
               "\"end_time\": 1795000001}}");
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_RUNNING);
    assert_true(poll.tasks[0].ended && poll.tasks[0].exit_code == 0);
    assert_true(poll.tasks[1].ended && poll.tasks[1].exit_code == 137);
    assert_false(poll.tasks[2].ended);
    /* Slurm forgets those that ended before the others have; we do not, not even after a restart.
     */
    fake_order("{\"forget\": 2}");
    fake_order("{\"forget\": 3}");
    fake_open("");
    fake_write("j-1", "main-2.ended", "0\n");
    fake_write("j-1", "main-3.ended", "0\n");
    fake_order("{\"set\": {\"job_id\": 1, \"array_task_string\": \"\", \"array_task_id\": 3, "
               "\"job_state\": \"COMPLETED\"}}");
    poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "OOMKilled");
    assert_int_equal(poll.exit_code, 137);
}

static void what_was_cancelled_waits_no_longer(void **state)
{
    struct error error;
    (void)state;
    fake_submit("j-1", fake_manifest);
    assert_int_equal(executor_cancel(fake.executor, "j-1", 1, false, &error), 0);
    assert_string_equal(value_get_text(fake_job(0), "job_state").data, "CANCELLED");
    struct job_poll poll = fake_poll_ending("j-1", true);
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "Cancelled");
    assert_int_equal(executor_cancel(fake.executor, "j-1", 1, true, &error), 0);
    assert_int_equal(executor_remove(fake.executor, "j-1", 1, &error), 0);
    assert_int_not_equal(access(fake_path("jobs/j-1-a1"), F_OK), 0);
    assert_int_equal(executor_remove(fake.executor, "j-1", 1, &error), 0);
    assert_int_equal(executor_cancel(fake.executor, "never", 1, true, &error), 0);
}

static void capacity_is_what_nodes_have(void **state)
{
    struct capacity capacity;
    struct error error;
    (void)state;
    fake_stop();
    fake_start(
        "38",
        "--nodes '[{\"name\": \"n1\", \"state\": \"mixed\", \"cpus\": 8, \"alloc_cpus\": 3, "
        "\"real_memory\": 1000,"
        " \"alloc_memory\": 400, \"gres\": \"gpu:a100:4(S:0-1),nvme:2\", \"gres_used\": "
        "\"gpu:a100:1(IDX:0),nvme:0\"},"
        " {\"name\": \"n2\", \"state\": [\"IDLE\"], \"cpus\": 4, \"real_memory\": 500, \"gres\": "
        "\"gpu:2\"},"
        " {\"name\": \"n3\", \"state\": \"idle\", \"state_flags\": [\"DRAIN\"], \"cpus\": 100},"
        " {\"name\": \"n4\", \"state\": \"down\", \"cpus\": 100}, 5, {\"state\": {}}]'");
    assert_int_equal(fake.executor->operations->capacity(fake.executor, &capacity, &error), 0);
    assert_int_equal(capacity.cpus, 12000);
    assert_int_equal(capacity.cpus_free, 9000);
    assert_true(capacity.memory == (int64_t)1500 << 20 && capacity.memory_free == (int64_t)1100
                                                                                      << 20);
    assert_int_equal(capacity.gpus, 6);
    assert_int_equal(capacity.gpus_free, 5);
    assert_int_equal(capacity.nodes_ready, 2);
    assert_int_equal(capacity.gpu_type_count, 1);
    assert_string_equal(capacity.gpu_types[0].type, "a100");
    assert_int_equal(capacity.gpu_types[0].free, 3);
}

static void nodes_say_why_they_take_no_jobs(void **state)
{
    struct capacity capacity;
    struct error error;
    struct nodes *nodes = nodes_new();
    (void)state;
    fake_stop();
    fake_start(
        "38",
        "--nodes '[{\"name\": \"n1\", \"state\": \"mixed\", \"cpus\": 8, \"alloc_cpus\": 3, "
        "\"real_memory\": 1000, \"gres\": \"gpu:a100:4(S:0-1)\", \"gres_used\": "
        "\"gpu:a100:1(IDX:0)\", \"features\": \"nvlink,hgx\", \"active_features\": \"hgx\", "
        "\"reason\": \"of old\"},"
        " {\"name\": \"n2\", \"state\": [\"IDLE\", \"DRAIN\"], \"cpus\": 4, \"reason\": \"a fan\", "
        "\"reason_set_by_user\": \"ann\", \"reason_changed_at\": {\"set\": true, \"number\": 1764125000}, "
        "\"features\": [\"x\", \"y\"]},"
        " {\"name\": \"n3\", \"state\": \"down\", \"state_flags\": [\"DRAIN\", \"NOT_RESPONDING\"], "
        "\"cpus\": 100, \"gres\": \"gpu:v100:2\"},"
        " {\"name\": \"n4\", \"state\": \"unknown\"}, {\"name\": \"n5\", \"state\": \"allocated\"}, 5]'");
    assert_int_equal(nodes_survey(fake.executor, &capacity, nodes, &error), 0);
    assert_int_equal(nodes->count, 5);
    const struct node *node = nodes->items;
    assert_int_equal(node[0].state, NODE_READY);
    assert_string_equal(node[0].word.data, "MIXED");
    assert_string_equal(node[0].features.data, "hgx");
    assert_string_equal(node[0].reason.data, "");
    assert_int_equal(node[0].cpus_free, 5000);
    assert_int_equal(node[0].gpu_types[0].free, 3);
    assert_int_equal(node[1].state, NODE_DRAINED);
    assert_string_equal(node[1].word.data, "IDLE+DRAIN");
    assert_string_equal(node[1].reason.data, "a fan");
    assert_string_equal(node[1].by.data, "ann");
    assert_true(node[1].since == INT64_C(1764125000000));
    assert_string_equal(node[1].features.data, "x,y");
    assert_int_equal(node[2].state, NODE_DOWN);
    assert_string_equal(node[2].word.data, "DOWN+DRAIN+NOT_RESPONDING");
    assert_int_equal(node[3].state, NODE_UNKNOWN);
    assert_int_equal(node[4].state, NODE_READY);
    assert_int_equal(capacity.nodes_ready, 2);
    assert_int_equal(capacity.cpus, 8000);
    nodes_free(nodes);
}

/* Submit the usual job with GPUs of that type; what is said of it, or "" when it is taken. */
static const char *submit_type(const char *id, const char *type, bool repeated)
{
    static struct submission submission;
    char manifest[2000];
    const char *at = strstr(fake_manifest, "a100");
    snprintf(manifest, sizeof(manifest), "%.*s%s%s", (int)(at - fake_manifest), fake_manifest, type,
             at + 4);
    submission = fake_submission(id, manifest);
    submission.repeated = repeated;
    enum submit_outcome outcome = fake_submit_it(&submission);
    assert_true(outcome == SUBMIT_ACCEPTED || outcome == SUBMIT_NEVER_FITS);
    return outcome == SUBMIT_ACCEPTED ? "" : submission.error.text;
}

static void a_type_of_gpu_that_no_node_has_is_refused(void **state)
{
    (void)state;
    fake_stop();
    fake_start("38", "--nodes '[{\"name\": \"n1\", \"state\": \"idle\", \"cpus\": 8, \"gres\": "
                     "\"gpu:a100:4(S:0-1)\"}, {\"name\": \"n2\", \"state\": \"down\", \"cpus\": 8, "
                     "\"gres\": \"gpu:v100:2\"}]'");
    assert_string_equal(
        submit_type("j-1", "h100", false),
        "gpu_type: no node of the cluster has GPUs of the type h100; there are a100, v100");
    assert_int_equal(fake_job_count(), 0);
    assert_int_not_equal(access(fake_path("jobs/j-1-a1"), F_OK), 0);
    /* One whose nodes are away is waited for; what may be at Slurm already is looked for. */
    assert_string_equal(submit_type("j-2", "v100", false), "");
    assert_string_equal(submit_type("j-3", "a100", false), "");
    assert_string_equal(submit_type("j-4", "h100", true), "");
    /* Where the nodes cannot be asked, nobody knows. */
    fake_ahead += 60000;
    fake_order(
        "{\"answer\": {\"status\": 500, \"body\": \"\"}, \"times\": 9, \"match\": \"GET .*/nodes\"}");
    assert_string_equal(submit_type("j-5", "h100", false), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(a_job_is_handed_in_held_and_let_go),
        FAKE_TEST(every_version_has_its_own_words),
        FAKE_TEST(a_lost_answer_makes_no_second_run),
        FAKE_TEST(a_release_that_is_lost_is_made_again),
        FAKE_TEST(what_slurmctld_forgot_is_handed_in_again),
        FAKE_TEST(what_began_is_waited_for_and_not_begun_again),
        FAKE_TEST(what_the_accounting_has_nothing_of_is_handed_in_again),
        FAKE_TEST(what_a_job_used_is_the_accountings),
        FAKE_TEST(what_the_accounting_does_not_tell_is_not_waited_for),
        FAKE_TEST(the_accounting_tells_of_what_was_forgotten),
        FAKE_TEST(a_job_that_is_there_twice_runs_once),
        FAKE_TEST(a_list_is_not_sent_again_when_nothing_has_changed),
        FAKE_TEST(what_waits_for_nobody_is_ended),
        FAKE_TEST(a_release_that_went_astray_makes_no_false_end),
        FAKE_TEST(what_slurm_put_back_is_not_waited_for),
        FAKE_TEST(a_launch_that_failed_is_let_go_again),
        FAKE_TEST(a_role_that_decides_ends_the_job),
        FAKE_TEST(elements_of_an_array_end_each_by_itself),
        FAKE_TEST(what_was_cancelled_waits_no_longer),
        FAKE_TEST(a_type_of_gpu_that_no_node_has_is_refused),
        FAKE_TEST(capacity_is_what_nodes_have),
        FAKE_TEST(nodes_say_why_they_take_no_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
