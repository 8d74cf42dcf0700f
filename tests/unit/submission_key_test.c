/* tests/unit/submission_key_test.c - keys/: names of files that are sent once, and which job they have become */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "spool/submission_key.h"
#include "tests/unit/unit_spool.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SUM "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define FILE_OF_1000 "keys/1000-" HASH

static const struct keyed_job some_job = {.id = "a-1234567890abc", .sha256 = SUM};

static void make_directory(void)
{
    assert_int_equal(submission_key_make_directory(&spool, (uid_t)-1, (gid_t)-1, &error), 0);
}

static int read_of(uid_t uid, struct keyed_job *job)
{
    return submission_key_read(&spool, uid, TEXT(HASH), job, &error);
}

static void a_name_has_the_hash_before_its_ending(void **state)
{
    char name[NAME_MAX + 1];
    struct text stem, hash;
    (void)state;
    submission_key_name("train", HASH, ".yaml", name);
    assert_string_equal(name, "train-once-" HASH ".yaml");
    assert_true(submission_key_in_name(text_of(name), &stem, &hash));
    assert_true(text_is(hash, HASH));
    assert_true(text_is(stem, "train"));
    assert_true(submission_key_in_name(TEXT("a.b-once-" HASH), &stem, &hash) == false);
    assert_true(submission_key_in_name(TEXT("-once-" HASH ".sh"), &stem, &hash));
    assert_false(submission_key_in_name(TEXT(""), &stem, &hash));
    assert_false(submission_key_in_name(TEXT("train.yaml"), &stem, &hash));
    assert_false(submission_key_in_name(TEXT(HASH ".yaml"), &stem, &hash));
    assert_false(submission_key_in_name(TEXT("train-once-" HASH "0.yaml"), &stem, &hash));
    assert_false(submission_key_in_name(TEXT("train-twice-" HASH ".yaml"), &stem, &hash));
}

static void a_hash_is_of_the_user_and_the_key(void **state)
{
    char first[SHA256_HEX_SIZE], same[SHA256_HEX_SIZE], other[SHA256_HEX_SIZE];
    (void)state;
    submission_key_hash(1, TEXT("1 a"), first);
    submission_key_hash(1, TEXT("1 a"), same);
    assert_string_equal(first, same);
    submission_key_hash(11, TEXT("1 a"), other);
    assert_string_not_equal(first, other);
    submission_key_hash(1, TEXT("1 b"), other);
    assert_string_not_equal(first, other);
}

static void what_was_noted_is_known_of_that_user(void **state)
{
    struct keyed_job job, other = {.id = "b-1234567890abc", .sha256 = HASH};
    (void)state;
    assert_int_equal(read_of(1000, &job), 1); /* there is no keys/ yet */
    assert_int_equal(submission_key_note(&spool, 1000, TEXT(HASH), &some_job, &error), -1);
    make_directory();
    assert_int_equal(read_of(1000, &job), 1);
    assert_int_equal(submission_key_note(&spool, 1000, TEXT(HASH), &some_job, &error), 0);
    assert_int_equal(read_of(1000, &job), 0);
    assert_string_equal(job.id, some_job.id);
    assert_string_equal(job.sha256, SUM);
    assert_int_equal(read_of(1001, &job), 1);
    assert_int_equal(submission_key_note(&spool, 1000, TEXT(HASH), &other, &error), 0);
    assert_int_equal(read_of(1000, &job), 0);
    assert_string_equal(job.id, other.id);
}

/* keys/1000-HASH with those bytes. */
static void put(const char *bytes)
{
    int file = openat(spool.root, FILE_OF_1000, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
    close(file);
}

static void what_a_loss_of_power_has_left_tells_nothing(void **state)
{
    static const char *const damaged[] = {"",
                                          "a-1234567890abc",
                                          "a-1234567890abc " SUM,
                                          "a-1234567890abc\n",
                                          "a/b " SUM "\n",
                                          "a-1234567890abc " HASH "0\n"};
    struct keyed_job job;
    (void)state;
    make_directory();
    for (size_t i = 0; i < ARRAY_COUNT(damaged); i++) {
        put(damaged[i]);
        assert_int_equal(read_of(1000, &job), 1);
    }
    put("a-1234567890abc " SUM "\n");
    assert_int_equal(read_of(1000, &job), 0);
}

static void a_key_is_known_for_a_day(void **state)
{
    const struct timespec old[] = {{.tv_sec = time(NULL) - 25 * 3600},
                                   {.tv_sec = time(NULL) - 25 * 3600}};
    const struct timespec young[] = {{.tv_sec = time(NULL) - 23 * 3600},
                                     {.tv_sec = time(NULL) - 23 * 3600}};
    struct keyed_job job;
    struct stat status;
    (void)state;
    make_directory();
    put("a-1234567890abc " SUM "\n");
    assert_int_equal(utimensat(spool.root, FILE_OF_1000, young, 0), 0);
    assert_int_equal(read_of(1000, &job), 0);
    assert_int_equal(utimensat(spool.root, FILE_OF_1000, old, 0), 0);
    assert_int_equal(read_of(1000, &job), 1);
    assert_true(submission_key_forget_old(&spool));
    assert_int_equal(fstatat(spool.root, FILE_OF_1000, &status, 0), -1);
}

static int64_t slow_clock(void)
{
    static int64_t elapsed;
    return elapsed += 200; /* with each look */
}

/* However many keys are old, others do not wait until they are removed. */
static void many_old_keys_go_by_parts(void **state)
{
    enum { FILES = 5 };
    const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char name[sizeof(FILE_OF_1000) + 2];
    struct stat status;
    int left = 0;
    (void)state;
    make_directory();
    put("a-1234567890abc " SUM "\n");
    assert_int_equal(utimensat(spool.root, FILE_OF_1000, old, 0), 0);
    for (int i = 1; i < FILES; i++) {
        snprintf(name, sizeof(name), FILE_OF_1000 "%d", i);
        assert_int_equal(linkat(spool.root, FILE_OF_1000, spool.root, name, 0), 0);
    }
    clock_replace(NULL, slow_clock);
    assert_false(submission_key_forget_old(&spool));
    for (int i = 1; i < FILES; i++) {
        snprintf(name, sizeof(name), FILE_OF_1000 "%d", i);
        left += fstatat(spool.root, name, &status, 0) == 0;
    }
    assert_in_range(left, 1, FILES - 1);
    for (int i = 0; i < FILES && !submission_key_forget_old(&spool); i++)
        ;
    clock_replace(NULL, NULL);
    assert_int_equal(fstatat(spool.root, FILE_OF_1000, &status, 0), -1);
}

#define TEST_IN_SPOOL(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_SPOOL(a_name_has_the_hash_before_its_ending),
        TEST_IN_SPOOL(a_hash_is_of_the_user_and_the_key),
        TEST_IN_SPOOL(what_was_noted_is_known_of_that_user),
        TEST_IN_SPOOL(what_a_loss_of_power_has_left_tells_nothing),
        TEST_IN_SPOOL(a_key_is_known_for_a_day),
        TEST_IN_SPOOL(many_old_keys_go_by_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
