/* tests/unit/unit_arena.h - an arena and an error, new for each test of a program
 *
 * For cmocka_unit_test_setup_teardown(test, set_up, tear_down).
 */
#ifndef TESTS_UNIT_UNIT_ARENA_H
#define TESTS_UNIT_UNIT_ARENA_H

#include "base/arena.h"
#include "base/error.h"
#include "tests/unit/unit.h"

static struct arena *arena;
static struct error error;

static inline int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    error.text[0] = '\0';
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

#endif
