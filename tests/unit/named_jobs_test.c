/* tests/unit/named_jobs_test.c - which job a user means by a name, and how it stands */
#include "spool/job.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "spool/record.h"
#include "stages/resubmit/named_jobs.h"
#include "stages/shared/dependencies.h"

/* Tokens of one process only grow, so each test has a time of its own, and makes its jobs by age. */
static int64_t noon = 1798718400000; /* 2026-12-31T12:00Z */
static const int64_t a_day = (int64_t)24 * 60 * 60 * 1000;
static int64_t time_now;

static int64_t tell_time(void)
{
    return time_now;
}

struct fixture {
    char *path;
    struct spool spool;
    struct arena *arena;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct error error;
    fixture->path = unit_directory();
    fixture->arena = arena_new();
    time_now = noon += 30 * a_day;
    clock_replace(tell_time, tell_time);
    if (spool_create(fixture->path, &error) || spool_open(&fixture->spool, fixture->path, &error))
        return -1;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    spool_close(&fixture->spool);
    arena_free(fixture->arena);
    unit_remove(fixture->path);
    free(fixture);
    return 0;
}

/* A job that came at that time; of done/, that ended at `ended`.  Its id. */
static const char *make(struct fixture *fixture, const char *name, uid_t uid, int64_t came,
                        enum state state, int64_t ended, const char *reason)
{
    char token[TOKEN_LENGTH + 1], *id = arena_allocate(fixture->arena, ID_SIZE);
    struct error error;
    id_token_make(came, token);
    id_make(text_of(name), token, id);
    struct job_record record = {
        .id = text_of(id),
        .name = text_of(name),
        .uid = uid,
        .accepted = came,
        .attempt = 1,
        .failed = reason != NULL,
        .failure = {.when = RETRY_NEVER,
                    .exit_code = -1,
                    .reason = text_of(reason ? reason : ""),
                    .class = TEXT("permanent")},
    };
    int job = job_create(&fixture->spool, id, &error);
    assert_true(job >= 0);
    assert_int_equal(record_create(job, &record, &error), 0);
    close(job);
    assert_int_equal(job_publish(&fixture->spool, id, STATE_SUBMITTED, &error), 0);
    struct job_place place = {.state = STATE_SUBMITTED};
    memcpy(place.id, id, strlen(id));
    if (state != STATE_SUBMITTED)
        assert_int_equal(job_move(&fixture->spool, &place, state, ended, &error), 0);
    return id;
}

static const char *look(struct fixture *fixture, struct named_job named_job, int64_t since)
{
    static char found[ID_SIZE];
    struct error error;
    assert_int_equal(named_jobs_find(&fixture->spool, &named_job, 1, since, &error), 0);
    memcpy(found, named_job.found, sizeof(found));
    return found;
}

static const char *meant(struct fixture *fixture, const char *name, uid_t uid, const char *by,
                         int64_t since)
{
    return look(fixture, (struct named_job){.name = text_of(name), .uid = uid, .id = text_of(by)},
                since);
}

/* What a singleton waits for. */
static void the_latest_before_it_that_has_not_ended(void **state)
{
    struct fixture *fixture = *state;
    struct named_job of = {.name = TEXT("turn"), .uid = 7, .unended = true};
    struct error error;
    const char *oldest = make(fixture, "turn", 7, noon - a_day, STATE_SUBMITTED, 0, NULL);
    make(fixture, "turn", 7, noon - 9, STATE_DONE, noon, NULL);
    make(fixture, "turn", 8, noon - 8, STATE_SUBMITTED, 0, NULL);
    const char *comes_back = make(fixture, "turn", 7, noon - 7, STATE_FAILED, 0, NULL);
    make(fixture, "turn", 7, noon - 6, STATE_FAILED, 0, "Killed");
    of.id = text_of(make(fixture, "turn", 7, noon, STATE_HELD, 0, NULL));
    make(fixture, "turn", 7, noon + 5, STATE_SUBMITTED, 0, NULL);
    assert_string_equal(look(fixture, of, 0), comes_back);
    struct job_place place = {.state = STATE_FAILED};
    memcpy(place.id, comes_back, strlen(comes_back) + 1);
    assert_int_equal(job_move(&fixture->spool, &place, STATE_DONE, noon, &error), 0);
    assert_string_equal(look(fixture, of, 0), oldest);
    place = (struct job_place){.state = STATE_SUBMITTED};
    memcpy(place.id, oldest, strlen(oldest) + 1);
    assert_int_equal(job_move(&fixture->spool, &place, STATE_DONE, noon, &error), 0);
    assert_string_equal(look(fixture, of, 0), "");
}

static void the_latest_before_it(void **state)
{
    struct fixture *fixture = *state;
    make(fixture, "prepare", 7, noon - 9 * a_day, STATE_DONE, noon - 2 * a_day, NULL);
    /* It came later than the one above, and ended earlier. */
    const char *right =
        make(fixture, "prepare", 7, noon - 5 * a_day, STATE_DONE, noon - 4 * a_day, NULL);
    make(fixture, "prepare", 8, noon - 3 * a_day, STATE_DONE, noon, NULL);
    make(fixture, "Prepare", 7, noon - 3 * a_day, STATE_DONE, noon, NULL);
    const char *asker = make(fixture, "train", 7, noon, STATE_HELD, 0, NULL);
    const char *later = make(fixture, "prepare", 7, noon + 5, STATE_SUBMITTED, 0, NULL);
    assert_string_equal(meant(fixture, "prepare", 7, asker, 0), right);
    assert_string_equal(meant(fixture, "prepare", 9, asker, 0), "");
    /* When days before this one were looked through already. */
    assert_string_equal(meant(fixture, "prepare", 7, asker, noon - a_day), later);
    const char *failed = make(fixture, "prepare", 7, noon + 6, STATE_FAILED, 0, "BadAfter");
    const char *other = make(fixture, "train", 7, noon + 7, STATE_HELD, 0, NULL);
    assert_string_equal(meant(fixture, "prepare", 7, other, 0), failed);
}

static void the_first_after_it(void **state)
{
    struct fixture *fixture = *state;
    const char *asker = make(fixture, "train", 7, noon, STATE_HELD, 0, NULL);
    make(fixture, "prepare", 7, noon + 1, STATE_FAILED, 0, "BadAfter");
    assert_string_equal(meant(fixture, "prepare", 7, asker, 0), "");
    const char *right = make(fixture, "prepare", 7, noon + 2, STATE_DONE, noon + 9, NULL);
    make(fixture, "prepare", 7, noon + 3, STATE_RENDERED, 0, NULL);
    assert_string_equal(meant(fixture, "prepare", 7, asker, 0), right);
    assert_string_equal(meant(fixture, "train", 7, asker, 0), "");
}

/* What cannot be read may be the job that is meant. */
static void an_unreadable_record_leaves_it_open(void **state)
{
    struct fixture *fixture = *state;
    char path[4200];
    struct error error;
    const char *hidden = make(fixture, "prepare", 7, noon, STATE_SUBMITTED, 0, NULL);
    struct named_job named_job = {
        .name = TEXT("prepare"),
        .uid = 7,
        .id = text_of(make(fixture, "waits", 7, noon + 1, STATE_HELD, 0, NULL))};
    snprintf(path, sizeof(path), "%s/submitted/%s/job.yaml", fixture->path, hidden);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(named_jobs_find(&fixture->spool, &named_job, 1, 0, &error), 0);
    assert_string_equal(named_job.found, "");
    assert_true(named_job.unsure);
    named_job.name = TEXT("other");
    assert_int_equal(named_jobs_find(&fixture->spool, &named_job, 1, 0, &error), 0);
    assert_false(named_job.unsure);
}

static int told;

static void count_told(void *context, struct dependency_waiter *waiter)
{
    (void)context;
    (void)waiter;
    told++;
}

/* How it is with the job when it is looked at again. */
static enum dependency_state kind_of(struct dependencies *dependencies, const char *id)
{
    static struct dependency_waiter waiters[16];
    if (!dependency_is_awaited(dependencies, text_of(id)))
        for (size_t i = 0; i < ARRAY_COUNT(waiters); i++)
            if (!waiters[i].on) {
                dependency_await(dependencies, text_of(id), &waiters[i]);
                break;
            }
    dependencies_doubt(dependencies, text_of(id));
    dependencies_look(dependencies, count_told, NULL);
    return dependency_find(dependencies, text_of(id))->kind;
}

static void how_jobs_stand(void **state)
{
    struct fixture *fixture = *state;
    struct dependencies *dependencies = dependencies_new(&fixture->spool, 1000);
    const char *done =
        make(fixture, "done", 7, noon - 9 * a_day, STATE_DONE, noon - 6 * a_day, NULL);
    const char *on = make(fixture, "on", 7, noon, STATE_SUBMITTED, 0, NULL);
    const char *held = make(fixture, "held", 7, noon, STATE_HELD, 0, NULL);
    const char *lost = make(fixture, "lost", 7, noon, STATE_FAILED, 0, "Killed");
    assert_int_equal(kind_of(dependencies, on), DEPENDENCY_ON);
    assert_int_equal(kind_of(dependencies, held), DEPENDENCY_HELD);
    assert_int_equal(kind_of(dependencies, lost), DEPENDENCY_LOST);
    assert_string_equal(dependency_find(dependencies, text_of(lost))->reason, "Killed");
    assert_int_equal(kind_of(dependencies, done), DEPENDENCY_DONE);
    assert_int_equal(kind_of(dependencies, "none-0123456789abc"), DEPENDENCY_GONE);
    /* Somebody has asked for it to be tried again. */
    assert_int_equal(kind_of(dependencies, lost), DEPENDENCY_LOST);
    char path[4200];
    snprintf(path, sizeof(path), "%s/failed/%s/retry", fixture->path, lost);
    close(open(path, O_WRONLY | O_CREAT, 0644));
    assert_int_equal(kind_of(dependencies, lost), DEPENDENCY_FAILED);
    /* What was there is believed to be gone only after a while. */
    snprintf(path, sizeof(path), "%s/submitted/%s", fixture->path, on);
    char hidden[4200];
    snprintf(hidden, sizeof(hidden), "%s/hidden", fixture->path);
    assert_int_equal(kind_of(dependencies, on), DEPENDENCY_ON);
    assert_int_equal(rename(path, hidden), 0);
    assert_int_equal(kind_of(dependencies, on), DEPENDENCY_UNSURE);
    time_now += 999;
    assert_int_equal(kind_of(dependencies, on), DEPENDENCY_UNSURE);
    time_now += 1;
    assert_int_equal(kind_of(dependencies, on), DEPENDENCY_GONE);
    assert_int_equal(rename(hidden, path), 0);
    assert_int_equal(kind_of(dependencies, on), DEPENDENCY_ON);
    dependencies_free(dependencies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_latest_before_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_latest_before_it_that_has_not_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_after_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unreadable_record_leaves_it_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(how_jobs_stand, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
