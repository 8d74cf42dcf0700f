/* planning_test.c - the submit stage while jobs have deadlines: order, capacity, standings, wishes
 *
 * Seen to fail, each in the test that is about it: the order of deadlines turned round; jobs handed over
 * without room in processors, or in memory; what runs, or waits at the scheduler, not counted; jobs that
 * never fit held back; no dwell time, and wishes for what cannot be changed; changes that do not pay, or
 * that are wanted for the first time; owners without turns; no budgets; no fence; promises not written;
 * every job read anew for every plan; growth before there is room for it, or in a hurry that does not
 * help; shrinking for nobody; all rendered anew at once.
 */
#include "tests/unit/planning_fixture.h"

static void expect_standing(const char *id, const char *standing, const char *reason)
{
    struct planned_job job = planned(id);
    assert_true(text_is(job.standing, standing) ||
                (print_message("%s: %.*s, %.*s\n", id, (int)job.standing.length, job.standing.data,
                               (int)job.reason.length, job.reason.length ? job.reason.data : ""), 0));
    if (reason)
        assert_true(text_contains(job.reason, text_of(reason)) ||
                    (print_message("%.*s\n", (int)job.reason.length, job.reason.data), 0));
}

static void without_deadlines_all_is_as_it_was(void **state)
{
    (void)state;
    const char *low = id_of("low", 1), *high = id_of("high", 2);
    struct job_record record = make_record(low);
    fake_has(1000, 0);          /* nobody is held back */
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(high);
    record.priority = 5;
    put_job(STATE_RENDERED, &record, NULL);
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "high low ");
    assert_int_equal(faccessat(spool.root, "plan", F_OK, 0), -1);
}

static void deadlines_are_the_order_and_capacity_holds_back(void **state)
{
    (void)state;
    const char *far = id_of("far", 1), *near = id_of("near", 2), *none = id_of("none", 3);
    remember(100);
    struct job_record record = make_record(far);
    give_deadline(&record, 3600);
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(near);
    give_deadline(&record, 180);
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(none);
    record.priority = 100;
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(2000, 1000);       /* somebody else has the other one */
    start_stage("tick: 5s, reserve: 0");
    run_round();
    assert_string_equal(fake.submitted, "near ");
    assert_true(in_state(far, STATE_RENDERED) && in_state(none, STATE_RENDERED));
    expect_standing(near, "on track", NULL);
    expect_standing(far, "on track", "waits");
    expect_standing(none, "best effort", "waits");
    assert_true(strstr(event_of(near, STATE_SUBMITTED, "predicted"), "seconds=1") != NULL);
    struct planned_job waiting = planned(far);
    assert_true(waiting.finish > now + 100 * 1000 && waiting.late >= waiting.finish &&
                waiting.late < waiting.deadline);
    run_round();                /* it has not started: what is free is for it */
    assert_string_equal(fake.submitted, "near ");
    start_job(near);
    fake_has(2000, 0);
    run_round();
    assert_string_equal(fake.submitted, "near ");
    fake_has(2000, 1000);       /* the other's has ended; ours holds the other one */
    run_round();
    assert_string_equal(fake.submitted, "near far ");
}

static void nobody_takes_the_memory_that_a_deadline_waits_for(void **state)
{
    (void)state;
    remember(100);
    struct job_record record = make_record(id_of("big", 1));
    give_deadline(&record, 600);
    record.memory = 1 << 29;
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("small", 2));
    record.memory = 1 << 27;
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(3000, 3000);
    fake.capacity.memory_free = 1 << 28;
    start_stage("tick: 5s, reserve: 0");
    run_round();
    assert_string_equal(fake.submitted, "");
    fake.capacity.memory_free = (1 << 29) + (1 << 27);
    run_round();
    assert_string_equal(fake.submitted, "big small ");
}

/* What is free is less than the plan gives in all, until the one that is to leave has left. */
static void who_has_a_place_takes_it_before_others_can(void **state)
{
    (void)state;
    remember(100);
    struct job_record record = make_record(id_of("big", 1));
    give_deadline(&record, 600);
    record.cpus = 2000;
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("small", 2));
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("leaving", 3));
    record.cpus = 2000;
    record.checkpoint_signal = TEXT("TERM");
    put_job(STATE_SUBMITTED, &record, NULL);
    fake_has(3000, 1000);
    start_stage("tick: 5s, dwell: 0, reserve: 0");
    run_round();
    assert_string_equal(fake.submitted, "small ");
    run_round();
    assert_true(strstr(event_of(id_of("leaving", 3), STATE_SUBMITTED, "resize"), "to=0 ") != NULL);
}

static void what_never_fits_is_the_executors_to_refuse(void **state)
{
    (void)state;
    struct job_record record = make_record(id_of("huge", 1));
    give_deadline(&record, 3600);
    record.cpus = 64000;
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("fat", 2));
    record.memory = (int64_t)1 << 40;
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(2000, 0);
    start_stage("tick: 5s");
    run_round();
    assert_true(strstr(fake.submitted, "huge ") && strstr(fake.submitted, "fat "));
}

/* A job of a hundred seconds at one processor, which may have up to four. */
static struct job_record make_sized(const char *id, int64_t deadline)
{
    struct job_record record = make_record(id);
    record.sizes = (struct sizes){.kind = SIZE_CPUS, .least = 1000, .most = 4000};
    record.size = record.size_asked = 1000;
    give_deadline(&record, deadline);
    return record;
}

static void what_others_hold_is_not_the_jobs_fault(void **state)
{
    (void)state;
    const char *id = id_of("wide", 1);
    remember(100);
    struct job_record record = make_record(id);
    give_deadline(&record, 3600);
    record.cpus = 2000;
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(2000, 1800);       /* somebody else has the rest */
    start_stage("tick: 5s");
    run_round();
    expect_standing(id, "at risk", "waits until there is room for it");
}

static void many_are_rendered_anew_by_and_by(void **state)
{
    (void)state;
    remember(100);
    for (int i = 0; i < 40; i++) {
        struct job_record record = make_sized(id_of("j", 10 + i), 90);
        put_job(STATE_RENDERED, &record, NULL);
    }
    fake_has(1 << 20, 1 << 20);
    start_stage("tick: 5s");
    advance(5000);
    int64_t due = submit_stage.round(stage);
    assert_int_equal(strlen(fake.submitted), 2 * 32);
    assert_true(due <= elapsed);
    submit_stage.round(stage);
    assert_int_equal(strlen(fake.submitted), 2 * 40);
}

static void memory_holds_back_too(void **state)
{
    (void)state;
    struct job_record record = make_record(id_of("fat", 1));
    give_deadline(&record, 3600);
    record.memory = 1 << 29;
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(2000, 2000);
    fake.capacity.memory_free = (1 << 29) - 1;
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "");
    fake.capacity.memory_free = 1 << 29;
    run_round();
    assert_string_equal(fake.submitted, "fat ");
}

static void without_capacity_only_the_order_is_the_plans(void **state)
{
    (void)state;
    remember(100);
    struct job_record record = make_record(id_of("far", 1));
    give_deadline(&record, 3600);
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("near", 2));
    give_deadline(&record, 1800);
    record.sizes = (struct sizes){.kind = SIZE_CPUS, .least = 1000, .most = 8000};
    record.size = 1000;
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("none", 3));
    put_job(STATE_RENDERED, &record, NULL);
    fake.told = false;
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "near far none ");
    assert_int_equal(planned(id_of("near", 2)).next, 1000);
}

static void who_needs_it_starts_larger(void **state)
{
    (void)state;
    const char *id = id_of("hurried", 1);
    struct job_record record = make_sized(id, 90);
    remember(100);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(4000, 4000);
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "hurried ");
    assert_true(fake.rendered >= 2000);
    assert_int_equal(planned(id).next, fake.rendered);
}

static void nobody_starts_larger_for_nothing(void **state)
{
    (void)state;
    struct job_record record = make_sized(id_of("patient", 1), 3600);
    remember(100);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(4000, 4000);       /* it would save less than a minute */
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "patient ");
    assert_int_equal(fake.rendered, 0);
}

static void nobody_starts_larger_upon_a_guess(void **state)
{
    (void)state;
    struct job_record record = make_sized(id_of("unknown", 1), 3600);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(4000, 4000);
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "unknown ");
    assert_int_equal(fake.rendered, 0);
}

static void who_has_time_starts_smaller(void **state)
{
    (void)state;
    struct job_record record = make_sized(id_of("patient", 1), 3600);
    record.size = record.size_asked = record.cpus = 4000;
    remember(100);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(4000, 2000);
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "patient ");
    assert_int_equal(fake.rendered, 1000);
}

static void while_the_executor_sleeps_all_are_told_how_they_stand(void **state)
{
    (void)state;
    const char *id = id_of("hurried", 1);
    struct job_record record = make_record(id_of("dated", 2));
    give_deadline(&record, 36000);
    put_job(STATE_SUBMITTED, &record, NULL);
    remember(100);
    fake_has(4000, 3000);
    start_stage("tick: 5s");
    run_round();                /* its capacity is known */
    record = make_sized(id, 90);
    put_job(STATE_RENDERED, &record, NULL);
    fake.ready = false;
    run_round();
    assert_string_equal(fake.submitted, "");
    assert_int_equal(fake.rendered, 0);
    assert_true(planned(id).standing.length > 0);
}

static void whose_outcome_is_unknown_goes_first(void **state)
{
    (void)state;
    const char *id = id_of("asked", 1);
    struct job_record record = make_record(id);
    give_deadline(&record, 3600);
    put_job(STATE_RENDERED, &record, NULL);
    int job = openat(spool.states[STATE_RENDERED], id, O_RDONLY | O_DIRECTORY);
    assert_int_equal(eventlog_append(job, TEXT("2026-11-22T10:00:00.000Z intent attempt=1\n"), &error), 0);
    close(job);
    fake_has(4000, 0);          /* it may hold what is not free */
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "asked ");
}

static void who_waits_can_be_killed_without_a_bell(void **state)
{
    (void)state;
    const char *id = id_of("unwanted", 1);
    struct job_record record = make_record(id);
    give_deadline(&record, 3600);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(1000, 0);
    start_stage("tick: 5s");
    run_round();
    int job = openat(spool.states[STATE_RENDERED], id, O_RDONLY | O_DIRECTORY);
    assert_int_equal(control_write(job, CONTROL_KILL, TEXT("ann"), 1000, now, &error), 0);
    close(job);
    run_round();
    assert_true(in_state(id, STATE_FAILED));
    assert_string_equal(fake.submitted, "");
}

static void standings_say_why(void **state)
{
    (void)state;
    const char *unknown = id_of("unknown", 1), *hopeless = id_of("hopeless", 2);
    const char *late = id_of("late", 3);
    struct job_record record = make_record(unknown);
    give_deadline(&record, 90 * 86400);         /* more than any guess */
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(4000, 4000);
    start_stage("tick: 5s");
    run_round();
    expect_standing(unknown, "at risk", "how long it takes is not known yet");
    assert_string_equal(fake.submitted, "unknown ");    /* it is tried */
    stop_stage();
    remember(100);
    record = make_record(hopeless);
    give_deadline(&record, 50);
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(late);
    give_deadline(&record, 1);
    put_job(STATE_RENDERED, &record, NULL);
    start_stage("tick: 5s");
    run_round();
    expect_standing(hopeless, "cannot meet", "it is tried nevertheless");
    expect_standing(late, "late", NULL);
    assert_true(strstr(fake.submitted, "hopeless "));
}

static void priority_is_for_those_without_a_deadline(void **state)
{
    (void)state;
    struct job_record record = make_record(id_of("low", 1));
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("high", 2));
    record.priority = 40;
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("dated", 3));
    give_deadline(&record, 36000);
    put_job(STATE_SUBMITTED, &record, NULL);
    fake_has(2000, 1000);
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "high ");
}

static void priority_weighs_more_than_being_short(void **state)
{
    (void)state;
    remember(100);              /* ten units a second */
    struct job_record record = make_record(id_of("short", 1));
    record.units_pattern = TEXT("{done}");
    record.units_total = 100;
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("long", 2));
    record.units_pattern = TEXT("{done}");
    record.units_total = 10000;
    record.priority = 60;
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("dated", 3));
    give_deadline(&record, 36000);
    put_job(STATE_SUBMITTED, &record, NULL);
    fake_has(2000, 1000);
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "long ");
}

static void owners_take_turns_whatever_jobs_are_called(void **state)
{
    (void)state;
    static const char *const names[] = {"aaa", "aab", "zzz"};
    for (int i = 0; i < 3; i++) {
        struct job_record record = make_record(id_of(names[i], 1 + i));
        record.uid = i == 2 ? 2000 : 1000;
        record.owner = i == 2 ? TEXT("zoe") : TEXT("ann");
        put_job(STATE_RENDERED, &record, NULL);
    }
    struct job_record record = make_record(id_of("dated", 9));
    record.uid = 3000;
    give_deadline(&record, 36000);
    put_job(STATE_SUBMITTED, &record, NULL);
    fake_has(3000, 2000);
    start_stage("tick: 5s");
    run_round();
    assert_string_equal(fake.submitted, "aaa zzz ");
}

static void a_firm_deadline_is_promised_once(void **state)
{
    (void)state;
    const char *firm = id_of("firm", 1), *second = id_of("second", 2);
    remember(100);
    struct job_record record = make_record(firm);
    record.deadline_mode = TEXT("firm");
    give_deadline(&record, 200);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(1000, 0);          /* not at once: it has to wait */
    start_stage("tick: 5s, reserve: 0");
    fake_has(1000, 1000);
    run_round();
    assert_string_equal(fake.submitted, "firm ");
    assert_true(strstr(event_of(firm, STATE_SUBMITTED, "promised"), "deadline=") != NULL);
    record = make_record(second);
    record.deadline_mode = TEXT("firm");
    give_deadline(&record, 190);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(1000, 0);
    run_round();
    expect_standing(second, "at risk", "its firm deadline cannot be promised");
    assert_string_equal(event_of(second, STATE_RENDERED, "promised"), "");
}

static void budgets_put_inventors_last(void **state)
{
    (void)state;
    remember(1000);
    for (int i = 0; i < 3; i++) {
        struct job_record record = make_record(id_of("greedy", 1 + i));
        give_deadline(&record, 1500);
        put_job(STATE_RENDERED, &record, NULL);
    }
    struct job_record record = make_record(id_of("modest", 7));
    record.owner = TEXT("bob");
    record.uid = 1001;
    give_deadline(&record, 2000);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(1000, 1000);
    start_stage("tick: 5s, reserve: 0, budget: 1"); /* 864 s of it: less than one takes */
    run_round();
    expect_standing(id_of("greedy", 1), "at risk", "planner.budget");
}

/* ---- running jobs ---- */

static struct progress make_progress(double done, double rate, int64_t size, int64_t since)
{
    struct progress progress = {.time = now, .attempt = 1, .started = since, .done = done,
                                .total = 100, .most = done, .unit = now, .size = size,
                                .since = since, .rate = rate, .samples = 20, .start_up = 500,
                                .restart = -1};
    struct progress_at_size *at = progress_at(&progress, 1, size);
    at->rate = rate;
    at->units = done;
    at->running = now - since;
    at->cpu_used = now - since;
    at->cpu_allocated = now - since;
    return progress;
}

/* A job of one processor that has done 20 of 100 units in 100 s. */
static const char *put_running(int64_t deadline)
{
    const char *id = id_of("running", 1);
    struct job_record record = make_record(id);
    record.units_pattern = TEXT("step {done}");
    record.units_total = 100;
    record.sizes = (struct sizes){.kind = SIZE_CPUS, .least = 1000, .most = 4000};
    record.size = record.size_asked = 1000;
    give_deadline(&record, deadline);
    struct progress progress = make_progress(20, 0.2, 1000, now - 100000);
    put_job(STATE_SUBMITTED, &record, &progress);
    return id;
}

static bool read_wish(const char *id, struct resize_wish *wish)
{
    struct job_record record = make_record(id);
    int job = open_submitted(id);
    assert_true(job >= 0);
    int result = resize_pending(job, &record, wish);
    close(job);
    return result == 1;
}

static void who_falls_behind_is_grown(void **state)
{
    (void)state;
    struct resize_wish wish;
    fake.resizable = true;
    fake_has(4000, 3000);
    const char *id = put_running(300);          /* 80 units take 400 s as it is */
    start_stage("tick: 5s, dwell: 60s");
    run_round();
    assert_true(read_wish(id, &wish));
    assert_int_equal(wish.from, 1000);
    assert_true(wish.to > 1000 && wish.generation == 1);
    assert_true(strstr(wish.reason, "falls behind: predicted ") != NULL);
    assert_true(strstr(event_of(id, STATE_SUBMITTED, "resize"), "instead of 1 CPU") != NULL);
    expect_standing(id, "on track", NULL);
}

static void who_would_miss_it_all_the_same_is_in_no_hurry(void **state)
{
    (void)state;
    struct resize_wish wish;
    fake.resizable = true;
    fake_has(4000, 3000);
    const char *id = put_running(100);          /* 400 s as it is, 200 s with all there is */
    start_stage("tick: 5s, dwell: 0");
    run_round();
    expect_standing(id, "cannot meet", NULL);
    assert_false(read_wish(id, &wish));
    run_round();
    assert_true(read_wish(id, &wish));          /* it saves enough */
}

/* A job that is stopped for it loses what it holds: the room is to be there. */
static void nobody_grows_before_there_is_room(void **state)
{
    (void)state;
    struct resize_wish wish;
    const char *id = id_of("running", 1), *other = id_of("other", 2);
    struct job_record record = make_record(id);
    record.units_pattern = TEXT("step {done}");
    record.units_total = 1000;
    record.sizes = (struct sizes){.kind = SIZE_CPUS, .least = 1000, .most = 4000};
    record.size = record.size_asked = 1000;
    record.checkpoint_signal = TEXT("TERM");
    give_deadline(&record, 3600);
    struct progress progress = make_progress(20, 0.2, 1000, now - 100000);      /* 4900 s are left */
    progress.total = 1000;
    put_job(STATE_SUBMITTED, &record, &progress);
    record = make_record(other);
    record.cpus = 3000;
    record.checkpoint_signal = TEXT("TERM");
    put_job(STATE_SUBMITTED, &record, NULL);
    fake_has(4000, 0);
    start_stage("tick: 5s, dwell: 0, reserve: 0");
    run_round();
    run_round();
    assert_true(planned(id).next > 1000);
    assert_true(strstr(event_of(other, STATE_SUBMITTED, "resize"), "to=0 ") != NULL);
    assert_false(read_wish(id, &wish));
    struct job_place place = {.state = STATE_SUBMITTED};
    memcpy(place.id, other, strlen(other) + 1);
    assert_int_equal(job_move(&spool, &place, STATE_FAILED, now, &error), 0);
    fake_has(4000, 3000);
    run_round();
    assert_true(read_wish(id, &wish));
}

static void nothing_is_changed_before_the_dwell_time_is_over(void **state)
{
    (void)state;
    struct resize_wish wish;
    fake.resizable = true;
    fake_has(4000, 3000);
    const char *id = put_running(300);
    start_stage("tick: 5s, dwell: 3m");         /* it runs for 100 s */
    run_round();
    assert_false(read_wish(id, &wish));
    expect_standing(id, "at risk", "at the size that it has");
}

static void what_cannot_be_changed_is_left_alone(void **state)
{
    (void)state;
    struct resize_wish wish;
    fake.resizable = false;
    fake_has(4000, 3000);
    const char *id = put_running(300);
    start_stage("tick: 5s, dwell: 0");
    run_round();
    assert_false(read_wish(id, &wish));
}

static void what_has_not_started_yet_is_left_alone(void **state)
{
    (void)state;
    const char *id = id_of("waiting", 1);
    struct job_record record = make_record(id);
    remember(100);
    record.checkpoint_signal = TEXT("TERM");
    put_job(STATE_RENDERED, &record, NULL);
    record = make_record(id_of("dated", 2));
    give_deadline(&record, 36000);
    put_job(STATE_SUBMITTED, &record, NULL);
    fake_has(2000, 1000);
    start_stage("tick: 5s, dwell: 0, reserve: 0");
    run_round();
    assert_string_equal(fake.submitted, "waiting ");
    record = make_record(id_of("urgent", 3));
    give_deadline(&record, 150);
    put_job(STATE_RENDERED, &record, NULL);
    for (int i = 0; i < 3; i++)
        run_round();
    assert_string_equal(event_of(id, STATE_SUBMITTED, "resize"), "");
    start_job(id);
    for (int i = 0; i < 3; i++)
        run_round();
    assert_true(strstr(event_of(id, STATE_SUBMITTED, "resize"), "to=0 ") != NULL);
}

/* A job without a deadline, of which so many of 100 units are done in as many seconds, is to make room
 * for another. */
static const char *put_in_the_way(double done)
{
    const char *id = id_of("first", 1);
    struct job_record record = make_record(id);
    remember(100);
    record.units_pattern = TEXT("step {done}");
    record.units_total = 100;
    record.checkpoint_signal = TEXT("TERM");
    struct progress progress = make_progress(done, 1, 1, now - (int64_t)(done * 1000));
    progress.restart = 60000;
    put_job(STATE_SUBMITTED, &record, &progress);
    record = make_record(id_of("urgent", 2));
    give_deadline(&record, 170);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(1000, 0);
    start_stage("tick: 5s, dwell: 0, reserve: 0");
    run_round();
    run_round();
    return id;
}

static void who_is_in_the_way_is_stopped(void **state)
{
    (void)state;
    const char *id = put_in_the_way(10);
    assert_true(strstr(event_of(id, STATE_SUBMITTED, "resize"), "to=0 ") != NULL);
}

/* It was seen to be no faster with four processors than with one; but nobody wants them. */
static void nobody_is_made_smaller_for_room_that_stays_idle(void **state)
{
    (void)state;
    struct resize_wish wish;
    const char *id = id_of("running", 1);
    struct job_record record = make_record(id);
    record.units_pattern = TEXT("step {done}");
    record.units_total = 100;
    record.sizes = (struct sizes){.kind = SIZE_CPUS, .least = 1000, .most = 4000};
    record.size = record.size_asked = record.cpus = 4000;
    give_deadline(&record, 3600);
    struct progress progress = make_progress(20, 0.2, 4000, now - 100000);
    progress.sizes[0].cpu_used = progress.sizes[0].cpu_allocated / 8;
    put_job(STATE_SUBMITTED, &record, &progress);
    fake.resizable = true;
    fake_has(4000, 0);
    start_stage("tick: 5s, dwell: 0, reserve: 0");
    for (int i = 0; i < 3; i++)
        run_round();
    assert_true(planned(id).next < 4000);
    assert_false(read_wish(id, &wish));
    record = make_record(id_of("another", 2));
    put_job(STATE_RENDERED, &record, NULL);
    for (int i = 0; i < 3; i++)
        run_round();
    assert_true(read_wish(id, &wish) && wish.to < 4000);
}

static void who_is_done_before_he_could_be_back_is_not_stopped(void **state)
{
    (void)state;
    const char *id = put_in_the_way(85);        /* 15 s are left; a restart took a minute */
    assert_string_equal(event_of(id, STATE_SUBMITTED, "resize"), "");
}

static void room_to_spare_is_given_when_it_lasts(void **state)
{
    (void)state;
    struct resize_wish wish;
    fake.resizable = true;
    fake_has(4000, 3000);
    const char *id = put_running(3600);
    start_stage("tick: 5s, dwell: 0");
    run_round();
    assert_false(read_wish(id, &wish));         /* wanted for the first time */
    run_round();
    assert_true(read_wish(id, &wish));
    assert_true(strstr(wish.reason, "there is room to spare") != NULL);
}

static void a_small_job_that_is_on_track_is_not_grown(void **state)
{
    (void)state;
    const char *id = id_of("small", 1);
    struct job_record record = make_record(id);
    record.units_pattern = TEXT("step {done}");
    record.units_total = 100;
    record.sizes = (struct sizes){.kind = SIZE_CPUS, .least = 1000, .most = 4000};
    record.size = record.size_asked = 1000;
    give_deadline(&record, 3600);
    struct progress progress = make_progress(20, 1, 1000, now - 20000);         /* 80 s are left */
    put_job(STATE_SUBMITTED, &record, &progress);
    fake.resizable = true;
    fake_has(4000, 3000);
    start_stage("tick: 5s, dwell: 0");
    for (int i = 0; i < 4; i++)
        run_round();
    expect_standing(id, "on track", NULL);
    assert_string_equal(event_of(id, STATE_SUBMITTED, "resize"), "");
}

/* What is not done does not cost others their room. */
static void no_room_is_kept_for_a_growth_that_does_not_pay(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "two", "three"};
    const char *id = id_of("small", 9);
    struct job_record record = make_record(id);
    record.units_pattern = TEXT("step {done}");
    record.units_total = 100;
    record.sizes = (struct sizes){.kind = SIZE_CPUS, .least = 1000, .most = 4000};
    record.size = record.size_asked = 1000;
    give_deadline(&record, 3600);
    struct progress progress = make_progress(20, 1, 1000, now - 20000);
    put_job(STATE_SUBMITTED, &record, &progress);
    for (int i = 0; i < 3; i++) {
        record = make_record(id_of(names[i], 1 + i));
        put_job(STATE_RENDERED, &record, NULL);
    }
    fake.resizable = true;
    fake_has(4000, 3000);
    start_stage("tick: 5s, dwell: 0, reserve: 0");
    run_round();
    assert_string_equal(fake.submitted, "one two three ");
    assert_int_equal(planned(id).next, 1000);
}

static void a_wish_is_written_once(void **state)
{
    (void)state;
    struct resize_wish wish;
    fake.resizable = true;
    fake_has(4000, 3000);
    const char *id = put_running(300);
    start_stage("tick: 5s, dwell: 0");
    run_round();
    assert_true(read_wish(id, &wish));
    int64_t first = wish.when;
    run_round();
    assert_true(read_wish(id, &wish) && wish.when == first);
}

static void another_daemon_s_spool_is_not_touched(void **state)
{
    (void)state;
    struct resize_wish wish;
    fake.resizable = true;
    fake_has(4000, 3000);
    const char *id = put_running(300);
    assert_int_equal(job_file_create(spool.root, ".lease",
                                     TEXT("2 elsewhere 1 locked 0\n"), 0644, &error), 0);
    start_stage("tick: 5s");
    stage->epoch = 1;
    advance(5000);
    submit_stage.round(stage);
    assert_true(stage->failed);
    assert_false(read_wish(id, &wish));
    assert_int_equal(faccessat(spool.root, "plan", F_OK, 0), -1);
}

static struct system_calls real;
static int records_read;

static int count_records(int directory, const char *name, int flags, mode_t mode)
{
    records_read += strcmp(name, "job.yaml") == 0;
    return real.openat(directory, name, flags, mode);
}

static void only_what_has_changed_is_read_again(void **state)
{
    (void)state;
    enum { JOBS = 40 };
    for (int i = 0; i < JOBS; i++) {
        struct job_record record = make_record(id_of("many", 10 + i));
        give_deadline(&record, 3600);
        put_job(STATE_RENDERED, &record, NULL);
    }
    fake_has(1000, 0);
    start_stage("tick: 5s");
    run_round();
    run_round();                /* by now the directories are old enough to be believed */
    real = sys;
    sys.openat = count_records;
    records_read = 0;
    run_round();
    int unchanged = records_read;
    int job = openat(spool.states[STATE_RENDERED], id_of("many", 12), O_RDONLY | O_DIRECTORY);
    struct job_record record = make_record(id_of("many", 12));
    give_deadline(&record, 7200);
    assert_int_equal(record_replace(job, &record, &error), 0);
    close(job);
    records_read = 0;
    run_round();
    sys = real;
    assert_int_equal(unchanged, 0);
    assert_int_equal(records_read, 1);
    assert_true(planned(id_of("many", 12)).deadline == record.deadline);
}

static void a_recording_is_bounded(void **state)
{
    (void)state;
    struct stat status;
    mkdirat(spool.root, "history", 0755);
    int file = openat(spool.root, "history/plans", O_WRONLY | O_CREAT, 0644);
    assert_int_equal(ftruncate(file, (64 << 20) + 1), 0);       /* as if it were full: it is all hole */
    close(file);
    struct job_record record = make_record(id_of("dated", 1));
    give_deadline(&record, 600);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(1000, 0);
    start_stage("tick: 5s, record: true");
    run_round();
    assert_int_equal(fstatat(spool.root, "history/plans.1", &status, 0), 0);
    assert_true(status.st_size > 64 << 20);
    assert_int_equal(fstatat(spool.root, "history/plans", &status, 0), 0);
    int64_t one = status.st_size;
    assert_true(one > 200 && one < 4096);
    run_round();
    assert_int_equal(fstatat(spool.root, "history/plans", &status, 0), 0);
    assert_true(status.st_size > one);
}

static void when_no_deadline_is_left_the_plan_goes(void **state)
{
    (void)state;
    remember(100);
    const char *id = id_of("dated", 1);
    struct job_record record = make_record(id);
    struct job_place place = {.state = STATE_SUBMITTED};
    give_deadline(&record, 600);
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(1000, 1000);
    start_stage("tick: 5s");
    run_round();
    assert_int_equal(faccessat(spool.root, "plan", F_OK, 0), 0);
    memcpy(place.id, id, strlen(id) + 1);
    assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
    run_round();
    assert_int_equal(faccessat(spool.root, "plan", F_OK, 0), -1);
    record = make_record(id_of("after", 2));
    put_job(STATE_RENDERED, &record, NULL);
    fake_has(1000, 0);
    run_round();
    assert_string_equal(fake.submitted, "dated after ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_deadlines_all_is_as_it_was),
        TEST(deadlines_are_the_order_and_capacity_holds_back),
        TEST(nobody_takes_the_memory_that_a_deadline_waits_for),
        TEST(who_has_a_place_takes_it_before_others_can),
        TEST(what_never_fits_is_the_executors_to_refuse),
        TEST(what_others_hold_is_not_the_jobs_fault),
        TEST(many_are_rendered_anew_by_and_by),
        TEST(memory_holds_back_too),
        TEST(without_capacity_only_the_order_is_the_plans),
        TEST(who_needs_it_starts_larger),
        TEST(nobody_starts_larger_for_nothing),
        TEST(nobody_starts_larger_upon_a_guess),
        TEST(who_has_time_starts_smaller),
        TEST(while_the_executor_sleeps_all_are_told_how_they_stand),
        TEST(whose_outcome_is_unknown_goes_first),
        TEST(who_waits_can_be_killed_without_a_bell),
        TEST(standings_say_why),
        TEST(priority_is_for_those_without_a_deadline),
        TEST(priority_weighs_more_than_being_short),
        TEST(owners_take_turns_whatever_jobs_are_called),
        TEST(a_firm_deadline_is_promised_once),
        TEST(budgets_put_inventors_last),
        TEST(who_falls_behind_is_grown),
        TEST(who_would_miss_it_all_the_same_is_in_no_hurry),
        TEST(nobody_grows_before_there_is_room),
        TEST(nothing_is_changed_before_the_dwell_time_is_over),
        TEST(what_cannot_be_changed_is_left_alone),
        TEST(what_has_not_started_yet_is_left_alone),
        TEST(who_is_in_the_way_is_stopped),
        TEST(nobody_is_made_smaller_for_room_that_stays_idle),
        TEST(who_is_done_before_he_could_be_back_is_not_stopped),
        TEST(room_to_spare_is_given_when_it_lasts),
        TEST(a_small_job_that_is_on_track_is_not_grown),
        TEST(no_room_is_kept_for_a_growth_that_does_not_pay),
        TEST(a_wish_is_written_once),
        TEST(another_daemon_s_spool_is_not_touched),
        TEST(only_what_has_changed_is_read_again),
        TEST(a_recording_is_bounded),
        TEST(when_no_deadline_is_left_the_plan_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
