/* tests/unit/witness_test.c - the witness seals what it sees itself, whatever it is told
 *
 * Seen to fail with: tests/mutants/witness-*.patch.
 */
#include "tests/unit/unit.h"

#include <pwd.h>
#include <unistd.h>

#include "spool/job.h"
#include "stages/intake/witness.h"
#include "stages/users.h"

#define TOKEN "1m88000000a00"
static const char bytes[] = "name: x\n";
static char *path;
static struct stage stage;
static struct error error;
static struct arena *arena;
static const uid_t nobody = 65534;
enum { approver = 4711 };

static void shell(const char *command)
{
    char with[1200];
    snprintf(with, sizeof(with), "cd '%s/spool/.claims' && %s", path, command);
    assert_int_equal(system(with), 0);
}

static int open_new(void **state)
{
    char buffer[512];
    (void)state;
    path = unit_directory();
    snprintf(buffer, sizeof(buffer), "%s/spool", path);
    assert_int_equal(spool_create(buffer, &error), 0);
    static struct approver approvers[] = {{approver, {"4711", 4}}, {65534, {"nobody", 6}}};
    stage = (struct stage){.settings.user = TEXT("daemon"), .settings.approvers = {approvers, 2}};
    assert_int_equal(spool_open(&stage.spool, buffer, &error), 0);
    assert_int_equal(seal_make_key(&stage.spool, &error), 0);
    arena = arena_new();
    assert_int_equal(witness_start(&stage, &error), 0);
    shell("printf 'name: x\\n' >" TOKEN ".x.yaml && chown nobody " TOKEN ".x.yaml");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    arena_free(arena);
    spool_close(&stage.spool);
    unit_remove(path);
    return 0;
}

/* What an honest intake would say of that user's file. */
static struct job_record honest_of(uid_t uid, const char *id)
{
    char digest[SHA256_HEX_SIZE];
    struct user user;
    users_find(uid, &user);
    sha256_hex(text_of(bytes), digest);
    return (struct job_record){
        .id = text_of(id),
        .uid = uid,
        .gid = user.gid,
        .owner = text_of(arena_string(arena, user.name)),
        .home = text_of(arena_string(arena, user.home)),
        .request_sha256 = arena_text(arena, digest, SHA256_HEX_SIZE - 1),
    };
}

static struct job_record honest(const char *id)
{
    return honest_of(nobody, id);
}

static int ask(const char *file, struct job_record *record)
{
    struct claim claim = {.tries = 0};
    snprintf(claim.file, sizeof(claim.file), "%s", file);
    return witness_seal(&claim, arena, record, &error);
}

static void what_is_seen_is_sealed(void **state)
{
    struct seal_key key;
    struct job_record record = honest("x-" TOKEN);
    (void)state;
    assert_int_equal(ask(TOKEN ".x.yaml", &record), 0);
    assert_int_equal(seal_read_key(&stage.spool, stage.settings.user, &key, &error), 0);
    assert_int_equal(seal_check(&key, &record, &error), 0);
    assert_false(witness_is_reader(nobody));
    assert_true(witness_is_reader(getpwnam("daemon")->pw_uid));
}

static void what_is_said_is_not_believed(void **state)
{
    struct job_record record = honest("x-" TOKEN);
    (void)state;
    record.uid = 0;
    assert_int_equal(ask(TOKEN ".x.yaml", &record), -1);
    assert_int_equal(record.seal.length, 0);
    record = honest("x-" TOKEN);
    record.owner = TEXT("root");
    assert_int_equal(ask(TOKEN ".x.yaml", &record), -1);
    record = honest("x-" TOKEN);
    record.request_sha256 = TEXT("00");
    assert_int_equal(ask(TOKEN ".x.yaml", &record), -1);
    record = honest("x-1m88000000b00"); /* not this claim's token */
    assert_int_equal(ask(TOKEN ".x.yaml", &record), -1);
    record = honest("X");
    assert_int_equal(ask(TOKEN ".x.yaml", &record), -1);
}

static void the_readers_own_files_are_nobodys_word(void **state)
{
    struct job_record record = honest_of(getpwnam("daemon")->pw_uid, "x-" TOKEN);
    (void)state;
    shell("chown daemon " TOKEN ".x.yaml");
    assert_int_equal(ask(TOKEN ".x.yaml", &record), -1);
    assert_int_equal(record.seal.length, 0);
    record = honest_of(0, "x-" TOKEN);
    shell("chown root " TOKEN ".x.yaml");
    assert_int_equal(ask(TOKEN ".x.yaml", &record), 0);
}

static void what_is_no_claim_is_not_sealed(void **state)
{
    static const struct {
        const char *make, *file;
    } cases[] = {
        {"true", "1m88000000b00.gone.yaml"},
        {"cp -p " TOKEN ".x.yaml ../x.yaml", "../x.yaml"},
        {"cp -p " TOKEN ".x.yaml x.yaml", "x.yaml"},
        {"ln -s " TOKEN ".x.yaml " TOKEN ".link.yaml", TOKEN ".link.yaml"},
        {"mkdir " TOKEN ".directory", TOKEN ".directory"},
        {"chmod o+w " TOKEN ".x.yaml", TOKEN ".x.yaml"},
        {"chmod 664 " TOKEN ".x.yaml && chgrp games " TOKEN ".x.yaml", TOKEN ".x.yaml"},
        {"chmod 644 " TOKEN ".x.yaml && ln " TOKEN ".x.yaml other", TOKEN ".x.yaml"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct job_record record = honest("x-" TOKEN);
        shell(cases[i].make);
        assert_int_equal(ask(cases[i].file, &record), -1);
        assert_int_equal(record.seal.length, 0);
    }
    struct job_record record = honest("x-" TOKEN);
    shell("rm other");
    assert_int_equal(ask(TOKEN ".x.yaml", &record), 0);
}

/* A job of held/ of that user's, which asks for an approval, with its seal. */
static void put_job(const char *id, uid_t uid)
{
    struct seal_key key;
    struct job_place place = {.state = STATE_HELD};
    struct job_record record = honest_of(uid, id);
    char seal[SEAL_SIZE], command[256];
    snprintf(place.id, sizeof(place.id), "%s", id);
    assert_int_equal(seal_read_key(&stage.spool, stage.settings.user, &key, &error), 0);
    seal_make(&key, &record, seal);
    record.seal = text_of(seal);
    record.wants = TEXT("privilege rdma");
    record.first_manifest_sha256 = TEXT("bb");
    snprintf(command, sizeof(command), "mkdir ../held/%s", id);
    shell(command);
    int job = job_open(&stage.spool, &place);
    assert_int_equal(record_create(job, &record, &error), 0);
    close(job);
}

static int approve(const char *words, uid_t uid, const char *id)
{
    struct claim claim = {.tries = 0};
    struct approval approval = {.uid = uid};
    char command[256];
    snprintf(command, sizeof(command),
             "printf '%%s\\n' '%s' >" TOKEN ".yes.yaml && chown %u " TOKEN ".yes.yaml", words, uid);
    shell(command);
    snprintf(claim.file, sizeof(claim.file), TOKEN ".yes.yaml");
    int result = witness_approve(&claim, id, &approval, &error);
    assert_true((result == 0) == (approval.seal[0] != '\0'));
    return result;
}

static void approvals_are_seen_and_sealed(void **state)
{
    static const char id[] = "job-1m88000000c00", own[] = "own-1m88000000d00";
    (void)state;
    put_job(id, nobody);
    put_job(own, approver);
    assert_int_equal(approve("approve: job-1m88000000c00", approver, id), 0);
    assert_int_equal(approve("approve: {job: job-1m88000000c00, manifest: bb}", approver, id), 0);
    assert_int_equal(approve("approve: {job: job-1m88000000c00, manifest: cc}", approver, id), -1);
    /* What says something else, or of another job, is no approval of this one. */
    assert_int_equal(approve("kill: job-1m88000000c00", approver, id), -1);
    assert_int_equal(approve("approve: own-1m88000000d00", approver, id), -1);
    assert_int_equal(approve("name: x", approver, id), -1);
    /* Nor is what its owner, or anybody else, says. */
    assert_int_equal(approve("approve: job-1m88000000c00", nobody, id), -1);
    assert_int_equal(approve("approve: job-1m88000000c00", 0, id), -1);
    assert_int_equal(approve("approve: own-1m88000000d00", approver, own), -1);
    assert_int_equal(approve("approve: gone-1m88000000e00", approver, "gone-1m88000000e00"), -1);
    assert_int_equal(approve("approve: ../x", approver, "../x"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_seen_is_sealed, open_new, close_all),
        cmocka_unit_test_setup_teardown(what_is_said_is_not_believed, open_new, close_all),
        cmocka_unit_test_setup_teardown(the_readers_own_files_are_nobodys_word, open_new,
                                        close_all),
        cmocka_unit_test_setup_teardown(what_is_no_claim_is_not_sealed, open_new, close_all),
        cmocka_unit_test_setup_teardown(approvals_are_seen_and_sealed, open_new, close_all),
    };
    if (geteuid() != 0) {
        puts("1..0 # SKIP only root seals");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
