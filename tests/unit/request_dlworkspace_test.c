/* request_dlworkspace_test.c - what DLWorkspace's PostJob takes, as a job file */
#include "tests/unit/request_support.h"

#define JOB                                                                                        \
    "jobName: my job\nvcName: platform\nuserName: alice@example.org\n"                             \
    "image: org/train:1\ncmd: python train.py\n"

static struct text variable(const struct task_role *role, const char *name)
{
    for (size_t i = 0; i < role->environment.count; i++)
        if (text_is(role->environment.variables[i].name, name))
            return role->environment.variables[i].value;
    return TEXT("(none)");
}

static void a_regular_job_is_single(void **state)
{
    (void)state;
    const struct description *job = good(JOB);
    assert_true(text_is(job->name, "my job"));
    assert_true(text_is(job->library, "any"));
    assert_true(text_is(job->type, "single"));
    assert_true(text_is(job->image, "org/train:1"));
    assert_true(text_is(job->platform.name, "dlworkspace"));
    assert_true(text_is(job->platform.cluster, "platform"));
    assert_int_equal(job->priority, 0);
    assert_int_equal(job->tasks_count, 1);
    const struct task_role *role = &job->tasks[0];
    assert_true(text_is(role->role, "master"));
    assert_int_equal(role->count, 1);
    assert_int_equal(role->gpus, 0);
    assert_true(text_starts(role->script, "#!/bin/bash\n"));
    assert_true(text_ends(role->script, "\npython train.py\n"));
    assert_true(text_is(variable(role, "DLWS_ROLE_NAME"), "master"));
    assert_true(text_is(variable(role, "DLTS_VC_NAME"), "platform"));
    assert_true(text_is(variable(role, "DLWS_PREEMPTIBLE"), "false"));
    assert_int_equal(job->notes.count, 1);
    assert_true(noted(job, "userName"));
}

static void every_field_is_taken(void **state)
{
    (void)state;
    const struct description *job = good(
        "{\"jobName\": \"x\", \"cmd\": \"a\\nb\\n\", \"resourcegpu\": \"2\", "
        "\"cpurequest\": \"500m\", "
        "\"memorylimit\": \"4Gi\", \"gpuType\": \"P40\", \"workPath\": \"alice/code/\", "
        "\"dataPath\": \"sets/cifar\", \"jobPath\": \"alice/out\", \"enabledatapath\": \"True\", "
        "\"enableworkpath\": 1, \"enablejobpath\": false, "
        "\"interactivePort\": \"8888; 6006,8888\", "
        "\"jobPriority\": 150, \"jobType\": \"training\", \"jobtrainingtype\": \"RegularJob\", "
        "\"envs\": [{\"name\": \"EPOCHS\", \"value\": 3}], "
        "\"plugins\": {\"blobfuse\": [], \"imagePull\": [{\"registry\": \"r.example.org\", "
        "\"username\": \"bob\", \"password\": \"S3CR3T\"}]}}");
    const struct task_role *role = &job->tasks[0];
    assert_int_equal(role->gpus, 2);
    assert_int_equal(role->cpus, 500);
    assert_int_equal(role->memory, INT64_C(4) << 30);
    assert_true(text_is(job->gpu_type, "P40"));
    assert_true(text_is(job->platform.code, "work/alice/code"));
    assert_true(text_is(job->platform.data, "data/sets/cifar"));
    assert_int_equal(job->platform.output.length, 0);
    assert_int_equal(role->ports_count, 2);
    assert_true(text_is(role->ports[0].label, "port8888"));
    assert_int_equal(role->ports[0].first, 8888);
    assert_int_equal(role->ports[1].first, 6006);
    assert_int_equal(job->priority, 50);
    assert_true(text_is(variable(role, "EPOCHS"), "3"));
    assert_true(text_ends(role->script, "\na\nb\n\n"));
    assert_int_equal(job->registries_count, 1);
    assert_true(text_is(job->registries[0].password, "S3CR3T"));
    assert_true(description_is_secret(job));
    assert_int_equal(job->notes.count, 0);
    assert_int_equal(good(JOB "preemptionAllowed: \"True\"\njobPriority: 200\n")->priority, -100);
    job = good(JOB "jobPriority: 1000\n");
    assert_int_equal(job->priority, 100);
    assert_true(noted(job, "jobPriority"));
}

static void kinds_of_jobs_have_their_roles(void **state)
{
    (void)state;
    const struct description *job =
        good(JOB "jobtrainingtype: PSDistJob\nnumps: 2\nnumpsworker: 3\nresourcegpu: 4\n");
    assert_true(text_is(job->type, "roles"));
    assert_int_equal(job->tasks_count, 2);
    assert_true(text_is(job->tasks[0].role, "ps"));
    assert_int_equal(job->tasks[0].count, 2);
    assert_int_equal(job->tasks[0].gpus, 0);
    assert_int_equal(job->tasks[1].count, 3);
    assert_int_equal(job->tasks[1].gpus, 4);
    assert_true(text_ends(job->tasks[1].script, "exec sleep infinity\n"));
    assert_int_equal(job->complete_count, 2);
    assert_int_equal(job->complete[0].succeeded, 2);
    assert_int_equal(job->complete[1].succeeded, -1);
    assert_true(text_is(variable(&job->tasks[1], "DLWS_NUM_PS"), "2"));
    assert_true(text_is(variable(&job->tasks[1], "DLWS_NUM_WORKER"), "3"));
    assert_true(text_is(variable(&job->tasks[0], "DLWS_NUM_GPU_PER_WORKER"), "4"));

    job = good(JOB "jobtrainingtype: MPIDistJob\nnummpiworker: 3\nresourcegpu: 1\n");
    assert_true(text_is(job->type, "mpi"));
    assert_true(text_is(job->tasks[0].role, "launcher"));
    assert_int_equal(job->tasks[1].count, 3);
    assert_int_equal(job->tasks[1].script.length, 0);

    job = good(JOB "jobtrainingtype: InferenceJob\nresourcegpu: 3\ninteractivePort: 80\n");
    assert_int_equal(job->tasks[0].count, 3);
    assert_int_equal(job->tasks[0].gpus, 1);
    assert_true(noted(job, "interactivePort"));
}

static void mistakes_name_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {"jobName: a\njobtrainingtype: RegularJob\n", "j.yaml:1:1: cmd: missing"},
        {"jobName:\ncmd: a\n", "j.yaml:1:1: jobName: missing"},
        {"jobName: \"a\\nb\"\ncmd: a\n", "j.yaml:1:10: jobName: found \"a\\x0ab\", expected a"},
        {"jobName: a\ncmd: [a]\n", "cmd: found a list, expected the text of a program"},
        {JOB "jobtrainingtype: Regular\n",
         "j.yaml:6:18: jobtrainingtype: found \"Regular\", expected RegularJob, PSDistJob, "
         "MPIDistJob or InferenceJob"},
        {JOB "jobtrainingtype: PSDistJob\n", "numpsworker: expected at least one"},
        {JOB "jobtrainingtype: PSDistJob\nnumpsworker: 0\n",
         "j.yaml:7:14: numpsworker: expected at least one"},
        {JOB "jobtrainingtype: PSDistJob\nnumpsworker: 10000\n", "at most 10000 tasks"},
        {JOB "jobtrainingtype: MPIDistJob\n", "nummpiworker: expected 1 to 9999"},
        {JOB "resourcegpus: 1\n", "resourcegpus: unknown field; did you mean resourcegpu?"},
        {JOB "resourcegpu: many\n", "resourcegpu: found \"many\", expected a whole number"},
        {JOB "resourcegpu: -1\n", "resourcegpu: found -1"},
        {JOB "workPath: /alice\n", "workPath: found \"/alice\", expected a file's path relative"},
        {JOB "workPath: alice/../bob\n", "workPath: found \"alice/../bob\""},
        {JOB "dataPath: \\\\alice\n", "dataPath: found"},
        {JOB "dataPath: a\\..\\b\n", "expected a relative path without \\"},
        {JOB "enabledatapath: perhaps\n", "enabledatapath: found \"perhaps\", expected true or"},
        {JOB "interactivePort: 0\n", "interactivePort: found 0, expected at most 100 numbers"},
        {JOB "interactivePort: \"80, 70000\"\n", "interactivePort: found \"80, 70000\""},
        {JOB "memorylimit: lots\n", "memorylimit: found \"lots\", expected a size"},
        {JOB "cpulimit: 0\n", "cpulimit: found 0, expected from"},
        {JOB "jobPriority: 0\n", "jobPriority: found 0, expected a whole number from 1 to 1000"},
        {JOB "envs: {A: 1}\n", "envs: found a map, expected a list"},
        {JOB "envs: [{name: A}]\n", "envs[0]: found a map, expected a map such as {name:"},
        {JOB "envs: [{name: 1A, value: 2}]\n", "j.yaml:6:15: envs.1A: found the name \"1A\""},
        {JOB "gpuType: a b\n", "gpuType: expected letters"},
        {"jobName: a\ncmd: a\nimage: a b\n", "j.yaml:3:8: image: found \"a b\", expected an image"},
        {JOB "labels: a\n", "labels: found \"a\", expected a list or a map"},
        {JOB "plugins: {imagePull: {a: b}}\n", "plugins.imagePull: expected a list"},
        {JOB "plugins: {imagePull: [{registry: a}]}\n", "imagePull[0].username: missing"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        bad(cases[i].source, cases[i].sentence);
    static const char *const secret[] = {
        JOB "plugins: {imagePull: [{registry: a, username: b, password: 5318008}]}\n",
        JOB "plugins: {imagePull: [{registry: a, username: 5318008, password: b}]}\n",
        JOB "plugins: {imagePull: 5318008}\n",
        JOB "plugins: 5318008\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(secret); i++) {
        bad(secret[i], "plugins");
        assert_null(strstr(error.text, "5318008"));
    }
}

static void what_has_no_effect_is_noted(void **state)
{
    (void)state;
    const struct description *job =
        good(JOB "userId: 30001\njobId: abc\njobType: visualization\nlogDir: alice/logs\n"
                 "runningasroot: \"1\"\ncontainerUserId: \"0\"\nsku: big\ngpuType: P40\n"
                 "cpurequest: 1\ncpulimit: 2\nmemoryrequest: 1Gi\nmemorylimit: 2Gi\n"
                 "labels: [a]\nannotations: {}\nnodeSelector: {a: b}\nmountpoints: [{a: b}]\n"
                 "hostNetwork: true\nhostIPC: false\ndnsPolicy: Default\nssh_public_keys: [k]\n"
                 "familyToken: t\nisParent: 1\ndebug: true\n"
                 "plugins: {blobfuse: [{a: b}]}\n");
    static const char *const fields[] = {
        "userName",      "userId",      "jobId",       "jobType",         "logDir",
        "runningasroot", "sku",         "cpurequest",  "memoryrequest",   "labels",
        "nodeSelector",  "mountpoints", "hostNetwork", "dnsPolicy",       "ssh_public_keys",
        "familyToken",   "isParent",    "debug",       "plugins.blobfuse"};
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++)
        if (!noted(job, fields[i]))
            fail_msg("nothing is noted of %s", fields[i]);
    assert_int_equal(job->notes.count, ARRAY_COUNT(fields));
    assert_int_equal(job->tasks[0].cpus, 2000);
}

/* The draft of its second format. */
#define DRAFT "user: {email: a@example.org, vc_name: vc1}\njob:\n  name: my draft\n  roles:\n"

static void the_draft_is_read(void **state)
{
    (void)state;
    const struct description *job =
        good(DRAFT "    ps:\n      cmd: serve\n      image: org/a\n"
                   "      completion_policy: {min_succeeded_task_count: 1}\n"
                   "    Worker_A:\n      replicas: 2\n      image: org/b\n      cmd: work\n"
                   "      resource: {cpu: 2, memory_mb: 2048, gpu: 1}\n"
                   "  options: {retry: 3}\n");
    assert_true(text_is(job->name, "my draft"));
    assert_true(text_is(job->type, "roles"));
    assert_true(text_is(job->platform.cluster, "vc1"));
    assert_true(text_is(job->image, "org/a"));
    assert_int_equal(job->tasks_count, 2);
    assert_true(text_is(job->tasks[0].script, "#!/bin/bash\nserve\n"));
    assert_int_equal(job->complete[0].succeeded, 1);
    assert_int_equal(job->complete[1].failed, 1);
    assert_int_equal(job->complete[1].succeeded, -1);
    const struct task_role *worker = &job->tasks[1];
    assert_true(text_is(worker->role, "worker-a"));
    assert_true(text_is(worker->name, "Worker_A"));
    assert_true(text_is(worker->image, "org/b"));
    assert_int_equal(worker->count, 2);
    assert_int_equal(worker->cpus, 2000);
    assert_int_equal(worker->memory, INT64_C(2) << 30);
    assert_int_equal(worker->gpus, 1);
    assert_true(noted(job, "job.options.retry"));
    assert_true(noted(job, "user.email"));

    bad(DRAFT "    w: {}\n", "j.yaml:5:5: job.roles.w.cmd: missing");
    bad(DRAFT "    1w: {cmd: a}\n", "job.roles.1w: found the name \"1w\"");
    bad(DRAFT "    w: {cmd: a, replica: 2}\n", "replica: unknown field; did you mean replicas?");
    bad(DRAFT "    w: {cmd: a, replicas: 0}\n", "job.roles.w.replicas: found 0");
    bad(DRAFT "    v: {cmd: a, replicas: 6000}\n    w: {cmd: a, replicas: 6000}\n",
        "job.roles: found 12000 replicas in all roles, expected at most 10000");
    bad(DRAFT "    w: {cmd: a, completion_policy: {min_failed_task_count: 2}}\n",
        "completion_policy: found more tasks than the role's 1");
    bad(DRAFT "    w: {cmd: a, resource: 3}\n", "resource: found 3, expected a map");
    bad(DRAFT "    {}\n", "job.roles: found a map, expected a map of one or more roles");
    bad("job: {roles: {w: {cmd: a}}}\n", "job.name: missing");
    bad("job: {name: a, roles: }\n", "job.roles: missing");
    bad("job: {name: a, roles: [w]}\n", "job.roles: found a list, expected a map");
    bad("job: {name: a, roles: {w: 3}}\n", "job.roles.w: found 3, expected a map");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_regular_job_is_single),        TEST(every_field_is_taken),
        TEST(kinds_of_jobs_have_their_roles), TEST(mistakes_name_the_field),
        TEST(what_has_no_effect_is_noted),    TEST(the_draft_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
