/* tests/unit/unit_spool.h - a new spool for each test, with the arena of unit_arena.h */
#ifndef TESTS_UNIT_UNIT_SPOOL_H
#define TESTS_UNIT_UNIT_SPOOL_H

#include "spool/spool.h"
#include "tests/unit/unit.h"
#include "tests/unit/unit_arena.h"

static char *path;
static struct spool spool;

static int open_all(void **state)
{
    set_up(state);
    path = unit_directory();
    assert_int_equal(spool_create(path, &error), 0);
    assert_int_equal(spool_open(&spool, path, &error), 0);
    return 0;
}

static int close_all(void **state)
{
    spool_close(&spool);
    unit_remove(path);
    return tear_down(state);
}

#endif
