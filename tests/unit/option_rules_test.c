/* option_rules_test.c - what --partition, --account and the like of batch scripts are at a site */
#include "stages/prepare/option_rules.h"

#include "base/yaml.h"
#include "request/dialects/dialects.h"
#include "stages/prepare/platform.h"
#include "tests/unit/unit_arena.h"

static struct context_job job;
static struct notes notes;

/* Resolve a script with this line at a site with these rules. */
static int resolve(const char *executor, const char *line, const char *rules)
{
    struct text source = arena_printf(arena, "#!/bin/sh\n%s\ntrue\n", line);
    struct description *description = dialects_read(arena, source, "x.sh", &error);
    if (!description)
        fail_msg("%s: %s", line, error.text);
    struct text site = arena_printf(arena, "sbatch: {rules: [%s]}\npbs: {rules: []}\n", rules);
    struct value *tree = yaml_read(arena, site, "site.yaml", &yaml_request_limits, &error);
    if (!tree)
        fail_msg("%s: %s", rules, error.text);
    struct job_record record = {.owner = TEXT("ann"), .executor = text_of(executor)};
    job = (struct context_job){.id = TEXT("train-0123456789abc"),
                               .queue = description->queue,
                               .gpu_type = description->gpu_type};
    notes = (struct notes){.items = NULL};
    return platform_resolve(arena, tree, description, &record, &job, &notes, &error);
}

static void gives(const char *line, const char *rules, const char *queue, const char *type)
{
    if (resolve("slurm", line, rules))
        fail_msg("%s with %s was refused: %s", line, rules, error.text);
    if (!text_is(job.queue, queue) || !text_is(job.gpu_type, type))
        fail_msg("%s with %s gives the queue %.*s and the type %.*s", line, rules,
                 (int)job.queue.length, job.queue.data, (int)job.gpu_type.length,
                 job.gpu_type.data);
}

static void a_partition_is_the_queue_of_its_name(void **state)
{
    (void)state;
    gives("#SBATCH -p gpu", "", "gpu", "");
    assert_true(text_is(job.platform.name, "sbatch"));
    assert_int_equal(notes.count, 0);
    gives("#PBS -q night", "", "night", "");
    gives("#SBATCH -p gpu\n#DL queue=day", "", "day", "");
    assert_int_equal(notes.count, 1);
    assert_int_equal(resolve("slurm", "#SBATCH -p GPU_long", ""), -1);
    assert_string_equal(error.text,
                        "line 2: --partition: found \"GPU_long\", which site.yaml of templates.git "
                        "does not name (sbatch.rules): leave the option out, write #DL queue=NAME "
                        "with a queue that has it, or ask an administrator for a rule");
}

static void rules_give_queues_and_types(void **state)
{
#define RULES                                                                                      \
    "{account: physics, partition: gpu, queue: pg}, {account: physics, queue: p}, "                \
    "{account: '*'}, {constraint: a100, gpu_type: A100}, {partition: GPU_long, queue: long}"
    (void)state;
    gives("#SBATCH -p gpu -A physics", RULES, "pg", "");
    gives("#SBATCH -p cpu -A physics", RULES, "p", "");
    gives("#SBATCH -A physics", RULES, "p", "");
    gives("#SBATCH -A math", RULES, "", "");
    assert_int_equal(notes.count, 1);
    assert_true(text_is(notes.items[0].field, "line 2: --account"));
    gives("#SBATCH -A math -p GPU_long", RULES, "long", "");
    gives("#SBATCH -C a100 -p gpu", RULES, "gpu", "A100");
    gives("#SBATCH -C a100\n#DL gpu_type=other", RULES, "", "other");
}

static void what_no_rule_names_is_refused(void **state)
{
    static const char *const lines[] = {"-A physics", "--qos=high", "--reservation=r",
                                        "-C 'a100|v100'", "-L matlab"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        bool choice = i < 3;
        struct text line = arena_printf(arena, "#SBATCH %s", lines[i]);
        assert_int_equal(resolve("slurm", line.data, "{account: math}"), -1);
        assert_int_equal(resolve("kubernetes", line.data, ""), -1);
        assert_int_equal(resolve("local", line.data, ""), choice ? 0 : -1);
        if (choice)
            assert_int_equal(notes.count, 1);
    }
    assert_int_equal(resolve("slurm", "#SBATCH -A physics -p gpu -q high -L matlab:2", ""), -1);
    assert_non_null(strstr(error.text, "line 2: --account: found \"physics\", which site.yaml"));
    assert_non_null(
        strstr(error.text, "for a rule; likewise --qos \"high\", --licenses \"matlab:2\""));
    assert_int_equal(resolve("local", "#SBATCH -p gpu", ""), 0);
    assert_int_equal(job.queue.length, 0);
    assert_int_equal(notes.count, 1);
}

/* What no rule names are features, as the job file may name them; the templates know which there are. */
static void constraints_are_features(void **state)
{
    (void)state;
    gives("#SBATCH -C nvlink", "{constraint: a100, gpu_type: A100}", "", "");
    assert_int_equal(job.features_count, 1);
    assert_true(text_is(job.features[0], "nvlink"));
    gives("#SBATCH -C 'nvlink&fast'", "", "", "");
    assert_int_equal(job.features_count, 2);
    assert_true(text_is(job.features[1], "fast"));
    gives("#PBS -l feature=fast", "", "", "");
    assert_int_equal(job.features_count, 1);
    gives("#SBATCH -C a100", "{constraint: a100, gpu_type: A100}", "", "A100");
    assert_int_equal(job.features_count, 0);
    static const char *const others[] = {"[a*2]", "a&", "a,b|c", "!a", "a&&b"};
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        struct text line = arena_printf(arena, "#SBATCH -C '%s'", others[i]);
        struct text source = arena_printf(arena, "#!/bin/sh\n%s\ntrue\n", line.data);
        if (dialects_read(arena, source, "x.sh", &error))
            assert_int_equal(resolve("slurm", line.data, ""), -1);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_partition_is_the_queue_of_its_name),
        TEST(rules_give_queues_and_types),
        TEST(what_no_rule_names_is_refused),
        TEST(constraints_are_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
