/* what an NFS client believes of a directory until it opens it again; answers that were lost; who
 * may make and serve a spool; and the lease among all that
 *
 * A table of system calls plays such a client: between two openings of a directory, a name in it is
 * what it was when it was looked up first, or not there if it was not.
 */
#include "base/file.h"
#include "spool/file.h"
#include "spool/jobs.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system.h"
#include "stages/lease.h"
#include "watcher/drop.h"

static const char id_one[] = "one-0123456789abc";
enum { TAKEOVER = 300, MOST_BELIEFS = 64, NAME_SIZE = 64 }; /* milliseconds; of the client */

static struct system_calls real;
static struct spool spool;
static char *path;
static struct error error;

/* What the client believes: that a name is not there, or is a certain file. */
static struct belief {
    ino_t directory;
    char name[NAME_SIZE];
    struct stat status; /* st_ino 0: not there */
} beliefs[MOST_BELIEFS];
static size_t belief_count;
static bool lose_answers;
static int stale_opens, fsyncs, failing;

static ino_t number_of(int directory)
{
    struct stat status;
    assert_int_equal(fstat(directory, &status), 0);
    return status.st_ino;
}

static struct belief *believe(int directory, const char *name)
{
    ino_t number = number_of(directory);
    for (size_t i = 0; i < belief_count; i++)
        if (beliefs[i].directory == number && strcmp(beliefs[i].name, name) == 0)
            return &beliefs[i];
    assert_true(belief_count < MOST_BELIEFS);
    struct belief *belief = &beliefs[belief_count++];
    *belief = (struct belief){.directory = number};
    snprintf(belief->name, NAME_SIZE, "%s", name);
    if (fstatat(directory, name, &belief->status, AT_SYMLINK_NOFOLLOW))
        belief->status.st_ino = 0;
    return belief;
}

static void forget(int directory)
{
    ino_t number = number_of(directory);
    for (size_t i = 0; i < belief_count; i++)
        if (beliefs[i].directory == number)
            beliefs[i--] = beliefs[--belief_count];
}

static int client_fstatat(int directory, const char *name, struct stat *status, int flags)
{
    if (strchr(name, '/'))
        return real.fstatat(directory, name, status, flags);
    struct belief *belief = believe(directory, name);
    *status = belief->status;
    errno = ENOENT;
    return belief->status.st_ino ? 0 : -1;
}

/* Opening a file that has another's name by now is opening one that the server has forgotten. */
static int client_openat(int directory, const char *name, int flags, mode_t mode)
{
    struct stat status;
    if (failing && strcmp(name, ".lease") == 0) {
        errno = failing;
        return -1;
    }
    if (strcmp(name, ".") == 0)
        forget(directory);
    else if (flags & O_CREAT)
        believe(directory, name)->status.st_ino = 1;
    else if (!(flags & O_DIRECTORY)) {
        struct belief *belief = believe(directory, name);
        int missing = fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW);
        if (!belief->status.st_ino || missing || belief->status.st_ino == 1)
            errno = ENOENT;
        else if (belief->status.st_ino != status.st_ino)
            errno = ESTALE;
        else
            return real.openat(directory, name, flags, mode);
        if (belief->status.st_ino == 1)
            return real.openat(directory, name, flags, mode);
        stale_opens += errno == ESTALE;
        return -1;
    }
    return real.openat(directory, name, flags, mode);
}

static int client_renameat(int from, const char *old_name, int to, const char *new_name)
{
    believe(from, old_name);
    believe(to, new_name);
    int result = real.renameat(from, old_name, to, new_name);
    believe(from, old_name)->status.st_ino = 0;
    if (result == 0 && lose_answers) {
        errno = ENOENT; /* the answer to the second time */
        return -1;
    }
    if (result == 0)
        believe(to, new_name)->status.st_ino = 1;
    return result;
}

static int client_fsync(int file)
{
    fsyncs++;
    if (failing) {
        errno = failing;
        return -1;
    }
    return real.fsync(file);
}

static void be_a_client(void)
{
    sys.openat = client_openat;
    sys.fstatat = client_fstatat;
    sys.renameat = client_renameat;
    sys.fsync = client_fsync;
    belief_count = 0;
}

static int set_up(void **state)
{
    (void)state;
    real = sys;
    path = unit_directory();
    lose_answers = false;
    stale_opens = fsyncs = failing = 0;
    return spool_create(path, &error) || spool_open(&spool, path, &error) ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    sys = real;
    spool_close(&spool);
    unit_remove(path);
    return 0;
}

static void make_job(enum state state)
{
    int job = job_create(&spool, id_one, &error);
    assert_true(job >= 0);
    assert_int_equal(spool_file_create(job, "request.yaml", TEXT("name: x\n"), 0644, &error), 0);
    close(job);
    assert_int_equal(job_publish(&spool, id_one, state, &error), 0);
}

/* Another host, with caches of its own. */
static void another_moves(int from, const char *name, int to)
{
    assert_int_equal(renameat(from, name, to, name), 0);
}

static void put(int directory, const char *name, const char *bytes)
{
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
    close(file);
}

static void another_replaces(int directory, const char *name, const char *bytes)
{
    put(directory, ".other", bytes);
    assert_int_equal(renameat(directory, ".other", directory, name), 0);
}

static void a_move_whose_answer_is_lost_has_happened(void **state)
{
    (void)state;
    struct job_place place = {.state = STATE_RENDERED};
    struct stat status;
    memcpy(place.id, id_one, sizeof(id_one));
    make_job(STATE_RENDERED);
    be_a_client();
    /* Somebody has looked whether it is there, so that it is believed missing. */
    assert_int_equal(sys.fstatat(spool.states[STATE_SUBMITTED], id_one, &status, 0), -1);
    lose_answers = true;
    assert_int_equal(job_move(&spool, &place, STATE_SUBMITTED, 0, &error), 0);
    assert_int_equal(place.state, STATE_SUBMITTED);
}

static void a_move_that_did_not_happen_has_not(void **state)
{
    (void)state;
    struct job_place place = {.state = STATE_RENDERED};
    memcpy(place.id, id_one, sizeof(id_one));
    be_a_client();
    assert_int_equal(job_move(&spool, &place, STATE_SUBMITTED, 0, &error), -1);
    assert_int_equal(place.state, STATE_RENDERED);
}

static void a_claim_and_a_replaced_file_whose_answers_are_lost_are_there(void **state)
{
    (void)state;
    struct stat status;
    put(spool.incoming, "job.yaml", "name: x\n");
    put(spool.root, "facts", "old");
    be_a_client();
    sys.fstatat(spool.claims, "token.job.yaml", &status, AT_SYMLINK_NOFOLLOW);
    lose_answers = true;
    assert_int_equal(drop_claim(spool.incoming, "job.yaml", spool.claims, "token.job.yaml", &error),
                     DROP_TAKEN);
    assert_int_equal(spool_file_replace(spool.root, "facts", TEXT("new"), 0644, &error), 0);
    assert_int_equal(drop_claim(spool.incoming, "none", spool.claims, "token.none", &error),
                     DROP_GONE);
}

static void a_file_that_another_replaced_is_read_as_it_is(void **state)
{
    (void)state;
    struct buffer bytes = {0};
    put(spool.root, "facts", "old");
    be_a_client();
    assert_int_equal(file_read_at(spool.root, "facts", 100, &bytes, &error), 0);
    another_replaces(spool.root, "facts", "new");
    buffer_clear(&bytes);
    assert_int_equal(file_read_at(spool.root, "facts", 100, &bytes, &error), 0);
    assert_true(text_is(buffer_text(&bytes), "new"));
    assert_int_equal(stale_opens, 1);
    buffer_free(&bytes);
}

static void a_job_is_found_where_another_moved_it(void **state)
{
    (void)state;
    struct job_place place;
    make_job(STATE_HELD);
    be_a_client();
    assert_int_equal(jobs_find(&spool, text_of(id_one), &place, &error), 0);
    assert_int_equal(place.state, STATE_HELD);
    another_moves(spool.states[STATE_HELD], id_one, spool.states[STATE_RENDERED]);
    assert_int_equal(jobs_find(&spool, text_of(id_one), &place, &error), 0);
    assert_int_equal(place.state, STATE_RENDERED);
}

/* The lease */

static int take(struct lease *lease)
{
    char who[LEASE_TEXT_SIZE];
    return lease_take(lease, who, &error);
}

static void wait_for(int milliseconds)
{
    struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static void nobody_holds_the_lock(void)
{
    unlinkat(spool.root, ".lock", 0);
}

static void who_was_taken_for_dead_sees_it_at_once(void **state)
{
    (void)state;
    struct lease lease;
    be_a_client();
    lease_open(&lease, &spool, TAKEOVER);
    assert_int_equal(take(&lease), 1);
    assert_int_equal(lease_check_epoch(&spool, lease.epoch), 1);
    another_replaces(spool.root, ".lease", "2 other 77 unlocked 1\n");
    assert_int_equal(lease_check_epoch(&spool, lease.epoch), 0);
    wait_for(TAKEOVER);
    assert_int_equal(lease_renew(&lease, &error), -1);
    lease_release(&lease);
    /* ... and stands by, although it gets the lock, which the other does not have. */
    lease_open(&lease, &spool, TAKEOVER);
    assert_int_equal(take(&lease), 0);
    lease_release(&lease);
}

static void a_lease_that_was_not_there_is_seen(void **state)
{
    (void)state;
    struct lease lease;
    be_a_client();
    assert_int_equal(lease_check_epoch(&spool, 3), 0);
    put(spool.root, ".lease", "3 other 77 unlocked 1\n");
    assert_int_equal(lease_check_epoch(&spool, 3), 1);
    forget(spool.root);
    assert_int_equal(unlinkat(spool.root, ".lease", 0), 0);
    assert_int_equal(lease_check_epoch(&spool, 3), 0);
    put(spool.root, ".lease", "3 other 77 unlocked 1\n");
    lease_open(&lease, &spool, TAKEOVER);
    assert_int_equal(take(&lease), 0);
    lease_release(&lease);
}

static void a_lock_proves_nothing_of_another_host(void **state)
{
    (void)state;
    struct lease lease;
    put(spool.root, ".lease", "3 other 77 locked 1\n");
    be_a_client();
    lease_open(&lease, &spool, TAKEOVER);
    assert_int_equal(take(&lease), 0);
    assert_false(lease.refused); /* it had the lock, which who stands by does not keep */
    char text[100], who[LEASE_TEXT_SIZE];
    snprintf(text, sizeof(text), "3 other 77 locked %lld\n", (long long)clock_now());
    put(spool.root, ".lease", text);
    assert_int_equal(lease_present(&spool, who), 1);
    put(spool.root, ".lease", "3 other 77 locked 1\n");
    assert_int_equal(lease_present(&spool, who), 0);
    assert_int_equal(take(&lease), 0);
    wait_for(TAKEOVER / 2);
    put(spool.root, ".lease", "3 other 77 locked 2\n");
    assert_int_equal(take(&lease), 0); /* it is alive, and has another such lock */
    wait_for(TAKEOVER / 2 + 20);
    assert_int_equal(take(&lease), 1);
    assert_int_equal(lease.epoch, 4);
    lease_release(&lease);
}

static void the_lock_of_this_host_proves_that_its_holder_is_dead(void **state)
{
    (void)state;
    struct lease lease;
    char host[200], text[300];
    assert_int_equal(gethostname(host, sizeof(host)), 0);
    snprintf(text, sizeof(text), "3 %s 77 locked 1\n", host);
    put(spool.root, ".lease", text);
    be_a_client();
    lease_open(&lease, &spool, TAKEOVER);
    assert_int_equal(take(&lease), 1);
    lease_release(&lease);
}

static void a_lease_that_cannot_be_read_is_not_none(void **state)
{
    (void)state;
    struct lease lease;
    struct stat status;
    put(spool.root, ".lease", "7 other 77 unlocked 1\n");
    put(spool.root, ".epoch-7", "");
    be_a_client();
    lease_open(&lease, &spool, TAKEOVER);
    failing = EIO;
    assert_int_equal(take(&lease), -1);
    assert_int_equal(lease_check_epoch(&spool, 7), -1);
    failing = 0;
    assert_int_equal(take(&lease), 0);
    assert_int_equal(fstatat(spool.root, ".epoch-1", &status, 0), -1);
    lease_release(&lease);
}

static void epochs_never_come_again(void **state)
{
    (void)state;
    struct lease lease;
    struct stat status;
    put(spool.root, ".epoch-7", "");
    be_a_client();
    lease_open(&lease, &spool, TAKEOVER);
    assert_int_equal(take(&lease), 0); /* who claimed it is about to serve */
    wait_for(TAKEOVER + 50);
    assert_int_equal(take(&lease), 1);
    assert_int_equal(lease.epoch, 8);
    assert_int_equal(fstatat(spool.root, ".epoch-1", &status, 0), -1);
    lease_release(&lease);
}

static void epochs_go_on_when_somebody_removes_the_lease(void **state)
{
    (void)state;
    struct lease first, second;
    lease_open(&first, &spool, TAKEOVER);
    lease_open(&second, &spool, TAKEOVER);
    assert_int_equal(take(&first), 1);
    assert_int_equal(first.epoch, 1);
    assert_int_equal(unlinkat(spool.root, ".lease", 0), 0);
    assert_int_equal(lease_check_epoch(&spool, 1), 0);
    assert_int_equal(take(&second), 0); /* it is alive still */
    lease_release(&first);
    assert_int_equal(take(&second), 1);
    assert_int_equal(second.epoch, 2);
    lease_release(&second);
}

/* What is said of the other is true: of one that does not move, when it was heard of last. */
static void who_stands_by_says_for_whom(void **state)
{
    (void)state;
    struct lease lease;
    char who[LEASE_WHO_SIZE], text[100];
    put(spool.root, ".lease", "3 other 77 unlocked 1000\n");
    lease_open(&lease, &spool, TAKEOVER);
    assert_int_equal(lease_take(&lease, who, &error), 0);
    assert_string_equal(who,
                        "other process 77 served this spool, and gave its last sign of life at "
                        "1970-01-01T00:00:01.000Z");
    put(spool.root, ".lease",
        "3 other 77 unlocked 2000\n"); /* its clock is another, but it beats */
    assert_int_equal(lease_take(&lease, who, &error), 0);
    assert_string_equal(who, "other process 77 serves this spool");
    put(spool.root, ".epoch-4", "4 third 78 unlocked 1\n");
    assert_int_equal(lease_take(&lease, who, &error), 0);
    assert_string_equal(who, "third process 78 is about to serve this spool");
    snprintf(text, sizeof(text), "4 third 78 unlocked %lld\n", (long long)clock_now());
    put(spool.root, ".lease", text);
    assert_int_equal(lease_take(&lease, who, &error), 0);
    assert_string_equal(who, "third process 78 serves this spool");
    lease_release(&lease);
}

static void a_lease_is_renewed_where_others_see_it(void **state)
{
    (void)state;
    struct lease lease;
    be_a_client();
    lease_open(&lease, &spool, TAKEOVER);
    assert_int_equal(take(&lease), 1);
    int before = fsyncs;
    wait_for(TAKEOVER / 3);
    assert_int_equal(lease_renew(&lease, &error), 0);
    assert_int_equal(fsyncs, before + 1);
    lease_release(&lease);
}

static void a_lease_that_cannot_be_renewed_is_kept_until_others_may_have_it(void **state)
{
    (void)state;
    struct lease lease;
    be_a_client();
    lease_open(&lease, &spool, TAKEOVER);
    assert_int_equal(take(&lease), 1);
    failing = EIO;
    wait_for(TAKEOVER / 3);
    assert_int_equal(lease_renew(&lease, &error), 0);
    wait_for(TAKEOVER);
    assert_int_equal(lease_renew(&lease, &error), -1);
    assert_non_null(strstr(error.text, "Input/output error"));
    failing = 0;
    nobody_holds_the_lock();
    lease_release(&lease);
}

/* Owners */

static int foreign_fstatat(int directory, const char *name, struct stat *status, int flags)
{
    int result = real.fstatat(directory, name, status, flags);
    status->st_uid = 65534;
    return result;
}

static void a_spool_is_not_made_where_we_are_somebody_else(void **state)
{
    (void)state;
    char other[PATH_MAX];
    snprintf(other, sizeof(other), "%s/other", path);
    sys.fstatat = foreign_fstatat;
    assert_int_equal(spool_create(other, &error), -1);
    assert_non_null(strstr(error.text, "belongs to user 65534"));
    assert_int_equal(rmdir(other), 0); /* nothing was left in it */
}

static void a_spool_that_is_closed_to_us_is_not_served(void **state)
{
    (void)state;
    assert_int_equal(spool_check_service(&spool, &error), 0);
    int claims = spool.claims;
    spool.claims = -1;
    assert_int_equal(spool_check_service(&spool, &error), -1);
    assert_non_null(strstr(error.text, "may not serve"));
    spool.claims = claims;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_move_whose_answer_is_lost_has_happened, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_move_that_did_not_happen_has_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_claim_and_a_replaced_file_whose_answers_are_lost_are_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_another_replaced_is_read_as_it_is, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_job_is_found_where_another_moved_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_was_taken_for_dead_sees_it_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lease_that_was_not_there_is_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lock_proves_nothing_of_another_host, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_lock_of_this_host_proves_that_its_holder_is_dead,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lease_that_cannot_be_read_is_not_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(epochs_never_come_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(epochs_go_on_when_somebody_removes_the_lease, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_stands_by_says_for_whom, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lease_is_renewed_where_others_see_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_lease_that_cannot_be_renewed_is_kept_until_others_may_have_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_spool_is_not_made_where_we_are_somebody_else, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_spool_that_is_closed_to_us_is_not_served, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
