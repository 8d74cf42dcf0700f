/* platform_test.c - places of another system and what site.yaml says they are; ports and their hash */
#include "tests/unit/unit_arena.h"

#include "base/sha256.h"
#include "base/yaml.h"
#include "request/dialects/dialects.h"
#include "stages/prepare/platform.h"

static struct context_job job;
static struct notes notes;

static struct text text(const char *string)
{
    return text_of(string);
}

static void assert_text(struct text got, const char *string)
{
    if (!text_is(got, string))
        fail_msg("got \"%.*s\", expected \"%s\"", (int)got.length, got.length ? got.data : "",
                 string);
}

/* Resolve a job that has these fields, at a site that has these. */
static int resolve_for(const char *executor, const char *fields, const char *site)
{
    struct buffer source = {0};
    buffer_printf(&source,
                  "{\"jobName\": \"train\", \"image\": \"b\", \"taskRoles\": [{\"name\": "
                  "\"w\", \"command\": \"c\", \"storageGB\": 1}]%s}",
                  fields);
    struct description *description = dialects_read(arena, buffer_text(&source), "f.json", &error);
    if (!description)
        fail_msg("%s: %s", source.data, error.text);
    buffer_free(&source);
    struct value *tree = yaml_read(arena, text(site), "site.yaml", &yaml_request_limits, &error);
    if (!tree)
        fail_msg("%s: %s", site, error.text);
    struct job_record record = {.owner = text("ann"), .executor = text(executor)};
    job =
        (struct context_job){.id = text("train-0123456789abc"), .gpu_type = description->gpu_type};
    notes = description->notes;
    return platform_resolve(arena, tree, description, &record, &job, &notes, &error);
}

static void resolve(const char *fields, const char *site)
{
    if (resolve_for("kubernetes", fields, site))
        fail_msg("%s at %s was refused: %s", fields, site, error.text);
}

static bool has_note(const char *field, const char *words)
{
    for (size_t i = 0; i < notes.count; i++)
        if (text_is(notes.items[i].field, field) &&
            text_contains(notes.items[i].sentence, text(words)))
            return true;
    return false;
}

#define PATHS                                                                                      \
    "openpai:\n"                                                                                   \
    "  default_fs: hdfs://h:9000/\n"                                                               \
    "  paths:\n"                                                                                   \
    "  - {prefix: $PAI_DEFAULT_FS_URI, path: /srv/pai}\n"                                          \
    "  - {prefix: hdfs://h:9000/big/, path: /srv/big/}\n"

static void short_image_names_are_of_docker_hub(void **state)
{
    (void)state;
    static const struct {
        const char *site, *platform, *image, *expected;
    } cases[] = {
        {"{}", "openpai", "openpai/pai.example.pytorch", "docker.io/openpai/pai.example.pytorch"},
        {"{}", "dlworkspace", "ubuntu:22.04", "docker.io/library/ubuntu:22.04"},
        {"openpai: {registry: reg.example.org/mirror}", "openpai", "a", "reg.example.org/mirror/a"},
        {"openpai: {registry: \"\"}", "openpai", "a/b", "a/b"},
        {"{}", "openpai", "reg.example.org/a/b:1", "reg.example.org/a/b:1"},
        {"{}", "openpai", "localhost/a", "localhost/a"},
        {"{}", "openpai", "reg:5000/a", "reg:5000/a"},
        {"{}", "openpai", "host", "host"},
        {"{}", "", "a/b", "a/b"},
        {"{}", "openpai", "", ""},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct value *site =
            yaml_read(arena, text(cases[i].site), "site.yaml", &yaml_request_limits, &error);
        assert_text(platform_image(arena, site, text(cases[i].platform), text(cases[i].image)),
                    cases[i].expected);
    }
}

static void a_strict_site_refuses_what_cannot_work(void **state)
{
    (void)state;
    static const char code[] = ", \"codeDir\": \"hdfs://h/code\"";
    static const char lax[] = "openpai: {strict: false}", strict[] = "openpai: {strict: true}";
    resolve(code, lax);
    assert_true(has_note("codeDir", "no effect"));
    assert_int_equal(resolve_for("local", code, strict), -1);
    assert_non_null(strstr(error.text, "codeDir"));
    assert_int_equal(resolve_for("local", ", \"dataDir\": \"hdfs://h/data\"", strict), 0);
}

static void locations_become_paths(void **state)
{
    (void)state;
    resolve(", \"dataDir\": \"$PAI_DEFAULT_FS_URI/$PAI_USERNAME//x/./y/\", \"outputDir\": "
            "\"$PAI_DEFAULT_FS_URI/out/$PAI_JOB_NAME\", \"codeDir\": \"hdfs://h:9000/big/code\"",
            "openpai: {default_fs: \"hdfs://h:9000\", paths: [{prefix: $PAI_DEFAULT_FS_URI, path: "
            "/srv/pai}, {prefix: \"hdfs://h:9000/big/\", path: /srv/big/}]}");
    assert_text(job.dataset, "/srv/pai/ann/x/y");
    assert_text(job.output, "/srv/pai/out/ann~train");
    assert_text(job.program, "/srv/big/code");
    assert_text(job.platform.data, "hdfs://h:9000/ann//x/./y/");
    assert_int_equal(notes.count, 0);

    resolve(", \"dataDir\": \"hdfs://h:9000/bigger\"", PATHS);
    assert_text(job.dataset, "/srv/pai/bigger");
    resolve(", \"dataDir\": \"$PAI_DEFAULT_FS_URI/a\"",
            "openpai: {paths: [{prefix: $PAI_DEFAULT_FS_URI, path: /srv}]}");
    assert_text(job.dataset, "/srv/a");
    resolve(", \"dataDir\": \"/mnt/d/$PAI_USERNAMES/$PAI_USER_NAME\"",
            "openpai: {paths: [{prefix: /, path: /}]}");
    assert_text(job.dataset, "/mnt/d/$PAI_USERNAMES/ann");
}

static void what_is_nowhere_is_noted(void **state)
{
    (void)state;
    resolve(", \"dataDir\": \"hdfs://other/d\", \"codeDir\": \"$PAI_DEFAULT_FS_URI/../etc\"",
            PATHS);
    assert_text(job.dataset, "");
    assert_text(job.program, "");
    assert_text(job.platform.data, "hdfs://other/d");
    assert_true(
        has_note("dataDir", "no effect: hdfs://other/d: site.yaml maps it to no directory"));
    assert_true(has_note("codeDir", "it has .. parts"));
    assert_int_equal(
        resolve_for("local", ", \"dataDir\": \"hdfs://other/d\"", "openpai: {unmapped: refuse}"),
        -1);
    assert_string_equal(error.text, "dataDir: found \"hdfs://other/d\", expected a place that this "
                                    "site has: site.yaml maps it to no directory (openpai.paths)");
}

static void outputs_have_a_default(void **state)
{
    (void)state;
    resolve("", "openpai: {default_fs: \"hdfs://h:9000/\"}");
    assert_text(job.platform.output, "hdfs://h:9000/Output/ann/ann~train");
    assert_text(job.output, "");
    resolve("", "{}");
    assert_text(job.platform.output, "");
}

static void virtual_clusters_become_queues(void **state)
{
    (void)state;
    resolve(", \"virtualCluster\": \"vc_1\"",
            "openpai: {virtual_clusters: {vc_1: night, b: null}}");
    assert_text(job.queue, "night");
    assert_text(job.platform.cluster, "vc_1");
    resolve(", \"virtualCluster\": \"b\"", "openpai: {virtual_clusters: {vc_1: night, b: null}}");
    assert_text(job.queue, "");
    resolve(", \"virtualCluster\": \"default\"", "openpai: {virtual_clusters: {vc_1: night}}");
    assert_text(job.queue, "");
    resolve(", \"virtualCluster\": \"default\"", "openpai: {virtual_clusters: {default: day}}");
    assert_text(job.queue, "day");
    resolve(", \"virtualCluster\": \"day\"", "queues: [day]");
    assert_text(job.queue, "day");
    resolve(", \"virtualCluster\": \"other\"", "{}");
    assert_true(has_note("virtualCluster", "no effect"));
    assert_int_equal(resolve_for("local", ", \"virtualCluster\": \"other\"",
                                 "openpai: {virtual_clusters: {vc_1: night}}"),
                     -1);
    assert_string_equal(error.text,
                        "virtualCluster: found \"other\", expected one that site.yaml of "
                        "templates.git names (openpai.virtual_clusters)");
}

static void the_rest_is_mapped(void **state)
{
    (void)state;
    resolve(
        ", \"gpuType\": \"TITANX\", \"authFile\": \"hdfs://h/auth\", \"jobEnvs\": {\"isDebug\": "
        "true}",
        "openpai: {gpu_types: {TITANX: titan-x}, auth_files: {\"hdfs://h/auth\": "
        "registry}, debug: 3600}");
    assert_text(job.gpu_type, "titan-x");
    assert_int_equal(job.pull_secrets_count, 1);
    assert_text(job.pull_secrets[0], "registry");
    assert_int_equal(job.platform.debug, 3600);
    assert_int_equal(notes.count, 0);
    resolve(", \"authFile\": \"hdfs://h/auth\"", "{}");
    assert_true(has_note("authFile", "no effect"));
    assert_int_equal(resolve_for("local", "", "{}"), 0);
    assert_true(has_note("taskRoles[0].storageGB", "no effect: the executor local"));
    resolve(", \"jobEnvs\": {\"isDebug\": true}", "{}");
    assert_int_equal(job.platform.debug, 604800);
}

static void ports_have_room(void **state)
{
    (void)state;
    resolve("", "ports: {first: 20000, last: 20100}");
    assert_int_equal(job.port_range.first, 20000);
    assert_int_equal(job.port_range.last, 20100);
    assert_int_equal(resolve_for("local", "", "ports: {first: 20000, last: 20001}"), -1);
    assert_non_null(strstr(error.text, "(ports)"));
    assert_int_equal(resolve_for("local", "", "ports: {first: 0, last: 20001}"), -1);
    assert_int_equal(resolve_for("local", "", "ports: {first: 2, last: 1}"), -1);
}

/* What renderer/ports.h promises, worked out again. */
static int hash_port(const char *words, struct port_range range)
{
    char hex[SHA256_HEX_SIZE];
    sha256_hex(text(words), hex);
    hex[8] = '\0';
    return range.first + (int)(strtoul(hex, NULL, 16) % (unsigned)(range.last - range.first + 1));
}

static void ports_can_be_worked_out_again(void **state)
{
    (void)state;
    struct port_range range = {15000, 31999};
    struct port_book book;
    ports_start(&book, range, text("train-0123456789abc-a1"));
    int first = hash_port("train-0123456789abc-a1/worker/0/http/0/0", range);
    assert_int_equal(ports_choose(&book, text("worker"), 0, text("http"), 0), first);
    /* Asked for again, it is taken: the next try. */
    int second = hash_port("train-0123456789abc-a1/worker/0/http/0/1", range);
    assert_int_equal(ports_choose(&book, text("worker"), 0, text("http"), 0), second);
    ports_start(&book, range, text("train-0123456789abc-a2"));
    assert_int_not_equal(ports_choose(&book, text("worker"), 0, text("http"), 0), first);
}

static void no_two_ports_are_the_same(void **state)
{
    (void)state;
    struct port_range range = {20000, 20099};
    struct port_book book;
    bool taken[100] = {false};
    ports_start(&book, range, text("t"));
    ports_reserve(&book, 20010, 10);
    ports_reserve(&book, 65530, 10);
    for (int i = 0; i < 90; i++) {
        int port = ports_choose(&book, text("w"), i, text("http"), 0);
        assert_in_range(port, 20000, 20099);
        assert_false(port >= 20010 && port < 20020);
        assert_false(taken[port - 20000]);
        taken[port - 20000] = true;
    }
    assert_int_equal(ports_choose(&book, text("w"), 90, text("http"), 0), 0);
}

static void tasks_have_their_ports(void **state)
{
    (void)state;
    struct port_request ports[] = {{text("http"), 1, 0}, {text("web"), 2, 16000}};
    struct context_role roles[] = {
        {.role = text("a"),
         .count = 2,
         .cpus = 1000,
         .memory = 1,
         .ports = ports,
         .ports_count = 2,
         .name = text("A_a")},
        {.role = text("b"), .count = 1, .cpus = 1000, .memory = 1},
    };
    struct context_job context = {.id = text("x-0123456789abc"), .roles = roles, .roles_count = 2};
    struct value *tree = context_job(arena, &context);
    const struct value *tasks = value_get(tree, "tasks");
    const struct value *web = value_get(value_get(tasks->list.items[1], "ports"), "web");
    assert_int_equal(web->list.count, 2);
    assert_int_equal(web->list.items[1]->number, 16001);
    assert_text(value_get_text(tasks->list.items[0], "name"), "A_a");
    assert_text(value_get_text(tasks->list.items[2], "name"), "b");
    const struct value *http = value_get(value_get(tasks->list.items[1], "ports"), "http");
    assert_int_equal(http->list.items[0]->number, hash_port("x-0123456789abc-a1/a/1/http/0/0",
                                                            (struct port_range){15000, 31999}));
    const struct value *of_role = value_get(value_get(tree, "roles")->list.items[0], "ports");
    assert_ptr_equal(of_role->list.items[1], value_get(tasks->list.items[1], "ports"));
    assert_int_equal(value_get(tree, "platform")->kind, VALUE_NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(short_image_names_are_of_docker_hub),
        TEST(a_strict_site_refuses_what_cannot_work),
        TEST(locations_become_paths),
        TEST(what_is_nowhere_is_noted),
        TEST(outputs_have_a_default),
        TEST(virtual_clusters_become_queues),
        TEST(the_rest_is_mapped),
        TEST(ports_have_room),
        TEST(ports_can_be_worked_out_again),
        TEST(no_two_ports_are_the_same),
        TEST(tasks_have_their_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
