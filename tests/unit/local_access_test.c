/* tests/unit/local_access_test.c - with whose rights a task has what it has: which groups a look at paths has, whose
 * the files are that it is given, and what its container may */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executors/local/access.h"
#include "executors/local/inside.h"
#include "executors/local/storage.h"

enum { USER = 65534, GROUP = 12345 }; /* nobody, and a group that it is not in */

static struct arena *arena;
static char *directory;

static int open_all(void **state)
{
    (void)state;
    arena = arena_new();
    directory = unit_directory();
    return chmod(directory, 0755);
}

static int close_all(void **state)
{
    (void)state;
    unit_remove(directory);
    arena_free(arena);
    return 0;
}

/* Only root can become others. */
static bool is_root(void)
{
    if (geteuid() == 0)
        return true;
    print_message("skipped: this needs root\n");
    return false;
}

static enum access_outcome look(uid_t uid, gid_t gid, const char *path)
{
    struct access_path wanted = {.path = text_of(path)};
    struct access_check check = {.uid = uid, .gid = gid, .paths = &wanted, .count = 1};
    struct access_check *checks[] = {&check};
    access_check_all(arena, checks, 1, 10000);
    return check.outcome;
}

static const char *make(const char *name, mode_t mode, gid_t group)
{
    const char *path = arena_printf(arena, "%s/%s", directory, name).data;
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(fchown(file, 0, group), 0);
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
    return path;
}

/* Not the daemon's. */
static void a_look_has_the_users_groups(void **state)
{
    (void)state;
    if (!is_root())
        return;
    gid_t kept[64], mine[] = {GROUP};
    int count = getgroups(64, kept);
    assert_true(count >= 0);
    assert_int_equal(setgroups(1, mine), 0);
    const char *ours = make("ours", 0640, GROUP), *theirs = make("theirs", 0640, USER);
    assert_int_equal(look(USER, USER, ours), ACCESS_DENIED);
    assert_int_equal(look(USER, GROUP, ours), ACCESS_GRANTED);
    assert_int_equal(look(USER, USER, theirs), ACCESS_GRANTED);
    assert_int_equal(setgroups((size_t)count, kept), 0);
}

static void a_directory_has_to_be_one_to_enter(void **state)
{
    (void)state;
    if (!is_root())
        return;
    const char *path = arena_printf(arena, "%s/listed", directory).data;
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(look(USER, USER, path), ACCESS_GRANTED);
    assert_int_equal(chmod(path, 0744), 0);
    assert_int_equal(look(USER, USER, path), ACCESS_DENIED);
}

static void files_of_a_task_are_the_users(void **state)
{
    (void)state;
    struct error error;
    struct stat status;
    if (!is_root())
        return;
    int storage = local_storage_open(directory, &error);
    assert_int_equal(local_storage_make_job(storage, "job", &error), 0);
    assert_int_equal(
        local_storage_write_file(storage, "job", "main-0", 0, TEXT("x"), 0500, USER, GROUP, &error),
        0);
    assert_int_equal(fstatat(storage, "jobs/job/files/main-0/0", &status, 0), 0);
    assert_int_equal(status.st_uid, USER);
    assert_int_equal(status.st_gid, GROUP);
    assert_int_equal(status.st_mode & 07777, 0500);
    close(storage);
}

static bool has_word(const struct value *list, const char *word)
{
    for (size_t i = 0; list && i < list->list.count; i++)
        if (text_is(list->list.items[i]->string, word))
            return true;
    return false;
}

static void a_container_may_little(void **state)
{
    (void)state;
    struct error error;
    const struct local local = {.storage = directory};
    const struct submission submission = {
        .id = "a-1m7y5dm13etbd", .attempt = 1, .uid = USER, .gid = GROUP};
    const struct local_manifest *manifest = local_manifest_read(
        arena,
        TEXT("kind: dlspool/local/v1\ntasks:\n- {role: main, image: host, command: [x], cpus: 1, "
             "memory: 1Mi, files: [{path: /job/script, content: x}]}\n"),
        &error);
    assert_non_null(manifest);
    const struct specification specification = {.local = &local,
                                                .submission = &submission,
                                                .manifest = manifest,
                                                .manifest_hash = "",
                                                .groups = TEXT("")};
    const struct value *container =
        local_specify_task(arena, &specification, &manifest->tasks[0], NULL, (struct text){"", 0});
    assert_true(value_get_boolean(container, "no_new_privileges", false));
    if (geteuid() == 0)
        assert_true(has_word(value_get(container, "cap_drop"), "all"));
    const struct value *mounts = value_get(container, "mounts");
    assert_true(mounts->list.count > 0);
    for (size_t i = 0; i < mounts->list.count; i++) {
        const struct value *options = value_get(mounts->list.items[i], "options");
        assert_true(has_word(options, "nosuid"));
        assert_true(has_word(options, "nodev"));
        assert_true(has_word(options, "ro"));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_look_has_the_users_groups),
        TEST(a_directory_has_to_be_one_to_enter),
        TEST(files_of_a_task_are_the_users),
        TEST(a_container_may_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
