/* array_test.c - arrays that grow (base/text.h, base/arena.h): elements stay, space is doubled */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"

enum { ELEMENTS = 1000 };

static void check_growth(struct arena *arena)
{
    int *items = NULL;
    size_t capacity = 0, moves = 0;
    for (size_t count = 0; count < ELEMENTS; count++) {
        size_t before = capacity;
        items = arena ? arena_grow(arena, items, count, &capacity, sizeof(*items))
                      : memory_grow(items, count, &capacity, sizeof(*items));
        assert_true(capacity > count);
        moves += capacity != before;
        items[count] = (int)count;
    }
    for (size_t i = 0; i < ELEMENTS; i++)
        assert_int_equal(items[i], i);
    assert_true(moves <= 10);
    if (!arena)
        free(items);
}

static void test_elements_stay_when_an_array_grows(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    check_growth(NULL);
    check_growth(arena);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_stay_when_an_array_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
