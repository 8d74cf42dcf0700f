/* tests/unit/reach_test.c - where a job can be connected to, and that its token is nowhere but where asked for */
#include "spool/file.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "commands/reach.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

struct fixture {
    char *path;
    int job;
    struct arena *arena;
    struct job_view view;
    struct reach reach;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    fixture->path = unit_directory();
    fixture->job = open(fixture->path, O_RDONLY | O_DIRECTORY);
    fixture->arena = arena_new();
    fixture->view =
        (struct job_view){.place = {.state = STATE_SUBMITTED},
                          .record = {.executor = TEXT("local"), .type = TEXT("notebook")},
                          .situation = {.state = JOB_RUNNING, .started = 1, .node = "gpu1"}};
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    arena_free(fixture->arena);
    close(fixture->job);
    unit_remove(fixture->path);
    free(fixture);
    return 0;
}

static void put(const struct fixture *fixture, const char *name, const char *bytes)
{
    assert_int_equal(spool_file_replace(fixture->job, name, text_of(bytes), 0644, NULL), 0);
}

static void put_output(const struct fixture *fixture, const char *bytes)
{
    mkdirat(fixture->job, "output", 0755);
    int file = openat(fixture->job, "output/main-0.log", O_WRONLY | O_CREAT | O_TRUNC, 0640);
    assert_int_equal(write(file, bytes, strlen(bytes)), strlen(bytes));
    close(file);
}

static void look(struct fixture *fixture, const char *space)
{
    reach_read(fixture->job, &fixture->view, text_of(space), fixture->arena, &fixture->reach);
}

static void a_port_of_this_machine_is_in_the_manifest(void **state)
{
    struct fixture *fixture = *state;
    look(fixture, "");
    assert_int_equal(fixture->reach.count, 0);
    put(fixture, "manifest.yaml", "kind: dlspool/local/v1\nlisten:\n- 17234\n- 17235\n");
    look(fixture, "");
    assert_int_equal(fixture->reach.count, 2);
    assert_true(text_is(fixture->reach.addresses[1], "gpu1:17235"));
    assert_true(text_is(fixture->reach.url, "http://gpu1:17234/"));
    fixture->view.record.type = TEXT("serving");
    look(fixture, "");
    assert_int_equal(fixture->reach.url.length, 0); /* it may speak anything */
    fixture->view.situation.started = 0;
    look(fixture, "");
    assert_int_equal(fixture->reach.count, 0);
    fixture->view.situation.started = 1;
    fixture->view.place.state = STATE_DONE;
    look(fixture, "");
    assert_int_equal(fixture->reach.count, 0);
}

static void a_cluster_has_a_service(void **state)
{
    struct fixture *fixture = *state;
    fixture->view.record.executor = TEXT("kubernetes");
    put(fixture, "manifest.yaml",
        "kind: List\nitems:\n- {kind: Job}\n"
        "- {kind: Service, metadata: {name: lab-peers}, spec: {clusterIP: None, ports: [{port: 1}]}}\n"
        "- {kind: Service, metadata: {name: lab-a1}, spec: {ports: [{port: 17234}]}}\n");
    put_output(fixture, "http://pod:17234/lab?token=" TOKEN "\n");
    look(fixture, "batch");
    assert_int_equal(fixture->reach.count, 1);
    assert_true(text_is(fixture->reach.addresses[0], "lab-a1.batch:17234"));
    assert_true(text_is(fixture->reach.forward,
                        "kubectl --namespace batch port-forward service/lab-a1 17234"));
    assert_true(text_is(fixture->reach.secret_url, "http://127.0.0.1:17234/lab?token=" TOKEN));
    look(fixture, "");
    assert_true(text_is(fixture->reach.forward, "kubectl port-forward service/lab-a1 17234"));
}

static void what_was_chosen_at_the_start_goes_first(void **state)
{
    struct fixture *fixture = *state;
    fixture->view.record.executor = TEXT("slurm");
    fixture->view.situation.listening_count = 1;
    snprintf(fixture->view.situation.listening[0], sizeof(fixture->view.situation.listening[0]),
             "n7:17300");
    look(fixture, "");
    assert_int_equal(fixture->reach.count, 1);
    assert_true(text_is(fixture->reach.url, "http://n7:17300/"));
}

static void a_token_is_in_the_output_only(void **state)
{
    struct fixture *fixture = *state;
    struct buffer json = {0};
    put(fixture, "manifest.yaml", "listen: [17234]\n");
    put_output(fixture, "at http://gpu1:999/?token=no\nhttp://gpu1:17234/help\n"
                        "  http://127.0.0.1:17234/lab?token=" TOKEN "\033[0m\n");
    look(fixture, "");
    assert_true(text_is(fixture->reach.secret_url, "http://gpu1:17234/lab?token=" TOKEN));
    struct value *tree = value_object(fixture->arena);
    reach_put(fixture->arena, tree, &fixture->reach);
    assert_int_equal(json_write(&json, tree, false, NULL), 0);
    assert_null(memmem(json.data, json.length, TOKEN, strlen(TOKEN)));
    assert_non_null(memmem(json.data, json.length, "gpu1:17234", 10));
    buffer_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_port_of_this_machine_is_in_the_manifest, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_cluster_has_a_service, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_chosen_at_the_start_goes_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_token_is_in_the_output_only, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
