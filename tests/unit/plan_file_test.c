/* plan_file_test.c - spool/plan_file.c: what is written reads back, and damage is passed over */
#include "spool/file.h"
#include "tests/unit/unit_spool.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "spool/plan_file.h"

static const int64_t noon = 1790000000000;

static void write_plan(void)
{
    struct planned_pool pools[] = {{TEXT("cpus"), 4000, 1000}, {TEXT("gpus:v100"), -1, 0}};
    struct planned_job jobs[] = {
        {.id = "zebra-0000000000001",
         .pool = TEXT("cpus"),
         .deadline_status = TEXT("on track"),
         .finish = noon + 1000,
         .late = noon + 2000,
         .deadline = noon + 3000,
         .kind = SIZE_CPUS,
         .size = 1000,
         .next = 2500,
         .amount = 5000,
         .reason = TEXT("a \"quoted\" sentence; with = and spaces")},
        {.id = "ant-0000000000002",
         .pool = TEXT("gpus:v100"),
         .deadline_status = TEXT("best effort")},
    };
    struct plan_file plan = {noon, pools, 2, jobs, 2};
    if (plan_file_write(&spool, &plan, &error))
        fail_msg("%s", error.text);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct plan_file plan;
    write_plan();
    write_plan();
    assert_int_equal(plan_file_read(&spool, arena, &plan, &error), 0);
    assert_int_equal(plan.time, noon);
    assert_int_equal(plan.pool_count, 2);
    assert_int_equal(plan.pools[0].capacity, 4000);
    assert_int_equal(plan.pools[0].used, 1000);
    assert_int_equal(plan.pools[1].capacity, -1);
    const struct planned_job *job = plan_file_find(&plan, "zebra-0000000000001");
    assert_non_null(job);
    assert_true(text_is(job->deadline_status, "on track") && text_is(job->pool, "cpus"));
    assert_true(text_is(job->reason, "a \"quoted\" sentence; with = and spaces"));
    assert_true(job->finish == noon + 1000 && job->late == noon + 2000);
    assert_true(job->deadline == noon + 3000 && job->kind == SIZE_CPUS);
    assert_true(job->size == 1000 && job->next == 2500 && job->amount == 5000);
    job = plan_file_find(&plan, "ant-0000000000002");
    assert_non_null(job);
    assert_true(job->finish == 0 && job->kind == SIZE_FIXED && job->reason.length == 0 &&
                job->amount == 0);
    assert_null(plan_file_find(&plan, "bee-0000000000003"));
}

static void no_plan_is_no_error_of_itself(void **state)
{
    (void)state;
    struct plan_file plan;
    assert_int_equal(plan_file_read(&spool, arena, &plan, &error), 1);
    assert_null(plan_file_find(&plan, "ant-0000000000002"));
    plan_file_remove(&spool);
    write_plan();
    plan_file_remove(&spool);
    assert_int_equal(plan_file_read(&spool, arena, &plan, &error), 1);
}

static void damaged_lines_are_passed_over(void **state)
{
    (void)state;
    static const char bytes[] =
        "plan time=never jobs=x\npool\njob\njob id=../../etc size=1\njob id= \n\n\0\xff\n"
        "job id=ant-0000000000002 standing=\"on track size=99999999999999999999 next=-3\n"
        "job id=bee-0000000000003 standing=late size=1 next=0\njob id=cut-0000000000004 si";
    struct plan_file plan;
    assert_int_equal(spool_file_create(spool.root, "plan", (struct text){bytes, sizeof(bytes) - 1},
                                       0644, &error),
                     0);
    assert_int_equal(plan_file_read(&spool, arena, &plan, &error), 0);
    assert_int_equal(plan.time, 0);
    assert_non_null(plan_file_find(&plan, "bee-0000000000003"));
    assert_true(text_is(plan_file_find(&plan, "bee-0000000000003")->deadline_status, "late"));
    assert_int_equal(plan.job_count, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_reads_back),
        TEST(no_plan_is_no_error_of_itself),
        TEST(damaged_lines_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
