/* tests/unit/local_services_test.c - what tasks get beside their programs: keys for ssh, and ports */
#include "tests/unit/local_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "executors/local/storage.h"

#define TASK(role, command)                                                                        \
    "- {role: " role ", image: host, cpus: 0.5, memory: 64Mi, command: " command "}\n"
#define KEYED(command)                                                                             \
    "kind: dlspool/local/v1\nssh: true\ntasks:\n" TASK("a", command) TASK("b", command)
#define HEAD(network, ports)                                                                       \
    "kind: dlspool/local/v1\nnetwork: " network "\nlisten: [" ports "]\ntasks:\n"

enum { SOME_USER = 54321 };

static struct submission of_user(const char *id, const char *manifest)
{
    struct submission submission = fixture_submission(id, manifest);
    submission.uid = submission.gid = SOME_USER;
    return submission;
}

static void hand_in(struct fixture *f, struct submission *submission)
{
    fixture_hand_in(f, submission);
    if (submission->outcome != SUBMIT_ACCEPTED)
        fail_msg("outcome %d: %s", submission->outcome, submission->error.text);
}

/* ---- keys ---- */

#define SHOW                                                                                       \
    "[sh, -c, 'stat -c \"%a %u %n\" /job/ssh/*; ssh-keygen -y -f /job/ssh/id; "                    \
    "cat /job/ssh/id.pub; touch /job/ssh/x 2>/dev/null || echo read-only']"

static void all_tasks_have_the_same_keys_of_their_user(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    struct submission s = of_user("keys-1", KEYED(SHOW));
    hand_in(f, &s);
    fixture_wait(f, "keys-1");
    const char *a = fixture_output(f, "keys-1", "a-0.log");
    const char *b = fixture_output(f, "keys-1", "b-0.log");
    assert_non_null(strstr(a, "444 54321 /job/ssh/authorized_keys\n400 54321 /job/ssh/id\n"
                              "444 54321 /job/ssh/id.pub\n444 54321 /job/ssh/known_hosts\n"));
    assert_non_null(strstr(a, "read-only"));
    const char *key = strstr(a, "ssh-ed25519 ");
    assert_non_null(key);
    /* What the private one gives is the public one, here and in the other task. */
    const char *end = strchr(key, '\n');
    assert_non_null(end);
    assert_memory_equal(end + 1, key, (size_t)(end + 1 - key));
    assert_string_equal(strstr(b, "ssh-ed25519 "), key);
    /* Nobody else on this machine can read it, and podman does not tell it. */
    assert_int_equal(fixture_shell(f, "setpriv --reuid 54321 --clear-groups cat "
                                      "$D/.podman/jobs/keys-1-a1/ssh/id 2> /dev/null"),
                     1);
    assert_int_equal(fixture_shell(f, "grep -q PRIVATE $D/.podman/jobs/keys-1-a1/ssh/id"), 0);
    assert_int_equal(fixture_shell(f, "cd $D; curl -s --unix-socket .podman/podman.sock "
                                      "http://d/v4.0.0/libpod/containers/keys-1-a1-a-0/json "
                                      "| tee inspected | grep -q /job/ssh && "
                                      "! grep -q -e PRIVATE -e ssh-ed25519 inspected"),
                     0);
    executor_remove(f->executor, "keys-1", 1, NULL);
    assert_int_equal(fixture_shell(f, "test ! -e $D/.podman/jobs/keys-1-a1"), 0);
}

static void a_repeated_submission_keeps_its_keys(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    struct submission s = of_user("keys-2", KEYED("[sh, -c, 'cat /job/ssh/id; sleep 600']"));
    hand_in(f, &s);
    fixture_await_output(f, "keys-2", "a-0.log", "END");
    /* As after a crash between two creations. */
    assert_int_equal(
        fixture_shell(
            f,
            "cd $D; mkdir .podman/jobs/keys-2-a1/ssh.new; curl -s --unix-socket .podman/podman.sock "
            "-X DELETE 'http://d/v4.0.0/libpod/containers/keys-2-a1-b-0?force=true&timeout=0' > x; "
            "rm output/b-0.log .podman/jobs/keys-2-a1/logs/b-0; cp .podman/jobs/keys-2-a1/ssh/id id"),
        0);
    fixture_reopen(f);
    s = of_user("keys-2", KEYED("[sh, -c, 'cat /job/ssh/id; sleep 600']"));
    s.repeated = true;
    hand_in(f, &s);
    fixture_await_output(f, "keys-2", "b-0.log", "END");
    assert_string_equal(fixture_output(f, "keys-2", "b-0.log"),
                        fixture_output(f, "keys-2", "a-0.log"));
    assert_int_equal(fixture_shell(f, "cmp $D/id $D/.podman/jobs/keys-2-a1/ssh/id"), 0);
    /* Another attempt is another job to ssh. */
    s = of_user("keys-2", KEYED("[sh, -c, 'cat /job/ssh/id; sleep 600']"));
    s.attempt = 2;
    hand_in(f, &s);
    assert_int_equal(fixture_shell(f, "cmp -s $D/id $D/.podman/jobs/keys-2-a2/ssh/id"), 1);
}

static void a_refused_job_leaves_no_keys(void **state)
{
    struct fixture *f = *state;
    struct error error = {""};
    fixture_setup(f, "");
    assert_int_equal(fixture_shell(f, "mkdir -p $D/storage/jobs"), 0);
    char path[512];
    snprintf(path, sizeof(path), "%s/storage", f->directory);
    int storage = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(storage >= 0);
    uid_t user = geteuid() == 0 ? SOME_USER : geteuid();
    assert_int_equal(local_storage_make_job(storage, "x-a1", &error), 0);
    /* As after a crash between two of the files. */
    assert_int_equal(fixture_shell(f, "mkdir $D/storage/jobs/x-a1/ssh.new; "
                                      ": > $D/storage/jobs/x-a1/ssh.new/id"),
                     0);
    assert_int_equal(local_storage_write_keys(storage, "x-a1", user, user, &error), 0);
    assert_int_equal(fixture_shell(f, "test $(ls $D/storage/jobs/x-a1/ssh | wc -l) = 4"), 0);
    assert_int_equal(local_storage_note_refusal(storage, "x-a1", "no", &error), 0);
    assert_int_equal(local_storage_empty_job(storage, "x-a1", &error), 0);
    assert_int_equal(fixture_shell(f, "test \"$(ls $D/storage/jobs/x-a1)\" = refused"), 0);
    close(storage);
}

/* ---- ports ---- */

/* A socket that listens on a port that was free: one that nobody is given by chance. */
static int listening(int family, int *port)
{
    enum { FIRST = 10000, COUNT = 5000 };
    static int next;
    const int on = 1;
    for (int i = 0; i < COUNT; i++) {
        *port = FIRST + (getpid() * 7 + next++) % COUNT;
        struct sockaddr_in one = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)*port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
        struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)*port)};
        int file = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(file >= 0);
        if (family == AF_INET6)
            setsockopt(file, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
        if (bind(file, family == AF_INET ? (void *)&one : (void *)&six,
                 family == AF_INET ? sizeof(one) : sizeof(six)) == 0 &&
            listen(file, 1) == 0)
            return file;
        close(file);
    }
    fail_msg("no port is free");
    return -1;
}

static void expect_taken(struct fixture *f, const char *id, int port, const char *by)
{
    char manifest[512], sentence[256];
    snprintf(manifest, sizeof(manifest), HEAD("host", "%d") TASK("a", "[sleep, '600']"), port);
    struct submission s = fixture_submission(id, manifest);
    fixture_hand_in(f, &s);
    snprintf(sentence, sizeof(sentence),
             "port %d of this machine, which the job is to listen on, "
             "is %s",
             port, by);
    assert_int_equal(s.outcome, SUBMIT_NO_ROOM);
    assert_string_equal(s.error.text, sentence);
    assert_int_equal(fixture_poll(f, id).phase, PHASE_VANISHED);
}

static void a_port_that_anybody_listens_on_is_not_free(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    int port4, port6, file4 = listening(AF_INET, &port4), file6 = listening(AF_INET6, &port6);
    expect_taken(f, "port-1", port4, "in use");
    expect_taken(f, "port-2", port6, "in use");
    close(file4);
    close(file6);
    char manifest[512];
    snprintf(manifest, sizeof(manifest), HEAD("host", "%d, %d") TASK("a", "[sleep, '600']"), port4,
             port6);
    fixture_submit(f, "port-2", manifest);
    expect_taken(f, "port-3", port6, "that of job port-2");
}

static void two_jobs_of_a_batch_do_not_get_one_port(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    int port;
    close(listening(AF_INET, &port));
    char manifest[512];
    snprintf(manifest, sizeof(manifest), HEAD("host", "%d") TASK("a", "[sleep, '600']"), port);
    struct submission a = fixture_submission("port-4", manifest),
                      b = fixture_submission("port-5", manifest), *batch[] = {&a, &b};
    f->executor->operations->submit(f->executor, batch, 2);
    assert_int_equal(a.outcome, SUBMIT_ACCEPTED);
    assert_int_equal(b.outcome, SUBMIT_NO_ROOM);
    assert_non_null(strstr(b.error.text, "is that of job port-4"));
    executor_cancel(f->executor, "port-4", 1, true, NULL);
    fixture_wait(f, "port-4");
    fixture_submit(f, "port-5", manifest);
}

#define SERVE "[python3, -m, http.server, '%d']"

static void a_job_that_runs_already_keeps_its_ports(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    fixture_setup(f, "  cpus: 4\n");
    int port;
    close(listening(AF_INET, &port));
    char manifest[1024], line[512];
    snprintf(manifest, sizeof(manifest),
             HEAD("host", "%d") TASK("a", SERVE) TASK("b", "[sleep, '600']"), port, port);
    fixture_submit(f, "port-6", manifest);
    snprintf(line, sizeof(line),
             "for i in $(seq 200); do curl -s http://127.0.0.1:%d/ > $D/x && "
             "exit 0; sleep 0.1; done; exit 1",
             port);
    assert_int_equal(fixture_shell(f, line), 0);
    assert_int_equal(
        fixture_shell(f,
                      "cd $D; curl -s --unix-socket .podman/podman.sock -X DELETE "
                      "'http://d/v4.0.0/libpod/containers/port-6-a1-b-0?force=true&timeout=0' > x"),
        0);
    fixture_reopen(f);
    struct submission s = fixture_submission("port-6", manifest);
    s.repeated = true;
    hand_in(f, &s);
    assert_string_equal(s.note, "adopted from an earlier try");
    assert_int_equal(fixture_poll(f, "port-6").task_count, 2);
}

static void ports_are_published_where_the_network_is_a_bridge(void **state)
{
    struct fixture *f = *state;
    FIXTURE_OR_SKIP();
    if (system("command -v iptables > /dev/null") != 0) {
        print_message("skipped: iptables is not installed\n");
        skip();
    }
    fixture_setup(f, "  cpus: 4\n");
    int port, other;
    close(listening(AF_INET, &port));
    int file = listening(AF_INET, &other);
    char manifest[1024], line[512];
    for (int tasks = 1; tasks <= 2; tasks++) {
        char id[32];
        snprintf(id, sizeof(id), "bridge-%d", tasks);
        snprintf(manifest, sizeof(manifest), HEAD("bridge", "%d") TASK("a", SERVE) "%s", port, port,
                 tasks == 2 ? TASK("b", "[sleep, '600']") : "");
        fixture_submit(f, id, manifest);
        snprintf(line, sizeof(line),
                 "address=$(hostname -I | cut -d' ' -f1); for i in $(seq 200); do "
                 "curl -s http://${address:-127.0.0.1}:%d/ > $D/x && exit 0; sleep 0.1; done; "
                 "exit 1",
                 port);
        assert_int_equal(fixture_shell(f, line), 0);
        executor_remove(f->executor, id, 1, NULL);
    }
    snprintf(manifest, sizeof(manifest), HEAD("bridge", "%d") TASK("a", "[sleep, '600']"), other);
    struct submission s = fixture_submission("bridge-3", manifest);
    fixture_hand_in(f, &s);
    assert_int_equal(s.outcome, SUBMIT_NO_ROOM);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(all_tasks_have_the_same_keys_of_their_user),
        FIXTURE_TEST(a_repeated_submission_keeps_its_keys),
        FIXTURE_TEST(a_refused_job_leaves_no_keys),
        FIXTURE_TEST(a_port_that_anybody_listens_on_is_not_free),
        FIXTURE_TEST(two_jobs_of_a_batch_do_not_get_one_port),
        FIXTURE_TEST(a_job_that_runs_already_keeps_its_ports),
        FIXTURE_TEST(ports_are_published_where_the_network_is_a_bridge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
