/* tests/unit/watcher_arrivals_test.c - complete files, with real files and real writers
 *
 * Times are short, and in the proportions of the defaults.
 */
#include "tests/unit/watcher_support.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>

#include "watcher/arrivals.h"
#include "watcher/drop.h"
#include "watcher/leftovers.h"

static const struct settle_settings times = {.quiet = 800,
                                             .closed_quiet = 200,
                                             .doubtful_quiet = 800,
                                             .link_patience = 400,
                                             .cut_patience = 1000,
                                             .empty_patience = 1000};

static const char sample[] = "name: digits\nlibrary: sklearn\ntype: single\nprogram: /srv/p\n";

static struct scratch scratch;
static struct system_calls real;
static struct arrivals *arrivals;

static int setup(void **state)
{
    (void)state;
    real = sys;
    scratch_open(&scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sys = real;
    arrivals_close(arrivals);
    arrivals = NULL;
    scratch_close(&scratch);
    return 0;
}

static void open_arrivals(size_t pending)
{
    struct settle_settings copied = times; /* need not outlive the opening */
    const struct arrivals_settings settings = {.watch = {.interval = 200, .remote_interval = 200},
                                               .settle = &copied,
                                               .pending = pending,
                                               .notice = 300};
    struct error error = {""};
    arrivals = arrivals_open(scratch.directory, "incoming", &settings, &error);
    if (!arrivals)
        fail_msg("%s", error.text);
    memset(&copied, 0, sizeof(copied));
}

/* The next arrival before the limit; false when there is none. */
static bool next(struct arrival *arrival, int64_t limit)
{
    struct error error = {""};
    for (;;) {
        if (arrivals_next(arrivals, arrival))
            return true;
        int64_t now = clock_elapsed();
        if (now >= limit)
            return false;
        int64_t due = arrivals_due(arrivals) < limit ? arrivals_due(arrivals) : limit;
        struct pollfd wait = {.fd = arrivals_descriptor(arrivals), .events = POLLIN};
        poll(&wait, 1, due > now ? (int)(due - now) : 0);
        if (arrivals_collect(arrivals, &error))
            fail_msg("%s", error.text);
    }
}

static struct arrival arrives(const char *expected)
{
    struct arrival arrival;
    if (!next(&arrival, clock_elapsed() + PATIENCE))
        fail_msg("%s did not arrive", expected);
    assert_string_equal(arrival.name, expected);
    assert_int_equal(arrival.length, strlen(expected));
    return arrival;
}

/* It arrives whole and is taken away. */
static void arrives_with(const char *name, const char *content)
{
    struct buffer bytes = {NULL, 0, 0};
    struct drop drop;
    struct error error = {""};
    struct arrival arrival = arrives(name);
    if (arrival.refuse)
        fail_msg("%s is refused: %s", name, arrival.why.text);
    assert_int_equal(drop_read(scratch.directory, name, text_of(name), &bytes, &drop, &error),
                     DROP_TAKEN);
    assert_string_equal(bytes.data, content);
    assert_int_equal(unlinkat(scratch.directory, name, 0), 0);
    buffer_free(&bytes);
}

static void nothing_arrives_for(int64_t milliseconds)
{
    struct arrival arrival;
    if (next(&arrival, clock_elapsed() + milliseconds))
        fail_msg("%s arrived too soon", arrival.name);
}

static void is_refused(const char *name, const char *beginning)
{
    struct arrival arrival = arrives(name);
    assert_true(arrival.refuse);
    if (strncmp(arrival.why.text, beginning, strlen(beginning)) != 0)
        fail_msg("%s", arrival.why.text);
    assert_int_equal(unlinkat(scratch.directory, name, 0), 0);
}

static int lease_refused(int file, int type)
{
    (void)file;
    (void)type;
    errno = EACCES;
    return -1;
}

static void need_leases(void)
{
    put(scratch.directory, ".lease", "x");
    int file = openat(scratch.directory, ".lease", O_RDONLY | O_CLOEXEC);
    enum writers writers = writers_hold(file);
    close(file);
    if (writers == WRITERS_UNKNOWN) {
        print_message("skipped: the scratch directory's file system has no leases\n");
        skip();
    }
}

static int no_opening(int directory, const char *name, int flags)
{
    (void)directory;
    (void)name;
    (void)flags;
    abort();
}

static void what_is_renamed_in_is_not_even_looked_at(void **state)
{
    (void)state;
    open_arrivals(0);
    nothing_arrives_for(20);
    sys.open_beneath = no_opening;
    put_renamed(scratch.directory, "job.yaml", "name: a");
    arrives("job.yaml");
    assert_int_equal(arrivals_pending(arrivals), 0);
    unlinkat(scratch.directory, "job.yaml", 0);
}

static void copies_of_all_kinds_arrive_whole(void **state)
{
    (void)state;
    open_arrivals(0);
    put(scratch.directory, ".source", sample);
    shell(&scratch, "cp .source by-cp");
    arrives_with("by-cp", sample);
    shell(&scratch, "cat .source > by-cat");
    arrives_with("by-cat", sample);
    shell(&scratch, "install -m 644 .source by-install");
    arrives_with("by-install", sample);
    shell(&scratch, "cp -p .source by-cp-p");
    arrives_with("by-cp-p", sample);
    shell(&scratch, "cp .source .by-rsync.Xa81bQ && mv .by-rsync.Xa81bQ by-rsync");
    arrives_with("by-rsync", sample);
    shell(&scratch, "ln .source by-link && rm .source");
    arrives_with("by-link", sample);
    nothing_arrives_for(300);
}

static void complete_content_arrives_at_once(void **state)
{
    (void)state;
    open_arrivals(0);
    nothing_arrives_for(20);
    sys.lease = lease_refused; /* even where writers are not known of */
    int64_t start = clock_elapsed();
    put(scratch.directory, "job.json", "{\"name\": \"a\"}");
    arrives_with("job.json", "{\"name\": \"a\"}");
    put(scratch.directory, "job.yaml", "name: a\n...\n");
    arrives_with("job.yaml", "name: a\n...\n");
    assert_in_range(clock_elapsed() - start, 0, times.quiet - 50);
}

struct writer {
    struct gate go;
    int64_t pause, line_pause; /* milliseconds after each byte, and after each line */
    size_t stop;               /* rest after this many bytes until the gate opens */
    bool mapped;
};

static int write_slowly(void *context)
{
    struct writer *writer = context;
    int file = openat(scratch.directory, "job.yaml", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
        return 1;
    for (size_t i = 0; i < sizeof(sample) - 1; i++) {
        if (writer->stop && i == writer->stop && gate_wait(&writer->go))
            return 2;
        if (write(file, sample + i, 1) != 1)
            return 3;
        nap(sample[i] == '\n' ? writer->line_pause : writer->pause);
    }
    return 0;
}

static int write_mapped(void *context)
{
    struct writer *writer = context;
    int file = openat(scratch.directory, "job.yaml", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 || ftruncate(file, sizeof(sample) - 1))
        return 1;
    char *map = mmap(NULL, sizeof(sample), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map == MAP_FAILED)
        return 2;
    memcpy(map, sample, writer->stop);
    memset(map + writer->stop, '\n', sizeof(sample) - 1 - writer->stop);
    if (gate_wait(&writer->go))
        return 3;
    memcpy(map, sample, sizeof(sample) - 1);
    return 0;
}

static void a_writer_that_rests_with_the_file_open_is_waited_for(void **state)
{
    (void)state;
    need_leases();
    for (int mapped = 0; mapped < 2; mapped++) {
        struct writer writer = {.stop = strlen("name: digits\n")};
        gate_open(&writer.go);
        open_arrivals(0);
        pid_t child = in_child(mapped ? write_mapped : write_slowly, &writer);
        nothing_arrives_for(2 * times.quiet); /* says so in the log, too */
        assert_int_equal(arrivals_pending(arrivals), 1);
        gate_pass(&writer.go);
        arrives_with("job.yaml", sample);
        join_child(child);
        gate_close(&writer.go);
        arrivals_close(arrivals);
        arrivals = NULL;
    }
}

static void a_slow_writer_who_cannot_be_seen_is_waited_for(void **state)
{
    (void)state;
    struct writer writers[] = {{.pause = 20, .line_pause = 20}, {.line_pause = 200}};
    sys.lease = lease_refused;
    open_arrivals(0);
    for (size_t i = 0; i < 2; i++) {
        pid_t child = in_child(write_slowly, &writers[i]);
        arrives_with("job.yaml", sample);
        join_child(child);
    }
}

static void a_writer_who_was_killed_leaves_no_job(void **state)
{
    (void)state;
    struct writer writer = {.stop = strlen("name: digits\nlib")};
    sys.lease = lease_refused;
    gate_open(&writer.go);
    open_arrivals(0);
    pid_t child = in_child(write_slowly, &writer);
    nothing_arrives_for(100);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    nothing_arrives_for(times.cut_patience / 2);
    is_refused("job.yaml", "it seems to be cut off: it does not end with a newline");
    put(scratch.directory, "job.json", "{\"name\": \"digits\",\n");
    is_refused("job.json", "it seems to be cut off: its brackets do not close");
    put(scratch.directory, "job.sh", "");
    is_refused("job.sh", "it is empty");
    gate_close(&writer.go);
}

/* Who has written it is done: it is handed out soon, with word that its end is missing.  One who was
 * killed is not. */
static void one_that_ends_in_mid_line_arrives_in_the_time_of_any(void **state)
{
    (void)state;
    struct writer writer = {.stop = strlen("name: digits\nlib")};
    need_leases();
    gate_open(&writer.go);
    open_arrivals(0);
    put(scratch.directory, "job.yaml", "name: digits\nlibrary: any");
    int64_t start = clock_elapsed();
    struct arrival arrival = arrives("job.yaml");
    assert_false(arrival.refuse);
    assert_true(arrival.cut);
    assert_string_equal(arrival.complete, "no-writer");
    assert_true(clock_elapsed() - start < times.cut_patience);
    unlinkat(scratch.directory, "job.yaml", 0);
    pid_t child = in_child(write_slowly, &writer);
    nothing_arrives_for(2 * times.quiet);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    is_refused("job.yaml", "it seems to be cut off: it does not end with a newline");
    put(scratch.directory, "job.yaml", sample);
    arrival = arrives("job.yaml");
    assert_false(arrival.cut);
    assert_string_equal(arrival.complete, "no-writer");
    gate_close(&writer.go);
}

/* Stop after each byte, for good, where writers cannot be seen: what is handed out to be taken ends
 * with a whole line. */
static void a_copy_cut_at_any_byte_is_whole_lines_or_refused(void **state)
{
    (void)state;
    char name[32];
    bool seen[sizeof(sample)] = {false};
    sys.lease = lease_refused;
    open_arrivals(0);
    for (size_t cut = 0; cut < sizeof(sample); cut++) {
        snprintf(name, sizeof(name), "%zu", cut);
        put_bytes(scratch.directory, name, sample, cut);
    }
    for (size_t i = 0; i < sizeof(sample); i++) {
        struct arrival arrival;
        assert_true(next(&arrival, clock_elapsed() + PATIENCE));
        size_t cut = (size_t)atoi(arrival.name);
        bool whole = cut > 0 && sample[cut - 1] == '\n';
        assert_int_equal(arrival.refuse, !whole);
        assert_false(seen[cut]);
        seen[cut] = true;
        unlinkat(scratch.directory, arrival.name, 0);
    }
}

static bool is_published(struct text name)
{
    return text_starts(name, "published");
}

static int not_local(int file, struct statfs *status)
{
    (void)file;
    *status = (struct statfs){.f_type = 0x6969}; /* NFS */
    return 0;
}

/* On NFS no event tells of a rename by another client; a name can. */
static void a_name_can_say_that_it_was_renamed_into_place(void **state)
{
    (void)state;
    struct settle_settings never = times;
    never.quiet = never.doubtful_quiet = PATIENCE;
    struct arrivals_settings settings = {.watch = {.interval = 200, .remote_interval = 200},
                                         .settle = &never,
                                         .published = is_published};
    sys.fstatfs = not_local;
    arrivals = arrivals_open(scratch.directory, "incoming", &settings, NULL);
    assert_non_null(arrivals);
    put(scratch.directory, "other.yaml", sample);
    put(scratch.directory, "published.yaml", sample);
    struct arrival arrival = arrives("published.yaml");
    assert_string_equal(arrival.complete, "rename");
    unlinkat(scratch.directory, "published.yaml", 0);
    put(scratch.directory, "marked.yaml", "name: a\n...\n");
    arrival = arrives("marked.yaml");
    assert_string_equal(arrival.complete, "end-mark");
}

static void what_is_never_taken_is_named_once(void **state)
{
    (void)state;
    struct leftovers *leftovers = leftovers_new("incoming", 100);
    put(scratch.directory, "job.yaml~", sample);
    put(scratch.directory, ".job.yaml", sample);
    put(scratch.directory, ".refused-1", sample);
    put(scratch.directory, "job.yaml", sample);
    int64_t limit = clock_elapsed() + PATIENCE;
    int named = leftovers_check(leftovers, scratch.directory, clock_elapsed());
    while (named < 2 && clock_elapsed() < limit) {
        usleep(10000);
        named += leftovers_check(leftovers, scratch.directory, clock_elapsed());
    }
    assert_int_equal(named, 2);
    usleep(100000);
    assert_int_equal(leftovers_check(leftovers, scratch.directory, clock_elapsed() + 1000), 0);
    leftovers_free(leftovers);
}

static void an_unnamed_file_that_is_linked_in_arrives(void **state)
{
    (void)state;
    char from[64];
    open_arrivals(0);
    int file = open(scratch.path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
    if (file < 0)
        skip();
    snprintf(from, sizeof(from), "/proc/self/fd/%d", file);
    assert_int_equal(write(file, sample, sizeof(sample) - 1), sizeof(sample) - 1);
    assert_int_equal(linkat(AT_FDCWD, from, scratch.directory, "job.yaml", AT_SYMLINK_FOLLOW), 0);
    close(file);
    arrives_with("job.yaml", sample);
}

static void a_hard_link_that_stays_is_handed_out_to_be_refused(void **state)
{
    (void)state;
    struct buffer bytes = {NULL, 0, 0};
    struct drop drop;
    put(scratch.directory, ".source", sample);
    open_arrivals(0);
    shell(&scratch, "ln .source job.yaml");
    nothing_arrives_for(times.link_patience / 4);
    assert_false(arrives("job.yaml").refuse);
    assert_int_equal(
        drop_read(scratch.directory, "job.yaml", TEXT("job.yaml"), &bytes, &drop, NULL),
        DROP_REFUSED);
    buffer_free(&bytes);
}

static void what_can_never_be_a_job_file_waits_for_nothing(void **state)
{
    (void)state;
    open_arrivals(0);
    nothing_arrives_for(20);
    int64_t start = clock_elapsed();
    shell(&scratch, "mkfifo a");
    arrives("a");
    unlinkat(scratch.directory, "a", 0);
    shell(&scratch, "mkdir b");
    arrives("b");
    unlinkat(scratch.directory, "b", AT_REMOVEDIR);
    shell(&scratch, "ln -s /etc/passwd c");
    arrives("c");
    unlinkat(scratch.directory, "c", 0);
    shell(&scratch, "truncate -s 1T d");
    arrives("d");
    assert_in_range(clock_elapsed() - start, 0, PATIENCE / 2);
}

static void work_in_progress_is_left_alone(void **state)
{
    (void)state;
    open_arrivals(0);
    shell(&scratch, "for n in .a b~ c.tmp d.part e.swp f.filepart; do echo name: a > $n; done");
    nothing_arrives_for(2 * times.quiet);
    assert_int_equal(arrivals_pending(arrivals), 0);
    shell(&scratch, "mv c.tmp c");
    arrives_with("c", "name: a\n");
}

static void a_name_that_is_written_again_arrives_with_the_last_content(void **state)
{
    (void)state;
    open_arrivals(0);
    put(scratch.directory, "job.yaml", "name: first\n");
    nothing_arrives_for(times.closed_quiet / 4);
    put(scratch.directory, "job.yaml", "name: second\n");
    arrives_with("job.yaml", "name: second\n");
    put(scratch.directory, "job.yaml", "name: thi");
    nothing_arrives_for(times.closed_quiet / 4);
    put_renamed(scratch.directory, "job.yaml", "name: fourth\n");
    arrives_with("job.yaml", "name: fourth\n");
    put(scratch.directory, "job.yaml", "name: gone\n");
    nothing_arrives_for(times.closed_quiet / 4);
    unlinkat(scratch.directory, "job.yaml", 0);
    nothing_arrives_for(2 * times.quiet);
    assert_int_equal(arrivals_pending(arrivals), 0);
}

static void a_backlog_arrives_at_once(void **state)
{
    (void)state;
    enum { MANY = 2000 };
    char name[32];
    need_leases();
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%d", i);
        put(scratch.directory, name, sample);
    }
    nap(times.closed_quiet + 50);
    open_arrivals(0);
    struct arrival arrival;
    int count = 0;
    int64_t start = clock_elapsed();
    assert_int_equal(arrivals_collect(arrivals, NULL), 0);
    while (arrivals_next(arrivals, &arrival))
        count++;
    print_message("%d old files looked at in %lld ms\n", count,
                  (long long)(clock_elapsed() - start));
    assert_int_equal(count, MANY);
    assert_int_equal(arrivals_pending(arrivals), 0);
}

static void many_copies_arrive_once_each(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    char name[32];
    unsigned char seen[MANY] = {0};
    open_arrivals(0);
    nothing_arrives_for(20);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%d", i);
        put(scratch.directory, name, sample);
    }
    for (int i = 0; i < MANY; i++) {
        struct arrival arrival;
        if (!next(&arrival, clock_elapsed() + PATIENCE))
            fail_msg("%d of %d never arrived", MANY - i, MANY);
        int number = atoi(arrival.name);
        assert_false(arrival.refuse);
        assert_int_equal(seen[number]++, 0);
        unlinkat(scratch.directory, arrival.name, 0);
    }
    nothing_arrives_for(300);
}

static void others_are_not_kept_waiting_by_a_full_table(void **state)
{
    (void)state;
    char name[32];
    sys.lease = lease_refused;
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "cut%d", i);
        put(scratch.directory, name, "name: cu");
    }
    open_arrivals(3);
    nothing_arrives_for(20);
    assert_int_equal(arrivals_pending(arrivals), 3);
    put_renamed(scratch.directory, "renamed", "x");
    arrives_with("renamed", "x");
    put(scratch.directory, "complete", "a: b\n...\n");
    arrives_with("complete", "a: b\n...\n");
    put(scratch.directory, "plausible", "a: b\n");
    /* Three at a time would need 17 s. */
    int64_t limit = clock_elapsed() + 8000;
    for (int i = 0; i < 51; i++) {
        struct arrival arrival;
        assert_true(next(&arrival, limit));
        assert_int_equal(arrival.refuse, strcmp(arrival.name, "plausible") != 0);
        unlinkat(scratch.directory, arrival.name, 0);
    }
    nothing_arrives_for(300);
}

/* Drop it in another's name. */
static void put_as(uid_t owner, const char *name)
{
    put(scratch.directory, ".as", sample);
    assert_int_equal(fchownat(scratch.directory, ".as", owner, (gid_t)-1, 0), 0);
    assert_int_equal(renameat(scratch.directory, ".as", scratch.directory, name), 0);
}

/* After how many others `name` is handed out; all are left where they are. */
static int others_before(const char *name, int most)
{
    struct arrival arrival;
    for (int i = 0; i < most; i++) {
        if (!next(&arrival, clock_elapsed() + PATIENCE))
            fail_msg("%s did not arrive", name);
        if (strcmp(arrival.name, name) == 0)
            return i;
    }
    fail_msg("%s did not arrive among %d", name, most);
    return most;
}

static void need_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("skipped: only root can drop in the name of others\n");
    skip();
}

static void one_file_is_not_delayed_by_anothers_many(void **state)
{
    (void)state;
    char name[32];
    need_root();
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "many%d", i);
        put_as(54321, name);
    }
    put_as(54322, "there");
    nap(times.closed_quiet + 50);
    open_arrivals(0);
    assert_true(others_before("there", 3) <= 2);
    others_before("many7", 3000);
    put_as(54323, "new");
    assert_int_equal(arrivals_collect(arrivals, NULL), 0);
    assert_true(others_before("new", 5) <= 3);
}

static void nor_when_the_many_fill_the_table(void **state)
{
    (void)state;
    enum { MANY = 500 };
    char name[32];
    struct arrival arrival;
    int count = 0;
    need_root();
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many%d", i);
        put_as(54321, name);
    }
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "few%d", i);
        put_as(54322, name);
    }
    nap(times.closed_quiet + 50);
    open_arrivals(20);
    assert_int_equal(arrivals_collect(arrivals, NULL), 0);
    assert_int_equal(arrivals_pending(arrivals), 20);
    for (int i = 0; i < 12; i++) {
        assert_true(arrivals_next(arrivals, &arrival));
        count += strncmp(arrival.name, "few", 3) == 0;
        assert_int_equal(arrival.owner, strncmp(arrival.name, "few", 3) == 0 ? 54322 : 54321);
        unlinkat(scratch.directory, arrival.name, 0);
    }
    assert_int_equal(count, 5);
    put_as(54323, "new");
    assert_int_equal(arrivals_collect(arrivals, NULL), 0);
    assert_true(others_before("new", 5) <= 3);
    unlinkat(scratch.directory, "new", 0);
    for (int i = 0; i < MANY - 7; i++) { /* those that found no room are found again */
        if (!next(&arrival, clock_elapsed() + PATIENCE))
            fail_msg("%d of them never came", MANY - 7 - i);
        unlinkat(scratch.directory, arrival.name, 0);
        assert_true(arrivals_pending(arrivals) <= 20);
    }
    nothing_arrives_for(300);
}

static void an_owner_can_be_told_to_rest(void **state)
{
    (void)state;
    need_root();
    put_as(54321, "a");
    put_as(54321, "b");
    put_as(54322, "c");
    nap(times.closed_quiet + 50);
    open_arrivals(0);
    assert_int_equal(arrivals_collect(arrivals, NULL), 0);
    int64_t until = clock_elapsed() + 300;
    arrivals_rest(arrivals, 54321, until);
    arrives("c");
    unlinkat(scratch.directory, "c", 0);
    struct arrival arrival;
    assert_true(next(&arrival, clock_elapsed() + PATIENCE));
    assert_true(clock_elapsed() >= until);
}

static int arrive_unreadable(void *context)
{
    (void)context;
    struct arrival arrival;
    if (setgid(54321) || setuid(54321))
        return 2;
    return !next(&arrival, clock_elapsed() + PATIENCE) || arrival.refuse ||
           strcmp(arrival.name, "secret") != 0;
}

static void what_may_not_be_read_arrives_to_be_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can become somebody else\n");
        skip();
    }
    put(scratch.directory, "secret", sample);
    assert_int_equal(fchmodat(scratch.directory, "secret", 0600, 0), 0);
    assert_int_equal(fchmod(scratch.directory, 0755), 0);
    open_arrivals(0);
    join_child(in_child(arrive_unreadable, NULL));
}

static int no_descriptors(int directory, const char *name, int flags)
{
    (void)directory;
    (void)name;
    (void)flags;
    errno = EMFILE;
    return -1;
}

static void a_look_that_fails_is_made_again(void **state)
{
    (void)state;
    open_arrivals(0);
    nothing_arrives_for(20);
    sys.open_beneath = no_descriptors;
    put(scratch.directory, "job.yaml", sample);
    nothing_arrives_for(300);
    assert_int_equal(arrivals_pending(arrivals), 1);
    sys.open_beneath = real.open_beneath;
    arrives_with("job.yaml", sample);
}

#define ARRIVALS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARRIVALS_TEST(what_is_renamed_in_is_not_even_looked_at),
        ARRIVALS_TEST(copies_of_all_kinds_arrive_whole),
        ARRIVALS_TEST(complete_content_arrives_at_once),
        ARRIVALS_TEST(a_writer_that_rests_with_the_file_open_is_waited_for),
        ARRIVALS_TEST(a_slow_writer_who_cannot_be_seen_is_waited_for),
        ARRIVALS_TEST(a_writer_who_was_killed_leaves_no_job),
        ARRIVALS_TEST(one_that_ends_in_mid_line_arrives_in_the_time_of_any),
        ARRIVALS_TEST(a_name_can_say_that_it_was_renamed_into_place),
        ARRIVALS_TEST(what_is_never_taken_is_named_once),
        ARRIVALS_TEST(a_copy_cut_at_any_byte_is_whole_lines_or_refused),
        ARRIVALS_TEST(an_unnamed_file_that_is_linked_in_arrives),
        ARRIVALS_TEST(a_hard_link_that_stays_is_handed_out_to_be_refused),
        ARRIVALS_TEST(what_can_never_be_a_job_file_waits_for_nothing),
        ARRIVALS_TEST(work_in_progress_is_left_alone),
        ARRIVALS_TEST(a_name_that_is_written_again_arrives_with_the_last_content),
        ARRIVALS_TEST(a_backlog_arrives_at_once),
        ARRIVALS_TEST(many_copies_arrive_once_each),
        ARRIVALS_TEST(others_are_not_kept_waiting_by_a_full_table),
        ARRIVALS_TEST(one_file_is_not_delayed_by_anothers_many),
        ARRIVALS_TEST(nor_when_the_many_fill_the_table),
        ARRIVALS_TEST(an_owner_can_be_told_to_rest),
        ARRIVALS_TEST(what_may_not_be_read_arrives_to_be_refused),
        ARRIVALS_TEST(a_look_that_fails_is_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
