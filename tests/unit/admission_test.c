/* tests/unit/admission_test.c - rows of limits.rows: what runs is never more than they allow, who waits is told, and
 * goes on in order when there is room
 *
 * Seen to fail with: tests/mutants/admission-*.patch.
 */
#include "tests/unit/admission_fixture.h"

#include <errno.h>

#include "spool/usage.h"
#include "stages/shared/resize.h"
#include "stages/submit/inside.h"

static void an_array_counts_with_all_that_it_runs_at_once(void **state)
{
    (void)state;
    begin("  - {user: \"*\", gpus: 8}\n");
    const char *first = put("first", &(struct asking){.uid = ANN, .gpus = 2, .at_once = 3});
    const char *second = put("second", &(struct asking){.uid = ANN, .gpus = 1, .at_once = 4});
    const char *small = put("small", &(struct asking){.uid = ANN, .gpus = 1});
    run_round_after(0);
    ran("first ");
    assert_string_equal(
        why_of(second),
        "Waiting for a limit: user ann uses 6 of 8 GPUs, and the job needs 4 "
        "(limits.rows of dlspool.yaml, line 4, which an administrator can change).");
    /* There is room for one of its tasks, and not for it: who came later does not take that. */
    assert_non_null(strstr(why_of(small), "jobs that came before it wait for room"));
    end_job(first);
    run_round_after(300);
    ran("second small ");
}

static void who_is_over_waits_and_is_told(void **state)
{
    (void)state;
    begin("  - {user: \"*\", running: 2}\n");
    const char *one = put("one", &(struct asking){.uid = ANN});
    put("two", &(struct asking){.uid = ANN});
    const char *three = put("three", &(struct asking){.uid = ANN});
    put("four", &(struct asking){.uid = ANN});
    put("other", &(struct asking){.uid = BOB});
    run_round_after(0);
    ran("one other two ");
    assert_string_equal(
        why_of(three), "Waiting for a limit: user ann has 2 jobs running, and no more may "
                       "(limits.rows of dlspool.yaml, line 4, which an administrator can change).");
    /* Looking again costs no try and changes nothing. */
    run_round_after(300);
    ran("");
    end_job(one);
    run_round_after(300);
    ran("three ");
    assert_int_equal(asked, 4);
}

/* There may be a hundred thousand, and a record takes kilobytes. */
static void records_of_those_who_wait_are_not_kept(void **state)
{
    (void)state;
    begin("  - {user: \"*\", running: 0}\nbatch: 4\n");
    for (int i = 0; i < 20; i++)
        put("many", &(struct asking){.uid = ANN});
    run_round_after(0);
    ran("");
    const struct submitter *submitter = (const struct submitter *)stage;
    assert_int_equal(parked_count(submitter->parked), 20);
    assert_int_equal(arena_used(submitter->arena), 0);
}

static void each_amount_counts(void **state)
{
    static const struct {
        const char *row, *sentence;
        struct asking asking;
    } cases[] = {
        {"  - {user: \"*\", cpus: 1.5}\n", "user ann uses 1 of 1.5 CPUs, and the job needs 1", {0}},
        {"  - {user: \"*\", memory: 1.5Mi}\n",
         "user ann uses 1 MiB of 1.5 MiB of memory, and the job needs 1 MiB",
         {0}},
        {"  - {group: \"*\", gpus: 3}\n",
         "group 50 uses 2 of 3 GPUs, and the job needs 2",
         {.gpus = 2}},
        {"  - {queue: short, running: 1}\n",
         "queue short has 1 job running, and no more may",
         {.queue = "short"}},
        {"  - {queue: \"*\", gpus: 2, gpu_type: A100}\n",
         "queue long uses 2 of 2 GPUs of type A100, and the job needs 2",
         {.queue = "long", .gpu_type = "A100", .gpus = 2}},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        submitted[0] = '\0';
        begin(cases[i].row);
        struct asking asking = cases[i].asking;
        asking.uid = ANN;
        const char *first = put("first", &asking), *second = put("second", &asking);
        run_round_after(0);
        ran("first ");
        if (!strstr(why_of(second), cases[i].sentence))
            fail_msg("%s: not in: %s", cases[i].sentence, why_of(second));
        end_job(first);
        run_round_after(300);
        ran("second ");
        end_job(second);
    }
}

static void rows_of_others_do_not_count(void **state)
{
    (void)state;
    begin("  - {queue: short, running: 1}\n  - {user: \"*\", gpus: 1, gpu_type: A100}\n"
          "  - {user: root, running: 0}\n");
    put("a", &(struct asking){.uid = ANN, .queue = "long"});
    put("b", &(struct asking){.uid = ANN, .queue = "long"});
    put("c", &(struct asking){.uid = ANN, .gpu_type = "V100", .gpus = 2});
    put("d", &(struct asking){.uid = ANN, .gpus = 2});
    put("e", &(struct asking){.uid = BOB, .gpu_type = "A100", .gpus = 1});
    put("f", &(struct asking){.uid = ANN, .gpu_type = "A100", .gpus = 1});
    run_round_after(0);
    assert_int_equal(asked, 6);
}

static void a_small_job_does_not_pass_a_large_one_for_ever(void **state)
{
    (void)state;
    begin("  - {user: \"*\", gpus: 4}\n");
    const char *a = put("a", &(struct asking){.uid = ANN, .gpus = 3});
    run_round_after(0);
    const char *large = put("large", &(struct asking){.uid = ANN, .gpus = 4});
    run_round_after(300);
    put("small", &(struct asking){.uid = ANN, .gpus = 2});
    run_round_after(6000);
    ran("a ");
    end_job(a);
    run_round_after(300);
    ran("large ");
    end_job(large);
    run_round_after(300);
    ran("small ");
}

/* ... nor do those that come later, one after the other, and would each fit. */
static void who_comes_later_does_not_take_what_others_wait_for(void **state)
{
    enum { STREAM = 20 };
    const char *stream[STREAM];
    (void)state;
    begin("  - {queue: \"*\", gpus: 4, cpus: 100}\n");
    const char *a = put("a", &(struct asking){.uid = ANN, .queue = "q", .gpus = 2});
    const char *b = put("b", &(struct asking){.uid = ANN, .queue = "q", .gpus = 2});
    run_round_after(0);
    const char *large = put("large", &(struct asking){.uid = BOB, .queue = "q", .gpus = 4});
    run_round_after(300);
    ran("a b ");
    end_job(a);
    for (int i = 0; i < STREAM; i++) {
        stream[i] = put("small", &(struct asking){.uid = ANN, .queue = "q", .gpus = 1});
        run_round_after(300);
    }
    ran("");
    assert_string_equal(
        why_of(stream[0]),
        "Waiting for a limit: queue q: jobs that came before it wait for room "
        "(limits.rows of dlspool.yaml, line 4, which an administrator can change).");
    /* What uses nothing that it waits for, or belongs to another queue, goes on. */
    put("cpus", &(struct asking){.uid = ANN, .queue = "q"});
    put("other", &(struct asking){.uid = ANN, .queue = "r", .gpus = 1});
    run_round_after(300);
    ran("cpus other ");
    end_job(b);
    run_round_after(300);
    ran("large ");
    end_job(large);
    run_round_after(300);
    ran("small small small small ");
}

/* A job that was killed, held or moved while it waited keeps nobody waiting. */
static void who_has_left_keeps_nobody_waiting(void **state)
{
    (void)state;
    begin("  - {queue: q, gpus: 4}\n");
    const char *a = put("a", &(struct asking){.uid = ANN, .queue = "q", .gpus = 2});
    put("b", &(struct asking){.uid = ANN, .queue = "q", .gpus = 2});
    run_round_after(0);
    struct job_place large = {.state = STATE_RENDERED};
    snprintf(large.id, sizeof(large.id), "%s",
             put("large", &(struct asking){.uid = BOB, .queue = "q", .gpus = 4}));
    run_round_after(300);
    put("small", &(struct asking){.uid = ANN, .queue = "q", .gpus = 2});
    run_round_after(300);
    ran("a b ");
    assert_int_equal(job_move(&spool, &large, STATE_HELD, now, &error), 0);
    end_job(a);
    run_round_after(300);
    ran("small ");
}

static void what_can_never_start_stands_in_nobodys_way(void **state)
{
    (void)state;
    begin("  - {user: \"*\", gpus: 4}\n");
    const char *running = put("running", &(struct asking){.uid = ANN, .gpus = 4});
    run_round_after(0);
    const char *huge = put("huge", &(struct asking){.uid = ANN, .gpus = 8});
    put("small", &(struct asking){.uid = ANN, .gpus = 4});
    run_round_after(6000);
    ran("running ");
    end_job(running);
    run_round_after(300);
    ran("small ");
    assert_non_null(strstr(why_of(huge), "user ann uses 4 of 4 GPUs, and the job needs 8"));
    /* Another row, another chance. */
    begin("  - {user: \"*\", gpus: 16}\n");
    run_round_after(0);
    ran("huge ");
}

static void what_ran_before_a_restart_counts(void **state)
{
    (void)state;
    put("old", &(struct asking){.uid = ANN, .state = STATE_SUBMITTED});
    put("new", &(struct asking){.uid = ANN});
    begin("  - {user: \"*\", running: 1}\n");
    run_round_after(0);
    ran("");
    put("maybe", &(struct asking){.uid = ANN,
                                  .log = "2026-01-01T12:00:00.000Z accepted\n"
                                         "2026-01-01T12:00:01.000Z intent attempt=1\n"});
    run_round_after(6000);
    /* What the executor may have is asked about, whatever the row says. */
    ran("maybe ");
}

static const int passing[] = {EIO, ENOMEM, EMFILE, ENFILE, EINTR, ESTALE};

/* A job that cannot be read for a moment is not taken for one that uses nothing: until it can be, nobody starts. */
static void what_cannot_be_read_now_is_waited_for(void **state)
{
    static const char *const files[] = {"", "job.yaml"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(files) * ARRAY_COUNT(passing); i++) {
        const char *old = put("old", &(struct asking){.uid = ANN, .state = STATE_SUBMITTED});
        const char *late = put("late", &(struct asking){.uid = ANN});
        const char *other = put("other", &(struct asking){.uid = BOB});
        begin("  - {user: \"*\", running: 1}\n");
        make_unreadable(old, files[i % 2], passing[i / 2]);
        run_round_after(0);
        make_readable();
        ran("");
        expect_why(late, "Waiting for a limit: what runs cannot be counted: submitted/old-");
        run_round_after(1000); /* in which the stage looks again by itself */
        ran("other ");
        expect_why(late, "user ann has 1 job running");
        end_job(old);
        run_round_after(300);
        ran("late ");
        end_job(late);
        end_job(other);
    }
}

/* ... and one that is gone, or damaged for good, keeps nobody waiting. */
static void what_is_damaged_keeps_nobody_waiting(void **state)
{
    (void)state;
    const char *old = put("old", &(struct asking){.uid = ANN, .state = STATE_SUBMITTED});
    put("new", &(struct asking){.uid = ANN});
    begin("  - {user: \"*\", running: 1}\n");
    int job = open_job(old, STATE_SUBMITTED);
    write_into(job, "job.yaml", "{");
    close(job);
    run_round_after(0);
    ran("new ");
}

/* Neither while the log of the job cannot be read, nor when it can be again. */
static void nothing_runs_without_log(const char *id)
{
    make_unreadable(id, "log", EIO);
    run_round_after(0);
    make_readable();
    ran("");
    run_round_after(6000);
    ran("");
}

/* Only a log that was read shows that the executor may have the job already, whatever the row says. */
static void whose_log_cannot_be_read_now_is_not_taken_for_started(void **state)
{
    (void)state;
    put("old", &(struct asking){.uid = ANN, .state = STATE_SUBMITTED});
    const char *new = put("new", &(struct asking){.uid = ANN});
    begin("  - {user: \"*\", running: 1}\n");
    nothing_runs_without_log(new);
    expect_why(new, "user ann has 1 job running");
}

/* ... nor that it was approved when it began. */
static void whose_log_cannot_be_read_now_needs_its_approval(void **state)
{
    (void)state;
    begin(
        "    - {user: \"*\", running: 9}\napprovers: [1002]\nprivileges: {rdma: {capabilities: [IPC_LOCK]}}\n");
    const char *new = put("new", &(struct asking){.uid = ANN, .privileges = "rdma"});
    nothing_runs_without_log(new);
    assert_true(in_state(new, STATE_HELD));
}

/* What the scheduler may have in all holds beside the rows, also after a restart. */
static void the_schedulers_limit_holds_too(void **state)
{
    (void)state;
    fake_executor.live_max = 2;
    begin("  - {user: \"*\", running: 5}\n");
    const char *one = put("one", &(struct asking){.uid = ANN});
    put("two", &(struct asking){.uid = BOB});
    run_round_after(0);
    put("three", &(struct asking){.uid = ANN});
    run_round_after(300);
    ran("one two ");
    begin("  - {user: \"*\", running: 5}\n");
    run_round_after(300);
    ran("");
    end_job(one);
    run_round_after(300);
    ran("three ");
}

static int whys_removed;

static int count_removed(int directory, const char *name, int flags)
{
    whys_removed += strcmp(name, "why") == 0;
    return unlinkat(directory, name, flags);
}

/* What waits for one row after the other is told of each, and not of nothing in between. */
static void each_row_is_told_once(void **state)
{
    (void)state;
    begin("  - {user: \"*\", running: 1}\n  - {queue: q, running: 1}\n");
    const char *one = put("one", &(struct asking){.uid = ANN});
    const char *two = put("two", &(struct asking){.uid = BOB, .queue = "q"});
    run_round_after(0);
    const char *both = put("both", &(struct asking){.uid = ANN, .queue = "q"});
    run_round_after(300);
    expect_why(both, "user ann has 1 job running");
    whys_removed = 0;
    sys.unlinkat = count_removed;
    end_job(one);
    run_round_after(300);
    run_round_after(300);
    expect_why(both, "queue q has 1 job running");
    assert_int_equal(whys_removed, 0);
    sys.unlinkat = unlinkat;
    end_job(two);
    run_round_after(300);
    assert_true(in_state(both, STATE_SUBMITTED));
    int job = open_job(both, STATE_SUBMITTED);
    assert_int_equal(faccessat(job, "why", F_OK, 0), -1);
    close(job);
}

/* A job that runs at another size counts with that, and with a larger one from when that is asked for. */
static void what_is_resized_counts_as_it_is(void **state)
{
    struct job_record record;
    struct arena *arena = arena_new();
    (void)state;
    begin("  - {user: \"*\", gpus: 4}\n");
    const char *elastic = put("elastic", &(struct asking){.uid = ANN, .gpus = 1});
    run_round_after(0);
    int job = open_job(elastic, STATE_SUBMITTED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    record.sizes = (struct sizes){.kind = SIZE_GPUS, .least = 1, .most = 4};
    record.size = record.size_asked = 1;
    assert_int_equal(record_replace(job, &record, &error), 0);
    begin("  - {user: \"*\", gpus: 4}\n");
    put("two", &(struct asking){.uid = ANN, .gpus = 2});
    run_round_after(300);
    ran("elastic two ");
    const struct resize_request request = {
        .generation = 1, .from = 1, .to = 2, .when = now, .reason = "there is room"};
    assert_int_equal(resize_write(job, &record, &request, &error), 0);
    put("one", &(struct asking){.uid = ANN, .gpus = 1});
    run_round_after(300);
    ran("");
    record.size_now = 2;
    record.resizes = 1;
    assert_int_equal(record_replace(job, &record, &error), 0);
    assert_int_equal(resize_clear(job, &error), 0);
    run_round_after(300);
    ran("");
    record.size_now = 1;
    assert_int_equal(record_replace(job, &record, &error), 0);
    run_round_after(300);
    run_round_after(300);
    ran("one ");
    close(job);
    arena_free(arena);
}

enum { HOUR = 3600000, DAY = 24 * HOUR };

/* The accounts have a line of somebody who held a GPU for so long until then. */
static void account(const char *id, uid_t uid, int64_t hours, int64_t ended)
{
    struct usage usage;
    struct buffer line = {0};
    usage_clear(&usage);
    usage.written = ended;
    usage.id = text_of(id);
    usage.attempt = 1;
    usage.uid = (int64_t)uid;
    usage.gid = PHYSICS;
    usage.user = TEXT("ann");
    usage.started = ended - hours * HOUR;
    usage.ended = ended;
    usage.gpu_held = hours * HOUR;
    usage.outcome = TEXT("succeeded");
    usage_format(&usage, &line);
    assert_int_equal(usage_append(&spool, buffer_text(&line), ended, &error), 0);
    buffer_free(&line);
}

static void hours_of_a_period_count(void **state)
{
    (void)state;
    account("old-0000000000001", ANN, 30, now - 40LL * DAY);
    account("new-0000000000002", ANN, 36, now - DAY);
    begin("  - {user: \"*\", gpu_hours: 40/30d}\n");
    const char *large = put("large", &(struct asking){.uid = ANN, .gpus = 2, .hours = 4});
    put("other", &(struct asking){.uid = BOB, .gpus = 2, .hours = 4});
    put("cpus", &(struct asking){.uid = ANN, .hours = 400});
    run_round_after(0);
    ran("other cpus ");
    expect_why(
        large,
        "user ann has used 36 of 40 GPU-hours within 30 d, and the job may use 8 until "
        "its time_limit; there is room from 2026-01-29T12:00:00.000Z on if nobody uses more");
    advance(24LL * DAY);
    run_round_after(300);
    ran("");
    advance(5LL * DAY);
    run_round_after(300);
    ran("large ");
}

/* It counts until its time limit while it runs, and for what it has used when it has ended. */
static void what_runs_counts_for_what_it_may_use(void **state)
{
    (void)state;
    begin("  - {user: \"*\", gpu_hours: 10/1d}\n");
    const char *first = put("first", &(struct asking){.uid = ANN, .gpus = 1, .hours = 8});
    run_round_after(0);
    const char *second = put("second", &(struct asking){.uid = ANN, .gpus = 1, .hours = 4});
    run_round_after(300);
    ran("first ");
    expect_why(second,
               "has used 0 of 10 GPU-hours within 1 d, what runs may use 8 more, and the job "
               "may use 4 until its time_limit; there is no room before jobs that run have");
    advance(HOUR);
    account(first, ANN, 1, now);
    end_job(first);
    run_round_after(300);
    ran("second ");
    /* So it is after a restart. */
    put("third", &(struct asking){.uid = ANN, .gpus = 1, .hours = 6});
    begin("  - {user: \"*\", gpu_hours: 10/1d}\n");
    run_round_after(300);
    ran("");
    put("fourth", &(struct asking){.uid = ANN, .gpus = 1, .hours = 5});
    begin("  - {user: \"*\", gpu_hours: 16/1d}\n");
    run_round_after(300);
    ran("third fourth ");
}

/* A job without a time limit counts for as long as it has run. */
static void what_has_no_end_counts_until_now(void **state)
{
    (void)state;
    begin("  - {user: \"*\", gpu_hours: 4/1d}\n");
    const char *endless = put("endless", &(struct asking){.uid = ANN, .gpus = 2});
    run_round_after(0);
    append_event(endless, STATE_SUBMITTED, "2026-01-01T12:00:00.000Z started attempt=1\n");
    now = 1767268800000 + 3600000; /* an hour later */
    run_round_after(3000);
    put("next", &(struct asking){.uid = ANN, .gpus = 1, .hours = 1});
    run_round_after(300);
    ran("endless next ");
    now += HOUR;
    put("late", &(struct asking){.uid = ANN, .gpus = 1});
    run_round_after(3000);
    ran("");
}

static ssize_t write_no_intent(int file, const void *bytes, size_t count)
{
    if (memmem(bytes, count, " intent ", 8)) {
        errno = EROFS;
        return -1;
    }
    return write(file, bytes, count);
}

/* What could not be submitted for a reason of the file system's is not kept out by having been counted. */
static void what_is_kept_counts_once(void **state)
{
    (void)state;
    begin("  - {user: \"*\", running: 1}\n");
    put("one", &(struct asking){.uid = ANN});
    sys.write = write_no_intent;
    run_round_after(0);
    sys.write = write;
    ran("");
    run_round_after(6000);
    ran("one ");
}

/* A stream of jobs of all kinds that come and end at random: no row is ever exceeded, and all run in the end. */
static void no_row_is_ever_exceeded(void **state)
{
    enum { JOBS = 300, USERS = 4 };
    static const char *const queues[] = {"short", "long", ""};
    int running = 0, gpus[USERS] = {0}, jobs[USERS] = {0}, short_cpus = 0, ended = 0;
    struct {
        char id[ID_SIZE];
        struct asking asking;
        bool runs, ended;
    } all[JOBS];
    (void)state;
    srandom(1);
    begin("  - {user: \"*\", running: 5, gpus: 8}\n  - {queue: short, cpus: 6}\n"
          "  - {group: \"*\", running: 9}\n");
    for (int i = 0; i < JOBS; i++) {
        int user = (int)(random() % USERS);
        all[i].runs = all[i].ended = false;
        all[i].asking = (struct asking){.uid = (uid_t)(2000 + user),
                                        .gid = PHYSICS + (gid_t)user % 2,
                                        .queue = queues[random() % 3],
                                        .cpus = 1000 * (1 + (int)(random() % 4)),
                                        .gpus = (int)(random() % 5)};
        snprintf(all[i].id, sizeof(all[i].id), "%s", put("job", &all[i].asking));
    }
    for (int round = 0; round < 2000 && ended < JOBS; round++) {
        run_round_after(300);
        for (int i = 0; i < JOBS; i++) {
            int user = (int)all[i].asking.uid - 2000;
            int cpus = strcmp(all[i].asking.queue, "short") == 0 ? all[i].asking.cpus : 0;
            bool now_runs = !all[i].ended && in_state(all[i].id, STATE_SUBMITTED);
            int sign = now_runs && !all[i].runs;
            all[i].runs = all[i].runs || now_runs;
            running += sign;
            jobs[user] += sign;
            gpus[user] += sign * all[i].asking.gpus;
            short_cpus += sign * cpus;
        }
        for (int user = 0; user < USERS; user++) {
            assert_true(jobs[user] <= 5);
            assert_true(gpus[user] <= 8);
        }
        assert_true(jobs[0] + jobs[2] <= 9 && jobs[1] + jobs[3] <= 9);
        assert_true(short_cpus <= 6000);
        for (int i = 0; i < JOBS; i++) {
            int user = (int)all[i].asking.uid - 2000;
            if (!all[i].runs || all[i].ended || random() % 3)
                continue;
            end_job(all[i].id);
            all[i].ended = true;
            ended++;
            running--;
            jobs[user]--;
            gpus[user] -= all[i].asking.gpus;
            if (strcmp(all[i].asking.queue, "short") == 0)
                short_cpus -= all[i].asking.cpus;
        }
    }
    assert_int_equal(ended, JOBS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_is_over_waits_and_is_told),
        TEST(an_array_counts_with_all_that_it_runs_at_once),
        TEST(records_of_those_who_wait_are_not_kept),
        TEST(each_amount_counts),
        TEST(rows_of_others_do_not_count),
        TEST(a_small_job_does_not_pass_a_large_one_for_ever),
        TEST(who_comes_later_does_not_take_what_others_wait_for),
        TEST(who_has_left_keeps_nobody_waiting),
        TEST(what_can_never_start_stands_in_nobodys_way),
        TEST(what_ran_before_a_restart_counts),
        TEST(what_cannot_be_read_now_is_waited_for),
        TEST(what_is_damaged_keeps_nobody_waiting),
        TEST(whose_log_cannot_be_read_now_is_not_taken_for_started),
        TEST(whose_log_cannot_be_read_now_needs_its_approval),
        TEST(what_is_kept_counts_once),
        TEST(the_schedulers_limit_holds_too),
        TEST(each_row_is_told_once),
        TEST(what_is_resized_counts_as_it_is),
        TEST(hours_of_a_period_count),
        TEST(what_runs_counts_for_what_it_may_use),
        TEST(what_has_no_end_counts_until_now),
        TEST(no_row_is_ever_exceeded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
