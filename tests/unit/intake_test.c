/* tests/unit/intake_test.c - the intake stage: what is written to while it is taken, and a disk that fills */
#include "base/file.h"
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
} fake;

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_after_it_was_read_is_read_again),
        TEST(what_has_become_a_job_becomes_no_other),
        TEST(a_disk_without_room_or_inodes_keeps_incoming_waiting),
        TEST(a_disk_that_counts_no_inodes_has_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
