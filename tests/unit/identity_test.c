/* tests/unit/identity_test.c - what tells a spool from every other, and from a copy of itself */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "spool/identity.h"

static char *path;
static struct spool spool;
static struct error error;

static int open_new(void **state)
{
    char buffer[512];
    (void)state;
    path = unit_directory();
    snprintf(buffer, sizeof(buffer), "%s/spool", path);
    assert_int_equal(spool_create(buffer, &error), 0);
    assert_int_equal(spool_open(&spool, buffer, &error), 0);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    spool_close(&spool);
    unit_remove(path);
    return 0;
}

static void shell(const char *command)
{
    char with[1200];
    snprintf(with, sizeof(with), "cd '%s' && %s", path, command);
    assert_int_equal(system(with), 0);
}

static void it_is_drawn_once(void **state)
{
    char identity[IDENTITY_SIZE], again[IDENTITY_SIZE];
    (void)state;
    identity_read(&spool, identity);
    assert_string_equal(identity, "");
    assert_int_equal(identity_make(&spool, &error), 0);
    identity_read(&spool, identity);
    assert_int_equal(strlen(identity), IDENTITY_SIZE - 1);
    assert_int_equal(identity_make(&spool, &error), 0);
    identity_read(&spool, again);
    assert_string_equal(identity, again);
    shell("mv spool moved");
    identity_read(&spool, again);
    assert_string_equal(identity, again);
    shell("mv moved spool");
}

static void a_copy_has_another(void **state)
{
    static const char *const ways[] = {
        "cp -a spool copy", /* all of it */
        "mkdir copy && tar -C spool -c . | tar -C copy -x",
        "cp -a spool copy && rm copy/.identity && ln spool/.identity copy/.identity", /* as rsync
                                                                                         --link-dest
                                                                                       */
    };
    (void)state;
    assert_int_equal(identity_make(&spool, &error), 0);
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        struct spool copy;
        char buffer[512], ours[IDENTITY_SIZE], theirs[IDENTITY_SIZE];
        shell(ways[i]);
        snprintf(buffer, sizeof(buffer), "%s/copy", path);
        assert_int_equal(spool_open(&copy, buffer, &error), 0);
        identity_read(&copy, theirs);
        assert_string_equal(theirs, "");
        assert_int_equal(identity_make(&copy, &error), 0);
        identity_read(&copy, theirs);
        identity_read(&spool, ours);
        assert_int_equal(strlen(theirs), IDENTITY_SIZE - 1);
        assert_string_not_equal(ours, theirs);
        assert_true(ours[0] != '\0');
        spool_close(&copy);
        shell("rm -r copy");
    }
}

static void what_is_damaged_is_none(void **state)
{
    static const char *const damage[] = {
        ": >spool/.identity", "echo x >spool/.identity",
        "rm spool/.identity && mkdir spool/.identity",
        "rmdir spool/.identity; ln -s ../elsewhere spool/.identity"};
    char identity[IDENTITY_SIZE];
    (void)state;
    assert_int_equal(identity_make(&spool, &error), 0);
    for (size_t i = 0; i < ARRAY_COUNT(damage); i++) {
        shell(damage[i]);
        identity_read(&spool, identity);
        assert_string_equal(identity, "");
    }
    assert_int_equal(identity_make(&spool, &error), 0); /* in place of the link */
    identity_read(&spool, identity);
    assert_int_equal(strlen(identity), IDENTITY_SIZE - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_drawn_once, open_new, close_all),
        cmocka_unit_test_setup_teardown(a_copy_has_another, open_new, close_all),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_none, open_new, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
