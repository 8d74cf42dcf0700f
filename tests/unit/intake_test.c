/* tests/unit/intake_test.c - the intake stage: what is written to while it is taken, and a disk that fills */
#include "base/file.h"
#include "spool/submission_key.h"
#include "tests/unit/scratch_repository.h"
#include "tests/unit/stage_fixture.h"

#include <dirent.h>

#define FIRST "name: a\n"
#define REST "library: any\n"

static struct scratch templates;

static struct {
    bool write;      /* at the next sync */
    char claim[256]; /* what was written to */
    int syncs;
    struct statvfs disk;
    int made[2],
        made_before; /* jobs of alice and of bob; of alice when bob's file came and his job was made */
    char last[TOKEN_LENGTH + 1]; /* of alice's jobs */
    bool disordered;
} fake;

static struct system_calls real;

/* Somebody who has the file open writes to it after it was read. */
static int write_meanwhile(int file)
{
    (void)file;
    fake.syncs++;
    DIR *claims = fdopendir(openat(spool.claims, ".", O_RDONLY | O_DIRECTORY));
    struct dirent *entry;
    while (fake.write && (entry = readdir(claims))) {
        int claim = openat(spool.claims, entry->d_name, O_WRONLY | O_APPEND);
        if (claim < 0)
            continue;
        assert_int_equal(write(claim, REST, strlen(REST)), strlen(REST));
        close(claim);
        snprintf(fake.claim, sizeof(fake.claim), "%s", entry->d_name);
    }
    fake.write = false;
    closedir(claims);
    return 0;
}

static void drop_as(const char *name, int number);

/* Each job takes 300 ms to be made.  When alice has five, bob drops a file. */
static int make_slowly(int directory, const char *name, mode_t mode)
{
    int bobs = name[0] == 'b';
    const char *token = id_token(text_of(name)).data;
    advance(300);
    if (!bobs && strcmp(token, fake.last) < 0)
        fake.disordered = true;
    if (!bobs)
        snprintf(fake.last, sizeof(fake.last), "%s", token);
    fake.made[bobs]++;
    if (!bobs && fake.made[0] == 5)
        drop_as("bob", 0);
    if (bobs)
        fake.made_before = fake.made[0];
    return real.mkdirat(directory, name, mode);
}

/* Whose a file is, goes by its name. */
static int look_at_owner(int directory, const char *name, struct stat *status, int flags)
{
    int result = real.fstatat(directory, name, status, flags);
    if (name[0] == 'b')
        status->st_uid++;
    return result;
}

static int tell_disk(int file, struct statvfs *status)
{
    (void)file;
    *status = fake.disk;
    return 0;
}

static int open_all(void **state)
{
    (void)state;
    char repository[4096];
    memset(&fake, 0, sizeof(fake));
    open_spool(&intake_stage, NULL, (int64_t)time(NULL) * 1000);
    scratch_open(&templates);
    scratch_put(&templates, "images.txt", "any * * * host\n");
    scratch_commit(&templates);
    snprintf(repository, sizeof(repository), "%s/templates.git", path);
    assert_int_equal(rename(templates.path, repository), 0);
    write_settings("executor: null\nfree_percent: 5\n");
    sys.syncfs = write_meanwhile;
    sys.fstatvfs = tell_disk;
    fake.disk = (struct statvfs){
        .f_blocks = 1000, .f_bavail = 500, .f_files = 1000, .f_favail = 500, .f_frsize = 4096};
    open_stage();
    return 0;
}

static int close_all(void **state)
{
    scratch_close(&templates);
    return close_spool(state);
}

static void drop(void)
{
    int file = openat(spool.incoming, ".a", O_WRONLY | O_CREAT, 0644);
    assert_int_equal(write(file, FIRST, strlen(FIRST)), strlen(FIRST));
    close(file);
    assert_int_equal(renameat(spool.incoming, ".a", spool.incoming, "a.yaml"), 0);
}

static void drop_as(const char *name, int number)
{
    char file[128];
    snprintf(file, sizeof(file), "%s%d.yaml", name, number);
    int written = openat(spool.incoming, ".tmp", O_WRONLY | O_CREAT, 0644);
    assert_true(dprintf(written, "name: %s\n", name) > 0);
    close(written);
    assert_int_equal(renameat(spool.incoming, ".tmp", spool.incoming, file), 0);
}

static void drop_keyed(const char *name, const char *bytes)
{
    int file = openat(spool.incoming, ".tmp", O_WRONLY | O_CREAT, 0644);
    assert_int_equal(write(file, bytes, strlen(bytes)), strlen(bytes));
    close(file);
    assert_int_equal(renameat(spool.incoming, ".tmp", spool.incoming, name), 0);
}

static int count_jobs(char id[ID_SIZE])
{
    DIR *failed = fdopendir(openat(spool.states[STATE_FAILED], ".", O_RDONLY | O_DIRECTORY));
    struct dirent *entry;
    int count = 0;
    while ((entry = readdir(failed))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(id, ID_SIZE, "%.*s", ID_SIZE - 1, entry->d_name);
        count++;
    }
    closedir(failed);
    return count;
}

static void run_rounds(int count)
{
    for (int i = 0; i < count; i++)
        run_round_after(1000);
}

/* There is no template for it, so that it fails, with the bytes that were dropped. */
static void what_is_written_after_it_was_read_is_read_again(void **state)
{
    (void)state;
    char id[ID_SIZE];
    struct buffer request = {0};
    drop();
    fake.write = true;
    run_rounds(20);
    assert_false(fake.write);
    assert_int_equal(count_jobs(id), 1);
    int job = open_job(id, STATE_FAILED);
    assert_int_equal(file_read_at(job, "request.yaml", 4096, &request, &error), 0);
    assert_string_equal(request.data, FIRST REST);
    buffer_free(&request);
    close(job);
}

/* Intake was killed before it removed a claim, and meanwhile another stage has moved the job on. */
static void what_has_become_a_job_becomes_no_other(void **state)
{
    (void)state;
    char id[ID_SIZE];
    drop();
    fake.write = true;
    run_rounds(20);
    assert_int_equal(count_jobs(id), 1);
    close_stage();
    assert_int_equal(renameat(spool.states[STATE_FAILED], id, spool.states[STATE_SUBMITTED], id),
                     0);
    int claim = openat(spool.claims, fake.claim, O_WRONLY | O_CREAT | O_EXCL, 0644);
    assert_int_equal(write(claim, FIRST, strlen(FIRST)), strlen(FIRST));
    close(claim);
    open_stage();
    run_rounds(20);
    assert_int_equal(count_jobs(id), 0);
    assert_int_equal(faccessat(spool.claims, fake.claim, F_OK, 0), -1);
}

static void a_disk_without_room_or_inodes_keeps_incoming_waiting(void **state)
{
    (void)state;
    char id[ID_SIZE];
    fake.disk.f_favail = 10;
    drop();
    run_rounds(5);
    assert_int_equal(count_jobs(id), 0);
    assert_int_equal(faccessat(spool.incoming, "a.yaml", F_OK, 0), 0);
    fake.disk.f_favail = 500;
    fake.disk.f_bavail = 10;
    run_rounds(5);
    assert_int_equal(count_jobs(id), 0);
    fake.disk.f_bavail = 500;
    run_rounds(5);
    assert_int_equal(count_jobs(id), 1);
}

/* Some file systems count none. */
static void a_disk_that_counts_no_inodes_has_enough(void **state)
{
    (void)state;
    char id[ID_SIZE];
    fake.disk.f_files = fake.disk.f_favail = 0;
    drop();
    run_rounds(5);
    assert_int_equal(count_jobs(id), 1);
}

/* What one user's files cost is not time of others: a batch ends, and what is left of it takes turns with what comes. */
static void a_batch_that_takes_long_is_left_for_what_others_drop(void **state)
{
    (void)state;
    real = sys;
    for (int i = 0; i < 40; i++)
        drop_as("alice", i);
    sys.mkdirat = make_slowly;
    sys.fstatat = look_at_owner;
    run_rounds(3);
    sys = real;
    assert_int_equal(fake.made[0], 40);
    assert_int_equal(fake.made[1], 1);
    assert_false(fake.disordered);
    /* The batch during which it came, and, as 32 is the smallest batch, the end of the next. */
    assert_in_range(fake.made_before, 5, 12);
}

/* What is sent again under its key is no other job, whatever it says; what has another key is. */
static void what_is_sent_again_becomes_no_other_job(void **state)
{
    static const char key[] =
        "a-once-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                      other[] =
                          "a-once-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdee";
    (void)state;
    char id[ID_SIZE];
    assert_int_equal(submission_key_make_directory(&spool, (uid_t)-1, (gid_t)-1, &error), 0);
    drop_as(key, 0); /* ends the name with 0, so that it has no key */
    run_rounds(5);
    drop_keyed(key, "name: a\n");
    run_rounds(5);
    assert_int_equal(count_jobs(id), 2);
    drop_keyed(key, "name: a\n");
    run_rounds(5);
    drop_keyed(key, "name: b\n");
    run_rounds(5);
    assert_int_equal(count_jobs(id), 2);
    assert_int_equal(faccessat(spool.incoming, key, F_OK, 0), -1);
    drop_keyed(other, "name: a\n");
    run_rounds(5);
    assert_int_equal(count_jobs(id), 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_after_it_was_read_is_read_again),
        TEST(what_has_become_a_job_becomes_no_other),
        TEST(what_is_sent_again_becomes_no_other_job),
        TEST(a_disk_without_room_or_inodes_keeps_incoming_waiting),
        TEST(a_disk_that_counts_no_inodes_has_enough),
        TEST(a_batch_that_takes_long_is_left_for_what_others_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
