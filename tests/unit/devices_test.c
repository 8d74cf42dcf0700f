/* tests/unit/devices_test.c - which devices of local.gpus exist */
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "executors/local/devices.h"

static void put(const char *directory, const char *name, const char *content)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void names_are_looked_up(void **state)
{
    (void)state;
    char *directory = unit_directory();
    const char *const directories[] = {directory, "/nowhere/cdi", NULL}, *absent[5];
    struct text names[] = {TEXT("nvidia.com/gpu=0"), TEXT("nvidia.com/gpu=7"),
                           TEXT("amd.com/gpu=0"), TEXT("/dev/null:/dev/gpu-a"),
                           TEXT("/dev/no-such-node")};
    struct arena *arena = arena_new();

    assert_int_equal(devices_find_absent(arena, directories, names, 5, absent), 4);
    assert_non_null(strstr(absent[0], "nvidia.com/gpu=0 is declared by no CDI specification in /"));
    assert_non_null(strstr(absent[0], " or /nowhere/cdi, where there is none"));
    assert_null(absent[3]);
    assert_string_equal(absent[4], "/dev/no-such-node: No such file or directory");

    put(directory, "nvidia.yaml",
        "---\ncdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n"
        "- name: \"0\"\n  containerEdits:\n    deviceNodes:\n"
        "    - path: /dev/nvidia0\n- name: all\n  containerEdits: {}\n"
        "containerEdits:\n  env:\n  - NVIDIA_VISIBLE_DEVICES=void\n");
    put(directory, "amd.json",
        "{\"cdiVersion\": \"0.6.0\", \"kind\": \"amd.com/gpu\", "
        "\"devices\": [{\"name\": \"0\"}, {\"noname\": 1}, 5]}");
    put(directory, "README", "no specification");
    assert_int_equal(devices_find_absent(arena, directories, names, 5, absent), 2);
    assert_null(absent[0]);
    assert_null(absent[2]);
    assert_non_null(strstr(absent[1], "they declare "));
    assert_non_null(strstr(absent[1], "nvidia.com/gpu=all"));

    /* One that cannot be read is told with what is missing because of it. */
    put(directory, "nvidia.yaml", "kind: [\n");
    assert_int_equal(devices_find_absent(arena, directories, names, 5, absent), 3);
    assert_non_null(strstr(absent[0], "nvidia.yaml cannot be used: nvidia.yaml:"));
    arena_free(arena);
    unit_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_looked_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
