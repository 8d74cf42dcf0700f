/* request_openpai_v2_test.c - OpenPAI job files of protocol version 2 */
#include "request/dialects/dialects.h"
#include "tests/unit/request_support.h"

#include <dirent.h>
#include <unistd.h>

/* A file of one role, into which a test puts what it is about. */
#define HEAD "protocolVersion: 2\nname: a-job\ntype: job\n"
#define IMAGE "prerequisites:\n- {type: dockerimage, name: img, uri: \"python:3\"}\n"
#define RESOURCE "    resourcePerInstance: {cpu: 1, memoryMB: 1024, gpu: 0}\n"
#define ROLE "taskRoles:\n  worker:\n    dockerImage: img\n"
#define COMMANDS "    commands: [\"true\"]\n"
#define WHOLE HEAD IMAGE ROLE RESOURCE COMMANDS

static void a_small_job_has_the_defaults(void **state)
{
    (void)state;
    const struct description *job = good(WHOLE);
    assert_true(text_is(job->name, "a-job"));
    assert_true(text_is(job->library, "any"));
    assert_true(text_is(job->type, "roles"));
    assert_true(text_is(job->platform.name, "openpai"));
    assert_int_equal(job->platform.cluster.length, 0);
    assert_true(text_is(job->image, "python:3"));
    assert_int_equal(job->retries, 0);
    assert_int_equal(job->tasks_count, 1);
    const struct task_role *role = &job->tasks[0];
    assert_true(text_is(role->role, "worker"));
    assert_true(text_is(role->name, "worker"));
    assert_int_equal(role->count, 1);
    assert_int_equal(role->cpus, 1000);
    assert_int_equal(role->memory, INT64_C(1024) << 20);
    assert_int_equal(role->shm, INT64_C(512) << 20);
    assert_int_equal(role->gpus, 0);
    assert_int_equal(role->ports_count, 2);
    assert_true(text_is(role->script, "#!/bin/bash\ntrue\n"));
    assert_false(role->script_secret);
    assert_int_equal(job->complete_count, 1);
    assert_int_equal(job->complete[0].failed, 1);
    assert_int_equal(job->complete[0].succeeded, 1);
    assert_int_equal(job->notes.count, 0);
    assert_false(description_is_secret(job));
    good("{\"protocolVersion\": \"2\", \"name\": \"_x\", \"type\": \"job\", \"prerequisites\": "
         "[{\"type\": \"dockerimage\", \"name\": \"i\", \"uri\": \"a\"}], \"taskRoles\": {\"t\": "
         "{\"dockerImage\": \"i\", \"commands\": [\"a\"], \"resourcePerInstance\": {\"cpu\": 1, "
         "\"memoryMB\": 100, \"gpu\": 0}}}}");
}

static void every_field_is_taken(void **state)
{
    (void)state;
    const struct description *job = good(
        "protocolVersion: \"2\"\nname: Big_Job\ntype: job\nversion: 1.0\ncontributor: me\n"
        "description: what\njobRetryCount: 1000000\n"
        "prerequisites:\n"
        "- {type: dockerimage, name: one, uri: 'r/one:1', protocolVersion: 2, version: '1'}\n"
        "- {type: dockerimage, name: two, uri: 'r/two:2'}\n"
        "taskRoles:\n"
        "  ps_server:\n    protocolVersion: 2\n    instances: 2\n    taskRetryCount: 0\n"
        "    completion: {minFailedInstances: -1, minSucceededInstances: null}\n"
        "    dockerImage: one\n    extraContainerOptions: {shmMB: 64, infiniband: false}\n"
        "    resourcePerInstance: {cpu: 2, memoryMB: 2048, gpu: 4, ports: {grpc: 2, http: 3}}\n"
        "    commands: [a, b]\n"
        "  PS_Server:\n    instances: 3\n    dockerImage: two\n" RESOURCE COMMANDS
        "defaults: {virtualCluster: vc_1}\n");
    assert_int_equal(job->retries, 1000000);
    assert_true(text_is(job->platform.cluster, "vc_1"));
    assert_true(text_is(job->image, "r/one:1"));
    const struct task_role *ps = &job->tasks[0], *other = &job->tasks[1];
    assert_int_equal(ps->count, 2);
    assert_int_equal(ps->gpus, 4);
    assert_int_equal(ps->shm, INT64_C(64) << 20);
    assert_int_equal(ps->image.length, 0);
    assert_true(text_is(other->image, "r/two:2"));
    assert_int_equal(ps->ports_count, 3); /* grpc, http, and ssh, which is always there */
    assert_true(text_is(ps->ports[0].label, "grpc"));
    assert_int_equal(ps->ports[0].count, 2);
    assert_int_equal(ps->ports[1].count, 3);
    assert_true(text_is(ps->script, "#!/bin/bash\na\nb\n"));
    assert_false(text_equal(ps->role, other->role)); /* two labels of two names */
    assert_int_equal(job->complete[0].failed, -1);
    assert_int_equal(job->complete[0].succeeded, -1);
    assert_int_equal(job->complete[1].failed, 1);
    assert_int_equal(job->complete[1].succeeded, 3);
    assert_int_equal(job->notes.count, 0);
}

/* ---- what is refused ---- */

static void mistakes_name_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {"protocolVersion: 3\n", "j.yaml:1:18: protocolVersion: found 3, expected 2"},
        {"protocolVersion: 2\n", "j.yaml:1:1: taskRoles: missing"},
        {"prerequisites: []\n", "j.yaml:1:1: protocolVersion: missing"},
        {"taskRoles: {}\n", "taskRoles: found a map, expected a map of one or more task roles"},
        {HEAD "jobName: x\n" IMAGE ROLE RESOURCE COMMANDS, "jobName: unknown field"},
        {"protocolVersion: 2\nname: a.b\ntype: job\n" IMAGE ROLE RESOURCE COMMANDS,
         "j.yaml:2:7: name: found \"a.b\", expected 1 to 255 letters, digits, _ and -"},
        {"protocolVersion: 2\nname: a~b\ntype: job\n" IMAGE ROLE RESOURCE COMMANDS, "name: found"},
        {"protocolVersion: 2\nname: 12\ntype: job\n" IMAGE ROLE RESOURCE COMMANDS,
         "name: found 12, expected 1 to 255 letters, digits, _ and -, in quotation marks"},
        {"protocolVersion: 2\nname: a\ntype: data\n" IMAGE ROLE RESOURCE COMMANDS,
         "type: found \"data\", expected job"},
        {WHOLE "jobRetryCount: -1\n", "jobRetryCount: found -1, expected a whole number from 0"},
        {WHOLE "jobRetryCount: \"1\"\n", "jobRetryCount: found \"1\", expected a whole number"},
        {WHOLE "parameters:\n", "parameters: found nothing, expected a map"},
        {WHOLE "parameters: [a]\n", "parameters: found a list, expected a map"},
        {WHOLE "extras: []\n", "extras: found a list, expected a map"},
        {WHOLE "defaults: {deployment: x}\n",
         "defaults.deployment: found \"x\", expected the name of one of the deployments"},
        {WHOLE "deployments: []\n", "deployments: found a list, expected a list of one or more"},
        {WHOLE "deployments: [{name: d}]\n", "deployments[0].taskRoles: missing"},
        {WHOLE "deployments:\n- {name: d, taskRoles: {w: {preCommands: []}}}\n",
         "deployments[0].taskRoles.w.preCommands: found a list, expected a list of one or more"},
        {WHOLE "deployments:\n- {name: d, taskRoles: {w: {}}}\n- {name: d, taskRoles: {w: {}}}\n",
         "deployments[1].name: found \"d\", expected another name: line 12 has the same"},
        {HEAD "prerequisites: []\n" ROLE RESOURCE COMMANDS,
         "prerequisites: found a list, expected a list of one or more"},
        {HEAD "prerequisites: [{type: image, name: img, uri: a}]\n" ROLE RESOURCE COMMANDS,
         "prerequisites[0].type: found \"image\", expected dockerimage, data, script or output"},
        {HEAD "prerequisites: [{name: img, uri: a}]\n" ROLE RESOURCE COMMANDS,
         "prerequisites[0].type: missing"},
        {HEAD "prerequisites: [{type: dockerimage, name: img}]\n" ROLE RESOURCE COMMANDS,
         "prerequisites[0].uri: missing"},
        {HEAD "prerequisites: [{type: dockerimage, name: img, url: a}]\n" ROLE RESOURCE COMMANDS,
         "prerequisites[0].url: unknown field; did you mean uri?"},
        {HEAD "prerequisites: [{type: dockerimage, name: img, uri: [a]}]\n" ROLE RESOURCE COMMANDS,
         "prerequisites[0].uri: found a list, expected an image reference"},
        {HEAD IMAGE "- {type: data, name: d, uri: /one}\n" ROLE RESOURCE COMMANDS,
         "prerequisites[1].uri: found \"/one\", expected a list of texts"},
        {HEAD IMAGE "- {type: dockerimage, name: img, uri: b}\n" ROLE RESOURCE COMMANDS,
         "prerequisites[1].name: found \"img\", expected another name: line 5 has the same and "
         "the same type"},
        {HEAD ROLE RESOURCE COMMANDS,
         "taskRoles.worker.dockerImage: found \"img\", expected the name of a prerequisite of type "
         "dockerimage"},
        {HEAD IMAGE "taskRoles: {worker: {}}\n", "taskRoles.worker.dockerImage: missing"},
        {HEAD IMAGE "taskRoles: {worker: }\n", "taskRoles.worker: found nothing, expected a map"},
        {HEAD IMAGE "taskRoles:\n  my-role:\n    dockerImage: img\n" RESOURCE COMMANDS,
         "j.yaml:7:3: taskRoles.my-role: found the name \"my-role\", expected a task role's name "
         "of letters, digits and _, the first of them no digit"},
        {HEAD IMAGE "taskRoles:\n  a.b:\n    dockerImage: img\n" RESOURCE COMMANDS, "a.b"},
        {HEAD IMAGE "taskRoles:\n  1a:\n    dockerImage: img\n" RESOURCE COMMANDS, "1a"},
        {HEAD IMAGE "taskRoles:\n  a: {}\n  a: {}\n", "j.yaml:8:3"},
        {HEAD IMAGE "taskRoles: [{name: a}]\n", "taskRoles: found a list, expected a map"},
        {HEAD IMAGE ROLE COMMANDS, "taskRoles.worker.resourcePerInstance: missing"},
        {HEAD IMAGE ROLE RESOURCE, "taskRoles.worker.commands: missing"},
        {HEAD IMAGE ROLE RESOURCE "    commands: []\n", "commands: found a list, expected a list"},
        {HEAD IMAGE ROLE RESOURCE "    commands: echo\n",
         "j.yaml:10:15: taskRoles.worker.commands: found a text of 4 bytes, expected a list of one or more "
         "texts"},
        {HEAD IMAGE ROLE RESOURCE "    commands: [a, 1]\n",
         "taskRoles.worker.commands[1]: found a number, expected a text (in quotation marks)"},
        {WHOLE "    instance: 1\n", "worker.instance: unknown field; did you mean instances?"},
        {WHOLE "    instances: 0\n", "instances: found 0, expected a whole number from 1 to 10000"},
        {WHOLE "    instances: 1.5\n", "instances: found 1.5, expected a whole number"},
        {WHOLE "    instances: 10001\n", "instances: found 10001, expected"},
        {WHOLE "    instances: null\n", "instances: found nothing, expected a whole number"},
        {WHOLE "    completion: {minSucceededTaskCount: 1}\n",
         "j.yaml:11:18: taskRoles.worker.completion.minSucceededTaskCount: unknown field; the "
         "fields of completion are minFailedInstances, minSucceededInstances"},
        {WHOLE "    completion: {minFailedInstances: -2}\n", "minFailedInstances: found -2"},
        {WHOLE "    completion: {minFailedInstances: one}\n", "minFailedInstances: found \"one\""},
        {WHOLE "    data: nowhere\n",
         "worker.data: found \"nowhere\", expected the name of a prerequisite of type data"},
        {WHOLE "    prerequisites: [nowhere]\n", "worker.prerequisites[0]: found \"nowhere\""},
        {WHOLE "    extraContainerOptions: {shmMB: a}\n", "shmMB: found \"a\", expected a whole"},
        {HEAD IMAGE ROLE "    resourcePerInstance: {cpu: 1, memoryMB: 1}\n" COMMANDS,
         "resourcePerInstance.gpu: missing"},
        {HEAD IMAGE ROLE "    resourcePerInstance: {cpu: 0.5, memoryMB: 1, gpu: 0}\n" COMMANDS,
         "resourcePerInstance.cpu: found 0.5, expected a whole number"},
        {HEAD IMAGE ROLE "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: -1}\n" COMMANDS,
         "resourcePerInstance.gpu: found -1"},
        {HEAD IMAGE ROLE
         "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0, ports: {}}\n" COMMANDS,
         "ports: found a map, expected a map of one or more ports"},
        {HEAD IMAGE ROLE
         "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0, ports: {a-b: 1}}\n" COMMANDS,
         "ports.a-b: found the name \"a-b\", expected a port's name"},
        {HEAD IMAGE ROLE
         "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0, ports: {a: -1}}\n" COMMANDS,
         "ports.a: found -1, expected a whole number from 0 to 1000"},
        {HEAD IMAGE ROLE
         "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0, ports: {a: 1001}}\n" COMMANDS,
         "ports.a: found 1001, expected a whole number from 0 to 1000"},
        {HEAD IMAGE ROLE
         "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0, ports: [a]}\n" COMMANDS,
         "ports: found a list, expected a map of one or more ports"},
        {HEAD IMAGE ROLE
         "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0, ports: {a~b: 1}}\n" COMMANDS,
         "ports.a~b: found the name \"a~b\", expected a port's name"},
        {WHOLE "defaults: {virtualCluster: [a]}\n",
         "virtualCluster: found a list, expected a text"},
        {HEAD IMAGE ROLE
         "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0, disk: 1}\n" COMMANDS,
         "resourcePerInstance.disk: unknown field"},
        {WHOLE "extras: {hivedScheduler: {jobPriorityClass: high}}\n",
         "extras.hivedScheduler.jobPriorityClass: found \"high\", expected crit, prod, test or "
         "oppo"},
        {WHOLE "extras: {hivedScheduler: {taskRoles: {wrker: {}}}}\n",
         "extras.hivedScheduler.taskRoles.wrker: there is no such task role"},
        {WHOLE "extras: {hivedScheduler: {taskRoles: {worker: {skuType: a, pinnedCellId: b}}}}\n",
         "worker: found both skuType and pinnedCellId"},
        {HEAD IMAGE "taskRoles:\n  a~b:\n    dockerImage: img\n" RESOURCE COMMANDS, "a~b"},
        {HEAD IMAGE ROLE RESOURCE "    commands: *a\n",
         "j.yaml:10:15: the alias here stands for nothing: no value before it has that name"},
        {WHOLE "---\n" WHOLE, "j.yaml:11:1"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        bad(cases[i].source, cases[i].sentence);
}

/* ---- YAML beyond JSON's data model ---- */

#define BASE_ROLE "taskRoles:\n  one: &base\n    dockerImage: img\n" RESOURCE COMMANDS

static void anchors_and_merge_keys_are_read(void **state)
{
    (void)state;
    const struct description *job = good(
        HEAD IMAGE BASE_ROLE "  two:\n    <<: *base\n    instances: 3\n    commands: [second]\n"
                             "  three:\n    commands: [third]\n    <<: *base\n"
                             "  four:\n    <<: [{commands: [fourth]}, *base]\n");
    assert_int_equal(job->tasks_count, 4);
    assert_int_equal(job->tasks[1].count, 3);
    assert_int_equal(job->tasks[1].memory, INT64_C(1024) << 20);
    assert_true(text_is(job->tasks[0].script, "#!/bin/bash\ntrue\n"));
    assert_true(text_is(job->tasks[1].script, "#!/bin/bash\nsecond\n"));
    assert_true(text_is(job->tasks[2].script, "#!/bin/bash\nthird\n"));
    assert_true(text_is(job->tasks[3].script, "#!/bin/bash\nfourth\n"));
    job =
        good("protocolVersion: !!int \"2\"\nname: !!str 12\ntype: ! job\nversion: !!float 1\n" IMAGE
             "parameters: {x: &v 1, y: &v 2, \"<<\": {z: 3}}\n" ROLE RESOURCE
             "    commands: !!seq [echo <% $parameters.y %>]\n    instances: *v\n");
    assert_true(text_is(job->name, "12"));
    assert_int_equal(job->tasks[0].count, 2);

    bad(HEAD IMAGE BASE_ROLE "  two:\n    <<: *base\n    instance: 3\n",
        "j.yaml:13:5: taskRoles.two.instance: unknown field");
    bad(HEAD IMAGE BASE_ROLE "  two:\n    <<: *base\n    commands: [a]\n    commands: [b]\n",
        "j.yaml:14:5: the key \"commands\" is given twice; it was first given in line 13");
    bad(HEAD IMAGE BASE_ROLE "  two:\n    <<: 3\n", "j.yaml:12:5: a merge key (<<) has no map");
    bad(HEAD "version: !!int x\n", "j.yaml:4:10: the value is not what its tag !!int says");
    bad(HEAD "version: !mine x\n", "j.yaml:4:10: the tag ! is not accepted here");
    bad(HEAD "parameters: &p {a: *p}\n", "the alias here stands for nothing");
}

/* A value that holds itself many times over is counted as often as it is met. */
static void aliases_are_counted(void **state)
{
    (void)state;
    struct buffer source = {0};
    buffer_add_string(&source, HEAD "parameters:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 10; i++)
        buffer_printf(&source, "  a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i,
                      i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    bad(source.data, "more than 10000 values; a file may hold at most that many");
    buffer_clear(&source);
    buffer_add_string(&source, HEAD "parameters:\n  a0: &a0 {}\n");
    for (int i = 1; i < 10; i++)
        buffer_printf(&source, "  a%d: &a%d {<<: [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d]}\n", i, i,
                      i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    bad(source.data, "more than 10000 values");
    buffer_clear(&source);
    buffer_add_string(&source, HEAD "parameters:\n  a0: &a0 []\n");
    for (int i = 1; i < 40; i++)
        buffer_printf(&source, "  a%d: &a%d [*a%d]\n", i, i, i - 1);
    bad(source.data, "nested more than 32 deep");
    buffer_free(&source);
}

/* What is native, or of another system, is read as strictly as ever. */
static void other_dialects_have_no_anchors(void **state)
{
    (void)state;
    static const char *const files[] = {
        "name: &a x\nlibrary: any\ntype: single\nscript: x\n",
        "jobName: &a x\nimage: b\ntaskRoles: [{name: m, command: c}]\n",
        "jobName: &a x\njobtrainingtype: RegularJob\ncmd: a\nimage: b\n",
        "kill: &a x\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(files); i++)
        bad(files[i], "anchors (&name) are not accepted; write the value out");
    bad("name: x\nlibrary: any\ntype: single\nscript: x\nenv: {<<: {A: b}}\n",
        "j.yaml:5:7: merge keys (<<) are not accepted; write the fields out");
    bad("name: !!str x\nlibrary: any\ntype: single\nscript: x\n",
        "j.yaml:1:7: tags (!name) are not accepted; write the value without it");
}

static void ports_and_clusters_of_old_files(void **state)
{
    (void)state;
    const struct description *job =
        good(HEAD IMAGE ROLE
             "    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0, ports: {a: 0}}\n" COMMANDS
             "defaults: {virtualCluster: 12}\n");
    assert_int_equal(job->tasks[0].ports_count, 3);
    assert_int_equal(job->tasks[0].ports[0].count, 1);
    assert_true(noted(job, "taskRoles.worker.resourcePerInstance.ports.a"));
    assert_true(text_is(job->platform.cluster, "12"));
    job = good(HEAD IMAGE ROLE
               "    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0, ports: }\n" COMMANDS
               "defaults: {virtualCluster: null}\n");
    assert_int_equal(job->tasks[0].ports_count, 2);
    assert_int_equal(job->platform.cluster.length, 0);
}

/* ---- texts with tags ---- */

#define NAMES                                                                                      \
    "parameters: {epochs: 10, rate: 0.010, whole: 1.0, on: true, list: [1, b, 2.5], deep: {a: "    \
    "x}, none: null, \"two words\": z}\nsecrets: {key: S3CR3T, n: {m: [TOPS]}}\n"
#define SOURCES                                                                                    \
    IMAGE "- {type: data, name: d, uri: [/one, /two]}\n- {type: output, name: o, uri: /out}\n"     \
          "- {type: script, name: s, uri: /s.py}\n"
#define TAGGED(tag)                                                                                \
    HEAD SOURCES NAMES ROLE RESOURCE "    data: d\n    output: o\n    script: s\n    commands:\n"  \
                                     "    - " tag "\n"

static void tags_are_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *source, *script;
    } cases[] = {
        {TAGGED("a <% $parameters.epochs %> b"), "#!/bin/bash\na 10 b\n"},
        {TAGGED("<%$parameters.rate%><% $parameters.whole  %>"), "#!/bin/bash\n0.011\n"},
        {TAGGED("<% $parameters.on %> <% $parameters.list %>"), "#!/bin/bash\ntrue 1,b,2.5\n"},
        {TAGGED("<% $parameters.list[1] %> <% $parameters.list.2 %>"), "#!/bin/bash\nb 2.5\n"},
        {TAGGED("<% $parameters.deep.a %> <% $parameters.two words %>"), "#!/bin/bash\nx z\n"},
        {TAGGED("<% $script.uri %> <% $data.uri[1] %>"), "#!/bin/bash\n/s.py /two\n"},
        {TAGGED("<% $output.uri %> <% $data.uri %> <% $data.name %>"),
         "#!/bin/bash\n/out /one,/two d\n"},
        {TAGGED("a <%! of no $parameters.consequence %> b"), "#!/bin/bash\na  b\n"},
        {TAGGED("'  $parameters.epochs % > %> $HOME ${X} '"),
         "#!/bin/bash\n$parameters.epochs % > %> $HOME ${X}\n"},
        {TAGGED("<% $secrets.key %> <% $secrets.n.m[0] %>"), "#!/bin/bash\nS3CR3T TOPS\n"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct description *job = good(cases[i].source);
        if (!text_is(job->tasks[0].script, cases[i].script))
            fail_msg("%s\n   gave %s", cases[i].source, job->tasks[0].script.data);
    }
}

static void unknown_names_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {TAGGED("<% $parameters.epoch %>"),
         "j.yaml:19:7: taskRoles.worker.commands[0]: <% $parameters.epoch %>: unknown; $parameters "
         "has epochs, rate, whole, on, list, deep, none, two words; did you mean epochs?"},
        {TAGGED("<% $parameters.list[3] %>"), "$parameters.list[3] %>: unknown"},
        {TAGGED("<% $parameters %>"), "<% $parameters %>: names all of them"},
        {TAGGED("<% $parameters.none %>"), "<% $parameters.none %>: it has no value"},
        {TAGGED("<% $parameters.deep %>"), "it is a map, expected a text or a number"},
        {TAGGED("<% $secrets.keys %>"), "unknown; $secrets has key, n; did you mean key?"},
        {TAGGED("<% epochs %>"), "<% epochs %>: expected $parameters.NAME, $secrets.NAME"},
        {TAGGED("<% $dockerImage.uri %>"), "expected $parameters.NAME"},
        {TAGGED("'<%# $parameters.epochs %>'"), "only names can be looked up"},
        {TAGGED("'<% %>'"), "only names can be looked up"},
        {TAGGED("a <% $parameters.epochs"), "commands[0]: found <% that no %> closes"},
        {HEAD IMAGE ROLE RESOURCE "    commands: [\"<% $parameters.a %>\"]\n",
         "<% $parameters.a %>: unknown; the file has no parameters"},
        {HEAD IMAGE ROLE RESOURCE "    commands: [\"<% $data.uri[0] %>\"]\n",
         "<% $data.uri[0] %>: unknown; the task role names no data prerequisite"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        bad(cases[i].source, cases[i].sentence);
}

static void a_deployment_wraps_the_commands(void **state)
{
    (void)state;
    const struct description *job = good(
        HEAD IMAGE NAMES
        "deployments:\n- name: one\n  taskRoles: {worker: {preCommands: [pre "
        "<% $parameters.epochs %>], postCommands: [post, end]}}\n- name: two\n  taskRoles: "
        "{other: {preCommands: [never]}}\ndefaults: {deployment: one}\n" ROLE RESOURCE COMMANDS);
    assert_true(text_is(job->tasks[0].script, "#!/bin/bash\npre 10\ntrue\npost\nend\n"));
    bad(HEAD IMAGE "deployments:\n- name: one\n  taskRoles: {worker: {preCommands: [\"<% "
                   "$parameters.x %>\"]}}\ndefaults: {deployment: one}\n" ROLE RESOURCE COMMANDS,
        "j.yaml:8:38: deployments[0].taskRoles.worker.preCommands[0]: <% $parameters.x %>: ");
}

/* ---- secrets ---- */

static void secrets_are_masked(void **state)
{
    (void)state;
    struct description *job = good(TAGGED("use <% $secrets.key %> and <% $parameters.epochs %>"));
    assert_true(job->tasks[0].script_secret);
    assert_true(description_is_secret(job));
    assert_true(text_contains(job->tasks[0].script, TEXT("S3CR3T")));
    description_mask(job);
    assert_true(text_is(job->tasks[0].script, "#!/bin/bash\nuse ****** and 10\n"));

    job = good(HEAD "prerequisites:\n- {type: dockerimage, name: img, uri: a, auth: {username: "
                    "bob, password: <% $secrets.key %>, registryuri: r.example.org}}\n"
                    "- {type: dockerimage, name: b, uri: b, auth: {password: plain}}\n" NAMES ROLE
                        RESOURCE COMMANDS);
    assert_int_equal(job->registries_count, 2);
    assert_true(text_is(job->registries[0].server, "r.example.org"));
    assert_true(text_is(job->registries[0].user, "bob"));
    assert_true(text_is(job->registries[0].password, "S3CR3T"));
    assert_true(text_is(job->registries[1].server, "https://index.docker.io/v1/"));
    assert_true(description_is_secret(job));
    description_mask(job);
    assert_true(text_is(job->registries[0].password, "******"));
    assert_true(text_is(job->registries[1].password, "******"));
}

/* An alias could carry it anywhere. */
static void a_secret_stands_nowhere_else(void **state)
{
    (void)state;
#define ANCHORED "secrets: {token: &t S3CR3T, more: &m {a: [S3CR3T]}}\n"
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {ANCHORED WHOLE "parameters: {a: *t}\n",
         "j.yaml:1:18: parameters.a: an alias (*name) of what stands in secrets or auth, expected "
         "<% $secrets.NAME %>"},
        {ANCHORED HEAD IMAGE ROLE RESOURCE "    commands: [a, *t]\n",
         "worker.commands[1]: an alias"},
        {ANCHORED WHOLE "parameters: {b: *m}\n", "parameters.b.a[0]: an alias"},
        {ANCHORED WHOLE "extras: {<<: *m}\n", "extras.a[0]: an alias"},
        {ANCHORED WHOLE "retryCount: *t\n", "retryCount: an alias"},
        {"parameters: {a: &t S3CR3T}\n" WHOLE "secrets: {a: *t}\n", "parameters.a: an alias"},
        {ANCHORED HEAD
         "prerequisites: [{type: dockerimage, name: img, uri: *t}]\n" ROLE RESOURCE COMMANDS,
         "prerequisites[0].uri: an alias"},
        {HEAD
         "prerequisites: [{type: dockerimage, name: img, uri: a, auth: {password: &p S3CR3T}}]\n" ROLE
             RESOURCE COMMANDS "contributor: *p\n",
         "contributor: an alias"},
        {ANCHORED WHOLE "prerequisites: *t\n", "given twice"},
        {ANCHORED HEAD "prerequisites: *t\n" ROLE RESOURCE COMMANDS, "prerequisites: an alias"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        bad(cases[i].source, cases[i].sentence);
        assert_null(strstr(error.text, "S3CR3T"));
    }
    struct description *job =
        good(ANCHORED HEAD "prerequisites:\n- {type: dockerimage, name: img, uri: a, auth: &both "
                           "{username: u, password: *t}}\n- {type: dockerimage, name: b, uri: b, "
                           "auth: *both}\n" ROLE RESOURCE "    commands: [<% $secrets.token %>]\n");
    assert_int_equal(job->registries_count, 2);
    assert_true(text_is(job->registries[1].password, "S3CR3T"));
    assert_true(job->tasks[0].script_secret);
}

static void no_sentence_holds_a_secret(void **state)
{
    (void)state;
    static const char *const sources[] = {
        WHOLE "secrets: S3CR3T\n",
        WHOLE "secrets: [S3CR3T]\n",
        HEAD "prerequisites: [{type: dockerimage, name: img, uri: a, auth: S3CR3T}]\n" ROLE RESOURCE
            COMMANDS,
        HEAD
        "prerequisites: [{type: dockerimage, name: img, uri: a, auth: {password: [S3CR3T]}}]\n" ROLE
            RESOURCE COMMANDS,
        HEAD
        "prerequisites: [{type: dockerimage, name: img, uri: a, auth: {password: 5318008}}]\n" ROLE
            RESOURCE COMMANDS,
        TAGGED("<% $secrets.key.x %>"),
        TAGGED("<% $secrets.n %>"),
        TAGGED("<% $secrets.n.m[1] %>"),
        TAGGED("<% $secrets.key %> <% $secrets.other %>"),
        TAGGED("<% $secrets.key %> <% $parameters.other %>"),
    };
    for (size_t i = 0; i < ARRAY_COUNT(sources); i++) {
        if (dialects_read(arena, text_of(sources[i]), "j.yaml", &error))
            fail_msg("%s\n   was accepted", sources[i]);
        if (strstr(error.text, "S3CR3T") || strstr(error.text, "5318008") ||
            strstr(error.text, "TOPS"))
            fail_msg("%s\n   was told: %s", sources[i], error.text);
    }
}

/* ---- what has no effect ---- */

static void what_has_no_effect_is_noted(void **state)
{
    (void)state;
    const struct description *job =
        good(HEAD SOURCES
             "- {type: data, name: x, plugin: p, require: [d], callbacks: [], more: 1}\n"
             "taskRoles:\n  worker:\n    dockerImage: img\n    taskRetryCount: 2\n"
             "    prerequisites: [x]\n"
             "    extraContainerOptions: {infiniband: true, gpus: all}\n"
             "    completion: {minFailedInstances: null, minSucceededInstances: 9}\n"
             "    resourcePerInstance: {cpu: 0, memoryMB: 0, gpu: 0}\n" COMMANDS
             "defaults: {virtualCluster: null, color: red}\n"
             "extras:\n  submitFrom: portal\n  gangAllocation: false\n"
             "  com.microsoft.pai.runtimeplugin:\n  - plugin: ssh\n  - plugin: teamwise_storage\n"
             "  - plugin: own\n"
             "  jobStatusChangeNotification: {running: true, failed: false, asked: true}\n"
             "  hivedScheduler: {jobPriorityClass: prod, taskRoles: {worker: {skuNum: 1, skuType: "
             "null}}}\n");
    static const char *const fields[] = {
        "prerequisites[4].plugin",
        "prerequisites[4].require",
        "prerequisites[4].callbacks",
        "prerequisites[4].more",
        "taskRoles.worker.taskRetryCount",
        "taskRoles.worker.prerequisites",
        "taskRoles.worker.extraContainerOptions.infiniband",
        "taskRoles.worker.extraContainerOptions.gpus",
        "taskRoles.worker.completion.minFailedInstances",
        "taskRoles.worker.completion.minSucceededInstances",
        "taskRoles.worker.resourcePerInstance.cpu",
        "taskRoles.worker.resourcePerInstance.memoryMB",
        "defaults.color",
        "extras.submitFrom",
        "extras.gangAllocation",
        "extras.com.microsoft.pai.runtimeplugin[0].plugin ssh",
        "extras.com.microsoft.pai.runtimeplugin[1].plugin teamwise_storage",
        "extras.com.microsoft.pai.runtimeplugin[2].plugin own",
        "extras.jobStatusChangeNotification.asked",
        "extras.hivedScheduler.taskRoles.worker.skuNum"};
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++)
        if (!noted(job, fields[i]))
            fail_msg("nothing is noted of %s", fields[i]);
    assert_int_equal(job->notes.count, ARRAY_COUNT(fields));
    assert_int_equal(job->priority, 50);
    assert_int_equal(job->messages.events, 1u << MESSAGE_BEGIN);
    assert_int_equal(job->tasks[0].cpus, 1000);
}

/* ---- size ---- */

static void many_tasks_and_long_files(void **state)
{
    (void)state;
    const struct description *job = good(WHOLE "    instances: 500\n");
    assert_int_equal(job->tasks[0].count, 500);
    assert_int_equal(job->complete[0].succeeded, 500);

    struct buffer source = {0};
    buffer_add_string(&source, HEAD IMAGE ROLE RESOURCE "    commands:\n    - |\n");
    while (source.length < (1 << 20) - 200)
        buffer_add_string(&source, "      echo something that takes a line of its own\n");
    job = good(source.data);
    assert_true(job->tasks[0].script.length > 900000);

    /* A long value that many tags name. */
    buffer_clear(&source);
    buffer_add_string(&source, HEAD IMAGE "parameters: {p: \"");
    for (int i = 0; i < 300000; i++)
        buffer_add_byte(&source, 'x');
    buffer_add_string(&source, "\"}\n" ROLE RESOURCE "    commands:\n    - |\n");
    for (int i = 0; i < 10000; i++)
        buffer_add_string(&source, "      <% $parameters.p %>\n");
    bad(source.data, "with it the file's texts become too long");

    /* A thousand roles. */
    buffer_clear(&source);
    buffer_add_string(&source, HEAD IMAGE "taskRoles:\n");
    for (int i = 0; i < 500; i++)
        buffer_printf(&source,
                      "  a_role_with_a_long_name_%d:\n    dockerImage: img\n" RESOURCE COMMANDS, i);
    job = good(source.data);
    assert_int_equal(job->tasks_count, 500);
    buffer_free(&source);
}

/* The files that others have written, where they are. */
static void real_files_are_read(void **state)
{
    (void)state;
    const char *shared = getenv("DLSPOOL_SHARED");
    char path[4096];
    snprintf(path, sizeof(path), "%s/data/openpai/v2", shared ? shared : "../shared");
    DIR *directory = opendir(path);
    if (!directory) {
        print_message("%s is not there: the files of others are not read\n", path);
        skip();
    }
    int files = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        struct buffer bytes = {0};
        char file[4352];
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        FILE *stream = fopen(file, "r");
        assert_non_null(stream);
        buffer_reserve(&bytes, 1 << 20);
        bytes.length = fread(bytes.data, 1, 1 << 20, stream);
        fclose(stream);
        if (!dialects_read(arena, buffer_text(&bytes), entry->d_name, &error))
            fail_msg("%s", error.text);
        buffer_free(&bytes);
        files++;
    }
    closedir(directory);
    assert_true(files > 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_small_job_has_the_defaults),
        TEST(every_field_is_taken),
        TEST(mistakes_name_the_field),
        TEST(anchors_and_merge_keys_are_read),
        TEST(aliases_are_counted),
        TEST(other_dialects_have_no_anchors),
        TEST(ports_and_clusters_of_old_files),
        TEST(tags_are_replaced),
        TEST(unknown_names_are_errors),
        TEST(a_deployment_wraps_the_commands),
        TEST(secrets_are_masked),
        TEST(a_secret_stands_nowhere_else),
        TEST(no_sentence_holds_a_secret),
        TEST(what_has_no_effect_is_noted),
        TEST(many_tasks_and_long_files),
        TEST(real_files_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
