/* tests/unit/lease_test.c - several daemons that come for one spool, in turns
 *
 * What becomes of daemons that are killed and stopped is in tests/crash/takeover.c, in every order in
 * tests/model/serve.pml.
 *
 * Seen to fail with: tests/mutants/epoch-frees-numbers.patch, lease-goes-first-without-lock.patch,
 * lease-keeps-the-lock.patch.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "stages/epoch.h"
#include "stages/lease.h"

enum { TAKEOVER = 60000 };
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

/* Of two that may serve, the one with the lock does: who had it would be followed at once, the other would not. */
static void who_has_the_lock_comes_first(void **state)
{
    struct lease lease;
    struct error error;
    char who[LEASE_WHO_SIZE];
    (void)state;
    unlinkat(spool.root, ".lease", 0);
    for (int released = 0; released < 2; released++) {
        int64_t epoch = last_epoch();
        int lock = openat(spool.root, ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        assert_int_equal(sys.lock(lock, F_WRLCK), 0);
        lease_open(&lease, &spool, TAKEOVER);
        assert_int_equal(lease_take(&lease, who, &error), 0);
        if (released)
            close(lock);
        else
            now += TAKEOVER; /* it had its time, and is stopped */
        assert_int_equal(lease_take(&lease, who, &error), 1);
        assert_true(lease.epoch > epoch);
        assert_int_equal(lease.locked, released);
        lease_release(&lease);
        if (!released)
            close(lock);
    }
}

/* Who stands by leaves the lock to who serves. */
static void who_stands_by_has_no_lock(void **state)
{
    struct lease serving, standing;
    struct error error;
    char who[LEASE_WHO_SIZE];
    (void)state;
    lease_open(&serving, &spool, TAKEOVER);
    lease_open(&standing, &spool, TAKEOVER);
    int lock = openat(spool.root, ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(sys.lock(lock, F_WRLCK), 0);
    assert_int_equal(lease_take(&serving, who, &error), 0);
    now += TAKEOVER;
    assert_int_equal(lease_take(&serving, who, &error), 1);
    close(lock);
    assert_int_equal(lease_take(&standing, who, &error), 0);
    assert_false(serving.locked);
    now += TAKEOVER / 6;
    assert_int_equal(lease_renew(&serving, &error), 0);
    assert_true(serving.locked);
    lease_release(&serving);
    assert_int_equal(lease_take(&standing, who, &error), 1);
    assert_true(standing.locked);
    lease_release(&standing);
}

/* Who may open a file for reading may keep others from locking it for writing. */
static void nobody_else_can_open_the_lock(void **state)
{
    struct lease lease;
    struct error error;
    struct stat status;
    char who[LEASE_WHO_SIZE];
    (void)state;
    for (int older = 0; older < 2; older++) {
        unlinkat(spool.root, ".lock", 0);
        if (older)
            close(openat(spool.root, ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0644));
        lease_open(&lease, &spool, TAKEOVER);
        assert_int_equal(lease_take(&lease, who, &error), 1);
        assert_true(lease.locked);
        assert_int_equal(fstatat(spool.root, ".lock", &status, 0), 0);
        assert_int_equal(status.st_mode & 07777, 0600);
        lease_release(&lease);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_used_once),
        cmocka_unit_test(who_has_the_lock_comes_first),
        cmocka_unit_test(who_stands_by_has_no_lock),
        cmocka_unit_test(nobody_else_can_open_the_lock),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
