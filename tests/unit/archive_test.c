/* archives: written in frames, read from each, by tar too; the index, and finding by it */
#include "archive/find.h"
#include "archive/pack.h"
#include "archive/restore.h"
#include "archive/unpack.h"
#include "tests/unit/unit_arena.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/system.h"
#include "spool/file.h"

static char *path;
static int top;

static int open_top(void **state)
{
    path = unit_directory();
    top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return set_up(state);
}

static int close_top(void **state)
{
    close(top);
    unit_remove(path);
    return tear_down(state);
}

/* ---- packs ---- */

static int make_file(const char *name, const char *bytes, struct stat *status)
{
    int file = openat(top, name, O_RDWR | O_CREAT | O_TRUNC, 0640);
    assert_int_equal(write(file, bytes, strlen(bytes)), strlen(bytes));
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    assert_int_equal(fstat(file, status), 0);
    return file;
}

static void add(struct pack *pack, const char *name, const char *bytes)
{
    struct stat status;
    int file = make_file("source", bytes, &status);
    if (pack_add(pack, name, &status, file, &error))
        fail_msg("%s", error.text);
    close(file);
}

static struct pack *create(const char *name)
{
    const struct pack_readers readers = {.mode = 0640, .group = getegid()};
    struct pack *pack = pack_create(top, name, readers, true, &error);
    if (!pack)
        fail_msg("%s", error.text);
    return pack;
}

/* The bytes of the member that comes next. */
static struct text next(struct unpack *unpack, const char *name)
{
    struct unpack_member member;
    struct buffer bytes = {0};
    if (unpack_next(unpack, &member, &error) != 1)
        fail_msg("%s", error.text);
    assert_string_equal(member.path, name);
    int file = openat(top, "copy", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(unpack_copy(unpack, file, &error), 0);
    close(file);
    assert_int_equal(file_read_at(top, "copy", 1 << 20, &bytes, &error), 0);
    struct text text = arena_text(arena, bytes.length ? bytes.data : "", bytes.length);
    buffer_free(&bytes);
    return text;
}

static void frames_are_one_archive_and_each_is_one(void **state)
{
    struct unpack_member member;
    struct stat status;
    char command[4300];
    (void)state;
    struct pack *pack = create("a.tar.zst");
    int64_t first = pack_begin(pack, &error);
    add(pack, "one/log", "the first\n");
    assert_int_equal(pack_end(pack, &error), 0);
    int64_t second = pack_begin(pack, &error);
    add(pack, "two/log", "the second\n");
    add(pack, "two/empty", "");
    assert_true(pack_frame_bytes(pack) > 11);
    assert_true(pack_finish(pack, &error) > second);
    assert_int_equal(first, 0);
    assert_true(second > 0);
    assert_int_equal(fstatat(top, "a.tar.zst", &status, 0), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    struct unpack *unpack = unpack_open(top, "a.tar.zst", second, &error);
    assert_non_null(unpack);
    assert_true(text_is(next(unpack, "two/log"), "the second\n"));
    assert_int_equal(next(unpack, "two/empty").length, 0);
    assert_int_equal(unpack_next(unpack, &member, &error), 0);
    unpack_close(unpack);
    unpack = unpack_open(top, "a.tar.zst", first, &error);
    assert_true(text_is(next(unpack, "one/log"), "the first\n"));
    assert_true(text_is(next(unpack, "two/log"), "the second\n"));
    unpack_close(unpack);
    /* For those who have nothing else. */
    snprintf(command, sizeof(command),
             "cd '%s' && zstd -qdc a.tar.zst | tar -tf - | tr '\\n' ' ' >names", path);
    if (system("command -v zstd tar >/dev/null") == 0) {
        struct buffer names = {0};
        assert_int_equal(system(command), 0);
        assert_int_equal(file_read_at(top, "names", 4096, &names, &error), 0);
        assert_string_equal(names.data, "one/log two/log two/empty ");
        buffer_free(&names);
    }
}

/* Names that no header of 512 bytes holds, names in other letters, and files of many blocks. */
static void long_names_and_long_files_read_back(void **state)
{
    enum { LONG = 300 * 1024 };
    char name[NAME_MAX + 1], paths[3][512];
    struct unpack_member member;
    char *bytes = memory_allocate(LONG + 1);
    (void)state;
    memset(name, 'n', 200);
    name[200] = '\0';
    snprintf(paths[0], sizeof(paths[0]), "one/output/%s", name);
    snprintf(paths[1], sizeof(paths[1]), "one/output/g\xc3\xbcnter-\xff.log");
    snprintf(paths[2], sizeof(paths[2]), "one/%.150s/%.150s", name, name);
    for (size_t i = 0; i < LONG; i++)
        bytes[i] = (char)('a' + i * i % 23);
    bytes[LONG] = '\0';
    struct pack *pack = create("long.tar.zst");
    assert_int_equal(pack_begin(pack, &error), 0);
    for (int i = 0; i < 3; i++)
        add(pack, paths[i], bytes);
    assert_true(pack_finish(pack, &error) > 0);
    struct unpack *unpack = unpack_open(top, "long.tar.zst", 0, &error);
    assert_int_equal(unpack_next(unpack, &member, &error), 1); /* passed over */
    assert_string_equal(member.path, paths[0]);
    assert_int_equal(member.size, LONG);
    for (int i = 1; i < 3; i++)
        assert_true(text_equal(next(unpack, paths[i]), (struct text){bytes, LONG}));
    assert_int_equal(unpack_next(unpack, &member, &error), 0);
    unpack_close(unpack);
    free(bytes);
}

/* An archive that ends too early is no end of a job. */
static void a_cut_archive_is_said(void **state)
{
    struct unpack_member member;
    struct stat status;
    (void)state;
    struct pack *pack = create("cut.tar.zst");
    assert_int_equal(pack_begin(pack, &error), 0);
    char bytes[4000];
    for (size_t i = 0; i < sizeof(bytes) - 1; i++)
        bytes[i] = (char)(' ' + i * i * i % 89);
    bytes[sizeof(bytes) - 1] = '\0';
    add(pack, "one/log", bytes);
    assert_true(pack_finish(pack, &error) > 0);
    assert_int_equal(fstatat(top, "cut.tar.zst", &status, 0), 0);
    int file = openat(top, "cut.tar.zst", O_RDWR);
    assert_int_equal(ftruncate(file, status.st_size / 2), 0);
    close(file);
    struct unpack *unpack = unpack_open(top, "cut.tar.zst", 0, &error);
    assert_non_null(unpack);
    int result = unpack_next(unpack, &member, &error);
    file = openat(top, "copy", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (result == 1)
        result = unpack_copy(unpack, file, &error);
    close(file);
    assert_int_equal(result, -1);
    assert_non_null(strstr(error.text, "cut.tar.zst"));
    unpack_close(unpack);
}

/* What is smaller by now than it was is filled up; what cannot be read is said, and the rest is written. */
static void sources_that_change_harm_no_other(void **state)
{
    struct stat status;
    (void)state;
    struct pack *pack = create("b.tar.zst");
    assert_int_equal(pack_begin(pack, &error), 0);
    int file = make_file("shorter", "1234567890", &status);
    assert_int_equal(ftruncate(file, 4), 0);
    assert_int_equal(pack_add(pack, "a/shorter", &status, file, &error), 0);
    close(file);
    assert_int_equal(pack_add(pack, "a/unreadable", &status, top, &error), 1);
    add(pack, "a/log", "whole\n");
    assert_true(pack_finish(pack, &error) > 0);
    struct unpack *unpack = unpack_open(top, "b.tar.zst", 0, &error);
    struct text shorter = next(unpack, "a/shorter");
    assert_int_equal(shorter.length, 10);
    assert_memory_equal(shorter.data, "1234\0\0\0\0\0\0", 10);
    next(unpack, "a/unreadable");
    assert_true(text_is(next(unpack, "a/log"), "whole\n"));
    unpack_close(unpack);
}

static void what_is_no_archive_is_said(void **state)
{
    struct unpack_member member;
    struct stat status;
    (void)state;
    close(make_file("c.tar.zst", "not an archive", &status));
    struct unpack *unpack = unpack_open(top, "c.tar.zst", 0, &error);
    if (unpack)
        assert_int_equal(unpack_next(unpack, &member, &error), -1);
    assert_non_null(strstr(error.text, "c.tar.zst"));
    unpack_close(unpack);
    assert_null(unpack_open(top, "none.tar.zst", 0, &error));
    assert_int_equal(errno, ENOENT);
}

/* An archive of one header, in a frame that is not compressed. */
static void write_header(const char *name, char kind, const char *size)
{
    enum { BLOCK = 512, SUM = 148 };
    static const char frame[] =
        "\x28\xb5\x2f\xfd\0\x30\x01\x10\0"; /* RFC 8878: its last block has 512 bytes */
    char block[BLOCK] = "a";
    unsigned int sum = 0;
    struct buffer bytes = {0};
    memcpy(block + 124, size, 12);
    block[156] = kind;
    memset(block + SUM, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)block[i];
    snprintf(block + SUM, 8, "%06o", sum);
    buffer_add(&bytes, frame, sizeof(frame) - 1);
    buffer_add(&bytes, block, sizeof(block));
    int file = openat(top, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(file_write_all(file, buffer_text(&bytes), name, &error), 0);
    close(file);
    buffer_free(&bytes);
}

static void a_header_that_cannot_be_is_said(void **state)
{
    static const struct {
        char kind;
        char size[13];
        const char *words;
    } cases[] = {{'x', "00000001000\0", "it ends within a header"},
                 {'x', "00000000001\0", "it ends within"},
                 {'0', "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", "has no size"},
                 {'0', "\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", "has no size"},
                 {'0', "what is this", "has no size"}};
    struct unpack_member member;
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        write_header("h.tar.zst", cases[i].kind, cases[i].size);
        struct unpack *unpack = unpack_open(top, "h.tar.zst", 0, &error);
        assert_non_null(unpack);
        assert_int_equal(unpack_next(unpack, &member, &error), -1);
        if (!strstr(error.text, cases[i].words))
            fail_msg("%s", error.text);
        unpack_close(unpack);
    }
}

static ssize_t full_write(int file, const void *bytes, size_t length)
{
    (void)file, (void)bytes, (void)length;
    errno = ENOSPC;
    return -1;
}

static void a_full_disk_is_said(void **state)
{
    struct system_calls real = sys;
    (void)state;
    struct pack *pack = create("d.tar.zst");
    assert_int_equal(pack_begin(pack, &error), 0);
    sys.write = full_write;
    int64_t size = pack_finish(pack, &error);
    sys = real;
    assert_int_equal(size, -1);
    assert_non_null(strstr(error.text, "No space left"));
}

/* ---- names ---- */

static void names_of_parts_read_back(void **state)
{
    static const char *const good[] = {"2026-08-01.tar.zst", "2026-08-01.index",
                                       "2026-08-01.12.group-1000.tar.zst",
                                       "2026-08-01.2.private.tar.zst"};
    static const char *const bad[] = {"2026-08-01",          "2026-08-01.1.index",
                                      "2026-08-01.02.index", ".2026-08-01.index.new",
                                      "26-08-01.index",      "pruned"};
    char name[PART_NAME_SIZE];
    struct part part;
    struct text kind;
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        assert_true(part_parse(good[i], &part, &kind));
        assert_string_equal(part_name(&part, kind, name), good[i]);
    }
    assert_int_equal(part.number, 2);
    assert_true(text_is(kind, "private"));
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        assert_false(part_parse(bad[i], &part, &kind));
}

/* ---- the index ---- */

static void put_index(const char *day, int number, const char *lines)
{
    char name[PART_NAME_SIZE];
    struct part part = {.number = number};
    snprintf(part.day, sizeof(part.day), "%s", day);
    assert_int_equal(
        spool_file_create(top, part_name(&part, TEXT("index"), name), text_of(lines), 0644, &error),
        0);
}

static const char line_of[] =
    "2027-01-15T08:00:00.000Z archived id=%s name=%s state=done attempt=%d at=%d uid=%d others=%s\n";

static const char *line(const char *id, const char *name, int attempt, int uid)
{
    return arena_printf(arena, line_of, id, name, attempt, attempt * 100, uid,
                        "group-7:3,private:9")
        .data;
}

static void lines_read_back(void **state)
{
    struct archived_job job = {.archived = 1800000000000,
                               .id = TEXT("a-0123456789abc"),
                               .name = TEXT("A b\"c"),
                               .state = TEXT("failed"),
                               .uid = 1000,
                               .ended = 1790000000000,
                               .exit_code = 3,
                               .why = TEXT("it = \"broken\""),
                               .offset = 77},
                        again;
    struct buffer out = {0};
    char key[INDEX_END_SIZE], key_again[INDEX_END_SIZE];
    struct text others, kind;
    int64_t offset;
    (void)state;
    buffer_add_string(&out, "not a line\n");
    index_format(&job, &out);
    index_add_others(&out, TEXT("group-7:3,private:9"));
    struct text rest = buffer_text(&out);
    assert_true(index_next(&rest, arena, &again));
    assert_true(text_equal(again.name, job.name));
    assert_true(text_equal(again.why, job.why));
    assert_int_equal(again.exit_code, 3);
    assert_int_equal(again.uid, 1000);
    assert_int_equal(again.offset, 77);
    assert_string_equal(index_end_key(&again, key), index_end_key(&job, key_again));
    job.attempt++;
    assert_string_not_equal(key, index_end_key(&job, key_again));
    others = again.others;
    assert_true(index_next_other(&others, &kind, &offset));
    assert_true(text_is(kind, "group-7"));
    assert_int_equal(offset, 3);
    assert_true(index_next_other(&others, &kind, &offset));
    assert_true(text_is(kind, "private"));
    assert_false(index_next_other(&others, &kind, &offset));
    assert_false(index_next(&rest, arena, &again));
    buffer_free(&out);
}

static int find(const char *word, uid_t asker, struct found *found)
{
    return find_archived(top, text_of(word), asker, arena, found, &error);
}

static void words_mean_jobs(void **state)
{
    struct found found;
    (void)state;
    put_index("2026-08-01", 1,
              arena_printf(arena, "%s%s", line("train-1m0000000000a", "train", 1, 1),
                           line("other-1m0000000000b", "other", 1, 2))
                  .data);
    put_index("2026-08-02", 1,
              arena_printf(arena, "%s%s", line("train-1m0000000000c", "train", 1, 2),
                           line("train-1m0000000000a", "train", 2, 1))
                  .data);
    assert_int_equal(find("train-1m0000000000a", 9, &found), 0);
    assert_int_equal(found.job.attempt, 2); /* the last of its ends */
    assert_string_equal(found.part.day, "2026-08-02");
    assert_int_equal(found.job.offset, 200);
    assert_int_equal(find("train", 1, &found), 0);
    assert_true(text_is(found.job.id, "train-1m0000000000a"));
    assert_int_equal(find("train", 2, &found), 0);
    assert_true(text_is(found.job.id, "train-1m0000000000c"));
    assert_int_equal(find("train", 9, &found), 0);
    assert_true(text_is(found.job.id, "train-1m0000000000c"));
    assert_int_equal(find("oth", 9, &found), 0);
    assert_true(text_is(found.job.id, "other-1m0000000000b"));
    assert_int_equal(find("tr", 9, &found), 1);
    assert_non_null(strstr(error.text, "archived jobs have an id that starts with \"tr\""));
    assert_int_equal(find("none", 9, &found), 1);
    assert_non_null(strstr(error.text, "there is no archived job \"none\""));
    assert_int_equal(find("x\n", 9, &found), 1);
    assert_int_equal(find("", 9, &found), 1);
}

/* ---- restoring ---- */

static bool is_there(int directory, const char *name)
{
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Nothing outside the job's directory is made, whatever an archive's entries are called. */
static void only_the_job_is_restored(void **state)
{
    const char id[] = "a-0123456789abc";
    struct found found = {.part = {"2026-08-01", 1},
                          .job = {.id = TEXT("a-0123456789abc"), .others = TEXT("private:0")}};
    bool denied;
    (void)state;
    struct pack *pack = create("2026-08-01.tar.zst");
    pack_begin(pack, &error);
    add(pack, "a-0123456789abc/log", "own\n");
    add(pack, "a-0123456789abc/../escaped", "x");
    add(pack, "a-0123456789abc/../../escaped", "x");
    add(pack, "a-0123456789abc/output/../../escaped", "x");
    add(pack, "a-0123456789abc/output/a/b", "x");
    add(pack, "a-0123456789abc/output/main-0.log", "printed\n");
    add(pack, "b-0123456789abc/log", "another's\n");
    add(pack, "a-0123456789abc/late", "not with the others\n");
    assert_true(pack_finish(pack, &error) > 0);
    pack = create("2026-08-01.private.tar.zst");
    pack_begin(pack, &error);
    add(pack, "a-0123456789abc/request.yaml", "mine\n");
    assert_true(pack_finish(pack, &error) > 0);
    assert_int_equal(mkdirat(top, "new", 0700), 0);
    int directory = openat(top, "new", O_RDONLY | O_DIRECTORY);
    assert_int_equal(restore_job(top, &found, directory, RESTORE_NAMES, &denied, &error), 0);
    assert_false(denied);
    int job = openat(directory, id, O_RDONLY | O_DIRECTORY);
    struct buffer bytes = {0};
    assert_int_equal(file_read_at(job, "log", 100, &bytes, &error), 0);
    assert_string_equal(bytes.data, "own\n");
    buffer_clear(&bytes);
    assert_int_equal(file_read_at(job, "output/main-0.log", 100, &bytes, &error), 0);
    assert_int_equal(bytes.length, 0);
    assert_true(is_there(job, "request.yaml"));
    assert_false(is_there(job, "late"));
    assert_false(is_there(directory, "b-0123456789abc"));
    assert_false(is_there(directory, "escaped"));
    assert_false(is_there(top, "escaped"));
    buffer_free(&bytes);
    close(job);
    close(directory);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_top, close_top)
    const struct CMUnitTest tests[] = {
        TEST(frames_are_one_archive_and_each_is_one),
        TEST(long_names_and_long_files_read_back),
        TEST(a_cut_archive_is_said),
        TEST(sources_that_change_harm_no_other),
        TEST(what_is_no_archive_is_said),
        TEST(a_header_that_cannot_be_is_said),
        TEST(a_full_disk_is_said),
        TEST(names_of_parts_read_back),
        TEST(lines_read_back),
        TEST(words_mean_jobs),
        TEST(only_the_job_is_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
