/* tests/unit/load_test.c - never more than live_max objects, and nobody overtaken for ever */

#include <errno.h>
#include <unistd.h>

#include "base/system.h"
#include "spool/file.h"
#include "spool/job.h"
#include "stages/submit/load.h"
#include "tests/unit/unit.h"

struct fixture {
    char *path;
    struct spool spool;
    struct executor executor;
    struct load *load;
};

/* As many objects as the manifest is long. */
static int weight(struct executor *executor, struct text manifest)
{
    (void)executor;
    return (int)manifest.length;
}

static const struct executor_operations operations = {.name = "test", .weight = weight};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct error error;
    fixture->path = unit_directory();
    if (spool_create(fixture->path, &error) || spool_open(&fixture->spool, fixture->path, &error))
        return -1;
    fixture->executor = (struct executor){.operations = &operations, .live_max = 5};
    fixture->load = load_new(&fixture->spool, &fixture->executor);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    load_free(fixture->load);
    spool_close(&fixture->spool);
    unit_remove(fixture->path);
    free(fixture);
    return 0;
}

static void put_job(struct fixture *fixture, const char *id, const char *manifest)
{
    struct error error;
    int job = job_create(&fixture->spool, id, &error);
    assert_true(job >= 0);
    assert_int_equal(spool_file_create(job, "manifest.yaml", text_of(manifest), 0644, &error), 0);
    close(job);
    assert_int_equal(job_publish(&fixture->spool, id, STATE_SUBMITTED, &error), 0);
}

static void end_job(struct fixture *fixture, const char *id)
{
    struct error error;
    struct job_place place = {.state = STATE_SUBMITTED};
    snprintf(place.id, sizeof(place.id), "%s", id);
    assert_int_equal(job_move(&fixture->spool, &place, STATE_FAILED, 0, &error), 0);
}

static enum load_answer take(struct fixture *fixture, const char *id, const char *manifest)
{
    struct error error = {""};
    /* Each is somebody else's. */
    enum load_answer answer =
        load_take(fixture->load, id, (uid_t)id[strlen(id) - 1], text_of(manifest), &error);
    assert_int_equal(answer != LOAD_TAKEN, error.text[0] != '\0');
    return answer;
}

static const char one[] = "a-0000000000001", two[] = "a-0000000000002", three[] = "a-0000000000003";

static void what_is_submitted_counts_by_its_weight(void **state)
{
    struct fixture *fixture = *state;
    put_job(fixture, one, "123");
    assert_int_equal(load_refresh(fixture->load, NULL), 0);
    assert_int_equal(take(fixture, two, "123"), LOAD_FULL);
    assert_int_equal(take(fixture, two, "12"), LOAD_TAKEN);
    assert_int_equal(take(fixture, three, "1"), LOAD_FULL);
    end_job(fixture, one);
    assert_int_equal(take(fixture, three, "1"), LOAD_FULL);
    assert_int_equal(load_refresh(fixture->load, NULL), 0);
    assert_int_equal(take(fixture, three, "123"), LOAD_TAKEN);
}

static void what_may_be_there_counts_until_it_is_known(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(take(fixture, one, "1234"), LOAD_TAKEN);
    assert_int_equal(load_refresh(fixture->load, NULL), 0);
    assert_int_equal(take(fixture, two, "12"), LOAD_FULL);
    assert_int_equal(take(fixture, one, "1234"), LOAD_TAKEN); /* the same job, once more */
    load_release(fixture->load, one, false);
    assert_int_equal(take(fixture, two, "12345"), LOAD_TAKEN);
    put_job(fixture, two, "12345");
    load_release(fixture->load, two, true);
    assert_int_equal(load_refresh(fixture->load, NULL), 0);
    assert_int_equal(take(fixture, three, "1"), LOAD_FULL);
    end_job(fixture, two);
    assert_int_equal(load_refresh(fixture->load, NULL), 0);
    assert_int_equal(take(fixture, three, "1"), LOAD_TAKEN);
}

static const char *unreadable; /* the name of a file, or a job's id */
static struct system_calls really;

static int open_unless_unreadable(int directory, const char *name, int flags, mode_t mode)
{
    if (strcmp(name, unreadable) != 0)
        return really.openat(directory, name, flags, mode);
    errno = EMFILE;
    return -1;
}

/* A job that cannot be read for a moment may make any number of objects. */
static void what_cannot_be_read_now_is_not_counted_as_one(void **state)
{
    static const char *const files[] = {one, "manifest.yaml", "job.yaml"};
    struct fixture *fixture = *state;
    struct error error;
    put_job(fixture, one, "1234");
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        really = sys;
        unreadable = files[i];
        sys.openat = open_unless_unreadable;
        assert_int_equal(load_refresh(fixture->load, &error), -1);
        sys = really;
        assert_non_null(strstr(error.text, "submitted/a-0000000000001: how many objects it makes"));
    }
    assert_int_equal(load_refresh(fixture->load, NULL), 0);
    assert_int_equal(take(fixture, two, "12"), LOAD_FULL);
    assert_int_equal(take(fixture, two, "1"), LOAD_TAKEN);
}

static void what_can_never_be_is_refused(void **state)
{
    assert_int_equal(take(*state, one, "123456"), LOAD_NEVER);
    assert_int_equal(take(*state, one, "12345"), LOAD_TAKEN);
}

static void without_a_bound_there_is_no_load(void **state)
{
    struct fixture *fixture = *state;
    fixture->executor.live_max = 0;
    assert_null(load_new(&fixture->spool, &fixture->executor));
}

static int taken; /* the number of the last job */

/* So many jobs of one object each the owner has taken, when no more are. */
static int take_all(struct fixture *fixture, uid_t owner)
{
    struct error error = {""};
    char id[ID_SIZE];
    int count = 0;
    enum load_answer answer;
    do {
        snprintf(id, sizeof(id), "x-%013d", ++taken);
        answer = load_take(fixture->load, id, owner, TEXT("1"), &error);
        count += answer == LOAD_TAKEN;
    } while (answer == LOAD_TAKEN);
    assert_int_equal(answer, LOAD_SHARE);
    assert_non_null(
        strstr(error.text, "its owner has as many objects at the scheduler as one user may"));
    return count;
}

static void an_owner_leaves_room_for_others(void **state)
{
    struct fixture *fixture = *state;
    fixture->executor.live_max = 1000;
    assert_int_equal(take_all(fixture, 1), 800);
    assert_int_equal(take_all(fixture, 2), 160);
    assert_int_equal(take_all(fixture, 3), 32);
    /* Who has nothing there may have one, of any size that is left. */
    assert_int_equal(load_take(fixture->load, one, 4, TEXT("12345678"), NULL), LOAD_TAKEN);
    assert_int_equal(load_take(fixture->load, two, 5, TEXT("1"), NULL), LOAD_FULL);
}

static void what_was_not_submitted_or_has_left_is_no_longer_its_owners(void **state)
{
    struct fixture *fixture = *state;
    char id[ID_SIZE];
    fixture->executor.live_max = 100;
    int first = taken + 1, count = take_all(fixture, 1);
    assert_int_equal(count, 80);
    for (int i = first; i < first + count; i++) {
        snprintf(id, sizeof(id), "x-%013d", i);
        load_release(fixture->load, id, i % 2);
    }
    assert_int_equal(load_refresh(fixture->load, NULL), 0);
    assert_int_equal(take_all(fixture, 1), 80);
}

/* What is found in submitted/ after a restart is its owner's. */
static void what_is_found_counts_for_its_owner(void **state)
{
    struct fixture *fixture = *state;
    struct error error;
    struct job_record record = {.id = text_of(one), .owner = TEXT("ann"), .uid = 1, .attempt = 1};
    int job = job_create(&fixture->spool, one, &error);
    assert_int_equal(spool_file_create(job, "manifest.yaml", TEXT("123456789012345678901234567890"),
                                       0644, &error),
                     0);
    assert_int_equal(record_create(job, &record, &error), 0);
    close(job);
    assert_int_equal(job_publish(&fixture->spool, one, STATE_SUBMITTED, &error), 0);
    fixture->executor.live_max = 100;
    assert_int_equal(load_refresh(fixture->load, NULL), 0);
    assert_int_equal(take_all(fixture, 1), 50);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_submitted_counts_by_its_weight),
        TEST(what_may_be_there_counts_until_it_is_known),
        TEST(what_cannot_be_read_now_is_not_counted_as_one),
        TEST(what_can_never_be_is_refused),
        TEST(an_owner_leaves_room_for_others),
        TEST(what_was_not_submitted_or_has_left_is_no_longer_its_owners),
        TEST(what_is_found_counts_for_its_owner),
        TEST(without_a_bound_there_is_no_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
