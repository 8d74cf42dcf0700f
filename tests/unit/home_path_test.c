/* tests/unit/home_path_test.c - which directories can be a task's HOME */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "executors/home_path.h"
#include "stages/users.h"

static void what_hides_something_is_none(void **state)
{
    (void)state;
    static const char *const homes[] = {"/home/ann", "/home", "/var/lib/ann", "/jobs/ann", "/tmpx"};
    static const char *const others[] = {"/",         "",          "home/ann",     "/tmp",
                                         "/tmp/ann",  "/job",      "/usr/games",   "/nonexistent",
                                         "/home/../", "/home/..x", "/proc/1/root", "/run/sshd"};
    for (size_t i = 0; i < ARRAY_COUNT(homes); i++)
        if (!home_path_fits(homes[i]))
            fail_msg("%s is none", homes[i]);
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (home_path_fits(others[i]))
            fail_msg("%s is one", others[i]);
}

static void root_and_strangers_have_none(void **state)
{
    (void)state;
    struct user user;
    users_find(0, &user);
    assert_string_equal(user.home, "");
    users_find(4000000123, &user);
    assert_false(user.known);
    assert_string_equal(user.home, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_hides_something_is_none),
        cmocka_unit_test(root_and_strangers_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
