/* tests/unit/watcher_turns_test.c - whose file is looked at next */
#include "tests/unit/watcher_support.h"
#include "watcher/turns.h"

enum { A = 1000, B = 2000, C = 3000, MANY = 5000 };

static struct turns *turns;
static struct turn items[MANY];

static int setup(void **state)
{
    (void)state;
    turns = turns_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    turns_free(turns);
    return 0;
}

/* Take the next one away; its number, or -1. */
static int take(int64_t now)
{
    struct turn *turn = turns_next(turns, now);
    if (!turn)
        return -1;
    turns_remove(turns, turn);
    return (int)(turn - items);
}

static void one_file_comes_after_one_of_many(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        turns_add(turns, &items[i], A, true, 0);
    assert_int_equal(take(0), 0);
    assert_int_equal(take(0), 1);
    turns_add(turns, &items[1000], B, true, 0);
    turns_add(turns, &items[1001], C, true, 0);
    turns_add(turns, &items[1002], C, true, 0);
    bool seen[1003] = {false};
    for (int i = 0; i < 4; i++)
        seen[take(0)] = true;
    assert_true(seen[1000] && seen[1001]);
    for (int i = 0; i < 2; i++)
        seen[take(0)] = true;
    assert_true(seen[1002]);
    for (int i = 2; i < 999; i++)
        take(0);
    assert_int_equal(take(0), -1);
    assert_int_equal(turns_due(turns), INT64_MAX);
}

static void news_and_backlog_of_one_owner_take_turns(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        turns_add(turns, &items[i], A, false, 0);
    turns_add(turns, &items[100], A, true, 0);
    int first = take(0), second = take(0);
    assert_true(first == 100 || second == 100);
    for (int i = 0; i < 99; i++)
        assert_int_equal(take(0), i + (first < 100 || second < 100));
}

static void what_is_due_first_comes_first_and_in_order(void **state)
{
    (void)state;
    srandom(7);
    for (int i = 0; i < MANY; i++)
        turns_add(turns, &items[i], A, true, random() % 50);
    for (int i = 0; i < MANY; i += 3)
        turns_move(turns, &items[i], random() % 50);
    for (int i = 0; i < MANY; i += 5)
        turns_remove(turns, &items[i]);
    int64_t last = 0;
    uint64_t serial = 0;
    int count = 0;
    for (struct turn *turn; (turn = turns_next(turns, 50)); count++) {
        assert_int_equal(turns_due(turns), turn->due);
        assert_true(turn->due > last || (turn->due == last && turn->serial >= serial));
        last = turn->due;
        serial = turn->serial;
        turns_remove(turns, turn);
    }
    assert_int_equal(count, MANY - MANY / 5);
}

static void what_is_not_due_gives_no_turn(void **state)
{
    (void)state;
    turns_add(turns, &items[0], A, true, 10);
    turns_add(turns, &items[1], B, true, 5);
    assert_int_equal(turns_due(turns), 5);
    assert_null(turns_next(turns, 4));
    assert_ptr_equal(turns_next(turns, 5), &items[1]);
    assert_ptr_equal(turns_next(turns, 5), &items[1]);
    turns_rest(turns, B, 20);
    assert_null(turns_next(turns, 9));
    assert_int_equal(turns_due(turns), 10);
    assert_ptr_equal(turns_next(turns, 10), &items[0]);
    assert_ptr_equal(turns_next(turns, 20), &items[1]);
    turns_move(turns, &items[0], 3);
    assert_int_equal(turns_due(turns), 3);
}

static void room_is_made_by_whoever_has_most(void **state)
{
    (void)state;
    assert_null(turns_longest(turns, A, true));
    assert_null(turns_last(turns, A, true));
    for (int i = 0; i < 10; i++)
        turns_add(turns, &items[i], A, true, i);
    for (int i = 10; i < 15; i++)
        turns_add(turns, &items[i], B, true, 0);
    assert_null(turns_longest(turns, A, true)); /* it would be its own */
    assert_ptr_equal(turns_longest(turns, B, true), &items[9]);
    assert_ptr_equal(turns_longest(turns, C, true), &items[9]);
    assert_ptr_equal(turns_last(turns, A, true), &items[9]);
    for (int i = 9; i >= 6; i--)
        turns_remove(turns, &items[i]);
    assert_null(turns_longest(turns, B, true)); /* 6 and 5: that would only be turned round */
}

#define TURNS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TURNS_TEST(one_file_comes_after_one_of_many),
        TURNS_TEST(news_and_backlog_of_one_owner_take_turns),
        TURNS_TEST(what_is_due_first_comes_first_and_in_order),
        TURNS_TEST(what_is_not_due_gives_no_turn),
        TURNS_TEST(room_is_made_by_whoever_has_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
