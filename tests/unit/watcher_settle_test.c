/* tests/unit/watcher_settle_test.c - when a dropped file counts as complete */
#include "tests/unit/watcher_support.h"
#include "watcher/drop.h"
#include "watcher/settle.h"
#include "watcher/watch.h"

/* Times in milliseconds; everything begins at 1,000,000 so that an age can reach back. */
enum { START = 1000000 };

static const struct settle_settings settings = {.quiet = 2000,
                                                .closed_quiet = 500,
                                                .doubtful_quiet = 9000,
                                                .link_patience = 1000,
                                                .cut_patience = 60000,
                                                .empty_patience = 50000};

struct story {
    const struct settle_settings *settings;
    struct settle_memory memory;
    struct settle_look look;
    int64_t now, again;
    struct error why;
};

/* A regular file of one link, 100 bytes, a whole last line, and a writer who cannot be seen. */
static struct story begin(void)
{
    return (struct story){.settings = &settings,
                          .now = START,
                          .look = {.status = {.st_mode = S_IFREG | 0644,
                                              .st_nlink = 1,
                                              .st_size = 100,
                                              .st_ino = 7,
                                              .st_mtim = {.tv_sec = 5}},
                                   .content = CONTENT_PLAUSIBLE}};
}

static enum settle judge(struct story *story)
{
    enum settle diagnosis = settle_judge(story->settings, &story->memory, &story->look, story->now,
                                         &story->again, &story->why);
    story->look.flags = 0;
    return diagnosis;
}

static void assert_waits_until(struct story *story, int64_t time)
{
    assert_int_equal(judge(story), SETTLE_WAIT);
    assert_int_equal(story->again, time);
    story->now = time - 1;
    assert_int_equal(judge(story), SETTLE_WAIT);
    assert_int_equal(story->again, time);
    story->now = time;
}

static void what_everybody_may_write_to_is_refused_at_once(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.status.st_mode = S_IFREG | 0666;
    story.look.status.st_size = 0;
    story.look.content = CONTENT_EMPTY;
    story.look.writers = WRITERS_SOME;
    assert_int_equal(judge(&story), SETTLE_REFUSE);
    assert_string_equal(story.why.text, "it " WRITABLE_BY_EVERYBODY);
    story = begin();
    story.look.status.st_mode = S_IFREG | 0642;
    story.look.flags = WATCH_RENAMED_IN;
    assert_int_equal(judge(&story), SETTLE_REFUSE);
}

static void work_in_progress_is_ignored(void **state)
{
    (void)state;
    static const char *const ignored[] = {
        ".job.yaml.Xa3dP1",  ".", "job.yaml~", "job.tmp", "job.yaml.part", "job.swp",
        "job.yaml.filepart", "~", ".tmp"};
    static const char *const taken[] = {"job.yaml", "tmp", "job.tmp.yaml", "part", "a", "job.TMP"};
    for (size_t i = 0; i < ARRAY_COUNT(ignored); i++)
        assert_true(settle_ignores(text_of(ignored[i])));
    for (size_t i = 0; i < ARRAY_COUNT(taken); i++)
        assert_false(settle_ignores(text_of(taken[i])));
    static const char *const plain[][2] = {{"job.yaml~", "job.yaml"},
                                           {".job.yaml.swp", "job.yaml"},
                                           {"job.tmp", "job"},
                                           {"..a.part~", "a"},
                                           {".tmp", "tmp"},
                                           {"job.yaml", "job.yaml"},
                                           {"~", ""}};
    for (size_t i = 0; i < ARRAY_COUNT(plain); i++)
        assert_true(text_is(settle_plain_name(text_of(plain[i][0])), plain[i][1]));
}

static void what_will_never_be_a_job_file_waits_for_nothing(void **state)
{
    (void)state;
    static const mode_t modes[] = {S_IFDIR, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK, S_IFLNK};
    for (size_t i = 0; i < ARRAY_COUNT(modes); i++) {
        struct story story = begin();
        story.look.status.st_mode = modes[i];
        story.look.status.st_nlink = 3;
        assert_int_equal(judge(&story), SETTLE_READY);
    }
    struct story story = begin();
    story.look.status.st_size = (off_t)1 << 40;
    story.look.writers = WRITERS_SOME;
    assert_int_equal(judge(&story), SETTLE_READY);
    story.look.status.st_size = DROP_LARGEST;
    assert_int_equal(judge(&story), SETTLE_WAIT);
}

static void renamed_is_ready(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.flags = WATCH_RENAMED_IN | WATCH_CHANGED;
    story.look.content = CONTENT_CUT;
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void linked_is_ready_when_the_other_link_is_gone(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.status.st_nlink = 2;
    story.look.content = CONTENT_CUT;
    assert_int_equal(judge(&story), SETTLE_WAIT);
    assert_int_equal(story.again, START + 50);
    story.now += 50;
    story.look.status.st_nlink = 1;
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void a_second_link_that_stays_is_not_waited_for_long(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.status.st_nlink = 2;
    int looks = 0;
    while (judge(&story) == SETTLE_WAIT) {
        assert_true(story.again > story.now);
        story.now = story.again;
        looks++;
    }
    assert_int_equal(story.now, START + settings.link_patience);
    assert_in_range(looks, 10, 30);
}

static void unknown_writers_need_the_full_quiet_time(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.age = 3600000; /* clocks may differ: not believed */
    assert_waits_until(&story, START + 2000);
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void growing_begins_the_quiet_time_again(void **state)
{
    (void)state;
    struct story story = begin();
    assert_waits_until(&story, START + 2000);
    story.look.status.st_size++; /* from now on it is doubtful whether this is all */
    assert_waits_until(&story, START + 11000);
    story.look.status.st_mtim.tv_nsec++;
    assert_waits_until(&story, START + 20000);
    story.look.flags = WATCH_CLOSED;
    assert_waits_until(&story, START + 29000);
    story.look.status.st_ino++; /* another file of the same name */
    assert_waits_until(&story, START + 31000);
    story.look.flags = WATCH_CHANGED | WATCH_SEEN; /* chmod is not writing */
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void closed_needs_a_short_quiet_time(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.writers = WRITERS_NONE;
    story.look.flags = WATCH_CHANGED | WATCH_CLOSED;
    story.look.age = 100000; /* the closing was just now, whatever the ctime says */
    assert_waits_until(&story, START + 500);
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void a_writer_is_waited_for(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.writers = WRITERS_SOME;
    story.look.content = CONTENT_UNKNOWN;
    int64_t last = 0;
    while (story.now < START + 24 * 3600 * (int64_t)1000) {
        assert_int_equal(judge(&story), SETTLE_WAIT);
        assert_in_range(story.again - story.now, 50, 2000);
        assert_true(strstr(story.why.text, "open for writing") != NULL);
        last = story.now;
        story.now = story.again;
    }
    story.look.writers = WRITERS_NONE;
    story.look.content = CONTENT_PLAUSIBLE;
    assert_true(story.now - last >= settings.closed_quiet);
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void a_writer_who_comes_back_gets_the_full_quiet_time(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.writers = WRITERS_NONE;
    story.look.flags = WATCH_CLOSED;
    assert_waits_until(&story, START + 500);
    story.look.status.st_size++;
    story.look.flags = WATCH_CLOSED;
    assert_waits_until(&story, START + 2500);
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void touching_before_writing_is_not_coming_back(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.writers = WRITERS_NONE;
    story.look.status.st_size = 0;
    story.look.content = CONTENT_EMPTY;
    assert_waits_until(&story, START + 2000);
    story.look.status.st_size = 10;
    story.look.content = CONTENT_PLAUSIBLE;
    assert_waits_until(&story, START + 2500);
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void a_backlog_waits_for_nobody(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.flags = WATCH_SEEN;
    story.look.writers = WRITERS_NONE;
    story.look.age = 500;
    assert_int_equal(judge(&story), SETTLE_READY);
    story = begin();
    story.look.writers = WRITERS_NONE;
    story.look.age = 200;
    assert_waits_until(&story, START + 300);
}

static void what_cannot_be_remembered_is_judged_by_its_age(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.first_and_last = true;
    story.look.age = 1999;
    assert_int_equal(judge(&story), SETTLE_WAIT);
    story = begin();
    story.look.first_and_last = true;
    story.look.age = 2000;
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void complete_content_is_ready_unless_it_is_being_written(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.content = CONTENT_COMPLETE;
    assert_int_equal(judge(&story), SETTLE_READY);
    story = begin();
    story.look.content = CONTENT_COMPLETE;
    story.look.writers = WRITERS_SOME;
    assert_int_equal(judge(&story), SETTLE_WAIT);
}

static void cut_content_is_refused_where_writers_cannot_be_seen(void **state)
{
    (void)state;
    static const enum content cut[] = {CONTENT_CUT, CONTENT_UNCLOSED};
    static const char *const reasons[] = {"it seems to be cut off: it does not end with a newline",
                                          "it seems to be cut off: its brackets do not close"};
    for (size_t i = 0; i < 2; i++) {
        struct story story = begin();
        story.look.content = cut[i];
        assert_waits_until(&story, START + 60000);
        assert_int_equal(judge(&story), SETTLE_REFUSE);
        assert_true(strstr(story.why.text, reasons[i]) == story.why.text);
        assert_non_null(strstr(story.why.text, "nobody has written to it for 1 min; "));
        assert_non_null(strstr(story.why.text, "`dlspool submit`"));
    }
}

/* Quiet is not enough where writers cannot be seen, and whole files are asked for. */
static void only_what_says_so_is_taken_as_complete(void **state)
{
    (void)state;
    static const enum content silent[] = {CONTENT_PLAUSIBLE, CONTENT_OPEN};
    struct settle_settings strict = settings;
    strict.only_complete = true;
    for (size_t i = 0; i < 2; i++) {
        struct story story = begin();
        story.settings = &strict;
        story.look.content = silent[i];
        assert_waits_until(&story, START + 60000);
        assert_string_equal(story.why.text, "it does not say that it is complete");
        assert_int_equal(judge(&story), SETTLE_REFUSE);
        assert_non_null(strstr(story.why.text, "`dlspool submit`"));
        assert_non_null(strstr(story.why.text, "nobody has written to it for 1 min; "));
        assert_non_null(strstr(story.why.text, "a line `...`"));
        story = begin();
        story.settings = &strict;
        story.look.content = silent[i];
        story.look.writers = WRITERS_NONE;
        assert_waits_until(&story, START + 500);
        assert_int_equal(judge(&story), SETTLE_READY);
        assert_string_equal(story.memory.complete, "no-writer");
    }
    struct story story = begin();
    story.settings = &strict;
    story.look.content = CONTENT_COMPLETE;
    assert_int_equal(judge(&story), SETTLE_READY);
    assert_string_equal(story.memory.complete, "end-mark");
    story = begin();
    story.settings = &strict;
    story.look.content = CONTENT_UNKNOWN; /* its reader says why it cannot be read */
    assert_waits_until(&story, START + 2000);
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void cut_content_without_a_writer_is_for_the_reader_to_judge(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.content = CONTENT_CUT;
    story.look.writers = WRITERS_NONE;
    assert_waits_until(&story, START + 500);
    assert_int_equal(judge(&story), SETTLE_READY);
    assert_true(story.memory.cut);
    story = begin();
    story.look.content = CONTENT_UNCLOSED;
    story.look.writers = WRITERS_NONE;
    assert_waits_until(&story, START + 2000);
    assert_int_equal(judge(&story), SETTLE_READY);
    assert_true(story.memory.cut);
}

/* Who held it open for long, and left it in mid-line, was killed; one who writes it again was not. */
static void cut_content_of_a_slow_writer_is_refused(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.content = CONTENT_CUT;
    story.look.writers = WRITERS_SOME;
    assert_int_equal(judge(&story), SETTLE_WAIT);
    story.now += 500;
    assert_int_equal(judge(&story), SETTLE_WAIT);
    story.look.writers = WRITERS_NONE;
    story.look.flags = WATCH_CLOSED;
    assert_waits_until(&story, START + 60500);
    assert_int_equal(judge(&story), SETTLE_REFUSE);
    story.look.status.st_size++;
    story.look.flags = WATCH_CLOSED;
    assert_int_equal(judge(&story), SETTLE_WAIT);
    story.now = story.again;
    assert_int_equal(judge(&story), SETTLE_READY);
    story = begin();
    story.look.content = CONTENT_CUT;
    story.look.writers = WRITERS_SOME;
    assert_int_equal(judge(&story), SETTLE_WAIT);
    story.now += 499;
    story.look.writers = WRITERS_NONE;
    story.look.flags = WATCH_CLOSED;
    assert_waits_until(&story, START + 999);
    assert_int_equal(judge(&story), SETTLE_READY);
}

static void what_may_go_on_unseen_needs_longer(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.content = CONTENT_OPEN;
    assert_waits_until(&story, START + 9000);
    assert_non_null(strstr(story.why.text, "rename into place"));
    assert_int_equal(judge(&story), SETTLE_READY);
    assert_string_equal(story.memory.complete, "quiet");
    story = begin(); /* written long before it was moved here */
    story.look.content = CONTENT_OPEN;
    story.look.status.st_ctim.tv_sec = story.look.status.st_mtim.tv_sec + 10;
    assert_waits_until(&story, START + 2000);
    assert_int_equal(judge(&story), SETTLE_READY);
    story = begin();
    story.look.content = CONTENT_OPEN;
    story.look.writers = WRITERS_NONE;
    assert_waits_until(&story, START + 500);
    assert_int_equal(judge(&story), SETTLE_READY);
    assert_string_equal(story.memory.complete, "no-writer");
}

static void what_is_no_text_waits_for_nothing(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.content = CONTENT_FOREIGN;
    assert_int_equal(judge(&story), SETTLE_READY);
    story = begin();
    story.look.content = CONTENT_FOREIGN;
    story.look.writers = WRITERS_SOME;
    assert_int_equal(judge(&story), SETTLE_WAIT);
}

static void empty_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.content = CONTENT_EMPTY;
    story.look.status.st_size = 0;
    assert_waits_until(&story, START + 50000);
    assert_int_equal(judge(&story), SETTLE_REFUSE);
    assert_true(strstr(story.why.text, "it is empty") == story.why.text);
    story = begin();
    story.look.content = CONTENT_EMPTY;
    story.look.writers = WRITERS_NONE;
    assert_waits_until(&story, START + 2000);
    assert_int_equal(judge(&story), SETTLE_REFUSE);
}

static void what_cannot_be_read_is_ready_to_be_refused(void **state)
{
    (void)state;
    struct story story = begin();
    story.look.content = CONTENT_UNKNOWN;
    assert_waits_until(&story, START + 2000);
    assert_int_equal(judge(&story), SETTLE_READY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_everybody_may_write_to_is_refused_at_once),
        cmocka_unit_test(work_in_progress_is_ignored),
        cmocka_unit_test(what_will_never_be_a_job_file_waits_for_nothing),
        cmocka_unit_test(renamed_is_ready),
        cmocka_unit_test(linked_is_ready_when_the_other_link_is_gone),
        cmocka_unit_test(a_second_link_that_stays_is_not_waited_for_long),
        cmocka_unit_test(unknown_writers_need_the_full_quiet_time),
        cmocka_unit_test(growing_begins_the_quiet_time_again),
        cmocka_unit_test(closed_needs_a_short_quiet_time),
        cmocka_unit_test(a_writer_is_waited_for),
        cmocka_unit_test(a_writer_who_comes_back_gets_the_full_quiet_time),
        cmocka_unit_test(touching_before_writing_is_not_coming_back),
        cmocka_unit_test(a_backlog_waits_for_nobody),
        cmocka_unit_test(what_cannot_be_remembered_is_judged_by_its_age),
        cmocka_unit_test(complete_content_is_ready_unless_it_is_being_written),
        cmocka_unit_test(cut_content_is_refused_where_writers_cannot_be_seen),
        cmocka_unit_test(only_what_says_so_is_taken_as_complete),
        cmocka_unit_test(cut_content_without_a_writer_is_for_the_reader_to_judge),
        cmocka_unit_test(cut_content_of_a_slow_writer_is_refused),
        cmocka_unit_test(what_may_go_on_unseen_needs_longer),
        cmocka_unit_test(what_is_no_text_waits_for_nothing),
        cmocka_unit_test(empty_is_refused_with_the_reason),
        cmocka_unit_test(what_cannot_be_read_is_ready_to_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
