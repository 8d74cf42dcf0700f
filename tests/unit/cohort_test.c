/* tests/unit/cohort_test.c - queues that lend one another GPUs
 *
 * Seen to fail with: tests/mutants/cohort-*.patch.
 */
#include "tests/unit/unit.h"

#include "stages/shared/cohort.h"

static void idle_gpus_are_lent(void **state)
{
    struct cohort_queue queues[] = {{.own = 8, .lend = 6, .borrow = 0},
                                    {.own = 2, .lend = 2, .borrow = 4},
                                    {.own = 0, .lend = 0, .borrow = 100}};
    (void)state;
    assert_int_equal(cohort_room(queues, 3, 0), 8);
    assert_int_equal(cohort_room(queues, 3, 1), 6); /* its borrow_gpus */
    assert_int_equal(cohort_room(queues, 3, 2), 8); /* what the others lend */
    queues[2].used = 5;
    assert_int_equal(cohort_room(queues, 3, 1), 3);
    assert_int_equal(cohort_room(queues, 3, 0), 5);
    assert_int_equal(cohort_lent(queues, 3, 0), 5);
    assert_int_equal(cohort_lent(queues, 3, 1), 0);
    assert_int_equal(cohort_borrowed(&queues[2]), 5);
    queues[0].used = 8;
    assert_int_equal(cohort_lent(queues, 3, 1), 2);
}

static void claims_go_before_what_is_borrowed(void **state)
{
    struct cohort_queue queues[] = {{.own = 8, .lend = 8, .borrow = 0, .used = 2},
                                    {.own = 2, .lend = 2, .borrow = 8, .used = 6}};
    (void)state;
    assert_int_equal(cohort_room(queues, 2, 1), 2);
    queues[0].claim = 2;
    assert_int_equal(cohort_room_beside_claims(queues, 2, 1), 0);
    assert_int_equal(cohort_room_beside_claims(queues, 2, 0), 2);
    assert_int_equal(cohort_shortage(queues, 2), 0);
    queues[0].claim = 6;
    assert_int_equal(cohort_shortage(queues, 2), 4);
}

/* Whatever happens at random, no queue has more than it may, what is used is never more than there is, and once
 * borrowers have given back what is short, all claims fit. */
static void guarantees_hold(void **state)
{
    enum { QUEUES = 4 };
    (void)state;
    srandom(3);
    for (int world = 0; world < 500; world++) {
        struct cohort_queue queues[QUEUES];
        int64_t all = 0;
        for (int i = 0; i < QUEUES; i++) {
            queues[i] = (struct cohort_queue){.own = random() % 9, .borrow = random() % 9};
            queues[i].lend = queues[i].own ? random() % (queues[i].own + 1) : 0;
            all += queues[i].own;
        }
        for (int step = 0; step < 50; step++) {
            size_t which = (size_t)random() % QUEUES;
            struct cohort_queue *queue = &queues[which];
            int64_t room = cohort_room(queues, QUEUES, which), sum = 0;
            queue->used +=
                random() % 3 ? (room ? random() % (room + 1) : 0) : -(random() % (queue->used + 1));
            for (int i = 0; i < QUEUES; i++) {
                assert_true(queues[i].used <= queues[i].own + queues[i].borrow);
                sum += queues[i].used;
            }
            assert_true(sum <= all);
        }
        for (int i = 0; i < QUEUES; i++)
            if (queues[i].used < queues[i].own)
                queues[i].claim = queues[i].own - queues[i].used;
        int64_t borrowed = 0, shortage = cohort_shortage(queues, QUEUES);
        for (int i = 0; i < QUEUES; i++)
            borrowed += cohort_borrowed(&queues[i]);
        assert_true(shortage <= borrowed);
        for (int i = 0; i < QUEUES; i++)
            for (; shortage > 0 && queues[i].used > queues[i].own; shortage--)
                queues[i].used--;
        for (size_t i = 0; i < QUEUES; i++) {
            assert_true(cohort_room(queues, QUEUES, i) >= queues[i].claim);
            queues[i].used += queues[i].claim;
            queues[i].claim = 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_gpus_are_lent),
        cmocka_unit_test(claims_go_before_what_is_borrowed),
        cmocka_unit_test(guarantees_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
