/* tests/unit/seccomp_profile_test.c - a profile of podman's without user namespaces */
#include "tests/unit/unit.h"

#include "base/array.h"
#include "executors/local/seccomp_profile.h"

static const char *narrowed(const char *profile)
{
    static struct buffer out;
    static struct error error;
    buffer_clear(&out);
    return seccomp_profile_narrow(text_of(profile), &out, &error) ? error.text : out.data;
}

#define FLAGS(flags)                                                                               \
    "\"args\":[{\"index\":0,\"op\":\"SCMP_CMP_MASKED_EQ\",\"value\":268435456,\"valueTwo\":" flags \
    "}]}"
#define BY_FLAG(call)                                                                              \
    ",{\"names\":[\"" call "\"],\"action\":\"SCMP_ACT_ALLOW\"," FLAGS(                             \
        "0") ",{\"names\":[\"" call                                                                \
             "\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":1," FLAGS("268435456")

static void calls_that_make_namespaces_are_taken_out(void **state)
{
    (void)state;
    assert_string_equal(
        narrowed(
            "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"clone\",\"clone3\","
            "\"read\",\"unshare\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[],\"includes\":{}}]}"),
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"read\"],\"action\":"
        "\"SCMP_ACT_ALLOW\",\"args\":[],\"includes\":{}}" BY_FLAG("clone") BY_FLAG(
            "unshare") ",{\"names\":[\"clone3\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":38}]}");
}

/* What a site has bounded more narrowly itself is not made wider. */
static void a_narrower_profile_stays_as_it_is(void **state)
{
    (void)state;
    static const char *const profiles[] = {
        "{\"syscalls\":[{\"names\":[\"clone\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":0,"
        "\"value\":2114060288,\"op\":\"SCMP_CMP_MASKED_EQ\"}]}]}",
        "{\"syscalls\":[{\"names\":[\"unshare\"],\"action\":\"SCMP_ACT_ALLOW\",\"includes\":{\"caps\":["
        "\"CAP_SYS_ADMIN\"]}}]}",
        "{\"syscalls\":[{\"names\":[\"unshare\"],\"action\":\"SCMP_ACT_ERRNO\"}]}",
        "{\"syscalls\":[{\"names\":\"unshare\",\"action\":\"SCMP_ACT_ALLOW\"},7,{\"names\":[7]}]}",
    };
    for (size_t i = 0; i < ARRAY_COUNT(profiles); i++)
        assert_string_equal(narrowed(profiles[i]), profiles[i]);
}

static void what_is_no_profile_is_refused(void **state)
{
    (void)state;
    assert_non_null(strstr(narrowed("{"), "seccomp.json"));
    assert_string_equal(narrowed("{\"syscalls\":{}}"), "seccomp.json: expected a list `syscalls`");
    assert_non_null(strstr(narrowed("[]"), "expected a list"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_make_namespaces_are_taken_out),
        cmocka_unit_test(a_narrower_profile_stays_as_it_is),
        cmocka_unit_test(what_is_no_profile_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
