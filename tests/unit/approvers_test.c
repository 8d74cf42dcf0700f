/* Tests for spool/approvers.h: who may approve. */
#include "tests/unit/unit.h"

#include "spool/settings.h"

static struct settings settings;
static struct error error;

static int parse(const char *source)
{
    settings_free(&settings);
    error.text[0] = '\0';
    return settings_parse(&settings, text_of(source), &error);
}

static void refuses(const char *source, const char *sentence)
{
    assert_int_equal(parse(source), -1);
    assert_non_null(strstr(error.text, sentence));
}

static int teardown(void **state)
{
    (void)state;
    settings_free(&settings);
    return 0;
}

static void test_approvers(void **state)
{
    (void)state;
    assert_int_equal(parse("approvers: [daemon, 12345]"), 0);
    assert_true(approvers_have(&settings.approvers, 1));
    assert_true(approvers_have(&settings.approvers, 12345));
    assert_false(approvers_have(&settings.approvers, 0));
    assert_true(text_is(settings.approvers.users[0].name, "daemon"));
    assert_true(text_is(settings.approvers.users[1].name, "12345"));
    refuses("approvers: root", "a list of user names");
    refuses("approvers: [no-such-user]", "a user that this machine knows");
    refuses("approvers: [-1]", "a user that this machine knows");
    assert_int_equal(parse("{}"), 0);
    assert_false(approvers_have(&settings.approvers, 0)); /* nobody, not even root */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_approvers),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
