/* tests/unit/local_run_test.c - jobs that run in real containers, from submission to removal */
#include "tests/unit/local_fixture.h"
#include "tests/unit/never_started.h"

#define HEAD "kind: dlspool/local/v1\nnetwork: private\ntasks:\n"
#define TASK(role, command, more)                                                                  \
    "- {role: " role ", image: host, cpus: 0.5, memory: 128Mi, command: " command more "}\n"
#define JOB(command, more) HEAD TASK("main", command, more)

static void a_task_that_exits_with_0_has_succeeded(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    int64_t before = clock_now();
    fixture_submit(f, "good-1", JOB("[echo, 'Hello,  world', '$HOME']", ""));
    struct job_poll poll = fixture_wait(f, "good-1");
    assert_int_equal(poll.phase, PHASE_SUCCEEDED);
    assert_int_equal(poll.task_count, 1);
    assert_string_equal(poll.tasks[0].role, "main");
    assert_int_equal(poll.tasks[0].exit_code, 0);
    assert_true(poll.started >= before && poll.ended >= poll.started);
    assert_true(poll.ended <= clock_now());
    assert_string_equal(fixture_output(f, "good-1", "main-0.log"), "Hello,  world $HOME\n");

    assert_int_equal(executor_remove(f->executor, "good-1", 1, NULL), 0);
    assert_int_equal(executor_remove(f->executor, "good-1", 1, NULL), 0);
    assert_int_equal(fixture_poll(f, "good-1").phase, PHASE_VANISHED);
    assert_int_equal(fixture_shell(f, "test -z \"$(ls $D/.podman/jobs)\""), 0);
}

/* podman's list has whole seconds: the start of a job may not be before its submission. */
static void a_running_job_started_after_it_was_submitted(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    while (clock_now() % 1000 < 20 || clock_now() % 1000 > 60) /* both within one second */
        ;
    int64_t before = clock_now();
    fixture_submit(f, "long-1", JOB("[sleep, '600']", ""));
    struct job_poll poll = fixture_poll(f, "long-1");
    assert_int_equal(poll.phase, PHASE_RUNNING);
    assert_true(poll.started >= before && poll.started <= clock_now());
    assert_int_equal(executor_remove(f->executor, "long-1", 1, NULL), 0);
}

static void the_exit_code_of_a_failed_task_is_told(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    fixture_submit(f, "bad-1", JOB("[sh, -c, 'echo out; echo err >&2; exit 3']", ""));
    struct job_poll poll = fixture_wait(f, "bad-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_int_equal(poll.exit_code, 3);
    assert_string_equal(poll.reason, "Exited");
    assert_string_equal(poll.detail, "task main-0 ended with exit code 3");
    const char *output = fixture_output(f, "bad-1", "main-0.log");
    assert_non_null(strstr(output, "out\n"));
    assert_non_null(strstr(output, "err\n"));
}

static void a_command_that_is_not_there_is_a_start_error(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    fixture_submit(f, "none-1", JOB("[no-such-program, x]", ""));
    struct job_poll poll = fixture_wait(f, "none-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_int_equal(poll.exit_code, 127);
    assert_string_equal(poll.reason, "StartError");
    assert_string_equal(poll.detail,
                        "task main-0 could not start its command no-such-program: No such file or "
                        "directory");
    fixture_submit(f, "none-2", JOB("[/etc/passwd]", ""));
    poll = fixture_wait(f, "none-2");
    assert_int_equal(poll.exit_code, 126);
    assert_string_equal(poll.reason, "StartError");
}

/* Through the track stage, with units that are counted. */
static void one_that_never_ran_fails(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    fixture_submit(f, NEVER_STARTED, JOB("[no-such-program, x]", ""));
    never_started_fails(f->executor, "StartError");
}

static void using_too_much_memory_is_told_from_being_killed(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    fixture_submit(f, "oom-1", JOB("[python3, -c, 'x = bytearray(400 << 20)']", ""));
    struct job_poll poll = fixture_wait(f, "oom-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_int_equal(poll.exit_code, 137);
    if (access("/dev/kmsg", R_OK) == 0)
        assert_string_equal(poll.reason, "OOMKilled");
    assert_non_null(strstr(poll.detail, "128 MiB"));
    fixture_submit(f, "kill-1", JOB("[sh, -c, 'kill -9 $$']", ""));
    poll = fixture_wait(f, "kill-1");
    assert_int_equal(poll.exit_code, 137);
    assert_string_equal(poll.reason, "Exited");
    assert_string_equal(poll.detail, "task main-0 was ended by signal 9 (SIGKILL)");
}

static void a_time_limit_ends_a_task(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    struct submission submission = fixture_submission("slow-1", JOB("[sleep, '60']", ""));
    submission.time_limit = 1000;
    int64_t begin = clock_elapsed();
    fixture_hand_in(f, &submission);
    assert_int_equal(submission.outcome, SUBMIT_ACCEPTED);
    struct job_poll poll = fixture_wait(f, "slow-1");
    assert_true(clock_elapsed() - begin < 50000);
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "TimeLimit");
    assert_int_equal(poll.exit_code, 137);
    assert_non_null(strstr(poll.detail, "time limit of 1 s"));
}

static int count_containers(const struct fixture *f)
{
    return fixture_shell(f, "exit $(curl -s --unix-socket $D/.podman/podman.sock "
                            "'http://d/v4.0.0/libpod/containers/json?all=true' | "
                            "jq '[.[] | select(.State == \"running\")] | length')");
}

static void a_rule_decides_while_tasks_still_run(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    fixture_submit(f, "rule-1",
                   "complete: {worker: {succeeded: 1}, other: {failed: -1}}\n" HEAD TASK(
                       "server", "[sleep, '600']", "") TASK("other", "[sh, -c, 'exit 3']", "")
                       TASK("worker", "[sleep, '1']", ""));
    struct job_poll poll = fixture_poll(f, "rule-1");
    int64_t begin = clock_elapsed();
    while (poll.phase == PHASE_RUNNING && clock_elapsed() - begin < 20000)
        poll = fixture_poll(f, "rule-1");
    assert_int_equal(poll.phase, PHASE_SUCCEEDED);
    assert_string_equal(poll.detail, "");
    assert_int_equal(poll.exit_code, 0);
    bool server_runs = false;
    for (size_t i = 0; i < poll.task_count; i++)
        server_runs =
            server_runs || (strcmp(poll.tasks[i].role, "server") == 0 && !poll.tasks[i].ended);
    assert_true(server_runs);
    assert_int_equal(executor_cancel(f->executor, "rule-1", 1, true, NULL), 0);
}

static void cancelling_ends_all_tasks_within_5_seconds(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    /* One ends politely; the other has to be forced. */
    fixture_submit(
        f, "stop-1",
        HEAD TASK("polite", "[sleep, '600']", "")
            TASK("deaf", "[sh, -c, 'trap \"\" TERM; echo deaf; while :; do sleep 1; done']", ""));
    fixture_await_output(f, "stop-1", "deaf-0.log", "deaf\n");
    int64_t begin = clock_elapsed();
    assert_int_equal(executor_cancel(f->executor, "stop-1", 1, false, NULL), 0);
    struct job_poll poll = fixture_poll(f, "stop-1");
    while (!poll.tasks[1].ended && clock_elapsed() - begin < FIXTURE_PATIENCE)
        poll = fixture_poll(f, "stop-1");
    assert_string_equal(poll.tasks[1].role, "polite");
    assert_true(poll.tasks[1].ended);
    assert_int_equal(poll.tasks[1].exit_code, 143);
    assert_false(poll.tasks[0].ended);
    assert_int_equal(executor_cancel(f->executor, "stop-1", 1, true, NULL), 0);
    poll = fixture_wait(f, "stop-1");
    assert_int_equal(poll.tasks[0].exit_code, 137);
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_int_equal(executor_cancel(f->executor, "stop-1", 1, true, NULL), 0);
    assert_int_equal(executor_cancel(f->executor, "never-was", 1, true, NULL), 0);
    assert_int_equal(executor_remove(f->executor, "stop-1", 1, NULL), 0);
    assert_int_equal(count_containers(f), 0);
}

static void tasks_of_a_job_talk_to_one_another_and_to_nobody_else(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    fixture_submit(
        f, "talk-1",
        HEAD "- role: server\n  image: host\n  cpus: 0.5\n  memory: 128Mi\n  command:\n"
             "  - python3\n  - -c\n  - |\n"
             "    import socket\n"
             "    s = socket.create_server((socket.gethostname(), 5000))\n"
             "    open_to_all = socket.create_server(('', 5001))\n"
             "    c, _ = s.accept()\n"
             "    print('got', c.recv(100).decode(), 'on', socket.gethostname())\n"
             "- role: client\n  index: 3\n  image: host\n  cpus: 0.5\n  memory: 128Mi\n  command:\n"
             "  - python3\n  - -c\n  - |\n"
             "    import socket, time\n"
             "    for i in range(200):\n"
             "        try:\n"
             "            c = socket.create_connection(('server-0', 5000))\n"
             "            break\n"
             "        except ConnectionRefusedError:\n"
             "            time.sleep(0.05)\n"
             "    socket.create_connection(('127.0.0.1', 5001))\n"
             "    c.send(b'hello')\n"
             "    print('I am', socket.gethostbyaddr(socket.gethostname())[0])\n"
             "    try:\n"
             "        socket.create_connection(('192.0.2.1', 80), 5)\n"
             "    except OSError as e:\n"
             "        print('outside:', e)\n");
    struct job_poll poll = fixture_wait(f, "talk-1");
    assert_string_equal(fixture_output(f, "talk-1", "client-3.log"),
                        "I am client-3\noutside: [Errno 101] Network is unreachable\n");
    assert_string_equal(fixture_output(f, "talk-1", "server-0.log"), "got hello on server-0\n");
    assert_int_equal(poll.phase, PHASE_SUCCEEDED);
    assert_int_equal(poll.task_count, 2);
    assert_int_equal(executor_remove(f->executor, "talk-1", 1, NULL), 0);
    assert_int_equal(fixture_shell(f, "curl -s --unix-socket $D/.podman/podman.sock "
                                      "http://d/v4.0.0/libpod/pods/json | jq -e 'length == 0' "
                                      "> /dev/null"),
                     0);
}

static void one_failed_task_fails_the_job_while_others_run(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    fixture_submit(f, "half-1",
                   HEAD TASK("long", "[sleep, '600']", "") TASK("short", "[sh, -c, 'exit 7']", ""));
    struct job_poll poll = fixture_poll(f, "half-1");
    while (poll.phase == PHASE_RUNNING)
        poll = fixture_poll(f, "half-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_int_equal(poll.exit_code, 7);
    assert_false(poll.tasks[0].ended);
    assert_true(poll.tasks[1].ended);
}

static void a_task_runs_as_the_user_with_no_more_rights_and_within_limits(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  pids: 321\n");
    struct submission submission = fixture_submission(
        "user-1",
        JOB("[sh, -c, 'exec 2>&1; id -u; id -g; grep -E \"^(CapEff|CapBnd|NoNewPrivs)\" "
            "/proc/self/status; "
            "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max; "
            "cat /sys/fs/cgroup/memory/memory.memsw.limit_in_bytes; "
            "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max; "
            "cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max; "
            "df -k /dev/shm | tail -1; pwd; echo \"$MINE\"; /job/script; ls -l /job/script; "
            "ip -o addr; touch /tmp/mine && echo wrote; echo x > /job/script']",
            ", shm: 3Mi, env: {MINE: \"a 'b' $c\\n\", PATH: '/usr/bin:/bin:/usr/sbin:/sbin'}, "
            "workdir: /job, files: [{path: /job/script, mode: '0755', "
            "content: \"#!/bin/sh\\necho script $0\\n\"}]"));
    submission.uid = submission.gid = 65534;
    fixture_hand_in(f, &submission);
    if (submission.outcome != SUBMIT_ACCEPTED)
        fail_msg("%s", submission.error.text);
    fixture_wait(f, "user-1");
    const char *output = fixture_output(f, "user-1", "main-0.log");
    assert_ptr_equal(strstr(output, "65534\n65534\n"), output);
    assert_non_null(strstr(output, "CapEff:\t0000000000000000\n"));
    assert_non_null(strstr(output, "CapBnd:\t0000000000000000\n"));
    assert_non_null(strstr(output, "NoNewPrivs:\t1\n"));
    assert_non_null(strstr(output, "134217728\n"));
    assert_non_null(strstr(output, "50000"));
    assert_non_null(strstr(output, "321\n"));
    assert_non_null(strstr(output, " 3072 "));
    assert_non_null(strstr(output, "/job\na 'b' $c\n\nscript /job/script\n"));
    assert_non_null(strstr(output, "-rwxr-xr-x"));
    assert_non_null(strstr(output, "127.0.0.1/8"));
    assert_non_null(strstr(output, "wrote\n"));
    assert_non_null(strstr(output, "Read-only file system"));
    assert_int_equal(access("/tmp/mine", F_OK), -1);
}

static void processor_time_is_limited(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    fixture_submit(f, "spin-1",
                   HEAD "- {role: main, image: host, cpus: 0.25, memory: 128Mi, command: [python3, "
                        "-c, \"import time; e = time.time() + 2\\nwhile time.time() < e: pass\\n"
                        "print(time.process_time())\"]}\n");
    assert_int_equal(fixture_wait(f, "spin-1").phase, PHASE_SUCCEEDED);
    double used = strtod(fixture_output(f, "spin-1", "main-0.log"), NULL);
    assert_true(used > 0.1 && used < 0.9);
}

static void what_the_user_may_not_have_is_not_mounted(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    assert_int_equal(fixture_shell(f, "cd $D && mkdir -m 700 shut && mkdir -m 755 shut/inner "
                                      "open && echo data > open/file && ln -s open link && "
                                      "mkdir own && chown 65534 own && echo no > secret && "
                                      "chmod 600 secret"),
                     0);
    static const struct {
        const char *source, *readonly, *words;
    } cases[] = {
        {"shut/inner", "true", "may not enter"},
        {"missing", "true", "No such file"},
        {"secret", "true", "may not read"},
        {"open", "false", "may not write to"},
        {"link", "true", NULL},
        {"own", "false", NULL},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char manifest[2048], id[32];
        snprintf(id, sizeof(id), "mount-%zu", i);
        snprintf(manifest, sizeof(manifest),
                 JOB("[sh, -c, 'ls /data; echo x > /data/new; true']",
                     ", mounts: [{source: '%s/%s', target: /data, readonly: %s}]"),
                 f->directory, cases[i].source, cases[i].readonly);
        struct submission submission = fixture_submission(id, manifest);
        submission.uid = submission.gid = 65534;
        fixture_hand_in(f, &submission);
        if (cases[i].words) {
            assert_int_equal(submission.outcome, SUBMIT_REFUSED);
            assert_non_null(strstr(submission.error.text, cases[i].words));
            assert_non_null(strstr(submission.error.text, cases[i].source));
            assert_non_null(strstr(submission.error.text, "nobody"));
            assert_int_equal(submission.mender, MENDER_OWNER);
        } else {
            if (submission.outcome != SUBMIT_ACCEPTED)
                fail_msg("%s", submission.error.text);
            assert_int_equal(fixture_wait(f, id).phase, PHASE_SUCCEEDED);
        }
        executor_remove(f->executor, id, 1, NULL);
    }
    assert_int_equal(fixture_shell(f, "test -s $D/own/new -a ! -e $D/open/new"), 0);
}

static void an_image_needs_neither_registry_nor_its_own_entry_point(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    if (access("/bin/busybox", X_OK)) {
        print_message("skipped: there is no /bin/busybox to make an image of\n");
        skip();
    }
    fixture_setup(f, "");
    assert_int_equal(f->executor->operations->ready(f->executor, NULL), 0);
    assert_int_equal(
        fixture_shell(
            f,
            "mkdir -p $D/image/bin && cp /bin/busybox $D/image/bin/ && "
            "ln -s busybox $D/image/bin/sh && export "
            "CONTAINERS_STORAGE_CONF=$D/.podman/storage.conf "
            "CONTAINERS_CONF=$D/.podman/containers.conf && tar -C $D/image -c . | podman import -q "
            "-c 'ENTRYPOINT [\"/bin/busybox\", \"echo\", \"entry point\"]' -c 'ENV PATH=/bin' "
            "-c 'USER 7' - localhost/box:1 > /dev/null"),
        0);
    fixture_submit(f, "image-1",
                   HEAD "- {role: main, image: 'localhost/box:1', cpus: 1, memory: 64Mi, workdir: "
                        "/job/dir, command: [busybox, sh, -c, 'echo $MINE; pwd; busybox id -u; "
                        "busybox test -e /usr/bin && echo host; busybox ls /job']}\n");
    struct job_poll poll = fixture_wait(f, "image-1");
    assert_string_equal(fixture_output(f, "image-1", "main-0.log"), "\n/job/dir\n0\ndir\n");
    assert_int_equal(poll.phase, PHASE_SUCCEEDED);
    /* What ran is told by the digest that podman has of the image, whatever its name stands for next. */
    setenv("RAN", poll.tasks[0].image, 1);
    assert_int_equal(fixture_shell(f,
                                   "export CONTAINERS_STORAGE_CONF=$D/.podman/storage.conf "
                                   "CONTAINERS_CONF=$D/.podman/containers.conf; test \"$RAN\" = "
                                   "\"$(podman image inspect -f '{{.Digest}}' localhost/box:1)\""),
                     0);
    fixture_submit(f, "host-1", JOB("['true']", ""));
    assert_string_equal(fixture_wait(f, "host-1").tasks[0].image, "host");
}

static void a_program_that_prints_without_end_does_not_fill_the_disk(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  log_limit: 64Ki\n");
    fixture_submit(f, "flood-1", JOB("[timeout, '30', 'yes']", ""));
    int64_t begin = clock_elapsed();
    size_t length = 0;
    while (clock_elapsed() - begin < 10000 && length <= 65536) {
        length = strlen(fixture_output(f, "flood-1", "main-0.log"));
        fixture_pause(50);
    }
    assert_true(length > 65536 && length < 65536 + 200);
    assert_int_equal(fixture_shell(f, "timeout 20 sh -c 'until test $(stat -c %s $D/.podman/jobs/*/"
                                      "logs/*) -gt 50000000; do sleep 0.1; done'"),
                     0);
    /* Emptied, and written to from the beginning; on a busy machine it may be long again at once. */
    int longer = 1;
    for (begin = clock_elapsed(); longer && clock_elapsed() - begin < 10000;) {
        fixture_output(f, "flood-1", "main-0.log");
        longer = fixture_shell(f, "test $(stat -c %s $D/.podman/jobs/*/logs/*) -lt 40000000");
    }
    assert_int_equal(longer, 0);
    assert_int_equal(strlen(fixture_output(f, "flood-1", "main-0.log")), length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_task_that_exits_with_0_has_succeeded),
        FIXTURE_TEST(a_running_job_started_after_it_was_submitted),
        FIXTURE_TEST(the_exit_code_of_a_failed_task_is_told),
        FIXTURE_TEST(a_command_that_is_not_there_is_a_start_error),
        FIXTURE_TEST(one_that_never_ran_fails),
        FIXTURE_TEST(using_too_much_memory_is_told_from_being_killed),
        FIXTURE_TEST(a_time_limit_ends_a_task),
        FIXTURE_TEST(a_rule_decides_while_tasks_still_run),
        FIXTURE_TEST(cancelling_ends_all_tasks_within_5_seconds),
        FIXTURE_TEST(tasks_of_a_job_talk_to_one_another_and_to_nobody_else),
        FIXTURE_TEST(one_failed_task_fails_the_job_while_others_run),
        FIXTURE_TEST(a_task_runs_as_the_user_with_no_more_rights_and_within_limits),
        FIXTURE_TEST(processor_time_is_limited),
        FIXTURE_TEST(what_the_user_may_not_have_is_not_mounted),
        FIXTURE_TEST(an_image_needs_neither_registry_nor_its_own_entry_point),
        FIXTURE_TEST(a_program_that_prints_without_end_does_not_fill_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
