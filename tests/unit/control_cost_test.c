/* tests/unit/control_cost_test.c - a control file costs the same beside 10 jobs and beside 10,000
 *
 * Counted are the system calls of the spool.  A name costs one look at all directories, for a whole batch, but those
 * days of done/ that have a file of names.
 */
#include "tests/unit/stage_fixture.h"

#include "spool/day_names_file.h"
#include "stages/shared/control.h"

#define ID "one-1m7y5dm13etb1"
#define DAY "2025-12-30"

enum { FEW = 10, NAMED = 1000, MANY = 10000, OWNER = 1 };

static const int64_t noon = 1767268800000; /* 2026-01-01 */
static struct system_calls real;
static int calls;
static struct stage asked;
static struct name_index *names;

#define COUNTED(name, parameters, arguments)                                                       \
    static int count_##name parameters                                                             \
    {                                                                                              \
        calls++;                                                                                   \
        return real.name arguments;                                                                \
    }
COUNTED(openat, (int directory, const char *file, int flags, mode_t mode),
        (directory, file, flags, mode))
COUNTED(open_beneath, (int directory, const char *file, int flags), (directory, file, flags))
COUNTED(close, (int file), (file))
COUNTED(fstat, (int file, struct stat *status), (file, status))
COUNTED(fstatat, (int directory, const char *file, struct stat *status, int flags),
        (directory, file, status, flags))
COUNTED(renameat, (int from, const char *old, int to, const char *new), (from, old, to, new))
COUNTED(unlinkat, (int directory, const char *file, int flags), (directory, file, flags))

static ssize_t count_read(int file, void *bytes, size_t length)
{
    calls++;
    return real.read(file, bytes, length);
}

static ssize_t count_getdents(int directory, void *entries, size_t length)
{
    calls++;
    return real.getdents(directory, entries, length);
}

static void put_jobs(int first, int end)
{
    char id[ID_SIZE];
    for (int i = first; i < end; i++) {
        snprintf(id, sizeof(id), "job%d-1m7y5dm13etb1", i);
        assert_int_equal(mkdirat(spool.states[STATE_FAILED], id, 0755), 0);
    }
}

static int open_all(void **state)
{
    (void)state;
    open_spool(&resubmit_stage, NULL, noon);
    write_settings("administrators: [bin]\n");
    memset(&asked, 0, sizeof(asked));
    assert_int_equal(spool_open(&asked.spool, path, &error), 0);
    assert_int_equal(settings_read(&asked.settings, &asked.spool, &error), 0);
    names = name_index_new(&asked.spool);
    const struct job_record record = {.id = TEXT(ID),
                                      .name = TEXT("one"),
                                      .owner = TEXT("daemon"),
                                      .uid = OWNER,
                                      .accepted = now,
                                      .attempt = 1};
    put_job(STATE_RENDERED, &record, "2026-01-01T12:00:00.000Z accepted\n", NULL);
    real = sys;
    return 0;
}

static int close_all(void **state)
{
    sys = real;
    name_index_free(names);
    settings_free(&asked.settings);
    spool_close(&asked.spool);
    return close_spool(state);
}

/* How many calls a request to kill costs, that the owner makes with this word. */
static int cost_of(const char *word, int result)
{
    const struct control control = {.verb = CONTROL_KILL, .id = text_of(word)};
    calls = 0;
    sys.openat = count_openat, sys.open_beneath = count_open_beneath, sys.close = count_close;
    sys.fstat = count_fstat, sys.fstatat = count_fstatat, sys.read = count_read;
    sys.renameat = count_renameat, sys.unlinkat = count_unlinkat, sys.getdents = count_getdents;
    assert_int_equal(control_apply(&asked, names, &control, OWNER, now, &error), result);
    sys = real;
    return calls;
}

/* The first of a batch, which may look at the directories; and all others. */
static void cost_in_batch(const char *word, int result, int *first, int *next)
{
    name_index_clear(names);
    *first = cost_of(word, result);
    *next = cost_of(word, result);
}

static void the_number_of_jobs_costs_one_look_a_batch(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        int result;
        bool looks;
    } words[] = {{ID, 0, false},
                 {"one", 0, true},
                 {"one-1m7", 0, true},
                 {"nobody", 1, true},
                 {"two-1m7y5dm13etb1", 1, true}};
    int few[ARRAY_COUNT(words)][2], many[2];
    put_jobs(0, FEW);
    cost_of(ID, 0); /* what the first request leaves makes the others alike */
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        cost_in_batch(words[i].word, words[i].result, &few[i][0], &few[i][1]);
    put_jobs(FEW, MANY);
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        cost_in_batch(words[i].word, words[i].result, &many[0], &many[1]);
        print_message("%s: %d, then %d calls beside %d jobs; %d, then %d beside %d\n",
                      words[i].word, few[i][0], few[i][1], FEW, many[0], many[1], MANY);
        assert_int_equal(many[1], few[i][1]);
        assert_int_equal(many[0] > few[i][0], words[i].looks);
        assert_in_range(many[1], 0, 40);
    }
}

static void a_job_that_has_moved_since_is_found(void **state)
{
    (void)state;
    struct job_place place = {.state = STATE_RENDERED, .id = ID};
    assert_int_equal(cost_of("nobody", 1) > 0, 1);
    assert_int_equal(job_move(&spool, &place, STATE_SUBMITTED, now, &error), 0);
    cost_of("one", 0);
    place.state = STATE_SUBMITTED;
    assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
    cost_of("one", 1);
    assert_non_null(strstr(error.text, ID " has finished already"));
}

static void what_comes_later_is_found_in_the_next_batch(void **state)
{
    (void)state;
    put_jobs(0, 1);
    cost_of("job0", 1);
    assert_non_null(strstr(error.text, "belongs to nobody"));
    put_jobs(1, 2);
    cost_of("job1", 1);
    assert_non_null(strstr(error.text, "there is no job \"job1\""));
    name_index_clear(names);
    cost_of("job1", 1);
    assert_non_null(strstr(error.text, "belongs to nobody"));
}

static int count_place(void *context, const struct job_place *place)
{
    int *count = context;
    assert_int_equal(place->state, STATE_FAILED);
    ++*count;
    return 0;
}

static void each_name_of_many_is_found(void **state)
{
    (void)state;
    put_jobs(0, NAMED);
    for (int i = 0; i < NAMED; i++) {
        char name[16];
        int count = 0;
        snprintf(name, sizeof(name), "job%d", i);
        assert_int_equal(name_index_visit(names, text_of(name), count_place, &count, &error), 0);
        assert_int_equal(count, 1);
    }
}

static void put_done(int first, int end)
{
    const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1 + end}};
    char name[PLACE_TEXT_SIZE];
    for (int i = first; i < end; i++) {
        snprintf(name, sizeof(name), DAY "/done%d-1m7y5dm13etb1", i);
        assert_int_equal(mkdirat(spool.states[STATE_DONE], name, 0755), 0);
    }
    assert_int_equal(utimensat(spool.states[STATE_DONE], DAY, long_ago, 0), 0);
    assert_int_equal(day_names_file_write(&spool, DAY, &error), 1);
}

/* Jobs that were done on a day that has a file of names are found in that. */
static void the_number_of_jobs_in_done_costs_no_call(void **state)
{
    (void)state;
    assert_int_equal(mkdirat(spool.states[STATE_DONE], DAY, 0755), 0);
    put_done(0, NAMED);
    int few, many, next;
    cost_in_batch("nobody", 1, &few, &next);
    put_done(NAMED, MANY);
    cost_in_batch("nobody", 1, &many, &next);
    assert_int_equal(many, few);
    assert_int_equal(next, 0);
}

static int find_done(void *context, const struct job_place *place)
{
    int *count = context;
    assert_int_equal(place->state, STATE_DONE);
    assert_string_equal(place->date, DAY);
    ++*count;
    return 0;
}

/* More names than are looked for one by one. */
static void each_name_of_many_in_done_is_found(void **state)
{
    (void)state;
    assert_int_equal(mkdirat(spool.states[STATE_DONE], DAY, 0755), 0);
    put_done(0, NAMED);
    for (int i = 0; i < NAMED; i++) {
        char name[16];
        int count = 0;
        snprintf(name, sizeof(name), "done%d", i);
        assert_int_equal(name_index_visit(names, text_of(name), find_done, &count, &error), 0);
        assert_in_range(count, 1, 2); /* twice those that were looked for before all were read */
        count = 0;
        assert_int_equal(name_index_visit(names, text_of(name), find_done, &count, &error), 0);
        assert_in_range(count, 1, 2);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_number_of_jobs_costs_one_look_a_batch),
        TEST(a_job_that_has_moved_since_is_found),
        TEST(what_comes_later_is_found_in_the_next_batch),
        TEST(each_name_of_many_is_found),
        TEST(the_number_of_jobs_in_done_costs_no_call),
        TEST(each_name_of_many_in_done_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
