/* tests/unit/held_test.c - what many jobs of held/ that wait for many others take of memory, and that each is found
 *
 * Seen to fail with: tests/mutants/held-*.patch.
 */
#include "tests/unit/unit_spool.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "request/after.h"
#include "spool/job.h"
#include "stages/resubmit/held.h"

enum { JOBS = 140, CONDITIONS = JOBS * AFTER_MOST, BYTES = 60 /* of a condition */ };

static struct job_place place_of(int number, const char *name)
{
    struct job_place place = {.state = STATE_RENDERED};
    snprintf(place.id, sizeof(place.id), "%s-%013d", name, number);
    return place;
}

/* A job of that owner's in held/ or done/, which waits for so many others by their names. */
static void make(int number, const char *name, size_t count, enum state state)
{
    static char words[AFTER_MOST][32];
    struct awaited after[AFTER_MOST];
    struct job_place place = place_of(number, name);
    struct job_record record = {.id = text_of(place.id),
                                .name = text_of(name),
                                .uid = 7,
                                .accepted = clock_now(),
                                .held = clock_now(),
                                .attempt = 1,
                                .after = after,
                                .after_count = count,
                                .failure.exit_code = -1};
    for (size_t i = 0; i < count; i++) {
        snprintf(words[i], sizeof(words[i]), i ? "never-%d-%zu" : "first-%d", number, i);
        after[i] = (struct awaited){.condition = TEXT("afterok"), .job = text_of(words[i])};
    }
    int job = job_create(&spool, place.id, &error);
    assert_int_equal(record_create(job, &record, &error), 0);
    close(job);
    assert_int_equal(job_publish(&spool, place.id, STATE_RENDERED, &error), 0);
    assert_int_equal(job_move(&spool, &place, state, clock_now(), &error), 0);
}

/* More names than are looked for at once: the last job's is found all the same. */
static void each_name_is_found_and_little_is_kept(void **state)
{
    struct settings settings;
    (void)state;
    assert_int_equal(settings_parse(&settings, TEXT("executor: \"null\"\n"), &error), 0);
    for (int i = 0; i < JOBS; i++)
        make(JOBS + i, "waits", AFTER_MOST, STATE_HELD);
    char name[32];
    for (int i = 0; i < JOBS; i += JOBS - 1) {
        snprintf(name, sizeof(name), "first-%d", JOBS + i);
        make(i, name, 0, STATE_DONE);
    }
    size_t before = mallinfo2().uordblks;
    struct held_jobs *jobs = held_jobs_new(&spool, &settings);
    assert_int_equal(held_jobs_decide(jobs, clock_now(), &error), 0);
    assert_true(mallinfo2().uordblks - before < (size_t)CONDITIONS * BYTES);
    assert_int_equal(jobs->count, JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        const struct held *held = jobs->by_age[i];
        assert_int_equal(held->count, AFTER_MOST);
        assert_int_equal(held->decision, HELD_WAITS);
        assert_true(held->looked_for);
        assert_int_equal(held->conditions[0].holds, i == 0 || i == JOBS - 1);
        assert_true(text_is(held_job_id(&held->conditions[1]), ""));
    }
    struct buffer why = {0};
    held_explain(jobs, jobs->by_age[1], &why);
    assert_true(text_contains(buffer_text(&why), TEXT("first-141")));
    buffer_free(&why);
    held_jobs_free(jobs);
    settings_free(&settings);
}

static void hold(int number, const char *name)
{
    struct job_place place = place_of(number, name);
    place.state = STATE_HELD;
    int job = job_open(&spool, &place);
    assert_int_equal(control_file_write(job, CONTROL_HOLD, TEXT("ann"), 7, clock_now(), &error), 0);
    close(job);
}

/* What all that lie in held/ take. */
static size_t bytes_of_all(const struct settings *settings)
{
    size_t before = mallinfo2().uordblks;
    struct held_jobs *jobs = held_jobs_new(&spool, settings);
    struct held_jobs *none = held_jobs_new(&spool, settings);
    size_t empty = (mallinfo2().uordblks - before) / 2;
    assert_int_equal(held_jobs_decide(jobs, clock_now(), &error), 0);
    size_t result = mallinfo2().uordblks - before - 2 * empty;
    held_jobs_free(jobs);
    held_jobs_free(none);
    return result;
}

/* Most jobs of held/ wait for one thing, and there may be a hundred thousand. */
static void a_job_that_waits_takes_little_memory(void **state)
{
    enum { MOST_BYTES = 240, MOST_BYTES_AFTER = 300 };
    struct settings settings;
    (void)state;
    assert_int_equal(settings_parse(&settings, TEXT("executor: \"null\"\n"), &error), 0);
    for (int i = 0; i < JOBS; i++) {
        make(i, "held", 0, STATE_HELD);
        hold(i, "held");
    }
    size_t held = bytes_of_all(&settings);
    assert_true(held < (size_t)JOBS * MOST_BYTES);
    for (int i = 0; i < JOBS; i++)
        make(JOBS + i, "after", 1, STATE_HELD);
    assert_true(bytes_of_all(&settings) - held < (size_t)JOBS * MOST_BYTES_AFTER);
    settings_free(&settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_name_is_found_and_little_is_kept, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_job_that_waits_takes_little_memory, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
