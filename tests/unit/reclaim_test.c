/* tests/unit/reclaim_test.c - queues lend one another GPUs and take them back; higher priority goes first in a queue
 *
 * Seen to fail with: tests/mutants/reclaim-*.patch.
 */
#include "tests/unit/admission_fixture.h"

#include "stages/shared/resize.h"

static bool is_told_to_stop(const char *id)
{
    int job = look_for_job(id, STATE_SUBMITTED);
    bool told = job >= 0 && resize_is_there(job);
    if (job >= 0)
        close(job);
    return told;
}

static void start(const char *id)
{
    char line[128], time[CLOCK_TEXT_SIZE];
    snprintf(line, sizeof(line), "%s started attempt=1\n", clock_format(now, time));
    append_event(id, STATE_SUBMITTED, line);
}

/* What track and resubmit make of a job that was told to stop. */
static void come_back(const char *id)
{
    struct job_place place = {.state = STATE_SUBMITTED};
    snprintf(place.id, sizeof(place.id), "%s", id);
    append_event(id, STATE_SUBMITTED, "2026-01-01T12:00:00.000Z failed reason=Preempted\n");
    append_event(id, STATE_SUBMITTED, "2026-01-01T12:00:00.000Z requeued attempt=2\n");
    int job = open_job(id, STATE_SUBMITTED);
    struct arena *texts = arena_new();
    struct job_record record;
    assert_int_equal(resize_clear(job, &error), 0);
    assert_int_equal(record_read(job, texts, &record, &error), 0);
    record.attempt++;
    assert_int_equal(record_replace(job, &record, &error), 0);
    arena_free(texts);
    close(job);
    assert_int_equal(job_move(&spool, &place, STATE_RENDERED, now, &error), 0);
}

static const char sharing[] = "  - {queue: a, gpus: 4, lend_gpus: 4}\n"
                              "  - {queue: b, gpus: 2, borrow_gpus: 4}\n";

static void what_is_idle_is_borrowed_and_given_back(void **state)
{
    (void)state;
    begin(sharing);
    const char *one = put("one", &(struct asking){.queue = "b", .gpus = 2, .checkpoint = true});
    const char *two = put("two", &(struct asking){.queue = "b", .gpus = 2, .checkpoint = true});
    const char *three = put("three", &(struct asking){.queue = "b", .gpus = 2});
    run_round_after(0);
    ran("one two three ");
    const char *four = put("four", &(struct asking){.queue = "b", .gpus = 1});
    run_round_after(300);
    ran("");
    expect_why(four, "queue b uses 6 GPUs: its own are 2, 4 more may be borrowed, and the job "
                     "needs 1 (limits.rows of dlspool.yaml, line 5,");
    start(one);
    start(two);
    start(three);
    advance(60000);
    const char *own = put("own", &(struct asking){.queue = "a", .gpus = 2});
    run_round_after(300);
    run_round_after(600);
    expect_why(own, "queue a uses 0 of 4 GPUs of its own, and the job needs 2, which other queues "
                    "have borrowed and are to give back (limits");
    /* Of two that lose nothing who came last; not the one that would lose a minute. */
    assert_true(is_told_to_stop(two));
    assert_false(is_told_to_stop(one) || is_told_to_stop(three));
    char resize[512];
    find_events(two, STATE_SUBMITTED, "resize", resize);
    assert_non_null(strstr(resize, "to=0 reason=\"queue a takes back GPUs of its own that were "
                                   "borrowed, for own-"));
    run_round_after(2000);
    assert_int_equal(find_events(two, STATE_SUBMITTED, "resize", NULL), 1);
    ran("");
    come_back(two);
    run_round_after(300);
    run_round_after(300);
    ran("own ");
    expect_why(two, "queue b has none of its own left for the job, and the queues that lend GPUs "
                    "need theirs first (limits.rows");
    end_job(own);
    run_round_after(300);
    assert_non_null(strstr(submitted, "two "));
}

static void what_is_lent_is_bounded(void **state)
{
    (void)state;
    begin("  - {queue: a, gpus: 4, lend_gpus: 1}\n  - {queue: b, gpus: 0, borrow_gpus: 9}\n"
          "  - {queue: c, gpus: 9}\n");
    put("one", &(struct asking){.queue = "b", .gpus = 1});
    const char *two = put("two", &(struct asking){.queue = "b", .gpus = 1});
    put("three", &(struct asking){.queue = "a", .gpus = 3});
    run_round_after(0);
    ran("one three ");
    expect_why(two, "which no other queue has idle to lend");
}

/* The small one would be stopped first, and is not enough; with the large one it is needless. */
static void nobody_is_stopped_who_is_needless(void **state)
{
    (void)state;
    begin("  - {queue: a, gpus: 3}\n  - {queue: c, gpus: 3, lend_gpus: 3}\n"
          "  - {queue: b, gpus: 0, borrow_gpus: 3}\n");
    const char *large = put("large", &(struct asking){.queue = "b", .gpus = 2, .checkpoint = true});
    const char *small = put("small", &(struct asking){.queue = "b", .gpus = 1, .checkpoint = true});
    run_round_after(0);
    put("own", &(struct asking){.queue = "c", .gpus = 2});
    run_round_after(600);
    run_round_after(600);
    assert_true(is_told_to_stop(large));
    assert_false(is_told_to_stop(small));
}

/* A job that was stopped has ended, and track has not moved it yet: nobody else is stopped in its place. */
static void who_has_ended_counts_as_stopped(void **state)
{
    (void)state;
    begin(sharing);
    const char *old = put("old", &(struct asking){.queue = "b", .gpus = 2, .checkpoint = true});
    const char *new = put("new", &(struct asking){.queue = "b", .gpus = 2, .checkpoint = true});
    run_round_after(0);
    start(old);
    start(new);
    char ended[] = "2026-01-01T12:00:00.000Z ended attempt=1 outcome=failed main-0=143\n";
    append_event(old, STATE_SUBMITTED, ended);
    put("own", &(struct asking){.queue = "a", .gpus = 4});
    run_round_after(600);
    run_round_after(600);
    assert_false(is_told_to_stop(old));
    assert_false(is_told_to_stop(new));
}

/* Who has just begun is left alone. */
/* Nobody is stopped in place of one who may stop already, but could not be read. */
static void who_cannot_be_read_now_is_waited_for(void **state)
{
    static const char *const files[] = {"resize", "log"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        begin(sharing);
        const char *one = put("one", &(struct asking){.queue = "b", .gpus = 4, .checkpoint = true});
        const char *two = put("two", &(struct asking){.queue = "b", .gpus = 2, .checkpoint = true});
        run_round_after(0);
        ran("one two ");
        start(one);
        start(two);
        advance(60000);
        make_unreadable(one, files[i], ENOMEM);
        const char *own = put("own", &(struct asking){.queue = "a", .gpus = 2});
        run_round_after(300);
        run_round_after(600);
        make_readable();
        assert_false(is_told_to_stop(one) || is_told_to_stop(two));
        run_round_after(6000);
        assert_true(is_told_to_stop(two) && !is_told_to_stop(one));
        end_job(one);
        end_job(two);
        run_round_after(300);
        ran("own ");
        end_job(own);
    }
}

static void who_is_exempt_stays(void **state)
{
    (void)state;
    begin("  - {queue: a, gpus: 4, lend_gpus: 4}\n"
          "  - {queue: b, gpus: 0, borrow_gpus: 4, exempt: 30m}\n");
    const char *old = put("old", &(struct asking){.queue = "b", .gpus = 2});
    run_round_after(0);
    start(old);
    advance(31 * 60000);
    const char *new = put("new", &(struct asking){.queue = "b", .gpus = 2, .checkpoint = true});
    run_round_after(300);
    start(new);
    put("own", &(struct asking){.queue = "a", .gpus = 2});
    run_round_after(600);
    run_round_after(600);
    assert_true(is_told_to_stop(old)); /* although it loses more */
    assert_false(is_told_to_stop(new));
    char resize[512];
    find_events(old, STATE_SUBMITTED, "resize", resize);
    assert_non_null(strstr(resize, "loses=1"));
}

static void higher_priority_goes_first_in_its_queue(void **state)
{
    (void)state;
    begin("  - {queue: a, gpus: 4, preempt: lower}\n  - {queue: b, gpus: 4}\n");
    const char *small = put("small", &(struct asking){.queue = "a", .gpus = 1, .priority = -5});
    const char *large = put("large", &(struct asking){.queue = "a", .gpus = 3, .priority = -5});
    const char *other = put("other", &(struct asking){.queue = "b", .gpus = 4, .priority = -9});
    run_round_after(0);
    start(small);
    start(large);
    start(other);
    advance(60000);
    const char *high = put("high", &(struct asking){.queue = "a", .gpus = 3, .priority = 7});
    put("same", &(struct asking){.queue = "a", .gpus = 1, .priority = -5});
    put("more", &(struct asking){.queue = "b", .gpus = 1, .priority = 9});
    run_round_after(600);
    run_round_after(600);
    assert_true(is_told_to_stop(large));
    assert_false(is_told_to_stop(small) || is_told_to_stop(other));
    char resize[512];
    find_events(large, STATE_SUBMITTED, "resize", resize);
    assert_non_null(strstr(resize, "has a higher priority in queue a"));
    submitted[0] = '\0';
    come_back(large);
    run_round_after(600);
    ran("high ");
    assert_false(in_state(high, STATE_RENDERED));
    /* A job that is larger than all lower ones together has nobody stopped for nothing. */
    const char *huge = put("huge", &(struct asking){.queue = "a", .gpus = 4, .priority = 6});
    run_round_after(600);
    run_round_after(600);
    assert_true(in_state(huge, STATE_RENDERED));
    assert_false(is_told_to_stop(small));
}

static void equals_wait_for_one_another(void **state)
{
    (void)state;
    begin("  - {queue: \"*\", running: 1, preempt: lower}\n");
    const char *first = put("first", &(struct asking){.queue = "a"});
    run_round_after(0);
    start(first);
    put("second", &(struct asking){.queue = "a"});
    run_round_after(600);
    run_round_after(600);
    assert_false(is_told_to_stop(first));
    put("third", &(struct asking){.queue = "a", .priority = 1});
    run_round_after(600);
    run_round_after(600);
    assert_true(is_told_to_stop(first));
}

/* After a crash nobody is asked twice, or asked in the place of another. */
static void what_was_asked_is_known_after_a_restart(void **state)
{
    (void)state;
    begin(sharing);
    const char *ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = put("job", &(struct asking){.queue = "b", .gpus = 2, .checkpoint = true});
    run_round_after(0);
    put("own", &(struct asking){.queue = "a", .gpus = 2});
    run_round_after(600);
    run_round_after(600);
    for (int round = 0; round < 3; round++) {
        begin(sharing);
        run_round_after(1000);
        run_round_after(1000);
    }
    int stopped = 0, events = 0;
    for (int i = 0; i < 3; i++) {
        stopped += is_told_to_stop(ids[i]);
        events += find_events(ids[i], STATE_SUBMITTED, "resize", NULL);
    }
    assert_int_equal(stopped, 1);
    assert_int_equal(events, 1);
}

/* ---- at random ---- */

enum { JOBS = 240, QUEUES = 3, GRACE = 1, PATIENCE = 6 }; /* rounds */

static struct random_job {
    char id[ID_SIZE];
    int queue, gpus, stopping, waited;
    enum { NOT_DROPPED, WAITS, RUNS, ENDED } state;
} jobs[JOBS];

static const struct {
    int own, lend, borrow;
} shares[QUEUES] = {{6, 6, 2}, {4, 2, 4}, {0, 0, 6}};

static void drop_some(int *dropped)
{
    static const char *const names[QUEUES] = {"a", "b", "c"};
    for (int more = (int)(random() % 4); more > 0 && *dropped < JOBS; more--) {
        struct random_job *job = &jobs[(*dropped)++];
        *job = (struct random_job){.queue = (int)(random() % QUEUES), .state = WAITS};
        int most = shares[job->queue].own ? shares[job->queue].own : 4;
        job->gpus = 1 + (int)(random() % (most < 3 ? most : 3));
        snprintf(job->id, sizeof(job->id), "%s",
                 put("job", &(struct asking){.queue = names[job->queue],
                                             .gpus = job->gpus,
                                             .checkpoint = random() % 2,
                                             .priority = (int)(random() % 3) - 2}));
    }
}

static void look_at(struct random_job *job)
{
    if (job->state == ENDED || job->state == NOT_DROPPED)
        return;
    bool runs = in_state(job->id, STATE_SUBMITTED);
    if (runs && job->state == WAITS)
        start(job->id);
    job->state = runs ? RUNS : WAITS;
    job->stopping = runs && is_told_to_stop(job->id) ? job->stopping + 1 : 0;
    if (job->stopping > GRACE) {
        come_back(job->id);
        job->state = WAITS;
        job->stopping = 0;
    }
}

static void check_shares(int used[QUEUES])
{
    int all = 0, most = 0;
    for (int i = 0; i < QUEUES; i++)
        used[i] = 0;
    for (int i = 0; i < JOBS; i++)
        used[jobs[i].queue] += jobs[i].state == RUNS ? jobs[i].gpus : 0;
    for (int i = 0; i < QUEUES; i++) {
        assert_true(used[i] <= shares[i].own + shares[i].borrow);
        all += used[i];
        most += shares[i].own;
    }
    assert_true(all <= most);
}

/* Does a queue wait for what is its own for long, while nobody of it runs at all? */
static void check_guarantees(const int used[QUEUES], int waits[QUEUES])
{
    for (int queue = 0; queue < QUEUES; queue++) {
        bool wants = false;
        for (int i = 0; i < JOBS; i++)
            wants = wants || (jobs[i].state == WAITS && jobs[i].queue == queue && jobs[i].id[0]);
        bool waits_for_own = wants && used[queue] + 3 <= shares[queue].own;
        waits[queue] = waits_for_own ? waits[queue] + 1 : 0;
        if (waits[queue] > GRACE + PATIENCE)
            fail_msg("queue %d has %d of %d, and waits", queue, used[queue], shares[queue].own);
    }
}

static void shares_hold_at_any_moment(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 3; seed++) {
        int dropped = 0, ended = 0, stops = 0, used[QUEUES], waits[QUEUES] = {0};
        srandom(seed);
        memset(jobs, 0, sizeof(jobs));
        begin("  - {queue: a, gpus: 6, borrow_gpus: 2}\n"
              "  - {queue: b, gpus: 4, lend_gpus: 2, borrow_gpus: 4, preempt: lower}\n"
              "  - {queue: c, gpus: 0, borrow_gpus: 6}\n");
        for (int round = 0; round < 4000 && ended < JOBS; round++) {
            submitted[0] = '\0';
            drop_some(&dropped);
            run_round_after(600);
            for (int i = 0; i < JOBS; i++)
                look_at(&jobs[i]);
            check_shares(used);
            check_guarantees(used, waits);
            for (int i = 0; i < JOBS; i++) {
                stops += jobs[i].stopping == 1;
                if (jobs[i].state != RUNS || jobs[i].stopping || random() % 12)
                    continue;
                end_job(jobs[i].id);
                jobs[i].state = ENDED;
                ended++;
            }
            if (round % 100 == 99) { /* a crash */
                close_stage();
                open_stage();
            }
        }
        assert_int_equal(ended, JOBS); /* nobody starves */
        assert_true(stops > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_idle_is_borrowed_and_given_back), TEST(what_is_lent_is_bounded),
        TEST(nobody_is_stopped_who_is_needless),       TEST(who_has_ended_counts_as_stopped),
        TEST(who_cannot_be_read_now_is_waited_for),    TEST(who_is_exempt_stays),
        TEST(higher_priority_goes_first_in_its_queue), TEST(equals_wait_for_one_another),
        TEST(what_was_asked_is_known_after_a_restart), TEST(shares_hold_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
