/* tests/unit/slurm_manifest_test.c - the Slurm executor's manifest is read strictly */
#include "tests/unit/unit.h"

#include "executors/slurm/manifest.h"

#define HEAD "kind: dlspool/slurm/v1\n"
#define SCRIPT "script: '#!/bin/bash'\n"
#define COMPONENT "tasks: 1, cpus_per_task: 1, memory_per_task: 1Mi"
#define ONE "components: [{" COMPONENT "}]\ntasks: [{role: main, count: 1}]\n"

static struct slurm_manifest *read(struct arena *arena, const char *source, struct error *error)
{
    error->text[0] = '\0';
    return slurm_manifest_read(arena, text_of(source), error);
}

static void every_field_is_read(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct error error;
    struct slurm_manifest *manifest = read(
        arena,
        HEAD
        "job: {partition: gpu, requeue: false, nice: -5, time_limit: 90}\ncomponents:\n"
        "- {tasks: 2, cpus_per_task: 3, memory_per_task: 2Gi, gpus_per_task: 4,\n"
        "   gpu_type: a100_sxm4.80gb, nodes: 2, properties: {partition: big, exclusive: true}}\n"
        "- {" COMPONENT "}\n"
        "tasks:\n- {role: worker, count: 2}\n- {role: ps, count: 1}\n"
        "- {role: launcher, count: 1, beside: true}\n"
        "complete: {worker: {succeeded: 2}}\nenvironment: {A: b, C~D: ''}\n"
        "script: |\n  #!/bin/bash\n  true\n",
        &error);
    if (!manifest)
        fail_msg("%s", error.text);
    assert_int_equal(manifest->job.count, 4);
    assert_string_equal(slurm_manifest_property(&manifest->job, "partition")->string.data, "gpu");
    assert_false(slurm_manifest_property(&manifest->job, "requeue")->boolean);
    assert_true(slurm_manifest_property(&manifest->job, "nice")->number == -5);
    assert_null(slurm_manifest_property(&manifest->job, "account"));
    assert_int_equal(manifest->array_count, 0);
    assert_int_equal(manifest->component_count, 2);
    const struct slurm_component *component = &manifest->components[0];
    assert_int_equal(component->tasks, 2);
    assert_int_equal(component->cpus_per_task, 3);
    assert_int_equal(component->memory_per_task, (int64_t)2 << 30);
    assert_int_equal(component->gpus_per_task, 4);
    assert_string_equal(component->gpu_type.data, "a100_sxm4.80gb");
    assert_int_equal(component->nodes, 2);
    assert_string_equal(slurm_manifest_property(&component->properties, "partition")->string.data,
                        "big");
    assert_int_equal(manifest->components[1].properties.count, 0);
    assert_int_equal(manifest->components[1].gpu_type.length, 0);
    assert_int_equal(manifest->tasks_count, 3);
    assert_int_equal(manifest->task_total, 4);
    assert_true(manifest->tasks[2].beside);
    assert_false(manifest->tasks[1].beside);
    assert_int_equal(manifest->complete->object.count, 1);
    assert_int_equal(manifest->environment->object.count, 2);
    assert_string_equal(manifest->script.data, "#!/bin/bash\ntrue\n");
    arena_free(arena);
}

static void an_array_has_one_component_for_each_element(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct error error;
    struct slurm_manifest *manifest =
        read(arena,
             HEAD "array: {count: 500, at_once: 7}\ncomponents: [{" COMPONENT "}]\n"
                  "tasks: [{role: main, count: 500}]\n" SCRIPT,
             &error);
    if (!manifest)
        fail_msg("%s", error.text);
    assert_int_equal(manifest->array_count, 500);
    assert_int_equal(manifest->array_at_once, 7);
    assert_int_equal(manifest->task_total, 500);
    arena_free(arena);
}

static void every_mistake_is_a_sentence_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {"", "manifest.yaml:1:1: the document: found nothing, expected an object"},
        {"kind: dlspool/local/v1\n",
         "manifest.yaml:1:7: kind: found \"dlspool/local/v1\", expected dlspool/slurm/v1"},
        {HEAD, "components: missing"},
        {HEAD "components: [{" COMPONENT "}]\n", "tasks: missing"},
        {HEAD ONE, "manifest.yaml:1:1: script: missing"},
        {HEAD ONE "script: 'echo'\n",
         "script: found \"echo\", expected a text that starts with #!"},
        {HEAD ONE "script: \"#!/bin/bash\\n\\0\"\n", "script: found"},
        {HEAD ONE SCRIPT "scirpt: 1\n", "scirpt: unknown field; did you mean script?"},
        {HEAD "job: [a]\n", "job: found a list, expected an object of properties"},
        {HEAD "job: {comment: x}\n",
         "2:16: job.comment: found \"x\", expected the name of a property that a manifest may set"},
        {HEAD "job: {hold: true}\n", "job.hold: found true, expected the name of a property"},
        {HEAD "job: {user_id: 0}\n", "job.user_id: found 0, expected the name of a property"},
        {HEAD "job: {environment: {}}\n", "job.environment: found a map, expected the name"},
        {HEAD "job: {standard_output: /etc/x}\n",
         "job.standard_output: found \"/etc/x\", expected"},
        {HEAD "job: {partiton: x}\n",
         "expected the name of a property that a manifest may set; did "
         "you mean partition?"},
        {HEAD "job: {partition: 7}\n",
         "job.partition: found 7, expected a text of 1 to 1024 bytes"},
        {HEAD "job: {partition: ''}\n", "job.partition: found \"\", expected a text of 1"},
        {HEAD "job: {partition: \"a\\nb\"}\n", "job.partition: found \"a\\x0ab\", expected a text"},
        {HEAD "job: {time_limit: 0}\n",
         "job.time_limit: found 0, expected a whole number from 1 to 16777216"},
        {HEAD "job: {time_limit: 1.5}\n", "job.time_limit: found 1.5, expected a whole number"},
        {HEAD "job: {time_limit: '5'}\n", "job.time_limit: found \"5\", expected a whole number"},
        {HEAD "job: {nice: 1e12}\n", "job.nice: found 1e12, expected a whole number from"},
        {HEAD "job: {requeue: 1}\n", "job.requeue: found 1, expected true or false"},
        {HEAD "array: {}\n", "array.count: missing"},
        {HEAD "array: {count: 0}\n", "array.count: found 0, expected a whole number from 1"},
        {HEAD "components: []\n",
         "components: found a list, expected a list of 1 to 128 components"},
        {HEAD "components: [{tasks: 1, cpus_per_task: 1}]\n",
         "2:14: components[0].memory_per_task: missing"},
        {HEAD "components: [{tasks: 0}]\n",
         "components[0].tasks: found 0, expected a whole number"},
        {HEAD "components: [{cpus_per_task: 0.5}]\n",
         "components[0].cpus_per_task: found 0.5, expected a whole number from 1 to 65533"},
        {HEAD "components: [{cpus_per_task: 65534}]\n", "components[0].cpus_per_task: found 65534"},
        {HEAD "components: [{memory_per_task: 0}]\n",
         "components[0].memory_per_task: found 0, expected a number of bytes from 1"},
        {HEAD "components: [{gpus_per_task: -1}]\n", "components[0].gpus_per_task: found -1"},
        {HEAD "components: [{gpu_type: 'a100:4'}]\n",
         "components[0].gpu_type: found \"a100:4\", expected a name of at most 63 letters"},
        {HEAD "components: [{gpu_type: '-x'}]\n", "components[0].gpu_type: found \"-x\""},
        {HEAD "components: [{" COMPONENT ", gpu_type: a100}]\n",
         "components[0]: found a map, expected gpus_per_task beside gpu_type"},
        {HEAD "components: [{" COMPONENT ", nodes: 2}]\n",
         "components[0]: found a map, expected nodes to be at most tasks"},
        {HEAD "components: [{properties: {deadline: now}}]\n",
         "components[0].properties.deadline: found \"now\", expected deadline to be said of the "
         "whole job only"},
        {HEAD "components: [{properties: {partiton: x}}]\n", "did you mean partition?"},
        {HEAD "tasks: []\n", "tasks: found a list, expected a list of 1 to 128 roles"},
        {HEAD "tasks: [{role: ../x}]\n",
         "tasks[0].role: found \"../x\", expected a name of at most"},
        {HEAD "tasks: [{role: a, count: 1}, {role: a, count: 1}]\n",
         "tasks[1]: found a map, expected a role that none before it has"},
        {HEAD "tasks: [{role: a, count: 99999}, {role: b, count: 2}]\n",
         "tasks[1]: found a map, expected at most 100000 tasks in all"},
        {HEAD "components: [{" COMPONENT "}]\ntasks: [{role: a, count: 2}]\n" SCRIPT,
         "components: found a list, expected components of 2 tasks in all, as many as the roles "
         "have"},
        {HEAD "components: [{" COMPONENT "}]\ntasks: [{role: a, count: 1, beside: true}]\n" SCRIPT,
         "components: found a list, expected components of 0 tasks in all"},
        {HEAD "array: {count: 3}\ncomponents: [{" COMPONENT
              "}]\ntasks: [{role: a, count: 2}]\n" SCRIPT,
         "tasks: found a list, expected one role of 3 tasks, as many as the array has"},
        {HEAD "array: {count: 3}\ncomponents: [{" COMPONENT "}, {" COMPONENT
              "}]\ntasks: [{role: a, count: 3}]\n" SCRIPT,
         "components: found a list, expected one component of one task, as there is an array"},
        {HEAD "complete: {a: {failed: 0}}\n",
         "complete: found a map, expected a rule for each role"},
        {HEAD ONE SCRIPT "complete: {other: {}}\n",
         "complete: found a map, expected only roles that tasks have"},
        {HEAD "environment: {A: 1}\n", "environment.A: found 1, expected a string"},
        {HEAD "environment: {A=B: x}\n", "environment.A=B: found \"x\", expected"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct arena *arena = arena_new();
        struct error error;
        assert_null(read(arena, cases[i].source, &error));
        if (!strstr(error.text, cases[i].sentence))
            fail_msg("%s\ngives   %s\nand not %s", cases[i].source, error.text, cases[i].sentence);
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(an_array_has_one_component_for_each_element),
        cmocka_unit_test(every_mistake_is_a_sentence_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
