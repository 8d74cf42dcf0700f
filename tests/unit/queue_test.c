/* the submit queue: priority, then owners in turn, then age; each job once; put-back jobs wait */
#include "tests/unit/unit.h"

#include "base/clock.h"
#include "stages/submit/queue.h"

static void put(struct queue *queue, const char *id, uid_t owner, int priority, int64_t time)
{
    struct queue_job job = {.owner = owner, .priority = priority};
    snprintf(job.id, sizeof(job.id), "%s", id);
    if (time)
        queue_later(queue, &job, time);
    else
        queue_add(queue, &job);
}

static bool take(struct queue *queue, char id[static ID_SIZE])
{
    struct queue_job job;
    bool result = queue_take(queue, &job);
    if (result)
        memcpy(id, job.id, ID_SIZE);
    return result;
}

static void priority_comes_before_age(void **state)
{
    (void)state;
    struct queue *queue = queue_new();
    char id[ID_SIZE];
    put(queue, "a-0000000000003", 1000, 0, 0);
    put(queue, "b-0000000000001", 1000, 0, 0);
    put(queue, "c-0000000000002", 1000, 5, 0);
    put(queue, "b-0000000000001", 1000, 0, 0);
    assert_int_equal(queue_count(queue), 3);
    static const char *const order[] = {"c-0000000000002", "b-0000000000001", "a-0000000000003"};
    for (int i = 0; i < 3; i++) {
        assert_true(take(queue, id));
        assert_string_equal(id, order[i]);
        assert_false(queue_has(queue, id));
    }
    assert_false(take(queue, id));
    queue_free(queue);
}

static void what_is_put_back_waits(void **state)
{
    (void)state;
    struct queue *queue = queue_new();
    char id[ID_SIZE];
    put(queue, "a-0000000000001", 1000, 0, clock_elapsed() + 3600000);
    put(queue, "b-0000000000002", 1000, 0, clock_elapsed() - 1);
    assert_true(queue_has(queue, "a-0000000000001"));
    assert_true(take(queue, id));
    assert_string_equal(id, "b-0000000000002");
    assert_false(take(queue, id));
    assert_int_equal(queue_count(queue), 1);
    assert_true(queue_due(queue) > clock_elapsed());
    queue_free(queue);
}

static void owners_take_turns(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        uid_t owner;
        int priority;
    } jobs[] = {
        {"a-0000000000001", 1, 0},  {"a-0000000000002", 1, 0}, {"a-0000000000003", 1, 0},
        {"a-0000000000004", 1, 5},  {"b-0000000000009", 2, 0}, {"b-0000000000008", 2, 0},
        {"c-0000000000010", 3, -1},
    };
    static const char *const order[] = {"a-0000000000004", "b-0000000000008", "a-0000000000001",
                                        "b-0000000000009", "a-0000000000002", "a-0000000000003",
                                        "c-0000000000010"};
    struct queue *queue = queue_new();
    char id[ID_SIZE];
    for (size_t i = 0; i < ARRAY_COUNT(jobs); i++)
        put(queue, jobs[i].id, jobs[i].owner, jobs[i].priority, 0);
    for (size_t i = 0; i < ARRAY_COUNT(order); i++) {
        assert_true(take(queue, id));
        assert_string_equal(id, order[i]);
    }
    assert_false(take(queue, id));
    queue_free(queue);
}

/* One owner's ten thousand jobs; another's single ones, whenever they come, are next but one. */
static void nobody_waits_for_somebody_elses_backlog(void **state)
{
    (void)state;
    struct queue *queue = queue_new();
    char id[ID_SIZE];
    for (int i = 0; i < 10000; i++) {
        snprintf(id, sizeof(id), "many-%013d", i);
        put(queue, id, 1, 0, 0);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof(id), "one-%013d", 20000 + i);
        put(queue, id, 2 + (uid_t)(i % 3), 0, 0);
        bool found = false;
        for (int j = 0; j < 2 && !found; j++)
            found = take(queue, id) && strncmp(id, "one-", 4) == 0;
        assert_true(found);
    }
    queue_free(queue);
}

/* Owners' jobs come at random and are taken at random: while several have jobs of one priority, no
 * two turns of one lie further apart than there are owners, and each gets their oldest job. */
static void turns_are_fair_whatever_the_order(void **state)
{
    (void)state;
    enum { OWNERS = 20, EACH = 100 };
    struct queue *queue = queue_new();
    char id[ID_SIZE];
    int next[OWNERS] = {0}, last[OWNERS];
    srandom(11);
    for (int i = 0; i < OWNERS * EACH; i++) {
        int number = i * 7919 % (OWNERS * EACH), owner = number % OWNERS;
        snprintf(id, sizeof(id), "o%d-%013d", owner, number / OWNERS);
        put(queue, id, 100 + (uid_t)(owner * 37 % OWNERS), 0, 0);
    }
    for (int i = 0; i < OWNERS; i++)
        last[i] = -1;
    for (int turn = 0; turn < OWNERS * EACH; turn++) {
        assert_true(take(queue, id));
        int owner = atoi(id + 1);
        assert_int_equal(atoi(strrchr(id, '-') + 1), next[owner]++);
        assert_true(last[owner] < 0 ? turn < OWNERS : turn - last[owner] == OWNERS);
        last[owner] = turn;
    }
    queue_free(queue);
}

/* Against a plain model: a hundred thousand random additions and takings. */
static void behaves_like_a_sorted_list(void **state)
{
    (void)state;
    enum { IDS = 3000 };
    static int present[IDS]; /* priority + 1000, 0: not there */
    struct queue *queue = queue_new();
    char id[ID_SIZE];
    size_t count = 0;
    srandom(7);
    for (int step = 0; step < 100000; step++) {
        if (random() % 5 < 3) {
            int which = (int)(random() % IDS), priority = (int)(random() % 7) - 3;
            snprintf(id, sizeof(id), "x-%013d", which);
            assert_int_equal(queue_has(queue, id), present[which] != 0);
            if (!present[which]) {
                put(queue, id, 1000, priority, 0);
                present[which] = priority + 1000;
                count++;
            }
        } else if (take(queue, id)) {
            int taken = atoi(id + 2);
            assert_true(present[taken] != 0);
            if (step % 97 == 0)
                for (int i = 0; i < IDS; i++)
                    assert_false(present[i] > present[taken] ||
                                 (present[i] == present[taken] && i < taken));
            present[taken] = 0;
            count--;
        }
        assert_int_equal(queue_count(queue), count);
    }
    queue_free(queue);
}

/* Who was not served does not lose their turn; what the executor may have goes before all. */
static void what_is_given_back_keeps_its_turn(void **state)
{
    (void)state;
    struct queue *queue = queue_new();
    struct queue_job first, second;
    put(queue, "a-0000000000001", 1, 0, 0);
    put(queue, "a-0000000000002", 1, 0, 0);
    put(queue, "b-0000000000003", 2, 0, 0);
    assert_true(queue_take(queue, &first));
    assert_string_equal(queue_first(queue)->id, "b-0000000000003");
    queue_return(queue, &first);
    assert_string_equal(queue_first(queue)->id, "a-0000000000001");
    assert_true(queue_take(queue, &first) && queue_take(queue, &second));
    assert_string_equal(first.id, "a-0000000000001");
    assert_string_equal(second.id, "b-0000000000003");
    queue_return(queue, &first);
    queue_return(queue, &second);
    assert_int_equal(queue_count(queue), 3);
    static const char *const order[] = {"a-0000000000001", "b-0000000000003", "a-0000000000002"};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(queue_first(queue)->id, order[i]);
        assert_true(queue_take(queue, &first));
        assert_string_equal(first.id, order[i]);
    }
    assert_null(queue_first(queue));

    struct queue_job unsettled = {
        .id = "z-0000000000009", .owner = 3, .priority = -5, .unsettled = true};
    put(queue, "a-0000000000001", 1, 100, 0);
    queue_add(queue, &unsettled);
    assert_string_equal(queue_first(queue)->id, unsettled.id);
    queue_free(queue);
}

/* ---- whoever has waited for long ---- */

static int64_t elapsed;

static int64_t tell_elapsed(void)
{
    return elapsed;
}

static void takes(struct queue *queue, const char *wanted)
{
    char id[ID_SIZE];
    assert_true(take(queue, id));
    assert_string_equal(id, wanted);
}

static void who_has_waited_goes_before_users_priorities(void **state)
{
    (void)state;
    clock_replace(NULL, tell_elapsed);
    elapsed = 1000;
    struct queue *queue = queue_new();
    queue_set_patience(queue, 600, 50);
    put(queue, "low-0000000000001", 1, 0, 0);
    put(queue, "low-0000000000002", 1, 0, 0);
    for (int i = 0; i < 9; i++) {
        char id[ID_SIZE];
        snprintf(id, sizeof(id), "high-%013d", i);
        put(queue, id, 2, 50, 0);
    }
    takes(queue, "high-0000000000000");
    elapsed = 1300;
    put(queue, "late-0000000000001", 3, -100, 0);
    elapsed = 1599;
    takes(queue, "high-0000000000001");
    elapsed = 1600;
    assert_string_equal(queue_first(queue)->id, "low-0000000000001");
    takes(queue, "low-0000000000001");
    takes(queue, "high-0000000000002"); /* and then waits again */
    elapsed = 1900;
    takes(queue, "late-0000000000001");
    put(queue, "admin-0000000000001", 4, 51, 0);
    elapsed = 2200;
    takes(queue, "admin-0000000000001"); /* nobody goes before an administrator's */
    takes(queue, "low-0000000000002");
    takes(queue, "high-0000000000003");
    queue_free(queue);
    clock_replace(NULL, NULL);
}

static void what_is_given_back_has_waited_all_along(void **state)
{
    struct queue_job first;
    (void)state;
    clock_replace(NULL, tell_elapsed);
    elapsed = 1000;
    struct queue *queue = queue_new();
    queue_set_patience(queue, 600, 50);
    put(queue, "low-0000000000001", 1, 0, 0);
    elapsed = 1100;
    assert_true(queue_take(queue, &first));
    queue_return(queue, &first);
    put(queue, "high-0000000000001", 2, 50, 0);
    put(queue, "high-0000000000002", 2, 50, 0);
    elapsed = 1600;
    assert_true(queue_take(queue, &first));
    assert_string_equal(first.id, "low-0000000000001");
    assert_false(queue_passes(queue, &first)); /* it is first, until it starts */
    put(queue, "low-0000000000002", 1, 0, 0);
    elapsed = 2300;
    assert_false(queue_passes(queue, &first));
    queue_end_waiting(queue, 1);
    takes(queue, "high-0000000000001"); /* which has waited, too */
    takes(queue, "high-0000000000002"); /* which has not, nor has the other any more */
    put(queue, "admin-0000000000001", 3, 51, 0);
    assert_true(queue_passes(queue, &first));
    queue_free(queue);
    clock_replace(NULL, NULL);
}

static void an_owner_rests_until_all_are_woken(void **state)
{
    struct queue_job job;
    char id[ID_SIZE];
    (void)state;
    struct queue *queue = queue_new();
    put(queue, "a-0000000000001", 1, 10, 0);
    put(queue, "a-0000000000002", 1, 10, 0);
    put(queue, "b-0000000000003", 2, 0, 0);
    assert_true(queue_take(queue, &job));
    queue_rest(queue, &job);
    put(queue, "a-0000000000004", 1, 100, 0);
    assert_int_equal(queue_count(queue), 4);
    takes(queue, "b-0000000000003");
    assert_false(take(queue, id));
    assert_null(queue_first(queue));
    assert_false(queue_passes(queue, &job));
    assert_int_equal(queue_count(queue), 3);
    queue_wake(queue);
    takes(queue, "a-0000000000004");
    takes(queue, "a-0000000000001");
    takes(queue, "a-0000000000002");
    queue_free(queue);
}

/* ---- shares ---- */

static double due[10]; /* by owner */

static int compare_due(const void *context, uid_t a, uid_t b)
{
    const double *dues = context;
    return dues[a] < dues[b] ? -1 : dues[a] > dues[b];
}

static void shares_decide_within_a_priority(void **state)
{
    (void)state;
    struct queue *queue = queue_new();
    queue_set_shares(queue, compare_due, due);
    for (int i = 0; i < 9; i++) {
        char id[ID_SIZE];
        snprintf(id, sizeof(id), "j-%013d", i);
        put(queue, id, 1 + (uid_t)(i / 3), i == 8 ? 5 : 0, 0);
    }
    due[1] = 3, due[2] = 1, due[3] = 2;
    takes(queue, "j-0000000000008"); /* of a higher priority */
    takes(queue, "j-0000000000003");
    due[2] = 2;
    takes(queue, "j-0000000000006"); /* the same shares: whoever had no turn yet */
    due[2] = due[3] = 9;
    takes(queue, "j-0000000000000");
    assert_string_equal(queue_first(queue)->id, "j-0000000000001");
    due[1] = 10;
    assert_string_equal(queue_first(queue)->id, "j-0000000000004");
    queue_free(queue);
}

static void who_has_waited_and_is_owed_goes_first(void **state)
{
    (void)state;
    clock_replace(NULL, tell_elapsed);
    elapsed = 1000;
    struct queue *queue = queue_new();
    queue_set_shares(queue, compare_due, due);
    queue_set_patience(queue, 600, 50);
    put(queue, "low-0000000000001", 1, 0, 0);
    for (int i = 0; i < 4; i++) {
        char id[ID_SIZE];
        snprintf(id, sizeof(id), "high-%013d", i);
        put(queue, id, 2, 50, 0);
    }
    elapsed = 1300;
    due[1] = due[2] = 0;
    put(queue, "high-0000000000009", 2, 60, 0);
    takes(queue, "high-0000000000009"); /* so this owner has had a turn */
    elapsed = 1600;
    due[1] = 5, due[2] = 4;
    takes(queue, "high-0000000000000"); /* is owed more */
    due[2] = 6;
    put(queue, "new-0000000000001", 3, 50, 0);
    due[3] = 0;
    assert_string_equal(queue_first(queue)->id, "low-0000000000001"); /* before who has just come */
    put(queue, "admin-0000000000001", 4, 51, 0);
    takes(queue, "admin-0000000000001");
    takes(queue, "low-0000000000001");
    takes(queue, "new-0000000000001");
    takes(queue, "high-0000000000001");
    queue_free(queue);
    clock_replace(NULL, NULL);
}

static void what_is_on_top_passes_its_owners_only(void **state)
{
    (void)state;
    struct queue *queue = queue_new();
    struct queue_job job = {.id = "a-0000000000005", .owner = 1, .top = 100};
    put(queue, "a-0000000000001", 1, 0, 0);
    put(queue, "a-0000000000002", 1, 7, 0);
    put(queue, "b-0000000000003", 2, 0, 0);
    queue_add(queue, &job);
    job = (struct queue_job){.id = "a-0000000000006", .owner = 1, .top = 200};
    queue_add(queue, &job);
    takes(queue, "a-0000000000002"); /* of a higher priority */
    takes(queue, "b-0000000000003");
    takes(queue, "a-0000000000006");
    takes(queue, "a-0000000000005");
    takes(queue, "a-0000000000001");
    /* Nor does it go before others' where nobody has had a turn. */
    queue_free(queue);
    queue = queue_new();
    job = (struct queue_job){.id = "a-0000000000009", .owner = 1, .top = 100};
    queue_add(queue, &job);
    put(queue, "b-0000000000003", 2, 0, 0);
    takes(queue, "b-0000000000003");
    queue_free(queue);
}

static void any_job_can_be_taken_out(void **state)
{
    (void)state;
    struct queue *queue = queue_new();
    struct queue_job job;
    char id[ID_SIZE];
    for (int i = 0; i < 100; i++) {
        snprintf(id, sizeof(id), "j-%013d", i);
        put(queue, id, (uid_t)(i % 3), i * 7 % 5, i % 10 == 9 ? clock_elapsed() + 3600000 : 0);
    }
    for (int i = 0; i < 100; i += 2) {
        snprintf(id, sizeof(id), "j-%013d", i * 37 % 100);
        assert_true(queue_remove(queue, id, &job));
        assert_string_equal(job.id, id);
        assert_false(queue_has(queue, id));
        assert_false(queue_remove(queue, id, &job));
    }
    assert_true(queue_remove(queue, "j-0000000000009", &job)); /* which had been put back */
    assert_int_equal(queue_count(queue), 49);
    int last = 100, count = 0;
    for (; queue_take(queue, &job); count++) {
        assert_true(job.priority <= last);
        last = job.priority;
    }
    assert_int_equal(count, 40);
    queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priority_comes_before_age),
        cmocka_unit_test(what_is_put_back_waits),
        cmocka_unit_test(owners_take_turns),
        cmocka_unit_test(nobody_waits_for_somebody_elses_backlog),
        cmocka_unit_test(turns_are_fair_whatever_the_order),
        cmocka_unit_test(what_is_given_back_keeps_its_turn),
        cmocka_unit_test(who_has_waited_goes_before_users_priorities),
        cmocka_unit_test(what_is_given_back_has_waited_all_along),
        cmocka_unit_test(an_owner_rests_until_all_are_woken),
        cmocka_unit_test(shares_decide_within_a_priority),
        cmocka_unit_test(who_has_waited_and_is_owed_goes_first),
        cmocka_unit_test(what_is_on_top_passes_its_owners_only),
        cmocka_unit_test(any_job_can_be_taken_out),
        cmocka_unit_test(behaves_like_a_sorted_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
