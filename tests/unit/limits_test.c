/* what a site lets jobs ask for, and what becomes of what asks for more
 *
 * Seen to fail with: tests/mutants/limits-*.patch and tests/mutants/settings-ranges-*.patch.
 */
#include "tests/unit/unit_arena.h"

#include <unistd.h>

#include <git2.h>

#include "spool/wants.h"
#include "stages/prepare/limits.h"
#include "stages/prepare/wanted.h"
#include "tests/unit/scratch_repository.h"

#define HEAD "name: a\nscript: x\n"
#define OPENPAI(class)                                                                                           \
    "protocolVersion: 2\nname: a\ntype: job\nprerequisites: [{type: dockerimage, name: i, uri: "                 \
    "x}]\n"                                                                                                      \
    "taskRoles: {one: {dockerImage: i, resourcePerInstance: {cpu: 1, memoryMB: 1024, gpu: 0}, commands: [x]}}\n" \
    "extras: {hivedScheduler: {jobPriorityClass: " class "}}\n"

enum { USER = 1000, ADMINISTRATOR = 1001, OWNER = 1002 };

static struct settings settings;
static const struct spool owned = {.owner = OWNER};
static struct job_record record;
static gid_t group; /* of its owner */
static struct preparation preparation;
static struct repository *repository;

static void set(const char *source)
{
    settings_free(&settings);
    if (settings_parse(&settings, text_of(source), &error))
        fail_msg("%s", error.text);
}

static void refuses_settings(const char *source, const char *sentence)
{
    struct settings none;
    assert_int_equal(settings_parse(&none, text_of(source), &error), -1);
    if (!strstr(error.text, sentence))
        fail_msg("%s: not in: %s", sentence, error.text);
}

static enum prepare_result hold(const char *source, uid_t uid, bool again)
{
    const struct limits limits = {&settings, &owned, again};
    record = (struct job_record){.uid = uid, .gid = group, .accepted = 1};
    if (prepare_request(arena, text_of(source), "j.yaml", &record, &preparation) != PREPARED)
        fail_msg("%s", preparation.error.text);
    return limits_hold(arena, &limits, repository, &record, &preparation);
}

/* The job is held to that priority and time, and its owner is told so if one was moved. */
static void becomes(const char *source, uid_t uid, bool again, int priority, int64_t seconds,
                    size_t notes)
{
    if (hold(source, uid, again) != PREPARED)
        fail_msg("%s: %s", source, preparation.error.text);
    assert_int_equal(record.priority, priority);
    assert_int_equal(preparation.description->priority, priority);
    assert_int_equal(record.time_limit, seconds * 1000);
    assert_int_equal(preparation.description->time_limit, seconds * 1000);
    size_t found = 0;
    for (size_t i = 0; i < preparation.notes.count; i++)
        found += text_is(preparation.notes.items[i].field, "priority");
    assert_int_equal(found, notes);
}

static void refused(const char *source, uid_t uid, bool again, const char *sentence)
{
    assert_int_equal(hold(source, uid, again), PREPARE_NOT_RENDERED);
    assert_int_equal(preparation.failure, RENDER_NOT_ALLOWED);
    assert_string_equal(preparation.error.text, sentence);
}

static void a_users_priority_harms_nobody_by_default(void **state)
{
    (void)state;
    set("executor: null\n");
    becomes(HEAD, USER, false, 0, 0, 0);
    becomes(HEAD "priority: -100\n", USER, false, -100, 0, 0);
    refused(
        HEAD "priority: 1\n", USER, false,
        "priority: found 1, expected a whole number from -100 to 0; an administrator's job may have "
        "-100 to 100 (limits.priority.users of dlspool.yaml, which an administrator can change)");
    becomes(HEAD "priority: 100\n", OWNER, false, 100, 0, 0);
    becomes(HEAD "priority: 100\n", 0, false, 100, 0, 0);
}

static void a_site_sets_both_ranges(void **state)
{
    (void)state;
    set("administrators: [1001]\nlimits: {priority: {users: [-10, 20], administrators: [0, 30]}}\n");
    becomes(HEAD "priority: 20\n", USER, false, 20, 0, 0);
    becomes(HEAD "priority: 30\n", ADMINISTRATOR, false, 30, 0, 0);
    refused(
        HEAD "priority: 31\n", ADMINISTRATOR, false,
        "priority: found 31, expected a whole number from 0 to 30 (limits.priority.administrators "
        "of dlspool.yaml, which an administrator can change)");
    refused(HEAD "priority: -11\n", USER, false,
            "priority: found -11, expected a whole number from -10 to 20 (limits.priority.users of "
            "dlspool.yaml, which an administrator can change)");
}

static void other_systems_priorities_are_moved(void **state)
{
    (void)state;
    set("limits: {priority: {users: [-10, 5]}}\n");
    becomes(OPENPAI("crit"), USER, false, 5, 0, 1);
    becomes(OPENPAI("oppo"), USER, false, -10, 0, 1);
    becomes(OPENPAI("test"), USER, false, 0, 0, 0);
    becomes(OPENPAI("crit"), OWNER, false, 100, 0, 0);
}

static void what_was_accepted_before_is_moved(void **state)
{
    (void)state;
    set("limits: {time_limit: 1d}\n");
    becomes(HEAD "priority: 50\ntime_limit: 1h\n", USER, true, 0, 3600, 1);
    refused(HEAD "time_limit: 25h\n", USER, true,
            "time_limit: found 1 d 1 h, expected at most 1 d, the longest that this site allows "
            "(limits.time_limit of dlspool.yaml, which an administrator can change)");
}

static void the_longest_time_holds_for_all(void **state)
{
    (void)state;
    set("limits: {time_limit: 1d}\n");
    becomes(HEAD, USER, false, 0, 86400, 0);
    becomes(HEAD "time_limit: 1d\n", USER, false, 0, 86400, 0);
    becomes(HEAD "time_limit: 5m\n", USER, false, 0, 300, 0);
    becomes(HEAD, OWNER, false, 0, 86400, 0);
    assert_int_equal(hold(HEAD "time_limit: 86401\n", OWNER, false), PREPARE_NOT_RENDERED);
    /* A notebook ends by itself. */
    becomes("name: a\ntype: notebook\n", USER, false, 0, 8 * 3600, 0);
    becomes("name: a\ntype: notebook\ntime_limit: 20h\n", USER, false, 0, 20 * 3600, 0);
    set("limits: {time_limit: 1h}\n");
    becomes("name: a\ntype: notebook\n", USER, false, 0, 3600, 0);
    set("executor: null\n");
    becomes("name: a\ntype: notebook\n", USER, false, 0, 0, 0);
}

static void what_is_rendered_as_it_was_keeps_what_it_had(void **state)
{
    const struct job_record before = {.priority = 77, .time_limit = 60000};
    (void)state;
    set("executor: null\n");
    becomes(HEAD, USER, false, 0, 0, 0);
    limits_keep(&before, &record, preparation.description);
    assert_int_equal(record.priority, 77);
    assert_int_equal(preparation.description->priority, 77);
    assert_int_equal(record.time_limit, 60000);
    assert_int_equal(preparation.description->time_limit, 60000);
}

/* So many tasks of the array run at once, and its owner is told if they are fewer than was asked for. */
static void runs_at_once(const char *array, int count, size_t notes)
{
    char source[256];
    snprintf(source, sizeof(source),
             HEAD "type: array\narray: %s\ntasks: {main: {cpus: 1, gpus: 2, memory: 1Gi}}\n",
             array);
    if (hold(source, USER, false) != PREPARED)
        fail_msg("%s: %s", source, preparation.error.text);
    int asked = preparation.description->array.at_once;
    assert_int_equal(record.array_at_once, count);
    assert_true(asked ? asked == count : count == (int)preparation.description->array.count);
    size_t found = 0;
    for (size_t i = 0; i < preparation.notes.count; i++)
        found += text_is(preparation.notes.items[i].field, "array");
    assert_int_equal(found, notes);
}

static void an_array_runs_no_more_at_once_than_rows_leave(void **state)
{
    struct job_record before;
    (void)state;
    set("executor: null\n");
    runs_at_once("0-99", 100, 0);
    runs_at_once("0-99%8", 8, 0);
    set("limits: {rows: [{user: \"*\", gpus: 9}, {queue: q, cpus: 1}, {group: \"*\", memory: 3Gi}]}\n");
    runs_at_once("0-99", 3, 1);
    runs_at_once("0-99%8", 3, 1);
    runs_at_once("0-99%2", 2, 0);
    runs_at_once("0-1", 2, 0);
    set("limits: {rows: [{user: \"*\", gpus: 1}]}\n");
    refused(HEAD "type: array\narray: 0-9\ntasks: {main: {gpus: 2}}\n", USER, false,
            "gpus: found 2, expected at most 1, as the user of the job may have no more "
            "(limits.rows of dlspool.yaml, line 1, which an administrator can change)");
    /* For more than such a row allows an approval is asked, whatever other rows leave. */
    set("limits: {rows: [{user: \"*\", gpus: 9, over: approve}]}\n");
    runs_at_once("0-9", 10, 0);
    wanted_settle(arena, &settings, &record);
    assert_true(text_starts(record.wants, WANTS_LIMIT "user * gpus=9"));
    runs_at_once("0-9%4", 4, 0);
    wanted_settle(arena, &settings, &record);
    assert_int_equal(record.wants.length, 0);
    set("limits: {rows: [{user: \"*\", gpus: 9, over: approve}, {user: \"*\", gpus: 12}]}\n");
    runs_at_once("0-9", 6, 1);
    wanted_settle(arena, &settings, &record);
    assert_true(text_starts(record.wants, WANTS_LIMIT "user * gpus=9"));
    set("limits: {rows: [{user: \"*\", gpus: 1}]}\n");
    assert_int_equal(hold(HEAD "type: array\narray: 0-9\ntasks: {main: {gpus: 1}}\n", USER, false),
                     PREPARED);
    /* Rendered again as it was. */
    before = record;
    before.array_at_once = 4;
    preparation.description->array.at_once = 0;
    limits_keep(&before, &record, preparation.description);
    assert_int_equal(record.array_at_once, 4);
    assert_int_equal(preparation.description->array.at_once, 4);
    before.array_at_once = 10;
    preparation.description->array.at_once = 0;
    limits_keep(&before, &record, preparation.description);
    assert_int_equal(preparation.description->array.at_once, 0);
}

static void mistakes_in_the_settings_are_told(void **state)
{
    static const char range[] =
        "expected the lowest and the highest, whole numbers from -100 to 100";
    (void)state;
    refuses_settings("limits: {priority: {users: [1, 5]}}\n", range);
    refuses_settings("limits: {priority: {users: [-5, -1]}}\n", range);
    refuses_settings("limits: {priority: {users: [-101, 0]}}\n", range);
    refuses_settings("limits: {priority: {users: [0, 101]}}\n", range);
    refuses_settings("limits: {priority: {users: [-1.5, 0]}}\n", range);
    refuses_settings("limits: {priority: {administrators: [-1]}}\n",
                     "limits.priority.administrators: found a list, ");
    refuses_settings("limits: {priority: 5}\n", "limits.priority: found 5, expected settings");
    refuses_settings("limits: {time_limit: 500ms}\n",
                     "limits.time_limit: found \"500ms\", expected");
    refuses_settings("limits: {waiting: -1}\n",
                     "limits.waiting: found -1, expected a whole number");
    refuses_settings("limits: {wating: 1}\n",
                     "limits.wating: unknown setting; did you mean waiting?");
}

static struct scratch scratch;

static int open_all(void **state)
{
    (void)state;
    git_libgit2_init();
    scratch_open(&scratch);
    scratch_put(&scratch, "images.txt", "any * * * host\n");
    scratch_put(&scratch, "site.yaml",
                "notebook_time: 28800\n"
                "openpai: {virtual_clusters: {vc1: night, vc2: null}}\n"
                "sbatch: {rules: [{account: physics, queue: night}]}\n");
    scratch_commit(&scratch);
    repository = repository_open(scratch.path, "HEAD", &error);
    return !repository || repository_refresh(repository, &error);
}

static int close_all(void **state)
{
    (void)state;
    repository_close(repository);
    settings_free(&settings);
    scratch_close(&scratch);
    return 0;
}

static void mistakes_in_rows_are_told(void **state)
{
    static const struct {
        const char *row, *sentence;
    } mistakes[] = {
        {"{user: root, gpus: 1, borrow_gpus: 2}", "borrow_gpus: found 2, expected it beside queue"},
        {"{user: root, gpus: 1, preempt: lower}",
         "preempt: found \"lower\", expected it beside queue"},
        {"{queue: a, borrow_gpus: 2}", "expected the name of one queue beside it, and gpus"},
        {"{queue: \"*\", gpus: 2, lend_gpus: 2}",
         "expected the name of one queue beside it, and gpus"},
        {"{queue: a, gpus: 2, lend_gpus: 3}", "lend_gpus: found 3, expected at most gpus"},
        {"{queue: a, gpus: 2, lend_gpus: 1, over: refuse}", "expected wait in the row of a queue"},
        {"{queue: a, gpus: 1, preempt: always}", "expected never or lower"},
        {"{queue: a, exempt: 30m}", "expected at least one of running"},
        {"{user: root, gpu_hours: 200}", "gpu_hours: found 200, expected hours of a GPU, and the"},
        {"{user: root, gpu_hours: 200/1s}", "gpu_hours: found \"200/1s\", expected hours of a GPU"},
        {"{user: root, gpu_hours: x/1d}", "gpu_hours: found \"x/1d\", expected hours of a GPU"},
        {"{queue: a, gpus: 2, lend_gpus: 1, over: approve}", "expected wait in the row of a queue"},
        {"{user: root, gpus: 1, users: [root]}", "users: found a list, expected it beside queue"},
        {"{group: root, gpus: 1, groups: [root]}",
         "groups: found a list, expected it beside queue"},
        {"{queue: \"*\", groups: [root]}", "groups: found a list, expected the name of one queue"},
        {"{queue: a, gpu_type: A, users: [root]}", "beside it, and no gpu_type"},
        {"{queue: a, users: [no-such-user]}", "expected a user that this machine knows"},
        {"{queue: a, users: []}", "users: found a list, expected a list of at least one"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(mistakes); i++) {
        char source[256];
        snprintf(source, sizeof(source), "limits:\n  rows:\n  - %s\n", mistakes[i].row);
        refuses_settings(source, mistakes[i].sentence);
    }
}

/* Who may name a queue that has GPUs of its own: for its jobs others are stopped. */
static void a_queue_may_be_for_some(void **state)
{
    enum { DAEMON = 1, BIN = 2 };
    static const char mine[] = HEAD "queue: prod\n";
    static const char sentence[] =
        "queue: found prod, which is for others (limits.rows of dlspool.yaml, line 1, which an "
        "administrator can change)";
    (void)state;
    set("limits: {rows: [{queue: prod, gpus: 8, users: [daemon], groups: [bin]}, {queue: prod, "
        "waiting: 9, over: approve}]}\n");
    refused(mine, USER, false, sentence);
    refused(mine, USER, true, sentence); /* when it is retried, too */
    becomes(mine, DAEMON, false, 0, 0, 0);
    group = BIN;
    becomes(mine, USER, false, 0, 0, 0);
    group = 0;
    becomes(mine, 0, false, 0, 0, 0);
    becomes(HEAD "queue: other\n", USER, false, 0, 0, 0);
    set("limits: {rows: [{queue: prod, users: [daemon]}]}\n");
    group = BIN;
    refused(mine, USER, false, sentence);
    group = 0;
    set("limits: {rows: [{queue: prod, gpus: 8}]}\n");
    becomes(mine, USER, false, 0, 0, 0);
}

/* A job of another system is held to the rows of the queue that it means, also where others have a default one. */
static void who_means_a_queue_is_held_to_it(void **state)
{
    static const char cluster[] = "{\"jobName\": \"a\", \"image\": \"b/c\", "
                                  "\"virtualCluster\": \"%s\", \"taskRoles\": [{\"name\": \"m\", "
                                  "\"cpuNumber\": 2, \"command\": \"true\"}]}";
    static const char options[] = "#!/bin/sh\n#SBATCH -c 2 %s\ntrue\n";
    static const char too_many[] = "cpus: found 2, expected at most 1, as the queue night may have "
                                   "no more (limits.rows of dlspool.yaml, line 1, which an "
                                   "administrator can change)";
    char text[256];
    (void)state;
    set("limits: {default_queue: plain, rows: [{queue: night, cpus: 1}]}\n");
    snprintf(text, sizeof(text), cluster, "vc1");
    refused(text, USER, false, too_many);
    assert_true(text_is(record.queue, "night"));
    snprintf(text, sizeof(text), cluster, "vc2");
    assert_int_equal(hold(text, USER, false), PREPARED);
    assert_true(text_is(record.queue, "plain"));
    snprintf(text, sizeof(text), options, "-p night");
    refused(text, USER, false, too_many);
    snprintf(text, sizeof(text), options, "-A physics");
    refused(text, USER, false, too_many);
    snprintf(text, sizeof(text), options, "-p day");
    assert_int_equal(hold(text, USER, false), PREPARED);
    assert_true(text_is(record.queue, "day"));
}

/* A job that names no queue is in the site's, also by its rows; one that was taken without keeps having none. */
static void who_names_no_queue_has_the_default_one(void **state)
{
    const struct job_record before = {.queue = TEXT("old")}, without = {.accepted = 1};
    const struct limits limits = {&settings, &owned, true};
    (void)state;
    refuses_settings("limits: {default_queue: \"a b\"}\n",
                     "limits.default_queue: found \"a b\", expected the name of a queue");
    set("limits: {default_queue: plain, rows: [{queue: plain, cpus: 1, time_limit: 5s}]}\n");
    becomes(HEAD, USER, false, 0, 5, 0);
    assert_true(text_is(record.queue, "plain"));
    assert_true(text_is(preparation.description->queue, "plain"));
    becomes(HEAD "queue: other\n", USER, false, 0, 0, 0);
    assert_true(text_is(record.queue, "other"));
    refused(
        HEAD "tasks: {main: {cpus: 2}}\n", USER, false,
        "cpus: found 2, expected at most 1, as the queue plain may have no more (limits.rows of "
        "dlspool.yaml, line 1, which an administrator can change)");
    becomes(HEAD, USER, false, 0, 5, 0);
    record.queue = preparation.description->queue = TEXT("");
    assert_int_equal(limits_hold_again(arena, &limits, repository, &before, &record, &preparation),
                     PREPARED);
    assert_true(text_is(record.queue, "old"));
    assert_true(text_is(preparation.description->queue, "old"));
    record.queue = preparation.description->queue = TEXT("");
    limits_keep(&before, &record, preparation.description);
    assert_true(text_is(preparation.description->queue, "old"));
    record.queue = preparation.description->queue = TEXT("");
    limits_keep(&without, &record, preparation.description);
    assert_int_equal(record.queue.length + preparation.description->queue.length, 0);
}

/* ---- classes ---- */

#define CLASSES                                                                                    \
    "priority_classes:\n"                                                                          \
    "  - {name: normal, value: -10, default: true}\n"                                              \
    "  - {name: urgent, value: 50}\n"                                                              \
    "  - {name: paper, value: 60, users: [daemon], description: \"before a deadline\"}\n"          \
    "  - {name: spare, value: -50, groups: [bin]}\n"

static void is_of_class(const char *source, uid_t uid, const char *name, int priority)
{
    becomes(source, uid, false, priority, 0, 0);
    assert_true(text_is(record.priority_class, name));
}

static void classes_are_names_of_priorities(void **state)
{
    (void)state;
    set("executor: null\n" CLASSES);
    is_of_class(HEAD, USER, "normal", -10);
    is_of_class(HEAD "priority: 0\n", USER, "", 0);
    is_of_class(HEAD "priority: normal\n", USER, "normal", -10);
    is_of_class(HEAD "priority: urgent\n", OWNER, "urgent", 50);
    is_of_class(HEAD "priority: paper\n", 1, "paper", 60); /* daemon's */
    refused(
        HEAD "priority: urgent\n", USER, false,
        "the class urgent: priority: found 50, expected a whole number from -100 to 0; an "
        "administrator's job may have -100 to 100 (limits.priority.users of dlspool.yaml, which "
        "an administrator can change)");
    refused(HEAD "priority: paper\n", USER, false,
            "priority: found paper, which is for others, expected a whole number or one of normal, "
            "urgent (priority_classes of dlspool.yaml, which an administrator can change)");
    refused(HEAD "priority: fast\n", USER, false,
            "priority: found fast, expected a whole number or one of normal, urgent "
            "(priority_classes of dlspool.yaml, which an administrator can change)");
    /* What was accepted is taken as it may be now; so is another system's. */
    becomes(HEAD "priority: fast\n", USER, true, 0, 0, 1);
    becomes(OPENPAI("prod"), USER, false, 0, 0, 1);
    set("executor: null\npriority_classes: [{name: prod, value: -7}]\n");
    is_of_class(OPENPAI("prod"), USER, "prod", -7);
    set("executor: null\n");
    refused(
        HEAD "priority: fast\n", USER, false,
        "priority: found fast, expected a whole number from -100 to 0: this site has no classes "
        "of priority (priority_classes of dlspool.yaml)");
}

static void what_somebody_has_set_stays(void **state)
{
    (void)state;
    set("executor: null\n" CLASSES);
    const struct limits limits = {&settings, &owned, true};
    struct job_record before = {.uid = USER,
                                .priority = 70,
                                .priority_class = TEXT(""),
                                .priority_from = TEXT("administrator")};
    hold(HEAD "priority: -3\n", USER, true);
    assert_int_equal(limits_hold_again(arena, &limits, repository, &before, &record, &preparation),
                     PREPARED);
    assert_int_equal(record.priority, 70);
    assert_int_equal(preparation.description->priority, 70);
    before.priority_from = TEXT("owner");
    assert_int_equal(limits_hold_again(arena, &limits, repository, &before, &record, &preparation),
                     PREPARED);
    assert_int_equal(record.priority, 0); /* what owners may give now */
    int priority;
    assert_int_equal(limits_value(&limits, USER, 0, TEXT("-20"), &priority, &error), 0);
    assert_int_equal(priority, -20);
    assert_int_equal(limits_value(&limits, USER, 0, TEXT("1"), &priority, &error), -1);
    assert_int_equal(limits_value(&limits, USER, 0, TEXT("normal"), &priority, &error), 0);
    assert_int_equal(priority, -10);
    assert_int_equal(
        limits_value(&limits, USER, 0, TEXT("99999999999999999999"), &priority, &error), -1);
    assert_int_equal(limits_value(&limits, USER, 0, TEXT(""), &priority, &error), -1);
}

static void wrong_classes_are_told(void **state)
{
    (void)state;
    refuses_settings("priority_classes: [{name: a}]\n",
                     "expected both name and value in each class");
    refuses_settings("priority_classes: [{name: \"7\", value: 1}]\n", "that is no number");
    refuses_settings("priority_classes: [{name: a, value: 101}]\n", "from -100 to 100");
    refuses_settings(
        "priority_classes: [{name: a, value: 1}, {name: a, value: 2}]\n",
        "priority_classes.name: found \"a\", expected a name that no class before it has");
    refuses_settings(
        "priority_classes: [{name: a, value: 1, users: [nosuchuser]}]\n",
        "priority_classes.users: found \"nosuchuser\", expected a user that this machine "
        "knows; for everybody leave out");
    refuses_settings(
        "priority_classes: [{name: a, value: 1, groups: [\"*\"]}]\n",
        "priority_classes.groups: found \"*\", expected a group that this machine knows");
    refuses_settings("priority_classes: [{name: a, value: 1, users: []}]\n",
                     "expected a list of at least one name");
    refuses_settings(
        "priority_classes: [{name: a, value: 1, users: [daemon], default: true}]\n",
        "priority_classes.default: found true, expected true in one class at most, and "
        "not in one that has");
    refuses_settings("shares: {weights: [{user: daemon}]}\n", "and weight, in each row");
    refuses_settings("shares: {weights: [{user: daemon, weight: 0}]}\n",
                     "found 0, expected a number from");
    refuses_settings("shares: {weights: [{queue: a, weight: 1}, {queue: a, weight: 2}]}\n",
                     "in one row only");
    refuses_settings("shares: {weights: [{user: daemon, queue: a, weight: 1}]}\n",
                     "expected one of user, group and queue");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_users_priority_harms_nobody_by_default, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_site_sets_both_ranges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_systems_priorities_are_moved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_accepted_before_is_moved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_longest_time_holds_for_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_rendered_as_it_was_keeps_what_it_had, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_array_runs_no_more_at_once_than_rows_leave, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(classes_are_names_of_priorities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_somebody_has_set_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_classes_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_in_the_settings_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_in_rows_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_queue_may_be_for_some, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_means_a_queue_is_held_to_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_names_no_queue_has_the_default_one, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
