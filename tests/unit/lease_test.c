/* tests/unit/lease_test.c - several daemons that come for one spool, in turns
 *
 * What becomes of daemons that are killed and stopped is in tests/crash/takeover.c, in every order in
 * tests/model/serve.pml.
 *
 * Seen to fail with: tests/mutants/epoch-frees-numbers.patch.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "stages/epoch.h"

static int64_t now = 1000;
static struct spool spool;
static char path[] = "/tmp/dlspool-lease.XXXXXX";

static int64_t tell_elapsed(void)
{
    return now;
}

static int set_up(void **state)
{
    struct error error;
    (void)state;
    clock_replace(NULL, tell_elapsed);
    if (!mkdtemp(path) || spool_create(path, &error))
        return -1;
    return spool_open(&spool, path, &error);
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    spool_close(&spool);
    snprintf(command, sizeof(command), "rm -rf %s", path);
    return system(command);
}

static int64_t last_epoch(void)
{
    int64_t last;
    assert_int_equal(epoch_last(&spool, &last, NULL), 0);
    return last;
}

/* A number that was given back is not claimed again: somebody may still be about to publish under it. */
static void numbers_are_used_once(void **state)
{
    struct epoch_claim first, second;
    (void)state;
    int64_t highest = last_epoch();
    assert_int_equal(epoch_claim(&spool, highest + 1, "a\n", &first, NULL), 1);
    epoch_withdraw(&spool, &first);
    assert_int_equal(last_epoch(), highest + 1);
    assert_int_equal(epoch_claim(&spool, highest + 1, "b\n", &second, NULL), 0);
    assert_int_equal(epoch_claim(&spool, highest + 2, "b\n", &second, NULL), 1);
    epoch_withdraw(&spool, &first); /* below another it may go */
    char name[EPOCH_NAME_SIZE];
    epoch_name(highest + 1, name);
    assert_int_equal(faccessat(spool.root, name, F_OK, 0), -1);
    epoch_withdraw(&spool, &second);
    close(first.file);
    close(second.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_used_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
