/* tests/unit/control_group_test.c - what the kernel's files say of a container's control group */
#include "tests/unit/made_up_root.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/local/control_group.h"

#define ID "0123456789abcdef"

static int look(struct control_group *group)
{
    char proc[512];
    struct control_mounts mounts;
    snprintf(proc, sizeof(proc), "%s/proc", root);
    control_group_mounts(proc, &mounts);
    return control_group_find(proc, &mounts, 77, TEXT(ID), group);
}

static void version_1_is_read(void **state)
{
    (void)state;
    struct control_group group;
    root = unit_directory();
    put("proc/self/mountinfo",
        "30 23 0:28 / @/fs ro - tmpfs tmpfs rw\n"
        "32 31 0:29 / @/fs/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
        "33 31 0:31 / @/fs/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
        "34 31 0:32 / @/fs/memory rw,relatime - cgroup cgroup rw,memory\n"
        "41 31 0:38 / @/fs/unified rw,relatime - cgroup2 cgroup2 rw\n");
    put("proc/77/cgroup", "5:cpuset:/x/libpod-" ID "\n2:cpu,cpuacct:/x/libpod-" ID "/inner\n"
                          "7:memory:/x/libpod-" ID "\n"
                          "0::/x/libpod-" ID "\n");
    put("fs/cpu,cpuacct/x/libpod-" ID "/cpu.cfs_quota_us", "150000\n");
    put("fs/cpu,cpuacct/x/libpod-" ID "/cpu.cfs_period_us", "100000\n");
    put("fs/cpu,cpuacct/x/libpod-" ID "/cpuacct.usage", "2500000000\n");
    assert_int_equal(look(&group), 0);
    assert_int_equal(control_group_cpus(&group), 1500);
    assert_int_equal(control_group_cpu_time(&group), 2500);
    assert_int_equal(control_group_memory_peak(&group), -1);
    put("fs/memory/x/libpod-" ID "/memory.max_usage_in_bytes", "268435456\n");
    assert_int_equal(control_group_memory_peak(&group), 268435456);
    put("fs/cpu,cpuacct/x/libpod-" ID "/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(control_group_cpus(&group), 0);
    static const char *const bad[] = {"", "x", "\n", " 5"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        put("fs/cpu,cpuacct/x/libpod-" ID "/cpu.cfs_quota_us", bad[i]);
        assert_int_equal(control_group_cpus(&group), -1);
    }
    put("fs/cpu,cpuacct/x/libpod-" ID "/cpu.cfs_quota_us", "99999999999999999999999999\n");
    assert_true(control_group_cpus(&group) >= 0);
    put("fs/cpu,cpuacct/x/libpod-" ID "/cpu.cfs_period_us", "0\n");
    assert_int_equal(control_group_cpus(&group), -1);
    unit_remove(root);
}

static void version_2_is_read(void **state)
{
    (void)state;
    struct control_group group;
    root = unit_directory();
    /* Of the whole hierarchy only the part /mine is seen here. */
    put("proc/self/mountinfo",
        "not a mount\n\n1 2 3 4 5\n"
        "41 31 0:38 /mine @/fs rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n");
    put("proc/77/cgroup", "0::/mine/libpod-" ID ".scope/container\n");
    put("fs/libpod-" ID ".scope/cpu.max", "25000 50000\n");
    put("fs/libpod-" ID ".scope/cpu.stat", "nr_periods 3\nusage_usec 1234567\nuser_usec 1\n");
    assert_int_equal(look(&group), 0);
    assert_int_equal(control_group_cpus(&group), 500);
    assert_int_equal(control_group_cpu_time(&group), 1234);
    assert_int_equal(control_group_memory_peak(&group), -1); /* before Linux 5.19 */
    put("fs/libpod-" ID ".scope/memory.peak", "1048576\n");
    assert_int_equal(control_group_memory_peak(&group), 1048576);
    put("fs/libpod-" ID ".scope/cpu.max", "max 100000\n");
    assert_int_equal(control_group_cpus(&group), 0);
    put("fs/libpod-" ID ".scope/cpu.max", "12\n");
    assert_int_equal(control_group_cpus(&group), -1);
    put("fs/libpod-" ID ".scope/cpu.stat", "user_usec 1\n");
    assert_int_equal(control_group_cpu_time(&group), -1);
    unit_remove(root);
}

static void another_process_is_not_the_containers(void **state)
{
    (void)state;
    struct control_group group;
    root = unit_directory();
    put("proc/self/mountinfo", "41 31 0:38 / @/fs rw - cgroup2 cgroup2 rw\n");
    assert_int_equal(look(&group), -1);
    static const char *const bad[] = {"", "\n",    "0::/libpod-fedcba\n",   "0:" ID ":\n",
                                      ID, "0::\n", "1:cpu:/libpod-" ID "\n"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        put("proc/77/cgroup", bad[i]);
        assert_int_equal(look(&group), -1);
        assert_int_equal(control_group_cpus(&group), -1);
        assert_int_equal(control_group_cpu_time(&group), -1);
        assert_int_equal(control_group_memory_peak(&group), -1);
        assert_int_equal(control_group_signal("/proc", &group, TEXT(ID), SIGUSR1), -1);
    }
    unit_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1_is_read),
        cmocka_unit_test(version_2_is_read),
        cmocka_unit_test(another_process_is_not_the_containers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
