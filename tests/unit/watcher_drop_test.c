/* tests/unit/watcher_drop_test.c - taking what strangers dropped, with real files */
#include "tests/unit/watcher_support.h"

#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "watcher/drop.h"
#include "watcher/writers.h"

static struct scratch scratch;
static int incoming, claims;
static struct system_calls real;
static struct buffer bytes;
static struct drop drop;
static struct error error;

static int open_directory(const char *name)
{
    assert_int_equal(mkdirat(scratch.directory, name, 0755), 0);
    int directory = openat(scratch.directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(directory >= 0);
    return directory;
}

static int setup(void **state)
{
    (void)state;
    real = sys;
    scratch_open(&scratch);
    incoming = open_directory("incoming");
    claims = open_directory(".claims");
    error.text[0] = '\0';
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sys = real;
    buffer_free(&bytes);
    bytes = (struct buffer){NULL, 0, 0};
    close(incoming);
    close(claims);
    scratch_close(&scratch);
    return 0;
}

static enum drop_result read_as(const char *name, struct text shown)
{
    return drop_read(incoming, name, shown, &bytes, &drop, &error);
}

static enum drop_result read_it(const char *name)
{
    return read_as(name, text_of(name));
}

static void assert_refused(const char *name, const char *sentence)
{
    enum drop_result result = read_it(name);
    if (result != DROP_REFUSED)
        fail_msg("%s: result %d, %s", name, (int)result, error.text);
    assert_string_equal(error.text, sentence);
}

static void a_file_is_claimed_and_read(void **state)
{
    (void)state;
    put(incoming, "job.yaml", "name: a\n");
    struct stat status;
    assert_int_equal(fstatat(incoming, "job.yaml", &status, 0), 0);
    assert_int_equal(drop_claim(incoming, "job.yaml", claims, "a-1", &error), DROP_TAKEN);
    assert_int_equal(faccessat(incoming, "job.yaml", F_OK, 0), -1);
    buffer_add_string(&bytes, "what was read before");
    assert_int_equal(drop_read(claims, "a-1", TEXT("job.yaml"), &bytes, &drop, &error), DROP_TAKEN);
    assert_true(text_is(buffer_text(&bytes), "name: a\n"));
    assert_int_equal(drop.uid, geteuid());
    assert_int_equal(drop.gid, status.st_gid);
    assert_int_equal(drop.mode, status.st_mode);
    assert_int_equal(drop.inode, status.st_ino);
    assert_int_equal(drop.size, 8);
    assert_int_equal(drop_unchanged(claims, "a-1", &drop, &error), DROP_TAKEN);
}

static void gone_is_gone(void **state)
{
    (void)state;
    assert_int_equal(drop_claim(incoming, "nothing", claims, "a-1", &error), DROP_GONE);
    assert_int_equal(read_it("nothing"), DROP_GONE);
    assert_int_equal(drop.uid, (uid_t)-1);
    put(incoming, "file", "x\n");
    assert_int_equal(read_it("file"), DROP_TAKEN);
    unlinkat(incoming, "file", 0);
    assert_int_equal(drop_unchanged(incoming, "file", &drop, &error), DROP_GONE);
}

/* A list as the kernel has it: of two entries beside those that each has. */
static void put_list(const char *name, uint32_t user, uint32_t user_may, uint32_t group,
                     uint32_t group_may, uint32_t mask)
{
    const uint32_t entries[][3] = {{0x01, 6, (uint32_t)-1},    {0x02, user_may, user},
                                   {0x04, 4, (uint32_t)-1},    {0x08, group_may, group},
                                   {0x10, mask, (uint32_t)-1}, {0x20, 4, (uint32_t)-1}};
    unsigned char list[4 + 8 * ARRAY_COUNT(entries)] = {2};
    for (size_t i = 0; i < ARRAY_COUNT(entries); i++) {
        unsigned char *entry = list + 4 + 8 * i;
        entry[0] = (unsigned char)entries[i][0];
        entry[2] = (unsigned char)entries[i][1];
        memcpy(entry + 4, &entries[i][2], 4);
    }
    int file = openat(incoming, name, O_RDONLY | O_CLOEXEC);
    if (fsetxattr(file, "system.posix_acl_access", list, sizeof(list), 0))
        assert_int_equal(errno, EOPNOTSUPP);
    close(file);
}

static void assert_writable(const char *name, bool others, int groups)
{
    assert_int_equal(read_it(name), DROP_TAKEN);
    assert_int_equal(drop.writable.others, others);
    assert_int_equal(drop.writable.group_count, groups);
}

static void who_else_may_write_is_told(void **state)
{
    (void)state;
    put(incoming, "file", "x\n");
    assert_int_equal(fchmodat(incoming, "file", 0644, 0), 0);
    assert_writable("file", false, 0);
    assert_int_equal(fchmodat(incoming, "file", 0664, 0), 0);
    assert_writable("file", false, 1);
    assert_int_equal(drop.writable.groups[0], drop.gid);
    assert_int_equal(fchmodat(incoming, "file", 0646, 0), 0);
    assert_refused("file", "\"file\" " WRITABLE_BY_EVERYBODY);
    assert_int_equal(fchmodat(incoming, "file", 0644, 0), 0);
    put_list("file", 4711, 6, 4712, 4, 4);
    assert_writable("file", false, 0); /* the mask lets nobody */
    put_list("file", 4711, 6, 4712, 4, 6);
    struct stat status;
    assert_int_equal(fstatat(incoming, "file", &status, 0), 0);
    if (!(status.st_mode & S_IWGRP))
        skip(); /* no lists on this file system */
    assert_writable("file", true, 0);
    put_list("file", geteuid(), 6, 4712, 6, 6);
    assert_writable("file", false, 1);
    assert_int_equal(drop.writable.groups[0], 4712);
    put_list("file", 4711, 4, 4712, 4, 6);
    assert_writable("file", false, 0);
}

static void what_is_no_list_counts_as_open(void **state)
{
    (void)state;
    const struct stat status = {.st_uid = 7, .st_gid = 8};
    static const char *const bad[] = {"", "\2\0", "\1\0\0\0", "\2\0\0\0\1\0\6\0\0\0\0"};
    static const size_t lengths[] = {0, 2, 4, 11};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct writable writable = {0};
        writable_read_list((struct text){bad[i], lengths[i]}, &status, &writable);
        assert_true(writable.others);
    }
    char many[4 + 8 * (WRITABLE_GROUPS + 1)] = {2};
    for (size_t i = 0; i <= WRITABLE_GROUPS; i++)
        memcpy(many + 4 + 8 * i, "\10\0\2\0\1\0\0\0", 8);
    struct writable writable = {0};
    writable_read_list((struct text){many, sizeof(many)}, &status, &writable);
    assert_true(writable.others);
    assert_int_equal(writable.group_count, WRITABLE_GROUPS);
}

static int rename_and_lose_the_reply(int from, const char *old_name, int to, const char *new_name)
{
    renameat(from, old_name, to, new_name);
    errno = ENOENT;
    return -1;
}

static int rename_in_vain(int from, const char *old_name, int to, const char *new_name)
{
    (void)from;
    (void)old_name;
    (void)to;
    (void)new_name;
    errno = ENOSPC;
    return -1;
}

static void a_claim_whose_reply_was_lost_is_a_claim(void **state)
{
    (void)state;
    put(incoming, "job.yaml", "name: a\n");
    sys.renameat = rename_and_lose_the_reply;
    assert_int_equal(drop_claim(incoming, "job.yaml", claims, "a-1", &error), DROP_TAKEN);
    put(incoming, "job.yaml", "name: a\n");
    sys.renameat = rename_in_vain;
    assert_int_equal(drop_claim(incoming, "job.yaml", claims, "a-2", &error), DROP_ERROR);
    assert_string_equal(error.text, "\"job.yaml\" could not be claimed: No space left on device");
}

static void what_is_no_regular_file_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkfifoat(incoming, "fifo", 0644), 0);
    assert_refused("fifo", "\"fifo\" is a named pipe (fifo); drop an ordinary file");
    assert_int_equal(mkdirat(incoming, "dir", 0755), 0);
    assert_refused("dir", "\"dir\" is a directory; drop a job file, not a directory; "
                          "what was dropped is kept here, as dropped");
    int job = openat(incoming, "dir", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    put(job, "job.yaml", "name: a\n");
    close(job);
    assert_refused(
        "dir", "\"dir\" is the directory of a job, not a job file; to run that job again, "
               "submit the job file in it (request.yaml, .json or .sh); a job in failed/ is run "
               "again by dlspool retry ID; the directory is kept here, as dropped");
    put(incoming, "target", "name: a\n");
    assert_int_equal(symlinkat("target", incoming, "link"), 0);
    assert_refused("link", "\"link\" is a symbolic link, and links are not followed; drop the "
                           "file itself (cp -L)");
    assert_int_equal(drop.uid, geteuid());

    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/socket", incoming);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_refused("socket", "\"socket\" is a socket; drop an ordinary file");
    close(listener);
    if (mknodat(incoming, "device", S_IFCHR | 0666, makedev(1, 3)) == 0)
        assert_refused("device", "\"device\" is a device; drop an ordinary file");
}

static void each_of_them_can_be_claimed(void **state)
{
    (void)state;
    assert_int_equal(mkfifoat(incoming, "fifo", 0644), 0);
    assert_int_equal(mkdirat(incoming, "dir", 0755), 0);
    assert_int_equal(symlinkat("/etc/shadow", incoming, "link"), 0);
    assert_int_equal(drop_claim(incoming, "fifo", claims, "1", &error), DROP_TAKEN);
    assert_int_equal(drop_claim(incoming, "dir", claims, "2", &error), DROP_TAKEN);
    assert_int_equal(drop_claim(incoming, "link", claims, "3", &error), DROP_TAKEN);
    assert_int_equal(drop_read(claims, "3", TEXT("link"), &bytes, &drop, &error), DROP_REFUSED);
}

static void a_hard_link_is_refused(void **state)
{
    (void)state;
    put(scratch.directory, "mine", "name: a\n");
    assert_int_equal(linkat(scratch.directory, "mine", incoming, "job.yaml", 0), 0);
    assert_refused("job.yaml", "\"job.yaml\" has another name (a hard link), through which it "
                               "could change; drop a copy (cp) or rename it into place (mv)");
    assert_int_equal(unlinkat(scratch.directory, "mine", 0), 0);
    assert_int_equal(read_it("job.yaml"), DROP_TAKEN);
}

static ssize_t forbidden_pread(int file, void *buffer, size_t length, off_t offset)
{
    (void)file;
    (void)buffer;
    (void)length;
    (void)offset;
    errno = ENOTSUP;
    return -1;
}

static void the_size_is_bounded(void **state)
{
    (void)state;
    put(incoming, "empty", "");
    assert_refused("empty", "\"empty\" is empty; write the job into it and drop it again");

    char *large = calloc(DROP_LARGEST + 1, 1);
    memset(large, 'x', DROP_LARGEST + 1);
    put_bytes(incoming, "largest", large, DROP_LARGEST);
    assert_int_equal(read_it("largest"), DROP_TAKEN);
    assert_int_equal(bytes.length, DROP_LARGEST);
    put_bytes(incoming, "larger", large, DROP_LARGEST + 1);
    free(large);
    int file = openat(incoming, "sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(ftruncate(file, (off_t)1 << 40), 0);
    close(file);
    sys.pread = forbidden_pread; /* not a byte of these is read */
    assert_refused("larger",
                   "\"larger\" has 1048577 bytes; a job file may have at most 1048576 (1 MiB)");
    assert_refused("sparse", "\"sparse\" has 1099511627776 bytes; a job file may have at most "
                             "1048576 (1 MiB)");
}

static void a_name_that_cannot_be_printed_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *quoted;
    } names[] = {
        {"new\nline", "new\\x0aline"},
        {"\x1b[31mred", "\\x1b[31mred"},
        {"\xff\xfe", "\\xff\\xfe"},
        {"del\x7f", "del\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\xc2\\x9b31m"},
    };
    char sentence[300];
    put(incoming, "claim", "name: a\n");
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        assert_int_equal(read_as("claim", text_of(names[i].name)), DROP_REFUSED);
        snprintf(sentence, sizeof(sentence),
                 "\"%s\" has control characters in its name, or a name that is not UTF-8; give the "
                 "file an ordinary name and drop it again",
                 names[i].quoted);
        assert_string_equal(error.text, sentence);
    }
    char longest[256];
    memset(longest, 'l', 255);
    longest[255] = '\0';
    assert_int_equal(read_as("claim", text_of(longest)), DROP_TAKEN);
    assert_int_equal(read_as("claim", TEXT("Prüfung 学习.yaml")), DROP_TAKEN);
}

static int read_as_somebody_else(void *context)
{
    (void)context;
    if (setgid(54321) || setuid(54321))
        return 2;
    if (read_it("secret") != DROP_REFUSED || drop.uid != 0)
        return 3;
    return strcmp(error.text,
                  "\"secret\" may not be read by dlspool's user (its mode is 0600); make it "
                  "readable and drop it again: chmod a+r \"secret\"") != 0;
}

static void what_may_not_be_read_is_refused_with_the_chmod(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can become somebody else\n");
        skip();
    }
    put(incoming, "secret", "name: a\n");
    assert_int_equal(fchmodat(incoming, "secret", 0600, 0), 0);
    assert_int_equal(fchmod(scratch.directory, 0755), 0);
    join_child(in_child(read_as_somebody_else, NULL));
}

static void an_open_writer_is_waited_for(void **state)
{
    (void)state;
    put(incoming, "file", "name: a\n");
    int reader = openat(incoming, "file", O_RDONLY | O_CLOEXEC);
    enum writers writers = writers_hold(reader);
    close(reader);
    if (writers == WRITERS_UNKNOWN) {
        print_message("skipped: the scratch directory's file system has no leases\n");
        skip();
    }
    int writer = openat(incoming, "file", O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(read_it("file"), DROP_CHANGING);
    assert_string_equal(error.text, "\"file\" is still open for writing in another program");
    assert_int_equal(write(writer, "b: c\n", 5), 5);
    close(writer);
    assert_int_equal(read_it("file"), DROP_TAKEN);
    assert_int_equal(bytes.length, 13);
}

static int lease_refused(int file, int type)
{
    (void)file;
    (void)type;
    errno = EACCES;
    return -1;
}

static void write_at(off_t offset, const char *text)
{
    int file = openat(incoming, "file", O_WRONLY | O_CLOEXEC);
    nap(10); /* file systems may keep times by the timer's tick */
    assert_int_equal(pwrite(file, text, strlen(text), offset), (ssize_t)strlen(text));
    close(file);
}

static ssize_t pread_then_grow(int file, void *buffer, size_t length, off_t offset)
{
    ssize_t count = real.pread(file, buffer, length, offset);
    write_at(offset + count, "more\n");
    return count;
}

static ssize_t grow_then_pread(int file, void *buffer, size_t length, off_t offset)
{
    sys.pread = real.pread;
    write_at(8, "more\n");
    return real.pread(file, buffer, length, offset);
}

static ssize_t pread_then_overwrite(int file, void *buffer, size_t length, off_t offset)
{
    ssize_t count = real.pread(file, buffer, length, offset);
    write_at(6, "b");
    return count;
}

static ssize_t shrink_then_pread(int file, void *buffer, size_t length, off_t offset)
{
    sys.pread = real.pread;
    int writer = openat(incoming, "file", O_WRONLY | O_TRUNC | O_CLOEXEC);
    close(writer);
    return real.pread(file, buffer, length, offset);
}

static void changes_while_reading_are_seen_without_leases(void **state)
{
    (void)state;
    typedef ssize_t any_pread(int, void *, size_t, off_t);
    any_pread *const disturbed[] = {pread_then_grow, grow_then_pread, pread_then_overwrite,
                                    shrink_then_pread};
    sys.lease = lease_refused;
    for (size_t i = 0; i < ARRAY_COUNT(disturbed); i++) {
        put(incoming, "file", "name: a\n");
        sys.pread = disturbed[i];
        if (read_it("file") != DROP_CHANGING)
            fail_msg("disturbance %zu was not seen", i);
        assert_string_equal(error.text, "\"file\" was written to while it was being read");
    }
    sys.pread = real.pread;
    put(incoming, "file", "name: a\n");
    assert_int_equal(read_it("file"), DROP_TAKEN);
}

static int stale_fstat(int file, struct stat *status)
{
    int result = real.fstat(file, status);
    status->st_size = 5;
    return result;
}

static void more_bytes_than_the_status_tells_are_not_taken(void **state)
{
    (void)state;
    put(incoming, "file", "name: a\n");
    sys.fstat = stale_fstat; /* as an NFS client may tell for a while */
    assert_int_equal(read_it("file"), DROP_CHANGING);
}

static void changes_after_reading_are_seen(void **state)
{
    (void)state;
    put(incoming, "file", "name: a\n");
    assert_int_equal(read_it("file"), DROP_TAKEN);
    write_at(8, "more\n");
    assert_int_equal(drop_unchanged(incoming, "file", &drop, &error), DROP_CHANGING);
    assert_int_equal(read_it("file"), DROP_TAKEN);
    put_renamed(incoming, "file", "name: a\nmore\n");
    assert_int_equal(drop_unchanged(incoming, "file", &drop, &error), DROP_CHANGING);
}

static int stale_opens;

static int stale_at_first(int directory, const char *name, int flags)
{
    if (stale_opens-- > 0) {
        errno = ESTALE;
        return -1;
    }
    return real.open_beneath(directory, name, flags);
}

static ssize_t interrupted_pread(int file, void *buffer, size_t length, off_t offset)
{
    static int calls;
    if (calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return real.pread(file, buffer, length > 3 ? 3 : length, offset);
}

static ssize_t broken_pread(int file, void *buffer, size_t length, off_t offset)
{
    forbidden_pread(file, buffer, length, offset);
    errno = EIO;
    return -1;
}

static void our_own_trouble_is_not_the_users(void **state)
{
    (void)state;
    put(incoming, "file", "name: a\n");
    sys.open_beneath = stale_at_first;
    stale_opens = 2;
    assert_int_equal(read_it("file"), DROP_TAKEN);
    stale_opens = 3;
    assert_int_equal(read_it("file"), DROP_ERROR);
    assert_string_equal(error.text, "\"file\" could not be opened: Stale file handle");
    sys.open_beneath = real.open_beneath;
    sys.pread = interrupted_pread;
    assert_int_equal(read_it("file"), DROP_TAKEN);
    assert_true(text_is(buffer_text(&bytes), "name: a\n"));
    sys.pread = broken_pread;
    assert_int_equal(read_it("file"), DROP_ERROR);
    assert_string_equal(error.text, "\"file\" could not be read: Input/output error");
}

#define DROP_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DROP_TEST(a_file_is_claimed_and_read),
        DROP_TEST(gone_is_gone),
        DROP_TEST(a_claim_whose_reply_was_lost_is_a_claim),
        DROP_TEST(what_is_no_regular_file_is_refused),
        DROP_TEST(each_of_them_can_be_claimed),
        DROP_TEST(a_hard_link_is_refused),
        DROP_TEST(the_size_is_bounded),
        DROP_TEST(a_name_that_cannot_be_printed_is_refused),
        DROP_TEST(what_may_not_be_read_is_refused_with_the_chmod),
        DROP_TEST(who_else_may_write_is_told),
        DROP_TEST(what_is_no_list_counts_as_open),
        DROP_TEST(an_open_writer_is_waited_for),
        DROP_TEST(changes_while_reading_are_seen_without_leases),
        DROP_TEST(more_bytes_than_the_status_tells_are_not_taken),
        DROP_TEST(changes_after_reading_are_seen),
        DROP_TEST(our_own_trouble_is_not_the_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
