/* tests/unit/kubernetes_resize_test.c - another size for a job that runs in a cluster
 *
 * Seen to fail with: tests/mutants/kubernetes-resize-*.patch.
 */
#include "tests/unit/kubernetes_stand_in.h"

static struct executor *executor;

static int start(void **state)
{
    (void)state;
    executor = stand_in_open();
    if (!executor)
        return -1;
    order("\"order\": \"set\", \"name\": \"run_seconds\", \"value\": -1");
    /* The scheduler takes the first node by name as long as it has room. */
    order("\"order\": \"node\", \"name\": \"a\", \"action\": \"add\", "
          "\"capacity\": {\"cpu\": \"64\", \"memory\": \"64Gi\"}");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    return stand_in_close(executor);
}

#define ELASTIC(more)                                                                              \
    STAND_IN_LIST                                                                                  \
    "- apiVersion: batch/v1\n  kind: Job\n"                                                        \
    "  metadata:\n    name: \"@\"\n    labels: {dlspool/role: worker" more "}\n"                   \
    "    annotations: {dlspool/elastic: \"true\", "                                                \
    "dlspool/complete: '{\"worker\": {\"failed\": 3}}'}\n"                                         \
    "  spec:\n    completionMode: Indexed\n    completions: 4\n    parallelism: 4\n"               \
    "    backoffLimitPerIndex: 0\n    maxFailedIndexes: 2\n    podReplacementPolicy: Failed\n"     \
    "    template:\n      spec:\n        restartPolicy: Never\n        containers:\n"              \
    "        - {name: main, image: busybox, command: [\"true\"]}\n"

static struct job_resize resize(const char *id, enum size_kind kind, int64_t size)
{
    struct job_resize job = {.id = id, .attempt = 1, .kind = kind, .size = size};
    struct job_resize *batch[] = {&job};
    executor->operations->resize(executor, batch, 1);
    return job;
}

static void expect(struct job_resize job, enum resize_outcome outcome, const char *words)
{
    if (job.outcome != outcome)
        fail_msg("%s at %lld: outcome %d: %s", job.id, (long long)job.size, job.outcome,
                 job.error.text);
    if (outcome != RESIZE_DONE && !strstr(job.error.text, words))
        fail_msg("\"%s\" lacks \"%s\"", job.error.text, words);
}

/* Ask until there is an answer: a Job's status changes all the time, and a node takes its time. */
static struct job_resize settle(const char *id, enum size_kind kind, int64_t size)
{
    int64_t begin = clock_elapsed();
    for (;;) {
        struct job_resize job = resize(id, kind, size);
        if (job.outcome != RESIZE_UNAVAILABLE || clock_elapsed() - begin > STAND_IN_PATIENCE)
            return job;
        stand_in_pause(10);
    }
}

/* The object of a kind that is the job's, as it is now; the last of them. */
static const struct value *object_of(const char *kind, const char *id)
{
    const struct value *found = NULL, *list = stand_in_objects(kind);
    for (size_t i = 0; i < list->list.count; i++)
        if (stand_in_belongs(list->list.items[i], id))
            found = list->list.items[i];
    return found;
}

/* Wait until so many pods of the job run that are not told to end. */
static void wait_for_pods(const char *id, int wanted)
{
    int running = -1;
    for (int64_t begin = clock_elapsed(); running != wanted; stand_in_pause(10)) {
        const struct value *list = stand_in_objects("pods");
        running = 0;
        for (size_t i = 0; i < list->list.count; i++) {
            const struct value *pod = list->list.items[i];
            running += stand_in_belongs(pod, id) &&
                       !value_get(value_get(pod, "metadata"), "deletionTimestamp") &&
                       text_is(value_get_text(value_get(pod, "status"), "phase"), "Running");
        }
        if (clock_elapsed() - begin > STAND_IN_PATIENCE)
            fail_msg("%s: %d pods run, expected %d", id, running, wanted);
    }
}

static void submit_and_wait(const char *pattern, const char *id, int pods)
{
    stand_in_accept(executor, pattern, id);
    wait_for_pods(id, pods);
}

static struct job_poll poll_of(const char *id, struct arena *arena)
{
    struct job_poll poll = {.id = id, .attempt = 1}, *polls[] = {&poll};
    struct error error;
    if (executor->operations->poll(executor, arena, polls, 1, &error))
        fail_msg("%s", error.text);
    return poll;
}

static void an_elastic_job_gets_and_loses_tasks(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    submit_and_wait(ELASTIC(""), "t-1", 4);
    expect(settle("t-1", SIZE_TASKS, 6), RESIZE_DONE, NULL);
    wait_for_pods("t-1", 6);
    expect(settle("t-1", SIZE_TASKS, 2), RESIZE_DONE, NULL);
    wait_for_pods("t-1", 2);
    const struct value *job = object_of("jobs", "t-1"), *spec = value_get(job, "spec");
    assert_int_equal(value_get_number(spec, "completions", 0), 2);
    assert_int_equal(value_get_number(spec, "parallelism", 0), 2);
    /* Of two tasks none may fail where of four two might. */
    assert_int_equal(value_get_number(spec, "maxFailedIndexes", -1), 0);
    assert_string_equal(
        value_get_text(value_get(value_get(job, "metadata"), "annotations"), "dlspool/complete")
            .data,
        "{\"worker\":{\"failed\":1}}");
    long before = stand_in_requests();
    expect(resize("t-1", SIZE_TASKS, 2), RESIZE_DONE, NULL);
    assert_int_equal(stand_in_requests() - before, 1); /* a look, and no patch */
    /* What was taken away is no failure. */
    struct job_poll poll = poll_of("t-1", arena);
    assert_int_equal(poll.phase, PHASE_RUNNING);
    assert_int_equal(poll.task_count, 2);
    expect(settle("t-1", SIZE_TASKS, 3), RESIZE_DONE, NULL);
    wait_for_pods("t-1", 3);
    assert_int_equal(poll_of("t-1", arena).phase, PHASE_RUNNING);
    arena_free(arena);
}

static void an_answer_that_is_lost_does_no_harm(void **state)
{
    (void)state;
    submit_and_wait(ELASTIC(""), "l-1", 4);
    static const char *const actions[] = {"cut_answer", "cut_request"};
    for (size_t i = 0; i < ARRAY_COUNT(actions); i++) {
        int64_t size = 5 + (int64_t)i;
        order("\"order\": \"misbehave\", \"action\": \"%s\", \"method\": \"PATCH\", \"bytes\": 0, "
              "\"count\": 0",
              actions[i]);
        struct job_resize lost = resize("l-1", SIZE_TASKS, size);
        order("\"order\": \"calm\"");
        /* (A request that a kept connection closes on is sent again; its version is no more then.)
         */
        assert_int_equal(lost.outcome, RESIZE_UNAVAILABLE);
        assert_true(lost.error.text[0]);
        expect(settle("l-1", SIZE_TASKS, size), RESIZE_DONE, NULL);
        wait_for_pods("l-1", (int)size);
    }
}

static void a_job_at_its_end_is_left_alone(void **state)
{
    (void)state;
    struct error error;
    expect(resize("none", SIZE_TASKS, 2), RESIZE_UNAVAILABLE, "no Job");
    submit_and_wait(ELASTIC(""), "e-1", 4);
    /* It is cancelled between the look and the patch. */
    order(
        "\"order\": \"misbehave\", \"action\": \"hang\", \"seconds\": 0.4, \"method\": \"PATCH\"");
    pid_t child = fork();
    if (child == 0) {
        usleep(150000);
        struct executor *other = stand_in_executor("");
        _exit(executor_cancel(other, "e-1", 1, false, &error) ? 1 : 0);
    }
    expect(resize("e-1", SIZE_TASKS, 6), RESIZE_UNAVAILABLE, "modified");
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    wait_for_pods("e-1", 0);
    assert_int_equal(
        value_get_number(value_get(object_of("jobs", "e-1"), "spec"), "parallelism", 9), 0);
    expect(resize("e-1", SIZE_TASKS, 6), RESIZE_UNAVAILABLE, "at its end");
}

static void what_cannot_be_resized_says_why(void **state)
{
    (void)state;
    submit_and_wait(stand_in_single, "f-1", 1);
    expect(resize("f-1", SIZE_TASKS, 2), RESIZE_NOT_POSSIBLE, "dlspool/elastic");
    expect(resize("f-1", SIZE_GPUS, 2), RESIZE_NOT_POSSIBLE, "GPUs");
    stand_in_accept(executor, ELASTIC(", kueue.x-k8s.io/queue-name: q"), "k-1");
    expect(resize("k-1", SIZE_TASKS, 2), RESIZE_NOT_POSSIBLE, "Kueue");
    stand_in_accept(executor, stand_in_several, "s-1");
    expect(resize("s-1", SIZE_CPUS, 2000), RESIZE_NOT_POSSIBLE, "several roles");
    order("\"order\": \"misbehave\", \"action\": \"status\", \"code\": 503, \"method\": \"GET\", "
          "\"count\": 0");
    expect(resize("f-1", SIZE_CPUS, 2000), RESIZE_UNAVAILABLE, "");
    order("\"order\": \"calm\"");
}

static int64_t asked_cpus(const char *id, const char *which)
{
    const struct value *containers =
        value_get(value_get(object_of("pods", id), "spec"), "containers");
    const struct value *cpu =
        value_get(value_get(value_get(containers->list.items[0], "resources"), which), "cpu");
    return (int64_t)(1000 *
                     (cpu->kind == VALUE_NUMBER ? cpu->number : strtod(cpu->string.data, NULL)));
}

static void a_pod_gets_and_loses_processors(void **state)
{
    (void)state;
    submit_and_wait(stand_in_single, "c-1", 1);
    expect(resize("c-1", SIZE_CPUS, 2500), RESIZE_UNAVAILABLE, "has not said yet");
    expect(settle("c-1", SIZE_CPUS, 2500), RESIZE_DONE, NULL);
    assert_int_equal(asked_cpus("c-1", "limits"), 2500);
    assert_int_equal(asked_cpus("c-1", "requests"), 2500);
    expect(settle("c-1", SIZE_CPUS, 750), RESIZE_DONE, NULL);
    expect(resize("c-1", SIZE_CPUS, 750), RESIZE_DONE, NULL);
    /* A node that never has so many, and one that has none left now: the pod's request is taken back.
     */
    expect(settle("c-1", SIZE_CPUS, 1000000), RESIZE_NOT_POSSIBLE, "enough capacity: cpu");
    assert_int_equal(asked_cpus("c-1", "limits"), 750);
    expect(settle("c-1", SIZE_CPUS, 60000), RESIZE_DONE, NULL);
    submit_and_wait(stand_in_single, "c-2", 1);
    expect(settle("c-2", SIZE_CPUS, 30000), RESIZE_NO_ROOM, "enough resource: cpu");
    assert_int_equal(asked_cpus("c-2", "requests"), 500);
    expect(settle("c-1", SIZE_CPUS, 500), RESIZE_DONE, NULL);
    expect(settle("c-2", SIZE_CPUS, 30000), RESIZE_DONE, NULL);
    /* A kubelet that knows nothing of it. */
    order("\"order\": \"set\", \"name\": \"resize_node\", \"value\": \"old\"");
    expect(resize("c-1", SIZE_CPUS, 700), RESIZE_UNAVAILABLE, "has not said");
    expect(resize("c-1", SIZE_CPUS, 700), RESIZE_UNAVAILABLE, "has not said");
    order("\"order\": \"set\", \"name\": \"resize_node\", \"value\": \"yes\"");
    expect(settle("c-1", SIZE_CPUS, 800), RESIZE_DONE, NULL);
}

static void an_older_server_says_so(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct text one = stand_in_manifest(arena, stand_in_single, "v-1");
    struct text elastic = stand_in_manifest(arena, ELASTIC(""), "v-1");
    const struct executor_operations *operations = executor->operations;
    assert_true(operations->resizable(executor, one, SIZE_CPUS));
    assert_false(operations->resizable(executor, one, SIZE_TASKS));
    assert_false(operations->resizable(executor, elastic, SIZE_CPUS));
    assert_true(operations->resizable(executor, elastic, SIZE_TASKS));
    elastic = stand_in_manifest(arena, ELASTIC(", kueue.x-k8s.io/queue-name: q"), "v-1");
    assert_false(operations->resizable(executor, elastic, SIZE_TASKS));
    assert_false(operations->resizable(executor, TEXT("nonsense"), SIZE_TASKS));
    order("\"order\": \"version\", \"value\": {\"major\": \"1\", \"minor\": \"32\"}");
    /* One that does not say its version finds out when it is asked; another knows. */
    expect(resize("c-1", SIZE_CPUS, 900), RESIZE_NOT_POSSIBLE, "404");
    struct executor *known = executor;
    executor = stand_in_executor("");
    expect(resize("c-1", SIZE_CPUS, 900), RESIZE_NOT_POSSIBLE, "1.33");
    assert_false(operations->resizable(executor, one, SIZE_CPUS));
    executor->operations->close(executor);
    executor = known;
    order("\"order\": \"version\", \"value\": {\"major\": \"1\", \"minor\": \"36\"}");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_elastic_job_gets_and_loses_tasks),
        cmocka_unit_test(an_answer_that_is_lost_does_no_harm),
        cmocka_unit_test(a_job_at_its_end_is_left_alone),
        cmocka_unit_test(what_cannot_be_resized_says_why),
        cmocka_unit_test(a_pod_gets_and_loses_processors),
        cmocka_unit_test(an_older_server_says_so),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
