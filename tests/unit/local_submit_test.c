/* tests/unit/local_submit_test.c - a job is handed to podman exactly once, if there is room */
#include "executors/nodes.h"
#include "executors/registry/registry.h"
#include "tests/unit/local_fixture.h"

#include <signal.h>

#define HEAD "kind: dlspool/local/v1\ntasks:\n"
#define TASK(role, command, more)                                                                  \
    "- {role: " role ", image: host, cpus: 0.5, memory: 64Mi, command: " command more "}\n"
#define JOB(command, more) HEAD TASK("main", command, more)
#define SLEEP JOB("[sleep, '600']", "")

/* One request to podman itself; the exit status says whether the answer satisfies jq. */
#define ASK(method, path)                                                                          \
    "curl -s -X " method " --unix-socket $D/.podman/podman.sock "                                  \
    "'http://d/v4.0.0/libpod" path "'"

static enum submit_outcome hand_in(struct fixture *f, const char *id, const char *manifest,
                                   struct submission *submission)
{
    *submission = fixture_submission(id, manifest);
    fixture_hand_in(f, submission);
    return submission->outcome;
}

static void a_job_that_is_too_large_never_fits(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 2\n  memory: 1Gi\n");
    struct submission s;
    assert_int_equal(hand_in(f, "big-1",
                             HEAD "- {role: main, image: host, cpus: 1000, memory: 8Gi, gpus: 1, "
                                  "command: [x]}\n",
                             &s),
                     SUBMIT_NEVER_FITS);
    assert_string_equal(s.error.text,
                        "the job requests more than this machine has for jobs: 1000 CPUs of 2, "
                        "8 GiB of memory of 1 GiB, 1 GPU of 0");
    /* Its tasks fit one by one, and not together. */
    assert_int_equal(hand_in(f, "big-2",
                             HEAD "- {role: a, image: host, cpus: 1.5, memory: 1Mi, command: [x]}\n"
                                  "- {role: b, image: host, cpus: 1.5, memory: 1Mi, command: "
                                  "[x]}\n",
                             &s),
                     SUBMIT_NEVER_FITS);
}

static void a_job_waits_for_room_and_gets_it(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 2\n  memory: 1Gi\n");
    const char *two = HEAD "- {role: main, image: host, cpus: 1.5, memory: 64Mi, command: "
                           "[sleep, '600']}\n";
    struct submission a = fixture_submission("room-1", two), b = fixture_submission("room-2", two),
                      c = fixture_submission("room-3", SLEEP), *batch[] = {&a, &b, &c};
    f->executor->operations->submit(f->executor, batch, 3);
    assert_int_equal(a.outcome, SUBMIT_ACCEPTED);
    assert_int_equal(b.outcome, SUBMIT_NO_ROOM);
    assert_string_equal(b.error.text, "needs 1.5 CPUs, 0.5 of 2 free");
    assert_int_equal(c.outcome, SUBMIT_ACCEPTED);
    struct capacity capacity;
    assert_int_equal(f->executor->operations->capacity(f->executor, &capacity, NULL), 0);
    assert_int_equal(capacity.cpus, 2000);
    assert_int_equal(capacity.cpus_free, 0);
    assert_int_equal(capacity.memory_free, capacity.memory - (128 << 20));

    executor_cancel(f->executor, "room-1", 1, true, NULL);
    fixture_wait(f, "room-1");
    fixture_submit(f, "room-2", two);
}

static void memory_may_be_locked_up_to_the_setting(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  locked_memory: 1Mi\n");
    fixture_submit(f, "lock-1", HEAD TASK("main", "[sh, -c, 'ulimit -l']", ""));
    fixture_wait(f, "lock-1");
    assert_int_equal(executor_output(f->executor, "lock-1", 1, f->output, true, NULL), 0);
    assert_int_equal(fixture_shell(f, "grep -qx 1024 $D/output/main-0.log"), 0);
}

/* A device that no CDI specification declares is given to nobody, until one does. */
static void a_gpu_that_is_not_there_is_waited_for(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    char file[128], settings[128], specification[512];
    snprintf(file, sizeof(file), "/run/cdi/dlspool-test-%d.json", getpid());
    snprintf(settings, sizeof(settings), "  cpus: 4\n  gpus: [dlspool.test%d/gpu=0]\n", getpid());
    snprintf(
        specification, sizeof(specification),
        "{\"cdiVersion\": \"0.5.0\", \"kind\": \"dlspool.test%d/gpu\", \"devices\": [{\"name\": \"0\", "
        "\"containerEdits\": {\"env\": [\"GPU=zero\"], \"deviceNodes\": [{\"path\": \"/dev/null\", "
        "\"hostPath\": \"/dev/null\"}]}}]}",
        getpid());
    mkdir("/run/cdi", 0755);
    fixture_setup(f, settings);
    struct capacity capacity;
    struct error error;
    const char *one = HEAD TASK("main", "[sh, -c, 'echo $GPU; sleep 600']", ", gpus: 1");
    struct submission job;
    assert_int_equal(hand_in(f, "cdi-1", one, &job), SUBMIT_NO_ROOM);
    assert_non_null(
        strstr(job.error.text, "is declared by no CDI specification in /etc/cdi or /run/cdi"));
    assert_int_equal(f->executor->operations->capacity(f->executor, &capacity, &error), 0);
    assert_int_equal(capacity.gpus, 1);
    assert_int_equal(capacity.gpus_free, 0);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(specification, out);
    fclose(out);
    enum submit_outcome outcome = hand_in(f, "cdi-1", one, &job);
    unlink(file);
    assert_int_equal(outcome, SUBMIT_ACCEPTED);
}

/* A type of GPU that is asked for is what the job gets, or it is refused. */
static void a_type_of_gpu_is_given_or_refused(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n  gpu_type: A100\n  gpus: [/dev/null:/dev/gpu-a]\n");
    struct submission job =
        fixture_submission("type-1", HEAD TASK("main", "[sleep, '600']", ", gpus: 1"));
    job.gpu_type = TEXT("H100");
    fixture_hand_in(f, &job);
    assert_int_equal(job.outcome, SUBMIT_NEVER_FITS);
    assert_string_equal(job.error.text,
                        "the job asks for GPUs of the type H100, and this machine's are "
                        "of the type A100");
    job = fixture_submission("type-2", HEAD TASK("main", "[sleep, '600']", ", gpus: 1"));
    job.gpu_type = TEXT("A100");
    fixture_hand_in(f, &job);
    assert_int_equal(job.outcome, SUBMIT_ACCEPTED);
}

/* Of GPUs that differ a job gets those of its type, and each type is counted by itself. */
static void gpus_of_several_types_are_told_apart(void **state)
{
    struct fixture *f = *state;
    struct capacity capacity;
    FIXTURE_OR_SKIP();
    fixture_setup(
        f, "  cpus: 4\n  gpu_type: A100\n  gpus: [{device: '/dev/null:/dev/gpu-t', type: T4}, "
           "/dev/zero:/dev/gpu-a, {device: '/dev/full:/dev/gpu-b', type: A100}]\n");
    const char *two = HEAD TASK("main", "[sh, -c, 'echo /dev/gpu*; sleep 600']", ", gpus: 2");
    const char *one = HEAD TASK("main", "[sleep, '600']", ", gpus: 1");
    struct submission job = fixture_submission("types-1", two);
    job.gpu_type = TEXT("A100");
    fixture_hand_in(f, &job);
    assert_int_equal(job.outcome, SUBMIT_ACCEPTED);
    fixture_await_output(f, "types-1", "main-0.log", "/dev/gpu-a /dev/gpu-b\n");
    job = fixture_submission("types-2", one);
    job.gpu_type = TEXT("A100");
    fixture_hand_in(f, &job);
    assert_int_equal(job.outcome, SUBMIT_NO_ROOM);
    assert_string_equal(job.error.text, "needs 1 GPU of type A100, 0 of 2 free");
    struct nodes *nodes = nodes_new();
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    assert_int_equal(nodes_survey(f->executor, &capacity, nodes, NULL), 0);
    assert_int_equal(nodes->count, 1);
    assert_string_equal(nodes->items[0].name.data, host);
    assert_int_equal(nodes->items[0].state, NODE_READY);
    assert_int_equal(nodes->items[0].gpus, 3);
    assert_int_equal(nodes->items[0].gpus_free, 1);
    assert_int_equal(nodes->items[0].cpus_free, capacity.cpus_free);
    assert_int_equal(capacity.nodes, 0);
    nodes_free(nodes);
    assert_int_equal(capacity.gpus_free, 1);
    assert_int_equal(capacity.gpu_type_count, 2);
    assert_string_equal(capacity.gpu_types[0].type, "T4");
    assert_int_equal(capacity.gpu_types[0].free, 1);
    assert_string_equal(capacity.gpu_types[1].type, "A100");
    assert_int_equal(capacity.gpu_types[1].count, 2);
    assert_int_equal(capacity.gpu_types[1].free, 0);
    job = fixture_submission("types-3", two);
    job.gpu_type = TEXT("T4");
    fixture_hand_in(f, &job);
    assert_int_equal(job.outcome, SUBMIT_NEVER_FITS);
    job.gpu_type = TEXT("H100");
    fixture_hand_in(f, &job);
    assert_string_equal(job.error.text,
                        "the job asks for GPUs of the type H100, and this machine's are "
                        "of the type T4, A100");
    /* One that asks for none gets what is left. */
    job = fixture_submission("types-4", one);
    fixture_hand_in(f, &job);
    assert_int_equal(job.outcome, SUBMIT_ACCEPTED);
}

static void a_type_of_gpu_that_nobody_knows_is_refused(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n  gpus: [/dev/null:/dev/gpu-a, /dev/zero:/dev/gpu-b]\n");
    struct submission job =
        fixture_submission("type-3", HEAD TASK("main", "[sleep, '600']", ", gpus: 1"));
    job.gpu_type = TEXT("A100");
    fixture_hand_in(f, &job);
    assert_int_equal(job.outcome, SUBMIT_NEVER_FITS);
    assert_non_null(strstr(job.error.text, "local.gpu_type of dlspool.yaml does not say"));
    /* It does not matter to a job without GPUs. */
    job = fixture_submission("type-4", HEAD TASK("main", "[sleep, '600']", ""));
    job.gpu_type = TEXT("A100");
    fixture_hand_in(f, &job);
    assert_int_equal(job.outcome, SUBMIT_ACCEPTED);
}

static void gpus_are_given_to_one_task_at_a_time(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n  gpus: [/dev/null:/dev/gpu-a, /dev/zero:/dev/gpu-b]\n");
    const char *one = HEAD TASK("main", "[sh, -c, 'ls /dev/gpu*; sleep 600']", ", gpus: 1");
    struct submission s;
    fixture_submit(f, "gpu-1", one);
    fixture_submit(f, "gpu-2", one);
    fixture_await_output(f, "gpu-1", "main-0.log", "\n");
    assert_string_equal(fixture_output(f, "gpu-1", "main-0.log"), "/dev/gpu-a\n");
    assert_int_equal(fixture_shell(f, "rm $D/output/*"), 0);
    fixture_await_output(f, "gpu-2", "main-0.log", "\n");
    assert_string_equal(fixture_output(f, "gpu-2", "main-0.log"), "/dev/gpu-b\n");
    assert_int_equal(hand_in(f, "gpu-3", one, &s), SUBMIT_NO_ROOM);
    assert_non_null(strstr(s.error.text, "1 GPU, 0 of 2 free"));
    executor_remove(f->executor, "gpu-1", 1, NULL);
    fixture_submit(f, "gpu-3", one);
    assert_int_equal(fixture_shell(f, "rm $D/output/*"), 0);
    fixture_await_output(f, "gpu-3", "main-0.log", "/dev/gpu-a\n");
}

#define COUNTING                                                                                   \
    JOB("[sh, -c, 'echo run >> /data/runs; sleep 600']",                                           \
        ", mounts: [{source: '%s/data', target: /data, readonly: false}]")

static void submitting_again_adopts_what_runs(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    assert_int_equal(fixture_shell(f, "mkdir $D/data"), 0);
    char manifest[1024];
    snprintf(manifest, sizeof(manifest), COUNTING, f->directory);
    struct submission s;
    for (int i = 0; i < 3; i++) {
        if (hand_in(f, "once-1", manifest, &s) != SUBMIT_ACCEPTED)
            fail_msg("try %d: outcome %d: %s", i, s.outcome, s.error.text);
        assert_string_equal(s.note, i ? "adopted from an earlier try" : "");
        fixture_reopen(f);
    }
    /* podman has started the program, which may not have come to its first line yet. */
    assert_int_equal(
        fixture_shell(f, "timeout 30 sh -c 'until test -s $D/data/runs; do sleep 0.05; done'"), 0);
    assert_int_equal(executor_cancel(f->executor, "once-1", 1, true, NULL), 0);
    fixture_wait(f, "once-1");
    /* What has ended is not started again either. */
    assert_int_equal(hand_in(f, "once-1", manifest, &s), SUBMIT_ACCEPTED);
    assert_int_equal(fixture_poll(f, "once-1").phase, PHASE_FAILED);
    assert_int_equal(fixture_shell(f, "test $(wc -l < $D/data/runs) = 1"), 0);
}

static void what_was_made_and_not_started_is_finished(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    assert_int_equal(fixture_shell(f, "mkdir $D/data"), 0);
    char manifest[2048];
    snprintf(manifest, sizeof(manifest),
             HEAD TASK("a", "[sh, -c, 'echo run >> /data/a; sleep 600']",
                       ", mounts: [{source: '%s/data', target: /data, readonly: false}]")
                 TASK("b", "[sh, -c, 'echo run >> /data/b; sleep 600']",
                      ", mounts: [{source: '%s/data', target: /data, readonly: false}]"),
             f->directory, f->directory);
    fixture_submit(f, "crash-1", manifest);
    /* As after a crash between two creations: one task and its pod are there, and never ran. */
    assert_int_equal(fixture_shell(f,
                                   "until test -e $D/data/a -a -e $D/data/b; do sleep 0.05; done; "
                                   "rm $D/data/a $D/data/b"),
                     0);
    assert_int_equal(
        fixture_shell(
            f,
            "cd $D; " ASK(
                "GET",
                "/containers/crash-1-a1-a-0/json") " | jq '{name:\"crash-1-a1-a-0\",pod:\"crash-1-a1\",rootfs:\"/\",rootfs_overlay:true,"
                                                   "labels:.Config.Labels,command:[\"sh\",\"-c\",\"echo run >> '$D'/data/a; sleep 600\"],"
                                                   "mounts:[{source:\"'$D'\",destination:\"'$D'\",type:\"bind\",options:[\"rbind\"]}]}' "
                                                   "> spec.json; " ASK("DELETE", "/containers/crash-1-a1-a-0?force=true&timeout=0") " > x; " ASK(
                                                       "DELETE",
                                                       "/containers/crash-1-a1-b-0?force=true&timeout=0") " > x; " ASK("POST",
                                                                                                                       "/containers/create") " -H Content-Type:application/json -d @spec.json "
                                                                                                                                             "| jq -e .Id > x"),
        0);
    struct job_poll poll = fixture_poll(f, "crash-1");
    assert_int_equal(poll.phase, PHASE_VANISHED);
    fixture_reopen(f);
    struct submission s;
    hand_in(f, "crash-1", manifest, &s);
    if (s.outcome != SUBMIT_ACCEPTED)
        fail_msg("%s", s.error.text);
    assert_string_equal(s.note, "adopted from an earlier try");
    poll = fixture_poll(f, "crash-1");
    assert_int_equal(poll.phase, PHASE_RUNNING);
    assert_int_equal(poll.task_count, 2);
    assert_int_equal(fixture_shell(f,
                                   "until test -e $D/data/a -a -e $D/data/b; do sleep 0.05; done; "
                                   "test $(cat $D/data/a $D/data/b | wc -l) = 2"),
                     0);
}

static void a_stale_container_that_never_ran_is_made_again(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    struct submission s;
    fixture_submit(f, "stale-1", JOB("[echo, old]", ""));
    fixture_wait(f, "stale-1");
    assert_int_equal(hand_in(f, "stale-1", JOB("[echo, new]", ""), &s), SUBMIT_REFUSED);
    assert_string_equal(s.error.text,
                        "attempt 1 of this job was started from another manifest already");
    assert_int_equal(
        fixture_shell(
            f,
            "cd $D; " ASK(
                "GET",
                "/containers/stale-1-a1-main-0/json") " | jq '{name:.Name,rootfs:\"/\",rootfs_overlay:true,labels:.Config.Labels,"
                                                      "command:[\"echo\",\"old\"]}' > spec.json; " ASK(
                                                          "DELETE",
                                                          "/containers/stale-1-a1-main-0") " > x; " ASK("POST",
                                                                                                        "/containers/create") " -H Content-Type:application/json -d @spec.json "
                                                                                                                              "| jq -e .Id > x"),
        0);
    assert_int_equal(hand_in(f, "stale-1", JOB("[echo, new]", ""), &s), SUBMIT_ACCEPTED);
    fixture_wait(f, "stale-1");
    assert_string_equal(fixture_output(f, "stale-1", "main-0.log"), "new\n");
}

/* It mounts what is at the user's path when it starts, and not what was looked at. */
static void what_an_older_dlspool_made_and_did_not_start_is_made_again(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    struct submission s;
    fixture_submit(f, "older-1", JOB("[echo, new]", ""));
    fixture_wait(f, "older-1");
    assert_int_equal(
        fixture_shell(
            f,
            "cd $D; rm .podman/jobs/older-1-a1/logs/*; " ASK(
                "GET",
                "/containers/older-1-a1-main-0/json") " | jq '{name:.Name,rootfs:\"/\",rootfs_overlay:true,"
                                                      "labels:(.Config.Labels|del(.[\"dlspool.sources\"])),"
                                                      "command:[\"echo\",\"old\"]}' > spec.json; " ASK(
                                                          "DELETE",
                                                          "/containers/older-1-a1-main-0") " > x; " ASK("POST",
                                                                                                        "/containers/create") " -H Content-Type:application/json -d @spec.json "
                                                                                                                              "| jq -e .Id > x"),
        0);
    assert_int_equal(hand_in(f, "older-1", JOB("[echo, new]", ""), &s), SUBMIT_ACCEPTED);
    fixture_wait(f, "older-1");
    assert_string_equal(fixture_output(f, "older-1", "main-0.log"), "new\n");
}

static void a_strangers_container_under_our_name_is_left_alone(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    struct submission s;
    assert_int_equal(f->executor->operations->ready(f->executor, NULL), 0);
    assert_int_equal(
        fixture_shell(
            f,
            "cd $D; for n in alien-1-a1-main-0 alien-2-a1; do " ASK(
                "POST",
                "/containers/create") " -H Content-Type:application/json -d "
                                      "'{\"name\":\"'$n'\",\"rootfs\":\"/\",\"rootfs_overlay\":true,\"command\":[\"true\"]}' "
                                      "| jq -e .Id > x || exit 1; done"),
        0);
    assert_int_equal(hand_in(f, "alien-1", SLEEP, &s), SUBMIT_REFUSED);
    assert_non_null(strstr(s.error.text, "alien-1-a1-main-0 is there already and was not made for "
                                         "this job"));
    const char *pair = HEAD TASK("a", "[sleep, '9']", "") TASK("b", "[sleep, '9']", "");
    assert_int_equal(hand_in(f, "alien-2", pair, &s), SUBMIT_REFUSED);
    assert_non_null(strstr(s.error.text, "alien-2-a1 is there already"));
    /* The same with labels of another spool. */
    assert_int_equal(
        fixture_shell(
            f,
            "cd $D; " ASK(
                "POST",
                "/containers/create") " -H Content-Type:application/json -d "
                                      "'{\"name\":\"alien-3-a1-main-0\",\"rootfs\":\"/\",\"rootfs_overlay\":true,"
                                      "\"command\":[\"true\"],\"labels\":{\"dlspool.spool\":\"other\","
                                      "\"dlspool.job\":\"alien-3\",\"dlspool.attempt\":\"1\"}}' | jq -e .Id > x"),
        0);
    assert_int_equal(hand_in(f, "alien-3", SLEEP, &s), SUBMIT_REFUSED);
    assert_int_equal(
        fixture_shell(f,
                      ASK("GET", "/containers/json?all=true") " | jq -e 'length == 3' > /dev/null"),
        0);
}

static void a_job_of_which_one_task_is_refused_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    struct submission s;
    const char *pair = HEAD TASK(
        "a", "[sleep, '9']",
        "") "- {role: b, image: 'localhost/no-such-image:1', cpus: 1, memory: 64Mi, command: [x]}\n";
    assert_int_equal(hand_in(f, "refused-1", pair, &s), SUBMIT_REFUSED);
    assert_non_null(strstr(s.error.text, "the image localhost/no-such-image:1 is not on this "
                                         "machine and could not be pulled"));
    /* The cause stands at the end of what podman says; at localhost is no registry that could come. */
    if (!strstr(s.error.text, "connection refused"))
        fail_msg("%s", s.error.text);
    assert_int_equal(s.mender, MENDER_IMAGE);
    /* A registry that does not answer may do so later. */
    const char *away =
        HEAD "- {role: b, image: '127.0.0.1:1/x:1', cpus: 1, memory: 64Mi, command: [x]}\n";
    assert_int_equal(hand_in(f, "away-1", away, &s), SUBMIT_REFUSED);
    assert_int_equal(s.mender, MENDER_TIME);
    assert_non_null(strstr(s.remedy, "reaches that registry"));
    assert_int_equal(
        fixture_shell(
            f, ASK("GET", "/containers/json?all=true") " | jq -e 'length == 0' > /dev/null && "
                                                       "test -z \"$(ls $D/.podman/jobs)\""),
        0);
    assert_int_equal(fixture_poll(f, "refused-1").phase, PHASE_VANISHED);
}

static pid_t service_process(const struct fixture *f)
{
    char path[512];
    int process = 0;
    snprintf(path, sizeof(path), "%s/.podman/service.pid", f->directory);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &process), 1);
    fclose(file);
    return process;
}

static void containers_outlive_the_service_and_are_found_again(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    fixture_submit(f, "outlive-1",
                   JOB("[sh, -c, 'echo on; until test -e /data/go; do sleep 0.05; done; exit 5']",
                       ", mounts: [{source: /tmp, target: /data}]"));
    executor_remove(f->executor, "outlive-1", 1, NULL);
    char manifest[1024];
    snprintf(manifest, sizeof(manifest),
             JOB("[sh, -c, 'echo on; until test -e /data/go; do sleep 0.05; done; exit 5']",
                 ", mounts: [{source: '%s/output', target: /data}]"),
             f->directory);
    fixture_submit(f, "outlive-2", manifest);
    pid_t first = service_process(f);
    assert_int_equal(kill(first, SIGKILL), 0);
    assert_int_equal(fixture_poll(f, "outlive-2").phase, PHASE_RUNNING);
    pid_t second = service_process(f);
    assert_int_not_equal(first, second);
    f->executor->operations->stop(f->executor);
    assert_true(fixture_is_gone(second));
    assert_int_equal(fixture_shell(f, "touch $D/output/go"), 0);
    struct job_poll poll = fixture_wait(f, "outlive-2");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_int_equal(poll.exit_code, 5);
    assert_string_equal(fixture_output(f, "outlive-2", "main-0.log"), "on\n");
}

static void after_a_restart_of_the_machine_a_job_can_be_handed_in_again(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "");
    fixture_submit(f, "reboot-1", SLEEP);
    /* What a power cut does: everything is dead, and the boot id is another. */
    assert_int_equal(
        fixture_shell(
            f,
            "cd $D; kill -9 $(cut -d' ' -f1 .podman/service.pid) $(" ASK(
                "GET",
                "/containers/reboot-1-a1-main-0/json") " | jq '.State.ConmonPid, .State.Pid'); "
                                                       "runc --root /run/runc delete -f $(ls .podman/root/overlay-containers | grep '^[0-9a-f]*$')"
                                                       " 2> /dev/null; echo other > .podman/boot"),
        0);
    fixture_reopen(f);
    struct job_poll poll = fixture_poll(f, "reboot-1");
    assert_int_equal(poll.phase, PHASE_VANISHED);
    struct submission s;
    assert_int_equal(hand_in(f, "reboot-1", SLEEP, &s), SUBMIT_ACCEPTED);
    assert_int_equal(fixture_poll(f, "reboot-1").phase, PHASE_RUNNING);
}

/* Of tasks that take turns one has ended, one runs, and two wait when the machine loses its power:
 * the one that ran is not run again, and those that waited are run. */
static void after_a_restart_of_the_machine_a_sweep_goes_on(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
#define TURN(index, command)                                                                       \
    "- {role: main, index: " index ", image: host, cpus: 0.1, memory: 32Mi, command: " command "}\n"
    fixture_setup(f, "");
    fixture_submit(
        f, "turns-1",
        "kind: dlspool/local/v1\nparallelism: 2\ncomplete: {main: {each: true}}\ntasks:\n" TURN(
            "0", "[echo, one]") TURN("1", "[sleep, '1000']") TURN("2", "[echo, two]")
            TURN("3", "[echo, three]"));
    int64_t begin = clock_elapsed();
    /* It is not told that others may go on, as the next look would be. */
    while (fixture_shell(
        f,
        "cd $D; " ASK(
            "GET",
            "/containers/turns-1-a1-main-0/json") " | jq -e '.State.Status == \"exited\"' > /dev/null"))
        assert_true(clock_elapsed() - begin < FIXTURE_PATIENCE);
    assert_int_equal(
        fixture_shell(
            f,
            "cd $D; kill -9 $(cut -d' ' -f1 .podman/service.pid) $(" ASK(
                "GET",
                "/containers/turns-1-a1-main-1/json") " | jq '.State.ConmonPid, .State.Pid'); "
                                                      "for i in $(ls .podman/root/overlay-containers | grep '^[0-9a-f]*$'); do "
                                                      "runc --root /run/runc delete -f $i; done 2> /dev/null; echo other > .podman/boot"),
        0);
    fixture_reopen(f);
    struct job_poll poll = fixture_wait(f, "turns-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "NodeLost");
    assert_int_equal(poll.task_count, 4);
    assert_int_equal(poll.tasks[0].exit_code, 0);
    assert_int_equal(poll.tasks[1].exit_code, 255);
    assert_int_equal(poll.tasks[2].exit_code, 0);
    assert_int_equal(poll.tasks[3].exit_code, 0);
    assert_string_equal(fixture_output(f, "turns-1", "main-0.log"), "one\n");
    assert_string_equal(fixture_output(f, "turns-1", "main-3.log"), "three\n");
}

static void processes_that_start_together_share_one_service(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    enum { PROCESSES = 6 };
    fixture_setup(f, "");
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct executor *executor = registry_open(f->settings, "test", f->directory, NULL);
            _exit(executor && executor->operations->ready(executor, NULL) == 0 ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(
        fixture_shell(f, "test $(pgrep -fc \"^podman .*system service .*unix://$D/\") = 1"), 0);
    /* No child of ours is left, alive or not. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void a_service_that_hangs_is_replaced(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  request_timeout: 500ms\n");
    assert_int_equal(f->executor->operations->ready(f->executor, NULL), 0);
    pid_t first = service_process(f);
    char stopped[128];
    assert_int_equal(kill(first, SIGSTOP), 0);
    snprintf(stopped, sizeof(stopped), "until grep -q '^State:.T' /proc/%d/status; do :; done",
             first);
    fixture_shell(f, stopped);
    int64_t begin = clock_elapsed();
    assert_int_equal(f->executor->operations->ready(f->executor, NULL), 0);
    assert_true(clock_elapsed() - begin < 30000);
    assert_int_not_equal(service_process(f), first);
    assert_true(fixture_is_gone(first));
}

static void what_podman_cannot_do_here_is_said_in_a_sentence(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  socket: /nowhere/podman.sock\n");
    struct error error = {""};
    assert_int_equal(f->executor->operations->ready(f->executor, &error), -1);
    assert_non_null(strstr(error.text, "podman does not answer at /nowhere/podman.sock"));
    struct submission s;
    assert_int_equal(hand_in(f, "down-1", SLEEP, &s), SUBMIT_UNAVAILABLE);
    struct job_poll poll = {.id = "down-1", .attempt = 1}, *jobs[] = {&poll};
    assert_int_equal(f->executor->operations->poll(f->executor, f->arena, jobs, 1, &error), -1);
    assert_int_equal(poll.phase, PHASE_UNKNOWN);
    f->executor->operations->close(f->executor);
    f->executor = NULL;

    setenv("PATH", "/nowhere", 1);
    snprintf(f->settings_text, sizeof(f->settings_text), "executor: local\n");
    fixture_open_executor(f);
    int result = f->executor->operations->ready(f->executor, &error);
    setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
    assert_int_equal(result, -1);
    assert_string_equal(error.text, "podman is not installed: expected the program podman in PATH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_job_that_is_too_large_never_fits),
        FIXTURE_TEST(a_job_waits_for_room_and_gets_it),
        FIXTURE_TEST(a_type_of_gpu_is_given_or_refused),
        FIXTURE_TEST(gpus_of_several_types_are_told_apart),
        FIXTURE_TEST(a_type_of_gpu_that_nobody_knows_is_refused),
        FIXTURE_TEST(gpus_are_given_to_one_task_at_a_time),
        FIXTURE_TEST(memory_may_be_locked_up_to_the_setting),
        FIXTURE_TEST(a_gpu_that_is_not_there_is_waited_for),
        FIXTURE_TEST(submitting_again_adopts_what_runs),
        FIXTURE_TEST(what_was_made_and_not_started_is_finished),
        FIXTURE_TEST(a_stale_container_that_never_ran_is_made_again),
        FIXTURE_TEST(what_an_older_dlspool_made_and_did_not_start_is_made_again),
        FIXTURE_TEST(a_strangers_container_under_our_name_is_left_alone),
        FIXTURE_TEST(a_job_of_which_one_task_is_refused_leaves_nothing),
        FIXTURE_TEST(containers_outlive_the_service_and_are_found_again),
        FIXTURE_TEST(after_a_restart_of_the_machine_a_job_can_be_handed_in_again),
        FIXTURE_TEST(after_a_restart_of_the_machine_a_sweep_goes_on),
        FIXTURE_TEST(processes_that_start_together_share_one_service),
        FIXTURE_TEST(a_service_that_hangs_is_replaced),
        FIXTURE_TEST(what_podman_cannot_do_here_is_said_in_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
