/* tests/unit/tasks_now_test.c - what an executor says of a job's tasks is written down as it changes */
#include "base/file.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "spool/file.h"
#include "spool/job_state.h"
#include "spool/tasks_file.h"
#include "stages/track/tasks_now.h"

struct fixture {
    char *path;
    int job;
    struct tasks_now *now;
    struct arena *arena;
    struct task_state tasks[3];
    struct job_poll poll;
};

static int64_t elapsed = 1000000;

static int64_t say_elapsed(void)
{
    return elapsed;
}

/* Three tasks of an attempt that run. */
static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    fixture->path = unit_directory();
    fixture->job = open(fixture->path, O_RDONLY | O_DIRECTORY);
    fixture->poll = (struct job_poll){
        .attempt = 2, .phase = PHASE_RUNNING, .tasks = fixture->tasks, .task_count = 3};
    for (int i = 0; i < 3; i++)
        fixture->tasks[i] = (struct task_state){.role = "main", .index = i};
    fixture->arena = arena_new();
    clock_replace(NULL, say_elapsed);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    clock_replace(NULL, NULL);
    tasks_now_free(fixture->now);
    arena_free(fixture->arena);
    close(fixture->job);
    unit_remove(fixture->path);
    free(fixture);
    return 0;
}

static struct tasks_file tell(struct fixture *fixture, bool array)
{
    struct tasks_file tasks;
    tasks_now_note(&fixture->now, fixture->job, &fixture->poll, array);
    tasks_file_read(fixture->job, fixture->arena, &tasks, NULL);
    return tasks;
}

static void end(struct fixture *fixture, int index, int exit_code)
{
    fixture->tasks[index].ended = true;
    fixture->tasks[index].exit_code = exit_code;
}

static const char *log_of(const struct fixture *fixture)
{
    static char text[4096];
    struct buffer log = {0};
    text[0] = '\0';
    if (file_read_at(fixture->job, "log", sizeof(text) - 1, &log, NULL) == 0)
        snprintf(text, sizeof(text), "%.*s", (int)log.length, log.data);
    buffer_free(&log);
    return text;
}

static const char *lost_of(const struct fixture *fixture)
{
    static struct job_situation situation;
    const struct job_place place = {.state = STATE_SUBMITTED, .id = "x-0123456789abc"};
    job_state_read_situation(fixture->job, &place, &situation);
    return situation.lost;
}

static void tasks_are_counted(void **state)
{
    struct fixture *fixture = *state;
    fixture->poll.phase = PHASE_WAITING;
    struct tasks_file tasks = tell(fixture, true);
    assert_int_equal(tasks.attempt, 2);
    assert_int_equal(tasks.waiting, 3);
    elapsed += 1000;
    fixture->poll.phase = PHASE_RUNNING;
    fixture->tasks[1].waits = true;
    end(fixture, 2, 0);
    snprintf(fixture->poll.scheduler_id, sizeof(fixture->poll.scheduler_id), "1234");
    snprintf(fixture->poll.scheduler_state, sizeof(fixture->poll.scheduler_state), "RUNNING");
    tasks = tell(fixture, true);
    assert_true(tasks.waiting == 1 && tasks.running == 1 && tasks.succeeded == 1 && !tasks.failed);
    assert_true(text_is(tasks.which_waiting, "1") && text_is(tasks.which_running, "0") &&
                text_is(tasks.which_succeeded, "2") && !tasks.which_failed.length);
    assert_string_equal(tasks.scheduler_id, "1234");
    assert_string_equal(tasks.scheduler_state, "RUNNING");
    assert_int_equal(tasks_file_total(&tasks), 3);
    end(fixture, 1, 0);
    fixture->tasks[1].killed = true; /* what was killed has failed, whatever it says */
    end(fixture, 0, 3);
    assert_int_equal(tell(fixture, true).failed, 0); /* not more than once a second ... */
    fixture->poll.phase = PHASE_FAILED;
    tasks = tell(fixture, true); /* ... but for the end */
    assert_true(tasks.succeeded == 1 && tasks.failed == 2);
    assert_string_equal(log_of(fixture), ""); /* an array's tasks are independent */
    fixture->poll.phase = PHASE_UNKNOWN;
    fixture->poll.task_count = 0;
    assert_int_equal(tell(fixture, true).failed, 2);
}

static void one_task_without_a_scheduler_costs_no_file(void **state)
{
    struct fixture *fixture = *state;
    fixture->poll.task_count = 1;
    assert_int_equal(tell(fixture, false).attempt, 0);
    assert_int_equal(faccessat(fixture->job, "tasks", F_OK, 0), -1);
    snprintf(fixture->poll.scheduler_id, sizeof(fixture->poll.scheduler_id), "7");
    assert_int_equal(tell(fixture, false).running, 1);
}

static void a_lost_task_is_told_of_once(void **state)
{
    struct fixture *fixture = *state;
    tell(fixture, false);
    assert_string_equal(lost_of(fixture), "");
    elapsed += 1000;
    end(fixture, 2, 137);
    snprintf(fixture->tasks[2].reason, sizeof(fixture->tasks[2].reason), "Exited");
    for (int i = 0; i < 3; i++, elapsed += 1000)
        assert_int_equal(tell(fixture, false).failed, 1);
    const char *line = strstr(log_of(fixture), " lost attempt=2 task=main-2 exit_code=137 reason=");
    assert_non_null(line);
    assert_null(strstr(line + 1, " lost "));
    assert_string_equal(lost_of(fixture), "main-2");
    /* Also after a restart; what others ended with is of no matter to this attempt. */
    struct buffer log = {0};
    tasks_now_free(fixture->now);
    assert_int_equal(file_read_at(fixture->job, "log", 1 << 20, &log, NULL), 0);
    assert_null(tasks_now_recall(buffer_text(&log), 1));
    fixture->now = tasks_now_recall(buffer_text(&log), 2);
    buffer_free(&log);
    end(fixture, 1, 1);
    tell(fixture, false);
    assert_string_equal(lost_of(fixture), "main-2, main-1");
    line = strstr(log_of(fixture), " task=main-2 ");
    assert_null(strstr(line + 1, " task=main-2 "));
    /* It runs again. */
    fixture->tasks[2] = (struct task_state){.role = "main", .index = 2};
    tell(fixture, false);
    assert_non_null(strstr(log_of(fixture), " returned attempt=2 task=main-2\n"));
    assert_string_equal(lost_of(fixture), "main-1");
}

/* Nothing is lost of a job that ends with the task, or that is being ended. */
static void an_end_is_no_loss(void **state)
{
    struct fixture *fixture = *state;
    end(fixture, 0, 1);
    fixture->poll.phase = PHASE_FAILED;
    tell(fixture, false);
    fixture->poll.phase = PHASE_RUNNING;
    fixture->poll.ending = true;
    tell(fixture, false);
    fixture->poll.ending = false;
    end(fixture, 1, 0);
    end(fixture, 2, 0);
    tell(fixture, false);
    assert_string_equal(log_of(fixture), "");
}

static void a_damaged_file_tells_nothing(void **state)
{
    static const char *const damaged[] = {
        "",
        "tasks attempt=1\n",
        "2026-11-22T10:00:00.000Z job attempt=1 running=1\n",
        "2026-11-22T10:00:00.000Z tasks running=1\n",
        "2026-11-22T10:00:00.000Z tasks attempt=1 running=-1\n",
        "2026-11-22T10:00:00.000Z tasks attempt=1 running=x\n",
        "2026-11-22T10:00:00.000Z tasks attempt=1 running=1 "
        "id=0123456789012345678901234567890123456789012345678901234567890123456789\n"};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < ARRAY_COUNT(damaged); i++) {
        struct tasks_file tasks;
        struct error error;
        assert_int_equal(spool_file_replace(fixture->job, "tasks", text_of(damaged[i]), 0644, NULL),
                         0);
        assert_int_equal(tasks_file_read(fixture->job, fixture->arena, &tasks, &error), -1);
        assert_int_equal(tasks.attempt, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tasks_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_task_without_a_scheduler_costs_no_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_lost_task_is_told_of_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_end_is_no_loss, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_file_tells_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
