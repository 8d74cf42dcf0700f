/* tests/unit/users_test.c - who somebody is, by number: those that the system knows, and those that it does not */
#include "tests/unit/unit.h"

#include <signal.h>

#include "stages/users.h"

enum { NOGROUP = 65534 };
static const uid_t unknown = 3999999999;

static void expect_both(void)
{
    struct user user;
    users_find(0, &user);
    assert_true(user.known);
    assert_string_equal(user.name, "root");
    assert_int_equal(user.gid, 0);
    assert_string_equal(user.home, ""); /* it is full of what nobody else may read */
    users_find(unknown, &user);
    assert_false(user.known);
    assert_string_equal(user.name, "3999999999");
    assert_int_equal(user.gid, NOGROUP);
    assert_string_equal(user.home, "");
}

static void an_unknown_user_has_no_ones_group(void **state)
{
    (void)state;
    expect_both();
}

static void the_process_says_the_same(void **state)
{
    (void)state;
    struct error error;
    assert_int_equal(users_start(&error), 0);
    expect_both();
}

/* It is the only child that this process has. */
static void without_the_process_a_user_has_no_ones_group(void **state)
{
    (void)state;
    struct user user;
    long child = 0;
    FILE *children = fopen("/proc/thread-self/children", "r");
    if (!children || fscanf(children, "%ld", &child) != 1)
        print_message("skipped: the kernel tells of no children\n");
    if (children)
        fclose(children);
    if (child <= 0)
        return;
    assert_int_equal(kill((pid_t)child, SIGKILL), 0);
    users_find(unknown + 1, &user);
    assert_false(user.known);
    assert_int_equal(user.gid, NOGROUP);
    assert_string_equal(user.name, "4000000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_user_has_no_ones_group),
        cmocka_unit_test(the_process_says_the_same),
        cmocka_unit_test(without_the_process_a_user_has_no_ones_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
