/* tests/unit/images_ran_test.c - what tasks ran in is written once for each role, and recalled */
#include "base/file.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "spool/eventlog.h"
#include "spool/job_state.h"
#include "stages/track/images_ran.h"

#define SUM "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct fixture {
    char *path;
    int job;
    struct images_ran *ran;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    fixture->path = unit_directory();
    fixture->job = open(fixture->path, O_RDONLY | O_DIRECTORY);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    free(fixture->ran);
    close(fixture->job);
    unit_remove(fixture->path);
    free(fixture);
    return 0;
}

static void tell(struct fixture *fixture, int attempt, struct task_state *tasks, size_t count)
{
    const struct job_poll poll = {.attempt = attempt, .tasks = tasks, .task_count = count};
    struct buffer lines = {0};
    images_ran_note(&fixture->ran, &poll, &lines);
    assert_true(!lines.length || !eventlog_append(fixture->job, buffer_text(&lines), NULL));
    buffer_free(&lines);
}

static struct job_situation situation_of(const struct fixture *fixture)
{
    struct job_situation situation;
    const struct job_place place = {.state = STATE_SUBMITTED, .id = "x-0123456789abc"};
    job_state_read_situation(fixture->job, &place, &situation);
    return situation;
}

static void restart(struct fixture *fixture, int attempt)
{
    struct buffer log = {0};
    free(fixture->ran);
    assert_int_equal(file_read_at(fixture->job, "log", 1 << 20, &log, NULL), 0);
    fixture->ran = images_ran_recall(buffer_text(&log), attempt);
    buffer_free(&log);
}

static void each_image_of_a_role_is_told_once(void **state)
{
    struct fixture *fixture = *state;
    struct task_state tasks[] = {
        {.role = "ps"}, {.role = "worker"}, {.role = "worker", .index = 1}};
    tell(fixture, 1, tasks, 3);
    assert_int_equal(situation_of(fixture).ran_count, 0); /* nothing is known yet */
    snprintf(tasks[0].image, IMAGE_RAN_SIZE, "host");
    snprintf(tasks[1].image, IMAGE_RAN_SIZE, SUM);
    for (int i = 0; i < 3; i++)
        tell(fixture, 1, tasks, 3);
    restart(fixture, 1);
    tell(fixture, 1, tasks, 3);
    struct job_situation situation = situation_of(fixture);
    assert_int_equal(situation.ran_count, 2);
    assert_string_equal(situation.ran[0].role, "ps");
    assert_string_equal(situation.ran[0].image, "host");
    assert_string_equal(situation.ran[1].role, "worker");
    assert_string_equal(situation.ran[1].image, SUM);
    /* The other worker's node has another image under that name. */
    snprintf(tasks[2].image, IMAGE_RAN_SIZE, "sha256:other");
    tell(fixture, 1, tasks, 3);
    situation = situation_of(fixture);
    assert_int_equal(situation.ran_count, 3);
    assert_string_equal(situation.ran[2].image, "sha256:other");
}

static void an_attempt_tells_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct task_state task = {.role = "main", .image = "host"};
    tell(fixture, 1, &task, 1);
    restart(fixture, 2);
    tell(fixture, 2, &task, 1);
    assert_int_equal(situation_of(fixture).ran_count, 2);
    assert_int_equal(
        eventlog_append(fixture->job, TEXT("2026-11-22T10:02:00.000Z intent attempt=3\n"), NULL),
        0);
    assert_int_equal(situation_of(fixture).ran_count, 0);
}

static void there_is_an_end_to_it(void **state)
{
    struct fixture *fixture = *state;
    struct task_state task = {.role = "main"};
    for (int i = 0; i < 2 * IMAGES_RAN_MOST; i++) {
        snprintf(task.image, IMAGE_RAN_SIZE, "file %d", i);
        tell(fixture, 1, &task, 1);
    }
    struct job_situation situation = situation_of(fixture);
    assert_int_equal(situation.ran_count, SITUATION_IMAGES_MOST);
    struct buffer log = {0};
    assert_int_equal(file_read_at(fixture->job, "log", 1 << 20, &log, NULL), 0);
    size_t lines = 0;
    for (size_t i = 0; i < log.length; i++)
        lines += log.data[i] == '\n';
    assert_int_equal(lines, IMAGES_RAN_MOST);
    buffer_free(&log);
    restart(fixture, 1);
    tell(fixture, 1, &task, 1);
}

static void where_a_task_listens_is_told_once(void **state)
{
    struct fixture *fixture = *state;
    struct task_state tasks[] = {{.role = "main", .image = "host"}, {.role = "main", .index = 1}};
    snprintf(tasks[0].address, ADDRESS_SIZE, "n1:17234");
    tell(fixture, 1, tasks, 2);
    snprintf(tasks[1].address, ADDRESS_SIZE, "n1:17234");
    tell(fixture, 1, tasks, 2);
    restart(fixture, 1);
    tell(fixture, 1, tasks, 2);
    struct job_situation situation = situation_of(fixture);
    assert_int_equal(situation.ran_count, 1);
    assert_int_equal(situation.listening_count, 2); /* of two tasks */
    assert_string_equal(situation.listening[1], "n1:17234");
    assert_int_equal(
        eventlog_append(fixture->job, TEXT("2026-11-22T10:02:00.000Z intent attempt=2\n"), NULL),
        0);
    assert_int_equal(situation_of(fixture).listening_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(where_a_task_listens_is_told_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_image_of_a_role_is_told_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_attempt_tells_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_is_an_end_to_it, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
