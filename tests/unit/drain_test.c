/* tests/unit/drain_test.c - is there anything left to do in a spool, with jobs in held/? */
#include "spool/file.h"
#include "spool/job.h"
#include "tests/unit/unit.h"

#include <unistd.h>

#include "base/clock.h"
#include "spool/record.h"
#include "stages/service/drain.h"

struct fixture {
    char *path;
    struct spool spool;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct error error;
    char path[4200];
    fixture->path = unit_directory();
    if (spool_create(fixture->path, &error) || spool_open(&fixture->spool, fixture->path, &error))
        return -1;
    snprintf(path, sizeof(path), "%s/dlspool.yaml", fixture->path);
    FILE *settings = fopen(path, "w");
    fprintf(settings, "executor: \"null\"\nafter_unknown: 1h\n");
    fclose(settings);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    spool_close(&fixture->spool);
    unit_remove(fixture->path);
    free(fixture);
    return 0;
}

/* A job with that id, which is to come after `after`, when that is not NULL. */
static void make(struct fixture *fixture, const char *id, enum state state, const char *after,
                 bool hold, int64_t came)
{
    struct error error;
    struct awaited awaited = {.condition = TEXT("afterok"),
                              .job = after ? text_of(after) : (struct text){"", 0}};
    struct job_record record = {.id = text_of(id),
                                .name = TEXT("a"),
                                .uid = 7,
                                .accepted = came,
                                .held = came,
                                .attempt = 1,
                                .after = &awaited,
                                .after_count = after != NULL,
                                .failure.exit_code = -1};
    int job = job_create(&fixture->spool, id, &error);
    assert_true(job >= 0);
    assert_int_equal(record_create(job, &record, &error), 0);
    if (hold)
        assert_int_equal(spool_file_create(job, "hold", TEXT(""), 0644, &error), 0);
    close(job);
    assert_int_equal(job_publish(&fixture->spool, id, STATE_SUBMITTED, &error), 0);
    struct job_place place = {.state = STATE_SUBMITTED};
    memcpy(place.id, id, strlen(id));
    assert_int_equal(job_move(&fixture->spool, &place, state, clock_now(), &error), 0);
}

static bool is_done(struct fixture *fixture)
{
    struct drain drain = {0};
    drain_is_done(&drain, &fixture->spool);
    return drain_is_done(&drain, &fixture->spool);
}

static const char one[] = "one-0123456789abc", two[] = "two-0123456789abd";

static void what_waits_in_vain_is_left(void **state)
{
    struct fixture *fixture = *state;
    assert_true(is_done(fixture));
    make(fixture, one, STATE_HELD, NULL, true, clock_now());
    assert_true(is_done(fixture));
    make(fixture, two, STATE_HELD, one, false, clock_now());
    assert_true(is_done(fixture));
    make(fixture, "three-0123456789abe", STATE_HELD, "comes-later", false, clock_now());
    assert_true(is_done(fixture));
}

static void what_has_come_moves(void **state)
{
    struct fixture *fixture = *state;
    make(fixture, one, STATE_DONE, NULL, false, clock_now());
    assert_true(is_done(fixture));
    make(fixture, two, STATE_HELD, one, false, clock_now());
    assert_false(is_done(fixture));
}

static void nobody_holds_it(void **state)
{
    struct fixture *fixture = *state;
    make(fixture, one, STATE_HELD, NULL, false, clock_now());
    assert_false(is_done(fixture));
}

static void what_cannot_come_moves(void **state)
{
    struct fixture *fixture = *state;
    make(fixture, one, STATE_HELD, two, false, clock_now());
    assert_false(is_done(fixture));
}

static void patience_ends(void **state)
{
    struct fixture *fixture = *state;
    make(fixture, one, STATE_HELD, "never-comes", false, clock_now() - 2 * 3600 * 1000);
    assert_false(is_done(fixture));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_waits_in_vain_is_left), TEST(what_has_come_moves), TEST(nobody_holds_it),
        TEST(what_cannot_come_moves),     TEST(patience_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
