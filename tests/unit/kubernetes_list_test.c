/* tests/unit/kubernetes_list_test.c - what a cluster still has of jobs of this spool */
#include "tests/unit/kubernetes_stand_in.h"

static struct executor *executor;
static char listed[4096];

static void be(const char *identity)
{
    snprintf(executor->identity, sizeof(executor->identity), "%s", identity);
}

static int set_up(void **state)
{
    (void)state;
    executor = stand_in_executor("");
    be("00000000000000aa");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    order("\"order\": \"calm\"");
    order("\"order\": \"no_fates\"");
    executor->operations->close(executor);
    return 0;
}

/* Another stage, or another daemon. */
static void reopen(const char *identity)
{
    executor->operations->close(executor);
    executor = stand_in_executor("");
    be(identity);
}

static void note(void *context, const char *id, int attempt)
{
    (void)context;
    size_t length = strlen(listed);
    snprintf(listed + length, sizeof(listed) - length, " %s:%d ", id, attempt);
}

static const char *list(void)
{
    struct error error;
    listed[0] = '\0';
    if (executor->operations->list(executor, note, NULL, &error))
        fail_msg("%s", error.text);
    return listed;
}

static bool is_listed(const char *id)
{
    char word[128];
    snprintf(word, sizeof(word), " %s:1 ", id);
    return strstr(list(), word) != NULL;
}

static void wait_until(const char *id, bool wanted)
{
    for (int64_t begin = clock_elapsed(); is_listed(id) != wanted; stand_in_pause(20))
        if (clock_elapsed() - begin > STAND_IN_PATIENCE)
            fail_msg("%s is%s listed:%s", id, wanted ? " not" : "", listed);
}

static void submit(const char *pattern, const char *id)
{
    struct submission submission = stand_in_submit(executor, pattern, id);
    if (submission.outcome != SUBMIT_ACCEPTED)
        fail_msg("%s", submission.error.text);
}

static void jobs_are_told_by_their_identity(void **state)
{
    (void)state;
    order("\"order\": \"fate\", \"pattern\": \".*\", \"seconds\": 60");
    submit(stand_in_single, "ours-1");
    submit(stand_in_several, "ours-2");
    be("00000000000000bb"); /* another host, the same path, the same namespace */
    submit(stand_in_single, "theirs-1");
    be(""); /* an older version */
    submit(stand_in_single, "old-1");
    assert_string_equal(list(), "");
    reopen("00000000000000aa");
    wait_until("ours-1", true);
    wait_until("ours-2", true);
    assert_false(is_listed("theirs-1"));
    assert_false(is_listed("old-1"));
    reopen("00000000000000bb");
    assert_true(is_listed("theirs-1"));
    assert_string_equal(list(), " theirs-1:1 ");
    reopen("00000000000000cc");
    assert_string_equal(list(), "");
}

/* What watches have brought is known, and the first time lists come in pages. */
static void few_requests_are_enough(void **state)
{
    enum { JOBS = 250, PAGES = 2, LISTS = 3, WATCHES = 3 };
    char id[32];
    (void)state;
    order("\"order\": \"fate\", \"pattern\": \"many.*\", \"never\": true");
    for (int i = 0; i < JOBS; i++) {
        snprintf(id, sizeof(id), "many-%d", i);
        submit(stand_in_single, id);
    }
    reopen("00000000000000aa");
    long before = stand_in_requests();
    wait_until("many-249", true);
    long first = stand_in_requests() - before, pods = 1 + (JOBS + 10) / 100;
    assert_true(is_listed("many-0"));
    /* Where a watch ended meanwhile it is opened again. */
    assert_true(first <= PAGES + pods + LISTS + WATCHES);
    before = stand_in_requests();
    for (int i = 0; i < 10; i++)
        assert_true(is_listed("many-17"));
    assert_true(stand_in_requests() - before <= 1);
}

static void what_was_removed_is_not_listed(void **state)
{
    struct error error;
    (void)state;
    order("\"order\": \"fate\", \"pattern\": \"gone.*\", \"seconds\": 60");
    submit(stand_in_several, "gone-1");
    wait_until("gone-1", true);
    assert_int_equal(executor_cancel(executor, "gone-1", 1, false, &error), 0);
    assert_int_equal(executor_remove(executor, "gone-1", 1, &error), 0);
    wait_until("gone-1", false);
}

/* The cluster removes it by itself; it is not ended and removed again every five minutes. */
static void what_stays_for_a_while_for_people_is_not_listed(void **state)
{
    struct error error;
    (void)state;
    order("\"order\": \"fate\", \"pattern\": \"debug.*\", \"seconds\": 60");
    submit(
        STAND_IN_LIST STAND_IN_JOB("\"@\"", "main", "    annotations: {dlspool/debug: \"300\"}\n"),
        "debug-1");
    wait_until("debug-1", true);
    assert_int_equal(executor_cancel(executor, "debug-1", 1, false, &error), 0);
    assert_int_equal(executor_remove(executor, "debug-1", 1, &error), 0);
    wait_until("debug-1", false);
    assert_int_equal(stand_in_created("jobs", "debug-1-a1"), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(jobs_are_told_by_their_identity),
        TEST(what_was_removed_is_not_listed),
        TEST(what_stays_for_a_while_for_people_is_not_listed),
        TEST(few_requests_are_enough),
    };
    if (stand_in_start()) {
        printf("the stand-in does not start\n");
        return 1;
    }
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    stand_in_stop();
    return result;
}
