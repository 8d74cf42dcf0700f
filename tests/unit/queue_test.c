/* the submit queue: priority, then age; each job once; put-back jobs wait */
#include "tests/unit/unit.h"

#include "base/clock.h"
#include "stages/queue.h"

static void priority_comes_before_age(void **state)
{
    (void)state;
    struct queue *queue = queue_new();
    char id[ID_SIZE];
    queue_add(queue, "a-0000000000003", 0);
    queue_add(queue, "b-0000000000001", 0);
    queue_add(queue, "c-0000000000002", 5);
    queue_add(queue, "b-0000000000001", 0);
    assert_int_equal(queue_count(queue), 3);
    static const char *const order[] = {"c-0000000000002", "b-0000000000001", "a-0000000000003"};
    for (int i = 0; i < 3; i++) {
        assert_true(queue_take(queue, id));
        assert_string_equal(id, order[i]);
        assert_false(queue_has(queue, id));
    }
    assert_false(queue_take(queue, id));
    queue_free(queue);
}

static void what_is_put_back_waits(void **state)
{
    (void)state;
    struct queue *queue = queue_new();
    char id[ID_SIZE];
    queue_later(queue, "a-0000000000001", 0, clock_elapsed() + 3600000);
    queue_later(queue, "b-0000000000002", 0, clock_elapsed() - 1);
    assert_true(queue_has(queue, "a-0000000000001"));
    assert_true(queue_take(queue, id));
    assert_string_equal(id, "b-0000000000002");
    assert_false(queue_take(queue, id));
    assert_int_equal(queue_count(queue), 1);
    assert_true(queue_due(queue) > clock_elapsed());
    queue_free(queue);
}

/* Against a plain model: a hundred thousand random additions and takings. */
static void behaves_like_a_sorted_list(void **state)
{
    (void)state;
    enum { IDS = 3000 };
    static int present[IDS];    /* priority + 1000, 0: not there */
    struct queue *queue = queue_new();
    char id[ID_SIZE];
    size_t count = 0;
    srandom(7);
    for (int step = 0; step < 100000; step++) {
        if (random() % 5 < 3) {
            int which = (int)(random() % IDS), priority = (int)(random() % 7) - 3;
            snprintf(id, sizeof(id), "x-%013d", which);
            assert_int_equal(queue_has(queue, id), present[which] != 0);
            if (!present[which]) {
                queue_add(queue, id, priority);
                present[which] = priority + 1000;
                count++;
            }
        } else if (queue_take(queue, id)) {
            int taken = atoi(id + 2);
            assert_true(present[taken] != 0);
            if (step % 97 == 0)
                for (int i = 0; i < IDS; i++)
                    assert_false(present[i] > present[taken] ||
                                 (present[i] == present[taken] && i < taken));
            present[taken] = 0;
            count--;
        }
        assert_int_equal(queue_count(queue), count);
    }
    queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priority_comes_before_age),
        cmocka_unit_test(what_is_put_back_waits),
        cmocka_unit_test(behaves_like_a_sorted_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
