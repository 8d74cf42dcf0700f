/* tests/unit/gather_test.c - the jobs of a spool come newest first, and what was taken needs no memory
 *
 * Seen to fail with: tests/mutants/gather-*.patch.
 */
#include "tests/unit/unit_spool.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "client/gather.h"

enum { DAYS = 30, JOBS = 40 /* of a day */, MOST_BYTES = 32 << 10 };

/* Jobs that were accepted on so many days, and ended on the same day; the last of each on the next. */
static void make_days(void)
{
    int64_t now = clock_now();
    char date[CLOCK_TEXT_SIZE], token[TOKEN_LENGTH + 1], id[ID_SIZE], name[64];
    for (int day = DAYS; day >= 0; day--)
        assert_int_equal(
            mkdirat(spool.states[STATE_DONE], clock_date(now - day * CLOCK_DAY, date), 0755), 0);
    for (int i = 0; i < DAYS * JOBS; i++) {
        int64_t time = now - (DAYS - i / JOBS) * CLOCK_DAY;
        bool later = i % JOBS == JOBS - 1;
        id_token_make(time, token);
        id_make(TEXT("job"), token, id);
        snprintf(name, sizeof(name), "%s/%s", clock_date(later ? time + CLOCK_DAY : time, date),
                 id);
        assert_int_equal(mkdirat(spool.states[STATE_DONE], name, 0755), 0);
    }
}

static void each_job_comes_once_and_those_before_are_forgotten(void **state)
{
    struct job_filter filter = {.mine = false};
    struct job_place place;
    char before[TOKEN_LENGTH + 1] = "zzzzzzzzzzzzz";
    size_t count = 0, most = 0;
    (void)state;
    make_days();
    assert_int_equal(job_filter_prepare(&filter, &error), 0);
    size_t used = mallinfo2().uordblks;
    struct gathering *gathering = gather_open(&spool, &filter);
    assert_non_null(gathering);
    int result;
    for (; (result = gather_next(gathering, &place)) > 0; count++) {
        struct text token = id_token(text_of(place.id));
        assert_true(strcmp(token.data, before) < 0);
        memcpy(before, token.data, sizeof(before));
        size_t now = mallinfo2().uordblks - used;
        most = now > most ? now : most;
    }
    assert_int_equal(result, 0);
    assert_int_equal(count, DAYS * JOBS);
    assert_true(most < MOST_BYTES);
    gather_close(gathering);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_job_comes_once_and_those_before_are_forgotten,
                                        open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
