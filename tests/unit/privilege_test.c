/* Tests for spool/privilege.h: what a site may give to jobs beyond what all have. */
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

static void test_rows(void **state)
{
    (void)state;
    assert_int_equal(
        parse("privileges:\n"
              "  rdma: {capabilities: [CAP_IPC_LOCK], devices: [/dev//infiniband/uverbs0]}\n"
              "  perf: {capabilities: [PERFMON], approve: no}\n"
              "  true: {host_network: true, approve: yes}\n"),
        0);
    assert_int_equal(settings.privileges.count, 3);
    const struct privilege *rdma = privilege_find(&settings.privileges, TEXT("rdma"));
    assert_non_null(rdma);
    assert_true(text_is(rdma->grant.capabilities[0], "IPC_LOCK"));
    assert_true(text_is(rdma->grant.devices[0], "/dev/infiniband/uverbs0"));
    assert_true(rdma->approve); /* unless the row says no */
    assert_false(rdma->grant.host_network);
    assert_false(privilege_find(&settings.privileges, TEXT("perf"))->approve);
    assert_true(privilege_find(&settings.privileges, TEXT("true"))->grant.host_network);
    assert_null(privilege_find(&settings.privileges, TEXT("fuse")));
    assert_int_equal(parse("{}"), 0);
    assert_int_equal(settings.privileges.count, 0);
}

static void test_bad_rows(void **state)
{
    (void)state;
    refuses("privileges: [rdma]", "privileges: ");
    refuses("privileges: {rdma: {}}", "capabilities, devices or host_network");
    refuses("privileges: {rdma: true}", "capabilities, devices or host_network");
    refuses("privileges: {rdma: {host_network: false}}", "capabilities, devices or host_network");
    refuses("privileges: {'a b': {host_network: true}}", "small letters, digits");
    refuses("privileges: {x: {capabilities: [IPC_LOK]}}", "did you mean IPC_LOCK?");
    refuses("privileges: {x: {capabilities: IPC_LOCK}}", "a list");
    refuses("privileges: {x: {capabilities: [7]}}", "a capability of Linux");
    refuses("privileges: {x: {devices: [/etc/passwd]}}", "the absolute path of a device");
    refuses("privileges: {x: {devices: [/dev/../etc/passwd]}}", "devices");
    refuses("privileges: {x: {devices: [/dev/fuse], approve: maybe}}", "yes or no");
    refuses("privileges: {x: {device: [/dev/fuse]}}", "devices");
}

static void test_unite(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct grant grant;
    struct buffer words = {0};
    assert_int_equal(parse("privileges:\n"
                           "  a: {capabilities: [IPC_LOCK, PERFMON], devices: [/dev/x]}\n"
                           "  b: {capabilities: [PERFMON, SYS_NICE]}\n"
                           "  c: {host_network: true}\n"),
                     0);
    assert_int_equal(privilege_unite(arena, &settings.privileges, TEXT("a b"), &grant, &error), 0);
    privilege_describe(&grant, &words);
    assert_true(text_is(buffer_text(&words), "capability IPC_LOCK, capability PERFMON, capability "
                                             "SYS_NICE, device /dev/x"));
    assert_false(grant.host_network);
    assert_int_equal(privilege_unite(arena, &settings.privileges, TEXT("c"), &grant, &error), 0);
    assert_true(grant.host_network);
    assert_int_equal(grant.capability_count, 0);
    assert_int_equal(privilege_unite(arena, &settings.privileges, TEXT(""), &grant, &error), 0);
    assert_int_equal(privilege_unite(arena, &settings.privileges, TEXT("c d"), &grant, &error), -1);
    assert_non_null(strstr(error.text, "found \"d\", which is no privilege of this site"));
    assert_non_null(strstr(error.text, "names a, b, c"));
    buffer_free(&words);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_unite),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
