/* tests/unit/local_sources_test.c - what containers mount: what may be, and that it is what was looked at
 *
 * With mounts of its own, for which it wants root; without, those tests skip.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executors/local/mountable.h"
#include "executors/local/sources.h"
#include "executors/local/staging.h"
#include "executors/local/storage.h"

/* A spool, with .podman in it, and a directory of a user's beside it. */
struct scene {
    char *directory;
    char spool[512], storage[512], user[512];
    struct local local;
};

static char *path_of(const char *directory, const char *name)
{
    static char paths[4][1024];
    static unsigned int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
    return path;
}

static void make_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

static void make_directories(const char *directory, const char *const *names)
{
    for (; *names; names++)
        assert_int_equal(mkdir(path_of(directory, *names), 0755), 0);
}

static bool has_mounts; /* ... of our own, which end with this process */

static void want_mounts(void)
{
    if (has_mounts)
        return;
    print_message("skipped: this test wants root, and mounts of its own\n");
    skip();
}

static int set_up(void **state)
{
    static const char *const names[] = {"spool",
                                        "spool/.podman",
                                        "spool/.podman/root",
                                        "spool/incoming",
                                        "spool/submitted",
                                        "spool/submitted/x-1",
                                        "spool/submitted/x-1/output",
                                        "spool/done",
                                        "spool/done/2026-11-25",
                                        "spool/done/2026-11-25/x-2",
                                        "spool/done/2026-11-25/x-2/output",
                                        "spool/done/2026-11-25/x-2/output/models",
                                        "spool/data",
                                        "user",
                                        "user/a",
                                        "user/b",
                                        NULL};
    struct scene *scene = calloc(1, sizeof(*scene));
    struct error error;
    *state = scene;
    scene->directory = unit_directory();
    make_directories(scene->directory, names);
    snprintf(scene->spool, sizeof(scene->spool), "%s/spool", scene->directory);
    snprintf(scene->storage, sizeof(scene->storage), "%s/spool/.podman", scene->directory);
    snprintf(scene->user, sizeof(scene->user), "%s/user", scene->directory);
    make_file(path_of(scene->user, "a/which"), "a");
    make_file(path_of(scene->user, "b/which"), "b");
    scene->local.directory = local_storage_open(scene->storage, &error);
    return scene->local.directory < 0 ||
           mountable_open(&scene->local.mountable, scene->spool, scene->storage, &error);
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    staging_drop(scene->storage, scene->local.directory, "x-1-a1");
    umount2(path_of(scene->user, "a/sys"), MNT_DETACH);
    umount2(path_of(scene->user, "a"), MNT_DETACH);
    mountable_close(&scene->local.mountable);
    close(scene->local.directory);
    unit_remove(scene->directory);
    free(scene);
    return 0;
}

/* ---- what may be mounted ---- */

static const char *kernel_name(const char *path)
{
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    assert_true(descriptor >= 0);
    const char *name = mountable_kernel_name(descriptor);
    close(descriptor);
    return name;
}

static void file_systems_of_the_kernel_are_known(void **state)
{
    struct scene *scene = *state;
    struct stat root, devices;
    assert_string_equal(kernel_name("/proc"), "proc");
    assert_string_equal(kernel_name("/proc/self/status"), "proc");
    assert_string_equal(kernel_name("/sys/kernel"), "sysfs");
    if (!stat("/", &root) && !stat("/dev", &devices) && root.st_dev != devices.st_dev)
        assert_string_equal(kernel_name("/dev"), "devtmpfs");
    assert_null(kernel_name("/"));
    assert_null(kernel_name(scene->user));
}

static void file_systems_of_the_kernel_are_found_below(void **state)
{
    (void)state;
    static const char mountinfo[] =
        "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        "21 20 0:5 / /s\\040p/mounts/x-1-a1x/proc rw - proc proc rw\n"
        "22 20 0:30 / /s\\040p/mounts/x-1-a1 rw,nosuid - tmpfs dlspool rw\n"
        "23 22 8:1 /d /s\\040p/mounts/x-1-a1/0 rw - ext4 /dev/sda1 rw\n"
        "24 23 0:6 / /s\\040p/mounts/x-1-a1/0/dev rw master:2 propagate_from:1 - devtmpfs u rw\n"
        "25 20 8:1 /d /s\\040p/mounts/x-1-a2 rw - ext4 proc rw\n";
    struct text below, type;
    type = mountable_find_kernel(TEXT(mountinfo), "/s p/mounts/x-1-a1", &below);
    assert_true(text_is(type, "devtmpfs"));
    assert_true(text_is(below, "/0/dev"));
    assert_null(mountable_find_kernel(TEXT(mountinfo), "/s p/mounts/x-1-a2", &below).data);
    assert_null(mountable_find_kernel(TEXT(mountinfo), "/s p/mounts/x-1-a", &below).data);
    assert_null(mountable_find_kernel(TEXT(""), "/", &below).data);
}

static bool may_mount(struct scene *scene, const char *path, struct error *error)
{
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    assert_true(descriptor >= 0);
    int result = mountable_check(&scene->local.mountable, descriptor, error);
    close(descriptor);
    return result == 0;
}

static void what_is_dlspools_own_is_known(void **state)
{
    struct scene *scene = *state;
    static const struct {
        const char *path;
        bool may;
    } cases[] = {
        {"spool", false},
        {"spool/.podman", false},
        {"spool/.podman/root", false},
        {"spool/incoming", false},
        {"spool/submitted", false},
        {"spool/submitted/x-1", false},
        {"spool/submitted/x-1/output", true},
        {"spool/submitted/x-1/output/f", true},
        {"spool/submitted/x-1/manifest.yaml", false},
        {"spool/done/2026-11-25/x-2", false},
        {"spool/done/2026-11-25/x-2/output/models", true},
        {"spool/data", true}, /* an administrator's, who put it there */
        {"spool.old", true},
        {"user/link", false}, /* to .podman/root */
        {"user", true},
        {"user/a/which", true},
        {".", true}, /* above the spool: who may enter what is asked there again */
    };
    struct error error;
    make_directories(scene->directory, (const char *const[]){"spool.old", NULL});
    make_file(path_of(scene->spool, "submitted/x-1/output/f"), "");
    make_file(path_of(scene->spool, "submitted/x-1/manifest.yaml"), "");
    assert_int_equal(symlink("../spool/.podman/root", path_of(scene->user, "link")), 0);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        if (may_mount(scene, path_of(scene->directory, cases[i].path), &error) != cases[i].may)
            fail_msg("%s", cases[i].path);
    assert_false(may_mount(scene, path_of(scene->storage, "root"), &error));
    assert_non_null(strstr(error.text, "/.podman/root is dlspool's own: expected a path outside "));
}

static void what_is_dlspools_own_is_known_by_its_inode(void **state)
{
    struct scene *scene = *state;
    struct error error;
    want_mounts();
    assert_int_equal(mount(scene->spool, path_of(scene->user, "a"), NULL, MS_BIND, NULL), 0);
    assert_false(may_mount(scene, path_of(scene->user, "a/.podman/root"), &error));
    assert_false(may_mount(scene, path_of(scene->user, "a/incoming"), &error));
    assert_true(may_mount(scene, path_of(scene->user, "a/submitted/x-1/output"), &error));
    assert_int_equal(umount2(path_of(scene->user, "a"), MNT_DETACH), 0);
}

/* ---- holding ---- */

static bool holds(const char *path, const char *wanted)
{
    char content[16] = "";
    FILE *file = fopen(path, "re");
    bool same = file && fgets(content, sizeof(content), file) && strcmp(content, wanted) == 0;
    if (file)
        fclose(file);
    return same;
}

static struct staging staging_of(struct scene *scene)
{
    return (struct staging){.storage = scene->storage,
                            .directory = scene->local.directory,
                            .job = "x-1-a1",
                            .place = -1};
}

static enum staging_outcome add_path(struct staging *staging, size_t number, const char *path)
{
    struct error error;
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    assert_true(descriptor >= 0);
    enum staging_outcome outcome = staging_add(staging, number, descriptor, &error);
    if (outcome == STAGING_FAILED)
        fail_msg("%s", error.text);
    close(descriptor);
    return outcome;
}

static void what_was_opened_is_held_whatever_the_path_becomes(void **state)
{
    struct scene *scene = *state;
    struct staging staging = staging_of(scene);
    struct error error;
    want_mounts();
    int descriptor = open(path_of(scene->user, "a"), O_PATH | O_CLOEXEC);
    assert_int_equal(renameat2(AT_FDCWD, path_of(scene->user, "a"), AT_FDCWD,
                               path_of(scene->user, "b"), RENAME_EXCHANGE),
                     0);
    assert_int_equal(staging_add(&staging, 0, descriptor, &error), STAGING_DONE);
    assert_int_equal(add_path(&staging, 1, path_of(scene->user, "a/which")), STAGING_DONE);
    close(descriptor);
    assert_true(holds(path_of(scene->storage, "mounts/x-1-a1/0/which"), "a"));
    assert_true(holds(path_of(scene->storage, "mounts/x-1-a1/1"), "b"));
    staging_close(&staging);
    /* Another try begins anew, and the end leaves nothing but the user's own files. */
    assert_int_equal(add_path(&staging, 0, path_of(scene->user, "a")), STAGING_DONE);
    assert_true(holds(path_of(scene->storage, "mounts/x-1-a1/0/which"), "b"));
    assert_int_equal(access(path_of(scene->storage, "mounts/x-1-a1/1"), F_OK), -1);
    staging_close(&staging);
    staging_drop(scene->storage, scene->local.directory, "x-1-a1");
    assert_int_equal(access(path_of(scene->storage, "mounts/x-1-a1"), F_OK), -1);
    assert_true(holds(path_of(scene->user, "b/which"), "a"));
}

/* On most machines each mount is shared: what is unmounted in a copy is unmounted in it, too. */
static void what_is_mounted_below_is_held_and_stays(void **state)
{
    struct scene *scene = *state;
    struct staging staging = staging_of(scene);
    want_mounts();
    assert_int_equal(mount("t", path_of(scene->user, "a"), "tmpfs", 0, NULL), 0);
    assert_int_equal(mount(NULL, path_of(scene->user, "a"), NULL, MS_SHARED, NULL), 0);
    make_directories(scene->user, (const char *const[]){"a/inner", NULL});
    assert_int_equal(mount("t", path_of(scene->user, "a/inner"), "tmpfs", 0, NULL), 0);
    make_file(path_of(scene->user, "a/inner/which"), "i");
    assert_int_equal(add_path(&staging, 0, path_of(scene->user, "a")), STAGING_DONE);
    assert_true(holds(path_of(scene->storage, "mounts/x-1-a1/0/inner/which"), "i"));
    staging_close(&staging);
    staging_drop(scene->storage, scene->local.directory, "x-1-a1");
    assert_true(holds(path_of(scene->user, "a/inner/which"), "i"));
    assert_int_equal(umount2(path_of(scene->user, "a"), MNT_DETACH), 0);
}

/* A user reaches the files of their own container by /proc/PID/root. */
static void what_another_view_has_is_refused(void **state)
{
    struct scene *scene = *state;
    struct staging staging = staging_of(scene);
    int ends[2];
    char byte;
    want_mounts();
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        /* It ends with this test, also where that fails. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) || unshare(CLONE_NEWNS) ||
            mount("t", path_of(scene->user, "a"), "tmpfs", 0, NULL) || write(ends[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    char path[2048];
    snprintf(path, sizeof(path), "/proc/%d/root%s/a", child, scene->user);
    assert_int_equal(add_path(&staging, 0, path), STAGING_REFUSED);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    staging_close(&staging);
    staging_drop(scene->storage, scene->local.directory, "x-1-a1");
}

/* ---- a job's ---- */

static struct sources *sources_for(struct scene *scene, struct arena *arena, const char *first,
                                   const char *second)
{
    struct sources *sources = arena_allocate(arena, sizeof(*sources));
    struct access_path *paths = arena_allocate(arena, 2 * sizeof(*paths));
    *sources = (struct sources){
        .local = &scene->local,
        .job = "x-1-a1",
        .access = {.uid = geteuid(), .gid = getegid(), .paths = paths, .count = 2}};
    paths[0] = (struct access_path){.path = text_of(first)};
    paths[1] = (struct access_path){.path = text_of(second)};
    sources_hold(arena, (struct sources *const[]){sources}, 1, 10000);
    return sources;
}

static void all_of_a_jobs_sources_are_held_or_none(void **state)
{
    struct scene *scene = *state;
    struct arena *arena = arena_new();
    want_mounts();
    const char *a = path_of(scene->user, "a"), *file = path_of(scene->user, "b/which");
    struct sources *sources = sources_for(scene, arena, a, file);
    assert_int_equal(sources->access.outcome, ACCESS_GRANTED);
    assert_true(holds(sources_path(arena, sources, 1).data, "b"));
    assert_true(text_starts(sources_path(arena, sources, 0), scene->storage));
    assert_int_equal(sources_path(arena, sources, 2).length, 0); /* no home was asked for */
    sources_drop(&scene->local, "x-1-a1");
    assert_int_equal(access(sources_path(arena, sources, 1).data, F_OK), -1);

    sources = sources_for(scene, arena, a, path_of(scene->spool, "incoming"));
    assert_int_equal(sources->access.outcome, ACCESS_DENIED);
    assert_non_null(strstr(sources->access.error.text, "cannot be mounted: "));
    assert_int_equal(access(sources_path(arena, sources, 0).data, F_OK), -1);
    assert_string_equal(sources->access.remedy.data, "Name another path");

    assert_int_equal(mkdir(path_of(scene->user, "a/sys"), 0755), 0);
    assert_int_equal(mount("sysfs", path_of(scene->user, "a/sys"), "sysfs", 0, NULL), 0);
    sources = sources_for(scene, arena, file, path_of(scene->user, "a"));
    assert_int_equal(sources->access.outcome, ACCESS_DENIED);
    assert_non_null(strstr(sources->access.error.text,
                           "/user/a cannot be mounted: a file system of the kernel (sysfs), which "
                           "shows all of the machine, is mounted below it, at sys;"));
    assert_int_equal(access(sources_path(arena, sources, 0).data, F_OK), -1);
    umount2(path_of(scene->user, "a/sys"), MNT_DETACH);
    arena_free(arena);
}

static void the_list_of_sources_is_kept(void **state)
{
    struct scene *scene = *state;
    struct arena *arena = arena_new();
    struct error error;
    struct access_path paths[] = {{.path = TEXT("/a \"b\"")}, {.path = TEXT("/c"), .write = true}};
    struct sources sources = {
        .local = &scene->local,
        .job = "x-1-a1",
        .access = {.uid = 4000000000u, .gid = 7, .paths = paths, .count = 2, .wants_home = true}};
    struct sources again = {.local = &scene->local, .job = "x-1-a1"};
    assert_int_equal(sources_read(arena, &again, &error), -1);
    assert_string_equal(error.text, "the list of what the job mounts is missing");
    assert_int_equal(local_storage_make_job(scene->local.directory, "x-1-a1", &error), 0);
    assert_int_equal(sources_write(&sources, &error), 0);
    assert_int_equal(sources_read(arena, &again, &error), 0);
    assert_int_equal(again.access.uid, 4000000000u);
    assert_int_equal(again.access.gid, 7);
    assert_true(again.access.wants_home);
    assert_int_equal(again.access.count, 2);
    assert_true(text_is(again.access.paths[0].path, "/a \"b\""));
    assert_false(again.access.paths[0].write);
    assert_true(again.access.paths[1].write);
    assert_int_equal(local_storage_write_note(scene->local.directory, "x-1-a1", "sources",
                                              TEXT("{\"uid\": 1, \"paths\": []}"), &error),
                     0);
    assert_int_equal(sources_read(arena, &again, &error), -1);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(file_systems_of_the_kernel_are_known, set_up, tear_down),
        cmocka_unit_test(file_systems_of_the_kernel_are_found_below),
        cmocka_unit_test_setup_teardown(what_is_dlspools_own_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_dlspools_own_is_known_by_its_inode, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_was_opened_is_held_whatever_the_path_becomes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_mounted_below_is_held_and_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_another_view_has_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_of_a_jobs_sources_are_held_or_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_list_of_sources_is_kept, set_up, tear_down),
    };
    has_mounts = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
                 mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
