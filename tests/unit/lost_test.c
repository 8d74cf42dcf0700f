/* tests/unit/lost_test.c - a job's directory is removed from submitted/ by hand, through the track stage */
#include "base/file.h"
#include "tests/unit/stage_fixture.h"

#include "stages/track/lost.h"
#include "spool/usage.h"
#include "stages/shared/removed_file.h"

#define ID "lost-1m7y5dm13etbd"

static const int64_t noon = 1767268801000; /* 2026-01-01 */

static struct {
    int cancels, forced, removals;
    bool stubborn;    /* a polite signal ends nothing */
    bool over;        /* whatever it is told, all has ended */
    int orphans;      /* that are listed beside the job; all have ended once they were told to */
    int asked, lists; /* polls of single orphans, and lists */
    bool away;        /* a list fails */
} fake;

static int fake_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    (void)problem;
    return 0;
}

static int fake_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                     size_t count, struct error *problem)
{
    (void)executor;
    (void)arena;
    (void)problem;
    fake.asked += (int)count;
    bool ended = fake.over || fake.forced || (fake.cancels && !fake.stubborn);
    for (size_t i = 0; i < count; i++)
        jobs[i]->phase = ended ? PHASE_FAILED : PHASE_RUNNING;
    return 0;
}

static void fake_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(strncmp(batch[i]->id, "lost-1m7y5dm1", strlen("lost-1m7y5dm1")), 0);
        assert_int_equal(batch[i]->attempt, 2);
        fake.cancels++;
        fake.forced += batch[i]->force;
        batch[i]->result = 0;
    }
}

static void fake_output(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++)
        batch[i]->result = 0;
}

static void fake_remove(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        fake.removals++;
        batch[i]->result = 0;
    }
}

/* The job of this spool, and what whoever may talk to the scheduler has called so. */
static int fake_list(struct executor *executor, executor_take *take, void *context,
                     struct error *problem)
{
    (void)executor;
    fake.lists++;
    if (fake.away)
        return error_set(problem, "it does not answer");
    for (int i = 0; i < fake.orphans; i++) {
        char id[64];
        snprintf(id, sizeof(id), "lost-1m7y5dm1%03d00", i);
        take(context, id, 2);
    }
    for (int i = 0; i < 2 && !fake.removals; i++)
        take(context, ID, 2);
    take(context, "../etc", 1);
    return 0;
}

static void fake_close(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {.name = "local",
                                                      .ready = fake_ready,
                                                      .poll = fake_poll,
                                                      .cancel = fake_cancel,
                                                      .output = fake_output,
                                                      .remove = fake_remove,
                                                      .list = fake_list,
                                                      .close = fake_close};

static int open_spool_with_job(void **state)
{
    (void)state;
    struct job_record record = {.id = TEXT(ID),
                                .name = TEXT("lost"),
                                .owner = TEXT("ann"),
                                .accepted = noon,
                                .attempt = 2,
                                .request_file = TEXT("request.yaml"),
                                .library = TEXT("any"),
                                .type = TEXT("single"),
                                .executor = TEXT("local"),
                                .dlspool = TEXT("1")};
    memset(&fake, 0, sizeof(fake));
    open_spool(&track_stage, &operations, noon);
    write_settings("executor: \"null\"\nkill_grace: 3s\nscan_interval: 1s\n");
    put_job(STATE_SUBMITTED, &record, "", NULL);
    open_stage();
    run_round_after(1000);
    return 0;
}

static void shell(const char *command)
{
    char with[1200];
    snprintf(with, sizeof(with), "cd '%s' && %s", path, command);
    assert_int_equal(system(with), 0);
}

static void remove_job(void)
{
    shell("rm -r submitted/" ID);
}

/* Move the job's directory from a directory to another one. */
static void move_job(const char *from, const char *to)
{
    char command[256];
    snprintf(command, sizeof(command), "mv %s/" ID " %s/", from, to);
    shell(command);
}

/* What happens between two processes of the stage. */
static void remove_while_closed(void)
{
    close_stage();
    remove_job();
    open_stage();
}

static void move_while_closed(const char *from, const char *to)
{
    close_stage();
    move_job(from, to);
    open_stage();
}

static void run_for(int64_t milliseconds)
{
    for (int64_t i = 0; i < milliseconds; i += 1000)
        run_round_after(1000);
}

/* Run with standard error, which the service's log is, in a file; what it holds then, to be freed. */
static struct buffer said_during(int64_t milliseconds)
{
    struct buffer said = {0};
    int kept = dup(STDERR_FILENO), directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int file = openat(directory, "said", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(kept >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    run_for(milliseconds);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(file);
    assert_int_equal(file_read_at(directory, "said", 1 << 16, &said, &error), 0);
    close(directory);
    return said;
}

static void a_removed_job_is_ended_at_the_executor(void **state)
{
    (void)state;
    remove_job();
    run_for(25000);
    assert_int_equal(fake.cancels, 0); /* it may only be out of sight */
    struct buffer said = said_during(10000);
    assert_non_null(strstr(
        said.data,
        "lost-1m7y5dm13etbd: "
        "its directory was removed from submitted/, so its tasks are ended at the executor; the way to end a job is: dlspool kill"
        " lost-1m7y5dm13etbd"));
    buffer_free(&said);
    assert_int_equal(fake.cancels, 1);
    assert_int_equal(fake.forced, 0);
    assert_int_equal(fake.removals, 1);
    run_for(60000);
    assert_int_equal(fake.cancels, 1);
    assert_int_equal(fake.removals, 1);
}

static void one_that_does_not_end_is_ended_with_force(void **state)
{
    (void)state;
    fake.stubborn = true;
    remove_job();
    run_for(33000);
    assert_int_equal(fake.cancels, 1);
    assert_int_equal(fake.removals, 0);
    run_for(5000);
    assert_int_equal(fake.forced, 1);
    assert_int_equal(fake.removals, 1);
}

static void one_that_is_elsewhere_or_comes_back_is_left_alone(void **state)
{
    (void)state;
    move_job("submitted", ".");
    run_for(20000);
    move_job(".", "submitted");
    run_for(5000);
    move_job("submitted", ".");
    run_for(25000); /* it is counted from the beginning */
    move_job(".", "held");
    run_for(60000);
    assert_int_equal(fake.cancels, 0);
}

/* The whole directory was exchanged: not a job was removed, but what the stage holds is no spool any
 * more.  It begins again. */
static void nothing_is_ended_when_the_spool_is_not_whole(void **state)
{
    (void)state;
    shell("mv submitted elsewhere && mkdir submitted && rm -r elsewhere/lost-1m7y5dm13etbd");
    for (int i = 0; i < 90 && !stage->failed; i++) {
        advance(1000);
        stage_kind->round(stage);
    }
    assert_true(stage->failed);
    assert_int_equal(fake.cancels, 0);
}

/* Removed while no daemon serves the spool: the next one is told by the executor. */
static void one_that_was_removed_meanwhile_is_ended_too(void **state)
{
    (void)state;
    remove_while_closed();
    run_for(25000);
    assert_int_equal(fake.cancels, 0);
    run_for(15000);
    assert_int_equal(fake.cancels, 1);
    assert_int_equal(fake.removals, 1);
}

/* What is somewhere in the spool is no orphan, and what comes back is followed as any other. */
static void what_the_executor_has_of_other_jobs_is_left_alone(void **state)
{
    (void)state;
    move_while_closed("submitted", "held");
    run_for(400000);
    assert_int_equal(fake.cancels, 0);
    move_while_closed("held", ".");
    run_for(20000);
    move_job(".", "submitted");
    run_for(20000);
    assert_int_equal(fake.cancels, 0);
    shell("grep -q ' started ' submitted/" ID "/log");
}

/* A job that is being handed in is in rendered/ still, and the executor has it already; of one that ended it may
 * keep what has ended. */
static void one_that_is_in_any_state_is_no_orphan(void **state)
{
    static const char *const ways[][2] = {
        {"submitted", "rendered"}, {"rendered", "failed"}, {"failed", "done/2026-01-01"}};
    (void)state;
    shell("mkdir done/2026-01-01");
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        fake.lists = 0;
        fake.over = i > 0;
        move_while_closed(ways[i][0], ways[i][1]);
        run_for(60000);
        assert_int_equal(fake.lists, 1);
        assert_int_equal(fake.cancels, 0);
        assert_int_equal(fake.removals, 0);
    }
    fake.over = false;
    /* It is handed in between the list and the next look. */
    move_job("done/2026-01-01", ".");
    close_stage();
    open_stage();
    run_for(2000);
    move_job(".", "rendered");
    run_for(10000);
    move_job("rendered", "submitted");
    run_for(60000);
    assert_int_equal(fake.cancels, 0);
    shell("grep -q ' started ' submitted/" ID "/log");
}

/* Slurm's controller, restarted with an older state, has it run again. */
static void what_ended_and_runs_again_is_ended(void **state)
{
    static const char *const places[] = {"failed", "done/2026-01-01"};
    (void)state;
    shell("mkdir done/2026-01-01");
    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        fake.cancels = fake.removals = 0;
        move_while_closed(i ? places[i - 1] : "submitted", places[i]);
        run_for(25000);
        assert_int_equal(fake.cancels, 0);
        run_for(15000);
        assert_int_equal(fake.cancels, 1);
        assert_int_equal(fake.removals, 1);
        /* Nobody has removed it. */
        shell("[ ! -s removed ]");
    }
}

/* However many they are, and all are ended in the end. */
static void only_some_are_asked_about_in_a_round(void **state)
{
    enum { ORPHANS = 100 };
    (void)state;
    close_stage();
    remove_job();
    fake.orphans = ORPHANS - 1;
    open_stage();
    run_for(29000);
    fake.asked = 0;
    for (int i = 0; i < 2 + ORPHANS / LOST_AT_ONCE + 10; i++) {
        int cancels = fake.cancels, removals = fake.removals;
        run_round_after(1000);
        assert_true(fake.cancels - cancels <= LOST_AT_ONCE);
        assert_true(fake.removals - removals <= LOST_AT_ONCE);
    }
    assert_int_equal(fake.cancels, ORPHANS);
    assert_int_equal(fake.removals, ORPHANS);
    assert_int_equal(fake.lists, 2); /* one by each stage that was opened */
}

static void a_list_that_failed_is_asked_for_again_soon(void **state)
{
    (void)state;
    close_stage();
    remove_job();
    fake.away = true;
    open_stage();
    fake.lists = 0;
    run_for(15000);
    assert_int_equal(fake.lists, 2);
    fake.away = false;
    run_for(60000);
    assert_int_equal(fake.lists, 3);
    assert_int_equal(fake.cancels, 1);
    assert_int_equal(fake.removals, 1);
}

static int take_account(void *context, const struct usage *usage)
{
    (void)context;
    assert_true(text_is(usage->id, "lost-1m7y5dm13etbd") && usage->attempt == 2);
    assert_true(text_is(usage->outcome, "removed") && usage->uid == 0 && usage->ended > noon);
    assert_true(usage->cpus == -1 && usage->cpu_held == -1);
    return 7;
}

static void what_was_ended_is_written_down(void **state)
{
    struct removed_job jobs[REMOVED_KEPT];
    (void)state;
    assert_int_equal(removed_file_read(&spool, 0, jobs), 0);
    remove_job();
    run_for(40000);
    assert_int_equal(removed_file_read(&spool, 0, jobs), 1);
    assert_string_equal(jobs[0].id, ID);
    assert_int_equal(jobs[0].attempt, 2);
    assert_true(jobs[0].time > noon && jobs[0].time <= now);
    assert_int_equal(removed_file_read(&spool, now + 1, jobs), 0);
    assert_int_equal(usage_scan(&spool, 0, take_account, NULL, &error), 7);
    struct removed_job job = jobs[0];
    for (int i = 0; i < REMOVED_KEPT + 20; i++) {
        job.attempt = i;
        assert_int_equal(removed_file_note(&spool, &job, &error), 0);
    }
    assert_int_equal(removed_file_read(&spool, 0, jobs), REMOVED_KEPT);
    assert_int_equal(jobs[0].attempt, 20);
    assert_int_equal(jobs[REMOVED_KEPT - 1].attempt, REMOVED_KEPT + 19);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_spool_with_job, close_spool)

static void one_that_another_machine_runs_is_not_asked_about(void **state)
{
    (void)state;
    assert_true(fake.asked > 0);
    close_stage();
    shell("echo '2026-01-01T12:00:00.000Z submitted attempt=2 host=another' >>submitted/" ID
          "/log");
    open_stage();
    fake.asked = 0;
    run_for(5000);
    assert_int_equal(fake.asked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_removed_job_is_ended_at_the_executor),
        TEST(one_that_does_not_end_is_ended_with_force),
        TEST(one_that_is_elsewhere_or_comes_back_is_left_alone),
        TEST(nothing_is_ended_when_the_spool_is_not_whole),
        TEST(one_that_was_removed_meanwhile_is_ended_too),
        TEST(one_that_is_in_any_state_is_no_orphan),
        TEST(what_ended_and_runs_again_is_ended),
        TEST(only_some_are_asked_about_in_a_round),
        TEST(a_list_that_failed_is_asked_for_again_soon),
        TEST(what_was_ended_is_written_down),
        TEST(what_the_executor_has_of_other_jobs_is_left_alone),
        TEST(one_that_another_machine_runs_is_not_asked_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
