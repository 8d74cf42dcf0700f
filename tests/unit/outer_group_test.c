/* tests/unit/outer_group_test.c - the group around a container's own tells what it has used, until it is removed */
#include "tests/unit/made_up_root.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/local/outer_group.h"

#define GROUP "/libpod_parent/dlspool-0123456789abcdef-job-a1-main-0"

static struct local local;

static bool is_there(const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    return access(path, F_OK) == 0;
}

static void make_group(const char *name, int seconds_old)
{
    char path[512], file[512];
    snprintf(file, sizeof(file), "%s/x", name);
    put(file, "");
    snprintf(path, sizeof(path), "%s/%s", root, file);
    unlink(path);
    snprintf(path, sizeof(path), "%s/%s", root, name);
    const struct timespec then = {.tv_sec = clock_now() / 1000 - seconds_old};
    const struct timespec times[2] = {then, then};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void look(const char *mounts)
{
    char proc[512];
    snprintf(proc, sizeof(proc), "%s/proc", root);
    put("proc/self/mountinfo", mounts);
    control_group_mounts(proc, &local.mounts);
}

static int begin(void **state)
{
    (void)state;
    root = unit_directory();
    local = (struct local){.executor = {.identity = "0123456789abcdef"}};
    return geteuid() == 0 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    unit_remove(root);
    return 0;
}

static int64_t cpu_time(void)
{
    return outer_group_cpu_time(&local, TEXT("job-a1-main-0"));
}

static const char version_1[] = "32 31 0:29 / @/fs/cpuacct rw shared:9 - cgroup cgroup rw,cpuacct\n"
                                "34 31 0:32 / @/fs/memory rw - cgroup cgroup rw,memory\n"
                                "41 31 0:38 / @/fs/unified rw - cgroup2 cgroup2 rw\n";

static void what_supervises_it_is_not_counted(void **state)
{
    (void)state;
    look(version_1);
    assert_int_equal(cpu_time(), -1);
    put("fs/cpuacct" GROUP "/cpuacct.usage", "2500000000\n");
    assert_int_equal(cpu_time(), -1);
    put("fs/cpuacct" GROUP "/conmon/cpuacct.usage", "500000000\n");
    assert_int_equal(cpu_time(), 2000);
    put("fs/cpuacct" GROUP "/conmon/cpuacct.usage", "2600000000\n");
    assert_int_equal(cpu_time(), 0);
}

static int64_t memory_peak(void)
{
    return outer_group_memory_peak(&local, TEXT("job-a1-main-0"));
}

static void it_held_at_least_what_is_left_of_both(void **state)
{
    (void)state;
    look(version_1);
    put("fs/cpuacct" GROUP "/conmon/cpuacct.usage", "0\n");
    put("fs/memory" GROUP "/memory.max_usage_in_bytes", "73000000\n");
    assert_int_equal(memory_peak(), -1);
    put("fs/memory" GROUP "/conmon/memory.max_usage_in_bytes", "3000000\n");
    assert_int_equal(memory_peak(), 70000000);
    put("fs/memory" GROUP "/conmon/memory.max_usage_in_bytes", "74000000\n");
    assert_int_equal(memory_peak(), 0);
}

static void version_2_is_read(void **state)
{
    (void)state;
    look("41 31 0:38 / @/fs rw - cgroup2 cgroup2 rw\n");
    put("fs" GROUP "/cpu.stat", "usage_usec 2500000\nuser_usec 1\n");
    put("fs" GROUP "/conmon/cpu.stat", "usage_usec 500000\nuser_usec 1\n");
    assert_int_equal(cpu_time(), 2000);
    assert_int_equal(memory_peak(), -1); /* before Linux 5.19 */
    put("fs" GROUP "/memory.peak", "5000\n");
    put("fs" GROUP "/conmon/memory.peak", "2000\n");
    assert_int_equal(memory_peak(), 3000);
}

static void none_is_made_of_anothers(void **state)
{
    (void)state;
    char path[OUTER_GROUP_SIZE];
    outer_group_path(&local, TEXT("job-a1-main-0"), path);
    assert_string_equal(path, GROUP);
    local.settings.socket = TEXT("/run/podman.sock");
    outer_group_path(&local, TEXT("job-a1-main-0"), path);
    assert_string_equal(path, "");
}

static void it_is_removed_everywhere(void **state)
{
    (void)state;
    look(version_1);
    make_group("fs/cpuacct" GROUP "/conmon", 0);
    make_group("fs/memory" GROUP "/conmon", 0);
    make_group("fs/unified" GROUP, 0);
    outer_group_remove(&local, TEXT("job-a1-main-0"));
    assert_false(is_there("fs/cpuacct" GROUP));
    assert_false(is_there("fs/memory" GROUP));
    assert_false(is_there("fs/unified" GROUP));
}

static void what_was_left_over_is_removed(void **state)
{
    (void)state;
    static const char *const names[] = {
        "dlspool-0123456789abcdef-gone", "dlspool-0123456789abcdef-runs",
        "dlspool-0123456789abcdef-new", "dlspool-fedcba9876543210-gone", "libpod-gone"};
    const struct podman_container runs = {.name = TEXT("runs")};
    look(version_1);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char path[512];
        snprintf(path, sizeof(path), "fs/memory/libpod_parent/%s", names[i]);
        make_group(path, i == 2 ? 1 : 100);
        snprintf(path, sizeof(path), "fs/cpuacct/libpod_parent/%s", names[i]);
        make_group(path, i == 2 ? 1 : 100);
    }
    outer_group_sweep(&local, &runs, 1);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char path[512];
        snprintf(path, sizeof(path), "fs/cpuacct/libpod_parent/%s", names[i]);
        assert_int_equal(is_there(path), i != 0);
        snprintf(path, sizeof(path), "fs/memory/libpod_parent/%s", names[i]);
        assert_int_equal(is_there(path), i != 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_supervises_it_is_not_counted),
        TEST(version_2_is_read),
        TEST(it_held_at_least_what_is_left_of_both),
        TEST(none_is_made_of_anothers),
        TEST(it_is_removed_everywhere),
        TEST(what_was_left_over_is_removed),
    };
    if (geteuid() != 0) {
        puts("1..0 # SKIP only root's containers have such groups");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
