/* decayed_use_test.c - spool/usage_tail.c, spool/use_sums.c, stages/shared/sharers.c, decayed_use.c: who has used
 * how much of late, from the accounts and from what runs, also after a restart and when the clock is set back */
#include "tests/unit/stage_fixture.h"

#include <errno.h>
#include <math.h>

#include "base/decay.h"
#include "spool/history.h"
#include "spool/usage_tail.h"
#include "stages/shared/decayed_use.h"

static const int64_t hour = 3600000, day = 24 * 3600000;
static const int64_t noon = 1790000000000;

static struct share_row rows[] = {
    {LIMIT_USER, {"b", 1}, 2, 2},
    {LIMIT_QUEUE, {"cheap", 5}, 0, 4},
};
static struct fair_share share;

static int begin(void **state)
{
    (void)state;
    open_spool(NULL, NULL, noon);
    share = (struct fair_share){
        .half_life = 24 * 3600000, .gpu = 8, .rows = rows, .row_count = ARRAY_COUNT(rows)};
    return 0;
}

static bool is_near(double found, double expected)
{
    bool near = fabs(found - expected) <= expected / 1000 + 2;
    if (!near)
        print_error("found %.1f, expected %.1f\n", found, expected);
    return near;
}

/* An attempt of that user has ended that held GPUs for some hours. */
static void write_usage(int number, uid_t uid, int64_t gpus, int64_t ended, int64_t hours)
{
    struct usage usage;
    struct buffer line = {0};
    char id[ID_SIZE];
    snprintf(id, sizeof(id), "j-%013d", number);
    usage_clear(&usage);
    usage.written = now;
    usage.id = text_of(id);
    usage.attempt = 1;
    usage.uid = (int64_t)uid;
    usage.gid = (int64_t)uid + 100;
    usage.cpus = 1000;
    usage.started = ended - hours * hour;
    usage.ended = ended;
    usage.gpu_held = gpus * hours * hour;
    usage.cpu_held = hours * hour;
    usage_format(&usage, &line);
    assert_int_equal(usage_append(&spool, buffer_text(&line), now, &error), 0);
    buffer_free(&line);
}

/* ... or one GPU for some minutes. */
static void write_minutes(int number, uid_t uid, int64_t minutes)
{
    struct usage usage;
    struct buffer line = {0};
    char id[ID_SIZE];
    snprintf(id, sizeof(id), "m-%013d", number);
    usage_clear(&usage);
    usage.written = usage.ended = now;
    usage.id = text_of(id);
    usage.attempt = 1;
    usage.uid = usage.gid = (int64_t)uid;
    usage.started = now - minutes * 60000;
    usage.gpu_held = minutes * 60000;
    usage_format(&usage, &line);
    assert_int_equal(usage_append(&spool, buffer_text(&line), now, &error), 0);
    buffer_free(&line);
}

struct wanted {
    uid_t uid;
    double used;
};

static void take_used(void *context, const struct decayed_user *user)
{
    struct wanted *wanted = context;
    if (user->uid == wanted->uid)
        wanted->used = user->used;
}

static double used_by(const struct decayed_use *use, uid_t uid)
{
    struct wanted wanted = {.uid = uid};
    decayed_use_walk(use, take_used, &wanted);
    return wanted.used;
}

static void look(struct decayed_use *use)
{
    if (decayed_use_look(use, &error))
        fail_msg("%s", error.text);
}

static void use_is_counted_from_the_accounts(void **state)
{
    (void)state;
    write_usage(1, 1, 2, noon, 1);
    write_usage(1, 1, 2, noon, 1); /* after a crash it is there twice */
    write_usage(2, 2, 4, noon, 1);
    struct decayed_use *use = decayed_use_new(&spool, &share);
    look(use);
    double fresh = decay_mean(-hour, 0, 0, day);
    assert_true(is_near(used_by(use, 1), 2 * (double)hour * fresh));
    assert_true(is_near(used_by(use, 2), 4 * (double)hour * fresh));
    assert_int_equal(decayed_use_compare(use, 1, 2), 0); /* b has twice the weight */
    advance(day);
    write_usage(3, 2, 1, now, 1);
    look(use);
    assert_true(is_near(used_by(use, 1), (double)hour * fresh));
    assert_true(is_near(used_by(use, 2), 3 * (double)hour * fresh));
    assert_true(decayed_use_compare(use, 1, 2) < 0 && decayed_use_compare(use, 2, 1) > 0);
    assert_true(decayed_use_compare(use, 3, 1) < 0); /* who has used nothing */
    decayed_use_free(use);
}

/* From the sums that were kept, and from what has ended since then; without them, from the accounts alone. */
static void a_restart_changes_nothing(void **state)
{
    (void)state;
    struct decayed_use *use = decayed_use_new(&spool, &share);
    for (int i = 0; i < 200; i++) {
        write_usage(i, 1 + (uid_t)(i % 3), 1 + i % 4, now - i % 7 * 1000, 1 + i % 3);
        if (i % 10 == 0)
            look(use);
        if (i == 100)
            assert_int_equal(decayed_use_keep(use, &error), 0);
        advance(hour);
    }
    for (int i = 80; i < 100; i++) /* again, after a crash */
        write_usage(i, 1, 1, now, 1);
    look(use);
    struct decayed_use *kept = decayed_use_new(&spool, &share);
    look(kept);
    int directory = history_open(&spool, false, &error);
    assert_int_equal(unlinkat(directory, "shares", 0), 0);
    struct decayed_use *anew = decayed_use_new(&spool, &share);
    look(anew);
    for (uid_t uid = 1; uid <= 3; uid++) {
        assert_true(used_by(use, uid) > (double)hour);
        assert_true(is_near(used_by(kept, uid), used_by(use, uid)));
        assert_true(is_near(used_by(anew, uid), used_by(use, uid)));
    }
    decayed_use_free(kept);
    decayed_use_free(anew);
    close(directory);
    decayed_use_free(use);
}

static void put_shares(const char *bytes)
{
    int directory = history_open(&spool, true, &error);
    unlinkat(directory, "shares", 0);
    int file = openat(directory, "shares", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(write(file, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
    close(file);
    close(directory);
}

/* What is damaged, made under other settings or in the future, or has read more than there is, is not believed. */
static void wrong_sums_are_made_anew(void **state)
{
    (void)state;
    struct buffer kept = {0};
    write_usage(1, 1, 2, noon, 1);
    struct decayed_use *use = decayed_use_new(&spool, &share);
    look(use);
    assert_int_equal(decayed_use_keep(use, &error), 0);
    double right = used_by(use, 1);
    decayed_use_free(use);
    int directory = history_open(&spool, false, &error);
    assert_int_equal(file_read_at(directory, "shares", 1 << 20, &kept, &error), 0);
    close(directory);
    char *cut = strdup(kept.data), *more = strdup(kept.data), *later = strdup(kept.data);
    *strstr(cut, " end") = '\0';
    memcpy(strstr(more, "bytes=") + 6, "999", 3);
    memcpy(later, "2031", 4);
    memcpy(strstr(later, "gpu_ms=") + 7, "9", 1);
    const char *const wrong[] = {"", "nonsense\n", cut, more, later};
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        put_shares(wrong[i]);
        use = decayed_use_new(&spool, &share);
        look(use);
        assert_true(is_near(used_by(use, 1), right));
        decayed_use_free(use);
    }
    put_shares(kept.data);
    share.gpu = 1;
    share.rows[1].weight = 2;
    write_usage(2, 3, 0, noon, 1);
    use = decayed_use_new(&spool, &share);
    look(use);
    share.rows[1].weight = 4;
    assert_true(is_near(used_by(use, 3), used_by(use, 1) / 2)); /* a CPU counts as a GPU */
    decayed_use_free(use);
    free(cut);
    free(more);
    free(later);
    buffer_free(&kept);
}

static void a_clock_that_is_set_back(void **state)
{
    (void)state;
    write_usage(1, 1, 2, noon, 1);
    struct decayed_use *use = decayed_use_new(&spool, &share);
    look(use);
    double right = used_by(use, 1);
    now += 1000 * day;
    look(use);
    assert_true(used_by(use, 1) < 2);
    now -= 1000 * day;
    look(use);
    assert_true(is_near(used_by(use, 1), right));
    now -= 30000; /* a little */
    write_usage(2, 2, 2, now, 1);
    look(use);
    assert_true(is_near(used_by(use, 1), right));
    assert_true(is_near(used_by(use, 2), right));
    decayed_use_free(use);
    now = noon;
}

static struct job_record make_record(const char *id, uid_t uid, const char *queue)
{
    return (struct job_record){.id = text_of(id),
                               .owner = TEXT("somebody"),
                               .uid = uid,
                               .gid = uid + 100,
                               .accepted = now,
                               .attempt = 1,
                               .cpus = 1000,
                               .gpus = 2,
                               .queue = text_of(queue),
                               .manifest_sha256 = TEXT("x"),
                               .failure.exit_code = -1};
}

static void write_event(const struct job_record *record, const char *event)
{
    struct buffer line = {0};
    eventlog_start(&line, now, event);
    eventlog_add_number(&line, "attempt", record->attempt);
    eventlog_end(&line);
    append_event(record->id.data, STATE_SUBMITTED, line.data);
    buffer_free(&line);
}

/* A job counts from when it is submitted, ten minutes at least while it is there, and then as the accounts say. */
static void what_is_at_the_executor_counts(void **state)
{
    (void)state;
    struct job_record record = make_record("a-0000000000001", 1, ""),
                      other = make_record("a-0000000000002", 2, "cheap");
    struct decayed_use *use = decayed_use_new(&spool, &share);
    look(use);
    decayed_use_charge(use, "a-0000000000001", &record);
    decayed_use_charge(use, "a-0000000000002", &other);
    assert_true(is_near(used_by(use, 1), 2 * 600000) && is_near(used_by(use, 2), 600000 / 2.0));
    decayed_use_drop(use, "a-0000000000002");
    assert_true(is_near(used_by(use, 2), 0));
    look(use);
    assert_true(is_near(used_by(use, 1), 2 * 600000)); /* it is on its way */
    put_job(STATE_SUBMITTED, &record, "", NULL);
    write_event(&record, "submitted");
    decayed_use_settle(use, "a-0000000000001");
    look(use);
    assert_true(is_near(used_by(use, 1), 2 * 600000));
    write_event(&record, "started");
    advance(hour);
    look(use);
    double held = 2 * (double)hour * decay_mean(-hour, 0, 0, day);
    assert_true(is_near(used_by(use, 1), held));
    struct decayed_use *restarted = decayed_use_new(&spool, &share);
    look(restarted);
    assert_true(is_near(used_by(restarted, 1), held));
    decayed_use_free(restarted);
    struct job_place place = {.state = STATE_SUBMITTED, .id = "a-0000000000001"};
    assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
    look(use);
    assert_true(is_near(used_by(use, 1), 0)); /* until it is in the accounts */
    decayed_use_free(use);
}

static struct system_calls real;

static int open_no_record(int directory, const char *name, int flags, mode_t mode)
{
    if (strcmp(name, "job.yaml") != 0)
        return real.openat(directory, name, flags, mode);
    errno = EIO;
    return -1;
}

/* A job whose record cannot be read for a moment is charged with the next look, though its log has not grown. */
static void what_cannot_be_read_now_counts_later(void **state)
{
    (void)state;
    struct job_record record = make_record("a-0000000000001", 1, "");
    struct decayed_use *use = decayed_use_new(&spool, &share);
    put_job(STATE_SUBMITTED, &record, "", NULL);
    write_event(&record, "submitted");
    real = sys;
    sys.openat = open_no_record;
    look(use);
    sys = real;
    look(use);
    assert_true(is_near(used_by(use, 1), 2 * 600000));
    decayed_use_free(use);
}

/* Where attempts take a minute a job counts for that until it has run for longer, also after a restart; those that used
 * most say how long. */
static void a_job_counts_for_as_long_as_others_took(void **state)
{
    (void)state;
    struct job_record record = make_record("a-0000000000001", 1, "");
    write_usage(1, 3, 1, noon, 1);
    struct decayed_use *use = decayed_use_new(&spool, &share);
    look(use);
    decayed_use_charge(use, "a-0000000000001", &record);
    assert_true(is_near(used_by(use, 1), 2 * 600000)); /* never for longer than ten minutes */
    decayed_use_free(use);
    int directory = history_open(&spool, false, &error);
    assert_int_equal(renameat(directory, "usage", directory, "old"), 0);
    for (int i = 0; i < 8; i++)
        write_minutes(i, 3, 1);
    use = decayed_use_new(&spool, &share);
    look(use);
    decayed_use_charge(use, "a-0000000000001", &record);
    assert_true(is_near(used_by(use, 1), 2 * 60000));
    assert_int_equal(decayed_use_keep(use, &error), 0);
    struct decayed_use *restarted = decayed_use_new(&spool, &share);
    look(restarted);
    decayed_use_charge(restarted, "a-0000000000001", &record);
    assert_true(is_near(used_by(restarted, 1), 2 * 60000));
    decayed_use_free(restarted);
    write_minutes(9, 3, 5); /* which uses 5 of 13 */
    look(use);
    assert_true(is_near(used_by(use, 1), 2 * 60000 * (8 + 5 * 5) / 13.0));
    decayed_use_free(use);
    close(directory);
}

static void groups_share_first(void **state)
{
    (void)state;
    struct share_row of_groups[] = {{LIMIT_GROUP, TEXT("*"), 0, 1},
                                    {LIMIT_GROUP, TEXT("g"), 101, 4}};
    share.rows = of_groups;
    share.row_count = 2;
    share.has_groups = true;
    write_usage(1, 1, 8, noon, 1); /* of group 101, which has four times the weight */
    write_usage(2, 2, 3, noon, 1);
    struct decayed_use *use = decayed_use_new(&spool, &share);
    look(use);
    assert_true(decayed_use_compare(use, 1, 2) < 0);
    decayed_use_note(use, 11, 102); /* the group of 2 */
    assert_true(decayed_use_compare(use, 1, 11) < 0 && decayed_use_compare(use, 11, 2) < 0);
    decayed_use_note(use, 12, 101);
    assert_true(decayed_use_compare(use, 12, 1) < 0 && decayed_use_compare(use, 12, 11) < 0);
    decayed_use_free(use);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, close_spool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(use_is_counted_from_the_accounts),
        TEST(a_restart_changes_nothing),
        TEST(wrong_sums_are_made_anew),
        TEST(a_clock_that_is_set_back),
        TEST(what_is_at_the_executor_counts),
        TEST(what_cannot_be_read_now_counts_later),
        TEST(groups_share_first),
        TEST(a_job_counts_for_as_long_as_others_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
