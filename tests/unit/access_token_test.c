/* tests/unit/access_token_test.c - tokens/: whose a token is says the file's owner, and nothing else counts */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "spool/access_token.h"
#include "tests/unit/unit_spool.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LINE "token: " HASH " submit 2030-01-02T03:04:05.000Z laptop\n"

static int tokens;

static void make_directory(void)
{
    assert_int_equal(access_token_make_directory(&spool, (uid_t)-1, (gid_t)-1, &error), 0);
    tokens = access_token_open_directory(&spool);
    assert_true(tokens >= 0);
}

/* tokens/NAME with that line and mode. */
static void put(const char *name, const char *line, mode_t mode)
{
    int file = openat(tokens, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(file_write_all(file, text_of(line), name, &error), 0);
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
}

static int read_token(struct access_token *token)
{
    return access_token_read(tokens, HASH, token, &error);
}

static void a_line_says_all_of_a_token(void **state)
{
    struct access_token token;
    (void)state;
    struct text words = {LINE + 7, sizeof(LINE) - 9};
    assert_int_equal(access_token_parse(words, &token, &error), 0);
    assert_string_equal(token.sha256, HASH);
    assert_int_equal(token.scope, ACCESS_SUBMIT);
    assert_string_equal(token.name, "laptop");
    assert_string_equal(access_token_line(arena, &token).data, LINE);
    token.name[0] = '\0';
    assert_string_equal(access_token_line(arena, &token).data,
                        "token: " HASH " submit 2030-01-02T03:04:05.000Z\n");
}

static void faulty_lines_are_refused(void **state)
{
    static const char *const lines[] = {
        "",
        HASH,
        HASH " all",
        HASH " root 2030-01-02T03:04:05.000Z",
        HASH " all tomorrow",
        HASH " all 2030-01-02T03:04:05.000Z UP",
        HASH " all 2030-01-02T03:04:05.000Z a b",
        HASH "  all 2030-01-02T03:04:05.000Z",
        "0" HASH " all 2030-01-02T03:04:05.000Z",
        "../" HASH " all 2030-01-02T03:04:05.000Z",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        struct access_token token;
        assert_int_equal(access_token_parse(text_of(lines[i]), &token, &error), -1);
        assert_non_null(strstr(error.text, "expected SHA256 SCOPE EXPIRES NAME"));
    }
}

static void the_owner_of_the_file_is_who_has_the_token(void **state)
{
    struct access_token token;
    (void)state;
    make_directory();
    put(HASH, LINE, 0644);
    assert_int_equal(read_token(&token), 0);
    assert_int_equal(token.uid, geteuid());
    assert_true(clock_now() - token.changed < 3600000);
    if (geteuid() == 0) {
        assert_int_equal(fchownat(tokens, HASH, 5001, 5001, 0), 0);
        assert_int_equal(read_token(&token), 0);
        assert_int_equal(token.uid, 5001);
    }
    close(tokens);
}

static void no_token_lives_longer_than_the_site_lets_it(void **state)
{
    const struct access_token token = {.expires = 9000, .changed = 1000};
    (void)state;
    assert_int_equal(access_token_end(&token, 5000), 6000);
    assert_int_equal(access_token_end(&token, 500000), 9000);
}

/* What could not have come from intake, or could have been written by somebody else. */
static void other_files_do_not_count(void **state)
{
    static const struct {
        const char *line;
        mode_t mode;
    } files[] = {
        {LINE, 0666},
        {LINE, 0664},
        {"token: " HASH " all 2030-01-02T03:04:05.000Z", 0644},
        {"TOKEN: " HASH " all 2030-01-02T03:04:05.000Z\n", 0644},
        {"token: 1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef all "
         "2030-01-02T03:04:05.000Z\n",
         0644},
        {"name: x\nscript: 'token: " HASH " all 2030-01-02T03:04:05.000Z\n'\n", 0644},
    };
    struct access_token token;
    (void)state;
    make_directory();
    assert_int_equal(read_token(&token), 1);
    assert_non_null(strstr(error.text, "nobody has made this token, or it was revoked"));
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        put(HASH, files[i].line, files[i].mode);
        assert_int_equal(read_token(&token), 1);
        assert_non_null(strstr(error.text, "is not one that counts"));
    }
    put("linked", LINE, 0644);
    unlinkat(tokens, HASH, 0);
    assert_int_equal(symlinkat("linked", tokens, HASH), 0);
    assert_int_equal(read_token(&token), 1);
    unlinkat(tokens, HASH, 0);
    assert_int_equal(linkat(tokens, "linked", tokens, HASH, 0), 0);
    assert_int_equal(read_token(&token), 1);
    assert_int_equal(access_token_read(tokens, "../dlspool.yaml", &token, &error), 1);
    close(tokens);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_line_says_all_of_a_token),
        TEST(faulty_lines_are_refused),
        TEST(the_owner_of_the_file_is_who_has_the_token),
        TEST(no_token_lives_longer_than_the_site_lets_it),
        TEST(other_files_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
