/* tests/unit/seal_test.c - a record cannot be changed without its seal telling; the key is root's alone
 *
 * Seen to fail with: tests/mutants/seal-*.patch.
 */
#include "tests/unit/unit.h"

#include <unistd.h>

#include "spool/seal.h"

static char *path;
static struct spool spool;
static struct error error;
static const struct text reader = {"daemon", 6}; /* a user whom every system has */

static int open_new(void **state)
{
    char buffer[512];
    (void)state;
    path = unit_directory();
    snprintf(buffer, sizeof(buffer), "%s/spool", path);
    assert_int_equal(spool_create(buffer, &error), 0);
    assert_int_equal(spool_open(&spool, buffer, &error), 0);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    spool_close(&spool);
    unit_remove(path);
    return 0;
}

static void shell(const char *command)
{
    char with[1200];
    snprintf(with, sizeof(with), "cd '%s/spool' && %s", path, command);
    assert_int_equal(system(with), 0);
}

static struct job_record sample(void)
{
    return (struct job_record){
        .id = TEXT("digits-0123456789abc"),
        .uid = 1000,
        .gid = 100,
        .owner = TEXT("alice"),
        .home = TEXT("/home/alice"),
        .request_sha256 = TEXT("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        .manifest_sha256 = TEXT("00"),
        .attempt = 1,
    };
}
static const struct seal_key key = {.needed = true, .bytes = "0123456789abcdef0123456789abcdef"};

static void each_field_counts(void **state)
{
    char seal[SEAL_SIZE];
    struct job_record record = sample(), changed;
    (void)state;
    assert_int_equal(seal_check(&key, &record, &error), -1);
    seal_make(&key, &record, seal);
    record.seal = text_of(seal);
    assert_int_equal(seal_check(&key, &record, &error), 0);
#define CHANGED(member, to)                                                                        \
    changed = record;                                                                              \
    changed.member = to;                                                                           \
    assert_int_equal(seal_check(&key, &changed, &error), -1)
    CHANGED(id, text_of("digits-0123456789abd"));
    CHANGED(uid, 0);
    CHANGED(gid, 0);
    CHANGED(owner, text_of("root"));
    CHANGED(home, text_of("/root"));
    CHANGED(request_sha256, text_of("e3"));
    CHANGED(seal, text_of(""));
    CHANGED(seal, text_of("00"));
    CHANGED(owner, text_of("alice\n11 /home/alice"));
    seal[5] ^= 1;
    assert_int_equal(seal_check(&key, &record, &error), -1);
}

static void one_without_a_request_has_none(void **state)
{
    char seal[SEAL_SIZE];
    struct job_record record = sample();
    (void)state;
    record.request_sha256 = text_of("");
    seal_make(&key, &record, seal);
    record.seal = text_of(seal);
    assert_int_equal(seal_check(&key, &record, &error), -1);
}

static void another_key_makes_another(void **state)
{
    char seal[SEAL_SIZE];
    struct job_record record = sample();
    struct seal_key other = key;
    (void)state;
    other.bytes[31] ^= 1;
    seal_make(&other, &record, seal);
    record.seal = text_of(seal);
    assert_int_equal(seal_check(&key, &record, &error), -1);
    other.needed = false;
    record.seal = text_of("");
    assert_int_equal(seal_check(&other, &record, &error), 0);
}

static void a_manifest_is_of_one_attempt(void **state)
{
    char seal[SEAL_SIZE], again[SEAL_SIZE];
    struct job_record record = sample();
    (void)state;
    seal_make(&key, &record, seal);
    seal_make_manifest(&key, &record, again);
    assert_false(seal_equal(again, text_of(seal)));
    memcpy(seal, again, sizeof(seal));
    record.attempt = 2;
    seal_make_manifest(&key, &record, again);
    assert_false(seal_equal(again, text_of(seal)));
    record.attempt = 1;
    record.manifest_sha256 = text_of("01");
    seal_make_manifest(&key, &record, again);
    assert_false(seal_equal(again, text_of(seal)));
    record.manifest_sha256 = text_of("00");
    seal_make_manifest(&key, &record, again);
    assert_true(seal_equal(again, text_of(seal)));
}

/* What is not in the manifest, and root goes by all the same. */
static void what_stands_beside_the_manifest_counts(void **state)
{
    char seal[SEAL_SIZE], again[SEAL_SIZE];
    struct job_record changed[3] = {sample(), sample(), sample()}, record = sample();
    (void)state;
    seal_make_manifest(&key, &record, seal);
    changed[0].time_limit = 1;
    changed[1].gpu_type = text_of("A100");
    changed[2].units_file = text_of("A100");
    for (size_t i = 0; i < ARRAY_COUNT(changed); i++) {
        seal_make_manifest(&key, &changed[i], again);
        assert_false(seal_equal(again, text_of(seal)));
        memcpy(seal, again, sizeof(seal));
    }
}

/* RFC 4231, test case 2. */
static void the_digest_is_the_standards(void **state)
{
    char hex[SHA256_HEX_SIZE];
    (void)state;
    sha256_hmac_hex(TEXT("Jefe"), TEXT("what do ya want for nothing?"), hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void the_key_is_roots_alone(void **state)
{
    static const char *const damage[] = {
        "chmod 640 .seal-key",
        "chmod 600 .seal-key; chown daemon .seal-key",
        "chown 0:0 .seal-key; ln .seal-key other",
        "rm other; echo >>.seal-key",
        "mv .seal-key other; ln -s other .seal-key",
        "rm .seal-key; mkdir .seal-key",
        "rmdir .seal-key",
    };
    struct seal_key made, again;
    (void)state;
    if (geteuid() != 0) {
        assert_false(seal_is_needed(reader));
        return;
    }
    assert_true(seal_is_needed(reader));
    assert_false(seal_is_needed(TEXT("")));
    assert_false(seal_is_needed(TEXT("root")));
    assert_int_equal(seal_make_key(&spool, &error), 0);
    assert_int_equal(seal_read_key(&spool, reader, &made, &error), 0);
    assert_int_equal(seal_make_key(&spool, &error), 0);
    assert_int_equal(seal_read_key(&spool, reader, &again, &error), 0);
    assert_memory_equal(made.bytes, again.bytes, sizeof(made.bytes));
    for (size_t i = 0; i < ARRAY_COUNT(damage); i++) {
        shell(damage[i]);
        assert_int_equal(seal_read_key(&spool, reader, &again, &error), -1);
        if (i + 1 < ARRAY_COUNT(damage))
            assert_int_equal(seal_make_key(&spool, &error), -1);
    }
    assert_int_equal(seal_make_key(&spool, &error), 0);
    assert_int_equal(seal_read_key(&spool, reader, &again, &error), 0);
    assert_memory_not_equal(made.bytes, again.bytes, sizeof(made.bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_counts),
        cmocka_unit_test(one_without_a_request_has_none),
        cmocka_unit_test(another_key_makes_another),
        cmocka_unit_test(a_manifest_is_of_one_attempt),
        cmocka_unit_test(what_stands_beside_the_manifest_counts),
        cmocka_unit_test(the_digest_is_the_standards),
        cmocka_unit_test_setup_teardown(the_key_is_roots_alone, open_new, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
