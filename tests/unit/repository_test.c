/* tests/unit/repository_test.c - a commit is served whole or not at all */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/repository.h"
#include "tests/unit/scratch_repository.h"

static struct scratch scratch;
static struct repository *repository;
static struct error error;

static int set_up(void **state)
{
    (void)state;
    scratch_open(&scratch);
    scratch_put(&scratch, "images.txt", "* * * * host\n");
    scratch_put(&scratch, "site.yaml", "colour: red\n");
    scratch_put(&scratch, "local/any/single.yaml", "kind: one\n");
    error = (struct error){""};
    repository = repository_open(scratch.path, "HEAD", &error);
    assert_non_null(repository);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    repository_close(repository);
    scratch_close(&scratch);
    return 0;
}

static void says(const char *sentence)
{
    if (!strstr(error.text, sentence))
        print_message("got: %s\nwanted: %s\n", error.text, sentence);
    assert_non_null(strstr(error.text, sentence));
}

static void serve(void)
{
    scratch_commit(&scratch);
    int result = repository_refresh(repository, &error);
    if (result)
        print_message("%s\n", error.text);
    assert_int_equal(result, 0);
}

/* The next commit must be refused, for a reason, and the one before go on serving. */
static void refuse(const char *sentence)
{
    char before[41];
    snprintf(before, sizeof(before), "%s", repository_commit(repository));
    scratch_commit(&scratch);
    assert_int_equal(repository_refresh(repository, &error), -1);
    says(sentence);
    says("goes on serving");
    assert_string_equal(repository_commit(repository), before);
    assert_true(text_is(value_get_text(repository_site(repository, &error), "colour"), "red"));
    /* The answer is the same when asked again at once. */
    assert_int_equal(repository_refresh(repository, &error), -1);
    says(sentence);
}

static void a_repository_without_commits_serves_none_until_there_is_one(void **state)
{
    (void)state;
    assert_int_equal(repository_refresh(repository, &error), -1);
    says("has no commit on the branch that its HEAD names; push one");
    assert_null(repository_commit(repository));
    assert_null(repository_images(repository, &error));
    assert_null(repository_site(repository, &error));
    assert_null(repository_template(repository, TEXT("local/any/single.yaml"), &error));
    assert_null(repository_file(repository, "images.txt").data);
    serve();
    assert_int_equal(strlen(repository_commit(repository)), 40);
}

static void a_push_is_seen_by_the_next_refresh_only(void **state)
{
    (void)state;
    serve();
    assert_int_equal(repository_images(repository, &error)->count, 1);
    const struct template *first =
        repository_template(repository, TEXT("local/any/single.yaml"), &error);
    assert_non_null(first);
    assert_ptr_equal(first, repository_template(repository, TEXT("local/any/single.yaml"), &error));
    scratch_put(&scratch, "images.txt", "* * * * host\na * * * b\n");
    scratch_remove(&scratch, "local/any/single.yaml");
    char hex[41];
    snprintf(hex, sizeof(hex), "%s", scratch_commit(&scratch));
    assert_int_equal(repository_images(repository, &error)->count, 1);
    assert_true(repository_has(repository, "local/any/single.yaml"));
    assert_int_equal(repository_refresh(repository, &error), 0);
    assert_int_equal(repository_images(repository, &error)->count, 2);
    assert_false(repository_has(repository, "local/any/single.yaml"));
    assert_string_equal(repository_commit(repository), hex);
}

static void a_commit_with_wrong_tables_is_not_served(void **state)
{
    (void)state;
    serve();
    scratch_put(&scratch, "images.txt", "* * * * host\na * * b\n");
    refuse("images.txt:2: 4 columns, expected 5");
    scratch_put(&scratch, "images.txt", "* * * * host\n");
    scratch_put(&scratch, "site.yaml", "colour: [\n");
    refuse("site.yaml:2");
    scratch_put(&scratch, "site.yaml", "- red\n");
    refuse("site.yaml:1: holds a value of kind list, expected an object");
    scratch_remove(&scratch, "site.yaml");
    refuse("site.yaml is missing");
    scratch_put(&scratch, "site.yaml", "colour: blue\n");
    scratch_remove(&scratch, "images.txt");
    refuse("images.txt is missing");
    scratch_put(&scratch, "images.txt", "* * * * host\n");
    serve();
    assert_true(text_is(value_get_text(repository_site(repository, &error), "colour"), "blue"));
}

static void a_wrong_commit_is_served_for_checking(void **state)
{
    (void)state;
    repository_serve_faulty(repository);
    scratch_put(&scratch, "images.txt", "a\n");
    scratch_put(&scratch, "site.yaml", "[]\n");
    serve();
    assert_null(repository_images(repository, &error));
    says("images.txt:1: 1 column, expected 5");
    assert_null(repository_site(repository, &error));
    says("site.yaml:1: ");
}

static void a_template_that_does_not_parse_fails_alone(void **state)
{
    (void)state;
    scratch_put(&scratch, "local/any/ps.yaml", "kind: one\nkind: two\n");
    serve();
    for (int i = 0; i < 2; i++) {
        assert_null(repository_template(repository, TEXT("local/any/ps.yaml"), &error));
        says("local/any/ps.yaml:2:1: the key \"kind\" is given twice");
    }
    assert_non_null(repository_template(repository, TEXT("local/any/single.yaml"), &error));
}

static void only_plain_files_within_the_tree_are_read(void **state)
{
    (void)state;
    static char large[(1 << 20) + 1];
    memset(large, '#', sizeof(large));
    scratch_put_as(&scratch, "link.yaml", "/etc/passwd", 11, 0120000);
    scratch_put_as(&scratch, "large.yaml", large, sizeof(large), 0100644);
    scratch_put(&scratch, "README.md", "hello");
    serve();
    const struct {
        const char *path, *sentence;
    } cases[] = {
        {"link.yaml", "link.yaml cannot be used: it is a symbolic link, which is not followed"},
        {"large.yaml", "large.yaml cannot be used: it has 1048577 bytes"},
        {"README.md", "only files whose names end in .yaml or .txt are read"},
        {"none.yaml", "there is no file none.yaml in the templates repository at commit "},
        {"../site.yaml", "\"../site.yaml\" is not a path in the templates repository"},
        {"local/../site.yaml", "is not a path"},
        {"local//any/single.yaml", "is not a path"},
        {"./site.yaml", "is not a path"},
        {"/etc/passwd", "is not a path"},
        {"", "is not a path"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_null(repository_template(repository, text_of(cases[i].path), &error));
        says(cases[i].sentence);
    }
    assert_null(repository_file(repository, "link.yaml").data);
    assert_true(text_is(repository_file(repository, "site.yaml"), "colour: red\n"));
}

static int collect(void *context, const char *path)
{
    buffer_printf(context, "%s ", path);
    return strcmp(path, "stop.txt") == 0 ? 7 : 0;
}

static void a_walk_is_sorted_and_can_be_stopped(void **state)
{
    (void)state;
    struct buffer paths = {0};
    scratch_put(&scratch, "local/any.yaml", "1");
    scratch_put_as(&scratch, "link.yaml", "x", 1, 0120000);
    serve();
    assert_int_equal(repository_walk(repository, collect, &paths), 0);
    assert_string_equal(paths.data, "images.txt link.yaml local/any.yaml local/any/single.yaml "
                                    "site.yaml ");
    scratch_put(&scratch, "stop.txt", "x");
    scratch_put(&scratch, "z.txt", "x");
    serve();
    buffer_clear(&paths);
    assert_int_equal(repository_walk(repository, collect, &paths), 7);
    assert_null(strstr(paths.data, "z.txt"));
    buffer_free(&paths);
}

static void object_path(const char *hex, char *path, size_t size)
{
    snprintf(path, size, "%s/objects/%.2s/%s", scratch.path, hex, hex + 2);
}

/* The name of the blob of a file of the scratch index. */
static void blob_of(const char *file, char *hex)
{
    const git_index_entry *entry = git_index_get_bypath(scratch.index, file, 0);
    git_oid_tostr(hex, 41, &entry->id);
}

static void a_missing_object_keeps_the_old_commit_until_it_comes(void **state)
{
    (void)state;
    char hex[41], path[256], aside[256];
    serve();
    scratch_put(&scratch, "local/any/ps.yaml", "kind: late\n");
    blob_of("local/any/ps.yaml", hex);
    object_path(hex, path, sizeof(path));
    snprintf(aside, sizeof(aside), "%s/aside", scratch.path);
    assert_int_equal(rename(path, aside), 0);
    refuse("local/any/ps.yaml cannot be read: object not found");
    assert_non_null(repository_template(repository, TEXT("local/any/single.yaml"), &error));
    assert_int_equal(rename(aside, path), 0);
    /* A commit that failed is tried again after a second. */
    int result = -1;
    for (int tries = 0; tries < 500 && result; tries++) {
        usleep(10000);
        result = repository_refresh(repository, &error);
    }
    assert_int_equal(result, 0);
    assert_true(repository_has(repository, "local/any/ps.yaml"));
}

static void damaged_bytes_are_never_served(void **state)
{
    (void)state;
    char hex[41], other[41], path[256], from[256];
    serve();
    scratch_put(&scratch, "local/any/ps.yaml", "kind: good\n");
    scratch_put(&scratch, "evil.yaml", "kind: evil\n");
    blob_of("local/any/ps.yaml", hex);
    blob_of("evil.yaml", other);
    object_path(hex, path, sizeof(path));
    object_path(other, from, sizeof(from));
    assert_int_equal(rename(from, path), 0);
    scratch_remove(&scratch, "evil.yaml");
    refuse("local/any/ps.yaml cannot be read");
    assert_int_equal(truncate(path, 3), 0);
    repository_close(repository);
    repository = repository_open(scratch.path, "HEAD", &error);
    assert_int_equal(repository_refresh(repository, &error), -1);
    says("no commit is served");
    assert_null(repository_commit(repository));
}

static void a_revision_may_be_any_commit(void **state)
{
    (void)state;
    char first[41];
    snprintf(first, sizeof(first), "%s", scratch_commit(&scratch));
    scratch_put(&scratch, "site.yaml", "colour: blue\n");
    scratch_commit(&scratch);
    struct repository *old = repository_open(scratch.path, "HEAD~1", &error);
    assert_int_equal(repository_refresh(old, &error), 0);
    assert_string_equal(repository_commit(old), first);
    repository_close(old);
    old = repository_open(scratch.path, "nonsense\x1b", &error);
    assert_int_equal(repository_refresh(old, &error), -1);
    says("\"nonsense\\x1b\" names no commit");
    repository_close(old);
}

/* What a pre-receive hook sees: the pushed objects lie in a directory of their own. */
static void objects_of_a_push_under_way_can_be_added(void **state)
{
    (void)state;
    struct scratch other;
    char objects[128], hex[41];
    scratch_open(&other);
    scratch_put(&other, "images.txt", "pushed * * * host\n");
    scratch_put(&other, "site.yaml", "colour: green\n");
    snprintf(hex, sizeof(hex), "%s", scratch_commit(&other));
    scratch_commit(&scratch);
    struct repository *pushed = repository_open(scratch.path, hex, &error);
    assert_int_equal(repository_refresh(pushed, &error), -1);
    snprintf(objects, sizeof(objects), "%s/objects", other.path);
    assert_int_equal(repository_add_objects(pushed, objects, &error), 0);
    assert_int_equal(repository_refresh(pushed, &error), 0);
    assert_string_equal(repository_commit(pushed), hex);
    repository_close(pushed);
    scratch_close(&other);
}

static void what_is_no_repository_is_not_opened(void **state)
{
    (void)state;
    char path[256];
    assert_null(repository_open("/nonexistent/templates.git", "HEAD", &error));
    says("templates repository /nonexistent/templates.git cannot be looked at: No such file");
    snprintf(path, sizeof(path), "%s/HEAD", scratch.path);
    assert_null(repository_open(path, "HEAD", &error));
    says("is not a directory");
    snprintf(path, sizeof(path), "%s/refs", scratch.path);
    assert_null(repository_open(path, "HEAD", &error));
    says("cannot be opened");
}

static void a_stranger_s_repository_is_not_opened(void **state)
{
    (void)state;
    struct scratch spool;
    char inner[128];
    git_repository *made = NULL;
    enum { STRANGER = 54321 };
    if (geteuid() != 0) {
        print_message("only root can give a repository to somebody else: skipped\n");
        skip();
    }
    assert_int_equal(chown(scratch.path, STRANGER, STRANGER), 0);
    assert_null(repository_open(scratch.path, "HEAD", &error));
    says("belongs to user 54321; it decides what runs");
    /* In a spool that belongs to the same stranger it is what the administrator named. */
    scratch_open(&spool);
    snprintf(inner, sizeof(inner), "%s/inner.git", spool.path);
    assert_int_equal(git_repository_init(&made, inner, 1), 0);
    git_repository_free(made);
    assert_int_equal(chown(inner, STRANGER, STRANGER), 0);
    assert_null(repository_open(inner, "HEAD", &error));
    assert_int_equal(chown(spool.path, STRANGER, STRANGER), 0);
    struct repository *opened = repository_open(inner, "HEAD", &error);
    assert_non_null(opened);
    repository_close(opened);
    scratch_close(&spool);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_repository_without_commits_serves_none_until_there_is_one),
        TEST(a_push_is_seen_by_the_next_refresh_only),
        TEST(a_commit_with_wrong_tables_is_not_served),
        TEST(a_wrong_commit_is_served_for_checking),
        TEST(a_template_that_does_not_parse_fails_alone),
        TEST(only_plain_files_within_the_tree_are_read),
        TEST(a_walk_is_sorted_and_can_be_stopped),
        TEST(a_missing_object_keeps_the_old_commit_until_it_comes),
        TEST(damaged_bytes_are_never_served),
        TEST(a_revision_may_be_any_commit),
        TEST(objects_of_a_push_under_way_can_be_added),
        TEST(what_is_no_repository_is_not_opened),
        TEST(a_stranger_s_repository_is_not_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
