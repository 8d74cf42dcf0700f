/* tests/unit/kubernetes_groups_test.c - the groups that pods of a user are given
 *
 * This machine's users are the test's own: the functions below stand before the C library's.
 */
#include "tests/unit/unit.h"

#include <grp.h>
#include <pwd.h>

#include "base/clock.h"
#include "base/names.h"
#include "executors/kubernetes/groups.h"

static int64_t now = 1000000;
static int lookups, groups_there;

static int64_t tell_elapsed(void)
{
    return now;
}

struct passwd *getpwuid(uid_t uid)
{
    static struct passwd entry;
    static char name[] = "ann";
    entry.pw_name = name;
    lookups++;
    return uid == 1234 || uid == 1235 ? &entry : NULL;
}

/* The primary one, and some others. */
int getgrouplist(const char *user, gid_t gid, gid_t *groups, int *count)
{
    int room = *count;
    assert_string_equal(user, "ann");
    *count = groups_there + 1;
    for (int i = 0; i < *count && i < room; i++)
        groups[i] = i ? 5000 + (gid_t)i : gid;
    return *count > room ? -1 : *count;
}

static void they_are_the_others_of_the_user(void **state)
{
    (void)state;
    struct kubernetes kubernetes = {.groups = names_new(10, sizeof(struct groups))};
    groups_there = 2;
    const struct groups *groups = groups_of(&kubernetes, 1234, 100);
    assert_int_equal(groups->count, 2);
    assert_int_equal(groups->list[0], 5001);
    assert_int_equal(groups->list[1], 5002);
    assert_int_equal(groups_of(&kubernetes, 4711, 100)->count, 0); /* whom nobody knows */
    groups_there = 1000;
    assert_int_equal(groups_of(&kubernetes, 1235, 100)->count, GROUPS_MOST);
    names_free(kubernetes.groups);
}

static void they_are_remembered_for_a_while(void **state)
{
    (void)state;
    struct kubernetes kubernetes = {.groups = names_new(3, sizeof(struct groups))};
    clock_replace(NULL, tell_elapsed);
    groups_there = 1;
    lookups = 0;
    for (int i = 0; i < 100; i++)
        assert_int_equal(groups_of(&kubernetes, 1234, 100)->count, 1);
    assert_int_equal(lookups, 1);
    groups_there = 3;
    now += 60000;
    assert_int_equal(groups_of(&kubernetes, 1234, 100)->count, 3);
    assert_int_equal(lookups, 2);
    for (uid_t uid = 1; uid < 20; uid++) /* more users than are remembered */
        assert_int_equal(groups_of(&kubernetes, uid, 100)->count, 0);
    assert_int_equal(names_count(kubernetes.groups), 3);
    clock_replace(NULL, NULL);
    names_free(kubernetes.groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_the_others_of_the_user),
        cmocka_unit_test(they_are_remembered_for_a_while),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
