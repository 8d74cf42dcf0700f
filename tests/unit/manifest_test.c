/* tests/unit/manifest_test.c - from a job and a commit to a manifest, or to the right refusal */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "renderer/context.h"
#include "renderer/functions.h"
#include "renderer/manifest.h"
#include "tests/unit/scratch_repository.h"

static struct scratch scratch;
static struct repository *repository;
static struct arena *arena;
static struct error error;
static struct render_result result;
static enum render_failure failure;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    scratch_open(&scratch);
    scratch_put(&scratch, "images.txt",
                "pytorch 2.1 * none torch:2.1\n"
                "pytorch *   * a100 torch:gpu\n"
                "any     *   * *    host\n");
    scratch_put(&scratch, "site.yaml", "colour: red\nimages: {allow_user: false}\n");
    scratch_put(&scratch, "local/pytorch/single.yaml", "kind: torch\nimage: ${image}\n");
    scratch_put(&scratch, "local/any/single.yaml", "kind: any\nimage: ${image}\n");
    scratch_commit(&scratch);
    repository = repository_open(scratch.path, "HEAD", &error);
    assert_non_null(repository);
    assert_int_equal(repository_refresh(repository, &error), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    repository_close(repository);
    scratch_close(&scratch);
    arena_free(arena);
    return 0;
}

static void says(const char *sentence)
{
    if (!strstr(error.text, sentence))
        print_message("got: %s\nwanted: %s\n", error.text, sentence);
    assert_non_null(strstr(error.text, sentence));
}

static const struct context_role one_role = {
    .role = {"main", 4}, .count = 1, .cpus = 1000, .memory = 1 << 30};

static struct context_job plain_job(void)
{
    return (struct context_job){.id = TEXT("j-1"),
                                .name = TEXT("j"),
                                .owner = TEXT("me"),
                                .uid = 1000,
                                .gid = 100,
                                .library = TEXT("any"),
                                .type = TEXT("single"),
                                .script = TEXT("echo"),
                                .roles = &one_role,
                                .roles_count = 1};
}

static struct render_input input_for(const char *library, const char *version)
{
    struct context_job job = plain_job();
    return (struct render_input){.executor = "local",
                                 .job = context_job(arena, &job),
                                 .library = text_of(library),
                                 .version = text_of(version),
                                 .type = TEXT("single"),
                                 .accelerator = TEXT("none")};
}

static int render(const struct render_input *input)
{
    error.text[0] = '\0';
    return manifest_render(arena, repository, input, &result, &failure, &error);
}

static void fails(const struct render_input *input, enum render_failure wanted,
                  const char *sentence)
{
    assert_int_equal(render(input), -1);
    says(sentence);
    assert_int_equal(failure, wanted);
}

/* Put a template for (any, single), commit, and serve it. */
static void serve(const char *template)
{
    scratch_put(&scratch, "local/any/single.yaml", template);
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
}

static void the_template_and_image_of_the_pair_are_chosen(void **state)
{
    (void)state;
    struct render_input input = input_for("pytorch", "2.1");
    assert_int_equal(render(&input), 0);
    assert_true(text_is(result.manifest, "kind: \"torch\"\nimage: \"torch:2.1\"\n"));
    assert_true(text_is(result.commit, repository_commit(repository)));
    assert_true(text_is(result.template_path, "local/pytorch/single.yaml"));
    assert_true(text_is(result.image, "torch:2.1"));
    assert_int_equal(result.image_line, 1);
    assert_true(text_is(result.version, "2.1"));
    input.accelerator = TEXT("a100");
    fails(&input, RENDER_NO_IMAGE,
          "; there is 2.1 (line 1, accelerator none); ask for what there "
          "is, leave version out to get that of line 2, or its maintainers");
    input.version = TEXT("");
    assert_int_equal(render(&input), 0);
    assert_true(text_is(result.image, "torch:gpu"));
    assert_int_equal(result.image_line, 2);
}

static void a_library_without_template_gets_that_of_any(void **state)
{
    (void)state;
    scratch_put(&scratch, "images.txt", "mxnet * * * m\n");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    struct render_input input = input_for("mxnet", "");
    assert_int_equal(render(&input), 0);
    assert_true(text_is(result.template_path, "local/any/single.yaml"));
    input.executor = "null";
    assert_int_equal(render(&input), 0);
    assert_true(text_is(result.template_path, "local/any/single.yaml"));
}

static void a_missing_template_or_image_is_named(void **state)
{
    (void)state;
    char sentence[256];
    struct render_input input = input_for("mxnet", "");
    input.type = TEXT("ps");
    snprintf(sentence, sizeof(sentence),
             "there is no template local/mxnet/ps.yaml (nor local/any/ps.yaml) in templates.git at "
             "commit %.7s; ask its maintainers to push one",
             repository_commit(repository));
    fails(&input, RENDER_NO_TEMPLATE, sentence);
    input.library = TEXT("any");
    fails(&input, RENDER_NO_TEMPLATE, "no template local/any/ps.yaml in templates.git");
    input.library = TEXT("../any");
    fails(&input, RENDER_NO_TEMPLATE, "no template for library \"../any\"");
    input = input_for("pytorch", "1.9");
    fails(&input, RENDER_NO_IMAGE,
          "no row of images.txt fits library pytorch, version 1.9, type single, accelerator none");
    input = input_for("mxnet", "");
    input.accelerator = TEXT("");
    fails(&input, RENDER_NO_IMAGE,
          "library mxnet, version (not given), type single, accelerator "
          "none in templates.git at commit ");
}

static void without_a_commit_the_repository_is_at_fault(void **state)
{
    (void)state;
    struct scratch empty;
    scratch_open(&empty);
    struct repository *mine = repository_open(empty.path, "HEAD", &error);
    struct render_input input = input_for("any", "");
    assert_int_equal(manifest_render(arena, mine, &input, &result, &failure, &error), -1);
    assert_int_equal(failure, RENDER_REPOSITORY);
    repository_close(mine);
    scratch_close(&empty);
}

static void faults_of_a_template_give_file_line_and_column(void **state)
{
    (void)state;
    struct render_input input = input_for("any", "");
    serve("kind: x\nname: ${jobb.name}\n");
    fails(&input, RENDER_TEMPLATE_FAULT, "local/any/single.yaml:2:7: ");
    serve("kind: x\nname: {$eval: job.nam}\n");
    fails(&input, RENDER_TEMPLATE_FAULT, "local/any/single.yaml:2:");
    serve("kind: x\n  y: z\n");
    fails(&input, RENDER_TEMPLATE_FAULT, "local/any/single.yaml:2:");
    serve("- x\n");
    fails(&input, RENDER_TEMPLATE_FAULT,
          "local/any/single.yaml:1: renders to a value of kind list");
    serve("kind: x\npart: {$include: common/none.yaml}\n");
    fails(&input, RENDER_TEMPLATE_FAULT, "local/any/single.yaml:2:");
    says("there is no file common/none.yaml");
    serve("kind: x\npart: {$include: ../../etc/passwd}\n");
    fails(&input, RENDER_TEMPLATE_FAULT, "is not a path in the templates repository");
    serve("kind: x\npart: {$include: local/any/single.yaml}\n");
    fails(&input, RENDER_TEMPLATE_FAULT, "local/any/single.yaml:2:");
}

static void parts_are_included_from_the_same_commit(void **state)
{
    (void)state;
    struct render_input input = input_for("any", "");
    scratch_put(&scratch, "common/part.yaml", "is: '${job.name} ${extra}'\n");
    serve("kind: x\npart:\n  $let: {extra: 1}\n  in: {$include: common/part.yaml}\n");
    assert_int_equal(render(&input), 0);
    assert_true(text_is(result.manifest, "kind: \"x\"\npart:\n  is: \"j 1\"\n"));
    scratch_put(&scratch, "common/part.yaml", "is: '${jobb}'\n");
    serve("kind: x\npart: {$include: common/part.yaml}\n");
    fails(&input, RENDER_TEMPLATE_FAULT, "common/part.yaml:1:5: ");
}

static void a_users_image_needs_the_sites_leave(void **state)
{
    (void)state;
    struct render_input input = input_for("any", "");
    input.image = TEXT("docker.io/team/x:1");
    fails(&input, RENDER_NOT_ALLOWED, "image \"docker.io/team/x:1\" may not be asked for here");
    scratch_put(&scratch, "site.yaml", "images: {allow_user: [docker.io/team, 'host', 'a:1']}\n");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    const struct {
        const char *image;
        bool allowed;
    } cases[] = {
        {"docker.io/team/x:1", true},
        {"docker.io/team", true},
        {"docker.io/team:2", true},
        {"docker.io/teams/x", false},
        {"docker.io/tea", false},
        {"host", true},
        {"hostile", false},
        {"a:1", true},
        {"a:10", false},
        {"x;rm -rf /", false},
        {"docker.io/team/x y", false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        input.image = text_of(cases[i].image);
        assert_int_equal(render(&input), cases[i].allowed ? 0 : -1);
        if (cases[i].allowed)
            assert_true(text_is(result.image, cases[i].image) && result.image_line == 0);
        else
            assert_int_equal(failure, RENDER_NOT_ALLOWED);
    }
    scratch_put(&scratch, "site.yaml", "images: {allow_user: true}\n");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    input.image = TEXT("anything:1");
    assert_int_equal(render(&input), 0);
    input.image = TEXT("host");
    fails(&input, RENDER_NOT_ALLOWED, "image \"host\" may not be asked for");
}

static void queue_and_debug_are_within_what_the_site_has(void **state)
{
    (void)state;
    struct context_job job = plain_job();
    struct render_input input = input_for("any", "");
    job.queue = TEXT("night");
    job.debug = 61 * 1000;
    input.job = context_job(arena, &job);
    assert_int_equal(render(&input), 0);
    scratch_put(&scratch, "site.yaml", "queues: [day, week]\ndebug_max: 60\n");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    fails(&input, RENDER_NOT_ALLOWED,
          "queue \"night\" is none of this site's: site.yaml of templates.git lists day, week");
    job.queue = TEXT("week");
    input.job = context_job(arena, &job);
    fails(&input, RENDER_NOT_ALLOWED,
          "debug asks for 61 seconds, and site.yaml of templates.git allows at most 60");
    job.debug = 60 * 1000;
    input.job = context_job(arena, &job);
    assert_int_equal(render(&input), 0);
}

/* Of the user's own choice, too, `host` has the version that they name, or the job is refused. */
static void host_by_name_has_the_version_that_is_named(void **state)
{
    static const char has[] =
        "{\"libraries\": {\"pytorch\": {\"version\": \"1.13.0\", \"gpus\": false}}}";
    struct render_input input = input_for("pytorch", "1.13");
    char *directory = unit_directory(), path[512];
    (void)state;
    scratch_put(&scratch, "site.yaml", "images: {allow_user: [host, x]}\n");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    snprintf(path, sizeof(path), "%s/.host", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(has, file) >= 0);
    fclose(file);
    repository_read_host(repository, directory);
    input.image = TEXT("host");
    assert_int_equal(render(&input), 0);
    assert_true(text_is(result.version, "1.13.0"));
    input.version = TEXT("99");
    fails(&input, RENDER_NOT_ALLOWED,
          "image \"host\" does not have library pytorch in version 99; there is 1.13.0 on");
    input.library = TEXT("mxnet");
    fails(&input, RENDER_NOT_ALLOWED, "in version 99; there is none of it");
    input.version = TEXT("");
    assert_int_equal(render(&input), 0);
    /* Nobody knows which version another image has. */
    input.version = TEXT("99");
    input.image = TEXT("x");
    assert_int_equal(render(&input), 0);
    assert_int_equal(result.version.length, 0);
    unit_remove(directory);
}

static void the_image_host_is_for_local_tasks(void **state)
{
    (void)state;
    struct render_input input = input_for("any", "");
    scratch_put(&scratch, "kubernetes/any/single.yaml", "image: ${image}\n");
    scratch_put(&scratch, "site.yaml", "images: {allow_user: [host]}\n");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    input.executor = "kubernetes";
    fails(&input, RENDER_NO_IMAGE, "accelerator none (rows with the image host left out)");
    input.image = TEXT("host");
    fails(&input, RENDER_NOT_ALLOWED, "image \"host\" is a machine's own files");
    input.executor = "null";
    assert_int_equal(render(&input), 0);

    /* And for those of a cluster whose nodes run jobs without containers. */
    input.executor = "slurm";
    scratch_put(&scratch, "slurm/any/single.yaml", "image: ${image}\n");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    fails(&input, RENDER_NOT_ALLOWED, "image \"host\" is a machine's own files");
    scratch_put(&scratch, "site.yaml",
                "images: {allow_user: [host]}\nslurm: {container: apptainer}\n");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    fails(&input, RENDER_NOT_ALLOWED, "image \"host\" is a machine's own files");
    scratch_put(&scratch, "site.yaml", "images: {allow_user: [host]}\nslurm: {container: none}\n");
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), 0);
    assert_int_equal(render(&input), 0);
}

static void a_template_may_refuse_a_job(void **state)
{
    (void)state;
    struct render_input input = input_for("any", "");
    struct context_job job = plain_job();
    job.name = TEXT("j\x01");
    input.job = context_job(arena, &job);
    serve("$if: job.task_count > 1\nthen: {a: b}\n"
          "else: {$eval: 'refuse(\"give \" + job.name + \" more\")'}\n");
    fails(&input, RENDER_NOT_ALLOWED, "give j\\x01 more");
    serve("a: ${nothing}\n");
    fails(&input, RENDER_TEMPLATE_FAULT, "local/any/single.yaml:1:");
}

/* It is run all the same, and told of once, however often the template comes by. */
static void a_template_may_tell_the_owner_something(void **state)
{
    (void)state;
    size_t count;
    struct render_input input = input_for("any", "");
    struct context_job job = plain_job();
    job.name = TEXT("j\x01");
    input.job = context_job(arena, &job);
    serve("b: {$map: [1, 2], each(x): {$eval: 'note(\"HOME\", \"of \" + job.name)'}}\n"
          "a: {$if: 'note(\"x\", \"y\") == null', then: '1'}\n");
    assert_int_equal(render(&input), 0);
    const struct template_note *notes = functions_notes(&count);
    assert_int_equal(count, 2);
    assert_string_equal(notes[0].field.text, "HOME");
    assert_string_equal(notes[0].sentence.text, "of j\\x01");
    assert_string_equal(notes[1].sentence.text, "y");
    serve("a: b\n");
    assert_int_equal(render(&input), 0);
    functions_notes(&count);
    assert_int_equal(count, 0);
    serve("a: {$eval: 'note(\"x\")'}\n");
    fails(&input, RENDER_TEMPLATE_FAULT, "note takes two strings");
    serve("a: {$eval: 'note(\"x\", 1)'}\n");
    fails(&input, RENDER_TEMPLATE_FAULT, "note takes two strings");
}

/* The whole job object, as context.h documents it. */
static void the_context_holds_what_is_documented(void **state)
{
    (void)state;
    struct text words[] = {TEXT("run"), TEXT("-x")};
    struct value *job_env = value_object(arena), *role_env = value_object(arena);
    value_put(arena, job_env, "A", value_string(arena, "1"));
    value_put(arena, job_env, "B", value_string(arena, "2"));
    value_put(arena, role_env, "B", value_string(arena, "3"));
    struct context_role roles[] = {
        {.role = TEXT("ps"), .count = 1, .cpus = 500, .memory = 1024, .gpus = 0},
        {.role = TEXT("worker"),
         .count = 2,
         .cpus = 2000,
         .memory = 2048,
         .shm = 512,
         .gpus = 1,
         .command = words,
         .command_count = 2,
         .env = role_env},
    };
    struct context_job job = plain_job();
    job.version = TEXT("2.1");
    job.home = TEXT("/home/me");
    job.program = TEXT("/p");
    job.entry = TEXT("e.py");
    job.script = TEXT("");
    job.args = words;
    job.args_count = 2;
    job.env = job_env;
    job.priority = -5;
    job.time_limit = 90500;
    job.attempt = 3;
    job.queue = TEXT("night");
    job.debug = 1500;
    job.complete = value_object(arena);
    job.roles = roles;
    job.roles_count = 2;
    struct buffer out = {0};
    assert_int_equal(json_write(&out, context_job(arena, &job), true, &error), 0);
    const char *wanted =
        "{\"args\":[\"run\",\"-x\"],\"array\":null,\"attempt\":3,"
        "\"checkpoint\":null,\"complete\":{},\"dataset\":null,"
        "\"debug\":2,\"entry\":\"e.py\","
        "\"env\":{\"A\":\"1\",\"B\":\"2\"},\"exclusive\":false,\"features\":[],\"gid\":100,\"gpu_type\":null,"
        "\"home\":\"/home/me\",\"host_network\":false,\"id\":\"j-1\","
        "\"library\":\"any\",\"name\":\"j\",\"output\":null,\"owner\":\"me\",\"platform\":null,"
        "\"port\":PORT,"
        "\"priority\":-5,\"program\":\"/p\",\"pull_secrets\":[],"
        "\"queue\":\"night\",\"registries\":[],\"roles\":["
        "{\"command\":null,\"count\":1,\"cpus\":0.5,\"cpus_most\":null,"
        "\"env\":{\"A\":\"1\",\"B\":\"2\"},\"first\":0,"
        "\"gpus\":0,\"image\":null,\"memory\":1024,\"name\":\"ps\",\"ports\":[{}],\"role\":\"ps\","
        "\"script\":null,\"secret\":false,\"shm\":null,\"storage\":null},"
        "{\"command\":[\"run\",\"-x\"],\"count\":2,\"cpus\":2,\"cpus_most\":null,"
        "\"env\":{\"A\":\"1\",\"B\":\"3\"},"
        "\"first\":1,\"gpus\":1,\"image\":null,\"memory\":2048,\"name\":\"worker\",\"ports\":[{},{}"
        "],"
        "\"role\":\"worker\",\"script\":null,\"secret\":false,\"shm\":512,\"storage\":null}],"
        "\"script\":null,\"signal\":null,\"size\":null,\"spread\":null,\"task_count\":3,\"tasks\":["
        "{\"array\":null,\"command\":null,\"count\":1,\"cpus\":0.5,\"cpus_most\":null,"
        "\"env\":{\"A\":\"1\",\"B\":"
        "\"2\"},\"gpus\":0,"
        "\"image\":null,\"index\":0,\"memory\":1024,\"name\":\"ps\",\"ports\":{},\"rank\":0,"
        "\"role\":\"ps\",\"script\":null,\"secret\":false,\"shm\":null,\"storage\":null},"
        "{\"array\":null,\"command\":[\"run\",\"-x\"],\"count\":2,\"cpus\":2,\"cpus_most\":null,"
        "\"env\":{\"A\":\"1\","
        "\"B\":\"3\"},"
        "\"gpus\":1,\"image\":null,\"index\":0,\"memory\":2048,\"name\":\"worker\",\"ports\":{},"
        "\"rank\":1,\"role\":\"worker\",\"script\":null,\"secret\":false,\"shm\":512,"
        "\"storage\":null},"
        "{\"array\":null,\"command\":[\"run\",\"-x\"],\"count\":2,\"cpus\":2,\"cpus_most\":null,"
        "\"env\":{\"A\":\"1\","
        "\"B\":\"3\"},"
        "\"gpus\":1,\"image\":null,\"index\":1,\"memory\":2048,\"name\":\"worker\",\"ports\":{},"
        "\"rank\":2,\"role\":\"worker\",\"script\":null,\"secret\":false,\"shm\":512,"
        "\"storage\":null}],"
        "\"time_limit\":90.5,\"token\":\"j-1-a3\",\"type\":\"single\",\"uid\":1000,\"version\":\"2."
        "1\"}";
    char port[16];
    snprintf(port, sizeof(port), "%d", context_port(job.id));
    const char *at = strstr(wanted, "PORT");
    struct buffer expected = {0};
    buffer_add(&expected, wanted, (size_t)(at - wanted));
    buffer_add_string(&expected, port);
    buffer_add_string(&expected, at + 4);
    assert_string_equal(out.data, expected.data);
    buffer_free(&out);
    buffer_free(&expected);
}

static void a_role_has_an_environment_of_its_own(void **state)
{
    (void)state;
    struct value *env = value_object(arena);
    value_put(arena, env, "B", value_string(arena, "3"));
    struct context_role role = one_role;
    struct context_job job = plain_job();
    role.env = env;
    job.roles = &role;
    const struct value *tree = context_job(arena, &job);
    const struct value *task = value_get(tree, "tasks")->list.items[0];
    assert_int_equal(value_get(tree, "env")->object.count, 0);
    assert_true(text_is(value_get_text(value_get(task, "env"), "B"), "3"));
}

static void a_port_is_the_jobs_own_for_ever(void **state)
{
    (void)state;
    assert_int_equal(context_port(TEXT("digits-0001")), 29256);
    int different = 0;
    for (int i = 0; i < 1000; i++) {
        int port = context_port(arena_printf(arena, "job-%d", i));
        assert_in_range(port, 15000, 31999);
        different += port != context_port(TEXT("job-0"));
    }
    assert_true(different > 980);
}

static struct value *call(const char *name, struct value *argument)
{
    const struct template_function *function = template_functions;
    while (function->name && strcmp(function->name, name) != 0)
        function++;
    assert_non_null(function->name);
    return function->call(arena, &argument, 1, &error);
}

/* What shell() quotes must come out of a real shell unchanged. */
static void shell_gives_the_word_back(void **state)
{
    (void)state;
    const char *words[] = {"",
                           "plain",
                           "two words",
                           "it's",
                           "'",
                           "''",
                           "\"$HOME\"",
                           "`id`",
                           "$(id)",
                           "a\nb\n",
                           "\\",
                           "-n",
                           "*",
                           "~",
                           "!!",
                           "\x01\x7f",
                           "caf\xc3\xa9",
                           "#",
                           "a;b|c&d<e>f(g)",
                           "\t x \t"};
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        struct value *quoted = call("shell", value_string(arena, words[i]));
        assert_non_null(quoted);
        struct text line = arena_printf(arena, "printf %%s %s; printf .", quoted->string.data);
        char got[256];
        FILE *shell = popen(line.data, "r");
        assert_non_null(shell);
        size_t length = fread(got, 1, sizeof(got) - 1, shell);
        got[length] = '\0';
        assert_int_equal(pclose(shell), 0);
        struct text wanted = arena_printf(arena, "%s.", words[i]);
        assert_string_equal(got, wanted.data);
    }
}

static void functions_refuse_what_they_cannot_do(void **state)
{
    (void)state;
    assert_null(call("shell", value_text(arena, (struct text){"a\0b", 3})));
    says("shell cannot quote a word that holds a NUL byte");
    assert_null(call("shell", value_list(arena)));
    says("not a value of kind list");
    assert_null(call("words", value_string(arena, "x")));
    says("words takes a list");
    assert_null(call("basename", value_null(arena)));
    says("basename takes a string");
    struct value *list = value_list(arena);
    value_append(arena, list, value_string(arena, "a b"));
    value_append(arena, list, value_number(arena, 1.5));
    value_append(arena, list, value_boolean(arena, true));
    assert_true(text_is(call("words", list)->string, "'a b' '1.5' 'true'"));
    assert_true(text_is(call("basename", value_string(arena, "/a/b/"))->string, "b"));
    assert_true(text_is(call("basename", value_string(arena, "b"))->string, "b"));
    assert_true(text_is(call("basename", value_string(arena, "/"))->string, ""));
}

/* The fields that the job has and the template did not read, in one text. */
static struct text unread(void)
{
    struct text all = TEXT("");
    for (size_t i = 0; i < result.unread_count; i++)
        all = arena_printf(arena, "%s%s ", all.data, result.unread[i].data);
    return all;
}

static void fields_that_a_template_does_not_read_are_named(void **state)
{
    (void)state;
    static const struct text words[] = {{"a100", 4}};
    static const struct {
        const char *template, *unread;
    } cases[] = {
        {"kind: x\n", "features script signal spread time_limit tasks.main.shm "},
        {"kind: ${job.script}\ntime: {$eval: job.time_limit}\n",
         "features signal spread tasks.main.shm "},
        {"kind: {$eval: 'job[\"script\"]'}\nof: {$map: {$eval: job.tasks}, each(t): {$eval: t.shm}}\n",
         "features signal spread time_limit "},
        {"kind: x\nroles: {$map: {$eval: job.roles}, each(role): {$if: role.shm, then: 1}}\n",
         "features script signal spread time_limit "},
        /* What is not reached is not read. */
        {"$if: '1 == 2'\nthen: {kind: '${job.script}', n: {$eval: job.features}}\nelse: {kind: x}\n",
         "features script signal spread time_limit tasks.main.shm "},
        /* A job that is used whole is read. */
        {"kind: x\njob: {$merge: [{$eval: job}, {a: 1}]}\n", "tasks.main.shm "},
    };
    struct context_role role = one_role;
    role.shm = 1 << 20;
    struct context_job job = plain_job();
    job.roles = &role;
    job.features = words;
    job.features_count = 1;
    job.spread = TEXT("require");
    job.time_limit = 60000;
    job.signal_name = TEXT("USR1");
    struct render_input input = input_for("any", "");
    input.job = context_job(arena, &job);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        serve(cases[i].template);
        if (render(&input))
            fail_msg("%s", error.text);
        assert_string_equal(unread().data, cases[i].unread);
    }
}

static void the_result_outlives_the_commit(void **state)
{
    (void)state;
    struct render_input input = input_for("any", "");
    serve("kind: constant\nlist: [a, b]\n");
    assert_int_equal(render(&input), 0);
    struct render_result kept = result;
    serve("kind: other\n");
    assert_true(text_is(value_get_text(kept.tree, "kind"), "constant"));
    assert_true(text_is(kept.manifest, "kind: \"constant\"\nlist:\n- \"a\"\n- \"b\"\n"));
    assert_true(text_is(kept.template_path, "local/any/single.yaml"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_template_and_image_of_the_pair_are_chosen),
        TEST(a_library_without_template_gets_that_of_any),
        TEST(a_missing_template_or_image_is_named),
        TEST(without_a_commit_the_repository_is_at_fault),
        TEST(faults_of_a_template_give_file_line_and_column),
        TEST(parts_are_included_from_the_same_commit),
        TEST(a_users_image_needs_the_sites_leave),
        TEST(queue_and_debug_are_within_what_the_site_has),
        TEST(host_by_name_has_the_version_that_is_named),
        TEST(the_image_host_is_for_local_tasks),
        TEST(a_template_may_refuse_a_job),
        TEST(a_template_may_tell_the_owner_something),
        TEST(the_context_holds_what_is_documented),
        TEST(a_role_has_an_environment_of_its_own),
        TEST(a_port_is_the_jobs_own_for_ever),
        TEST(shell_gives_the_word_back),
        TEST(functions_refuse_what_they_cannot_do),
        TEST(fields_that_a_template_does_not_read_are_named),
        TEST(the_result_outlives_the_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
