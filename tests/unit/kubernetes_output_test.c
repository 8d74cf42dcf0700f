/* tests/unit/kubernetes_output_test.c - copying pods' logs: no byte lost, none twice
 *
 * The kubelet is played as it is (k8s.io/cri-client/pkg/logs): a log is pieces with stamps, of
 * which those before sinceTime are left out, only the first of a line is given its stamp, and the
 * answer is cut at limitBytes.  Random programs print, random polls copy, and dlspool is killed at
 * random: between the log and its place, and between rotating and going on.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/names.h"
#include "base/system.h"
#include "executors/kubernetes/follow.h"
#include "executors/kubernetes/output.h"
#include "executors/kubernetes/pod_log.h"
#include "kubernetes_fake.h"

/* ---- a kubelet ---- */

struct piece {
    int64_t second;
    int nanosecond;
    bool partial;        /* the line goes on in the next */
    struct buffer bytes; /* with the newline, unless partial */
};

static struct pod {
    const char *name;
    struct piece *pieces;
    size_t count;
    struct buffer printed; /* what it has printed in all */
    int status;            /* of its answers; 200 */
    enum kubernetes_outcome outcome;
    const char *message;
    int64_t rest; /* with which the server puts it off */
    size_t asked;
} pods[4];
static int64_t now = 1000000;

static int64_t fake_elapsed(void)
{
    return now;
}

static void wait_so_long(int64_t wait)
{
    now += wait;
}

static void print_piece(struct pod *pod, int64_t second, int nanosecond, const char *bytes,
                        size_t length, bool partial)
{
    pod->pieces = memory_resize(pod->pieces, (pod->count + 1) * sizeof(*pod->pieces));
    struct piece *piece = &pod->pieces[pod->count++];
    *piece = (struct piece){.second = second, .nanosecond = nanosecond, .partial = partial};
    buffer_add(&piece->bytes, bytes, length);
    buffer_add(&pod->printed, bytes, length);
    if (!partial) {
        buffer_add_byte(&piece->bytes, '\n');
        buffer_add_byte(&pod->printed, '\n');
    }
}

static void print_line(struct pod *pod, int64_t second, int nanosecond, const char *line)
{
    print_piece(pod, second, nanosecond, line, strlen(line), false);
}

static void answer_log(const struct pod *pod, const char *path, struct buffer *out)
{
    const char *since_at = strstr(path, "sinceTime="), *limit_at = strstr(path, "limitBytes=");
    int64_t since = 0;
    size_t limit = limit_at ? strtoull(limit_at + 11, NULL, 10) : SIZE_MAX;
    if (since_at) {
        assert_int_equal(clock_parse((struct text){since_at + 10, 20}, &since), 0);
        since /= 1000;
    }
    assert_non_null(strstr(path, "timestamps=true"));
    assert_non_null(strstr(path, "container=main"));
    bool new_line = true;
    for (size_t i = 0; i < pod->count; i++) {
        const struct piece *piece = &pod->pieces[i];
        if (piece->second >= since) {
            if (new_line) {
                char time[CLOCK_TEXT_SIZE];
                clock_format(piece->second * 1000, time);
                buffer_printf(out, "%.19s.%09dZ ", time, piece->nanosecond);
            }
            buffer_add_text(out, buffer_text(&piece->bytes));
        }
        new_line = !piece->partial;
    }
    if (out->length > limit) {
        out->length = limit;
        out->data[limit] = '\0';
    }
}

static void answer(struct kubernetes_call *call, struct arena *arena)
{
    const char *at = strstr(call->path.data, "/pods/");
    call->outcome = KUBERNETES_DONE;
    call->status = 200;
    if (!at) { /* a list of a watch: nothing in it */
        call->answer = fake_json(arena, "{'metadata':{'resourceVersion':'1'},'items':[]}");
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(pods); i++) {
        struct pod *pod = &pods[i];
        if (!pod->name || strncmp(at + 6, pod->name, strlen(pod->name)) != 0)
            continue;
        pod->asked++;
        call->outcome = pod->outcome;
        call->status = pod->status;
        call->alone = pod->rest != 0;
        call->retry_after = pod->rest;
        if (pod->outcome == KUBERNETES_DONE)
            answer_log(pod, call->path.data, &call->response);
        else
            error_set(&call->error, "%s", pod->message);
        return;
    }
    call->outcome = KUBERNETES_MISSING;
    call->status = 404;
    error_set(&call->error, "not found");
}

/* ---- dlspool ---- */

static struct kubernetes kubernetes;
static char *directory;
static int descriptor;

static void start(void)
{
    kubernetes = (struct kubernetes){
        .settings = {.log_limit = 100 << 20, .log_requests = 5},
        .spool = memory_copy_string("spool"),
        .run = kubernetes_api_run,
        .space = "space",
        .server = "https://server",
    };
}

static void stop(void)
{
    kubernetes_output_forget_ends(&kubernetes, "");
    names_free(kubernetes.log_ends);
    names_free(kubernetes.logs);
    kubernetes_follow_close(kubernetes.follower);
    free(kubernetes.spool);
    kubernetes.logs = kubernetes.log_ends = NULL;
    kubernetes.follower = NULL;
    kubernetes.spool = NULL;
}

static void know(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The cache hears of an object: a pod unless it has a kind. */
static void know(const char *format, ...)
{
    struct arena *arena = arena_new();
    struct error error = {""};
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!kubernetes_follow_cache(&kubernetes))
        assert_int_equal(kubernetes_follow(&kubernetes, &error), 0);
    kubernetes_cache_take(kubernetes_follow_cache(&kubernetes),
                          strstr(text, "completions") ? FOLLOW_JOBS : FOLLOW_PODS,
                          fake_json(arena, "%s", text), false, false);
    arena_free(arena);
}

static void know_job(void)
{
    know("{'metadata':{'name':'j-a1','uid':'u','labels':{'dlspool/job':'j','dlspool/attempt':'1',"
         "'dlspool/role':'worker'}},'spec':{'completions':1}}");
}

static void know_pod(const char *name, int minute, const char *phase, const char *state)
{
    know("{'metadata':{'name':'%s','uid':'uid-of-%s','creationTimestamp':'2026-01-01T00:%02d:00Z',"
         "'labels':{'dlspool/job':'j','dlspool/attempt':'1','dlspool/role':'worker',"
         "'batch.kubernetes.io/job-completion-index':'0'}},'status':{'phase':'%s',"
         "'containerStatuses':[{'name':'main','state':{%s}}]}}",
         name, name, minute, phase, state);
}

static const char running[] = "'running':{'startedAt':'2026-01-01T00:00:01Z'}";
static const char succeeded[] = "'terminated':{'exitCode':0,'startedAt':'2026-01-01T00:00:01Z','"
                                "finishedAt':'2026-01-01T00:01:01Z'}";

static struct job_call copy(bool last)
{
    struct job_call call = {.id = "j", .attempt = 1, .directory = descriptor, .last = last};
    struct job_call *calls[] = {&call};
    now += 20000;
    kubernetes_output(&kubernetes.executor, calls, 1);
    return call;
}

static struct buffer read_file(const char *name)
{
    struct buffer bytes = {0};
    file_read_at(descriptor, name, 1 << 30, &bytes, NULL);
    return bytes;
}

static void holds(const char *name, const char *wanted)
{
    struct buffer bytes = read_file(name);
    assert_string_equal(bytes.data ? bytes.data : "", wanted);
    buffer_free(&bytes);
}

static int set_up(void **state)
{
    (void)state;
    directory = unit_directory();
    descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    memset(pods, 0, sizeof(pods));
    pods[0] = (struct pod){.name = "one", .status = 200};
    fake_answer = answer;
    fake_wait = wait_so_long;
    clock_replace(NULL, fake_elapsed);
    start();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    stop();
    fake_forget_streams();
    clock_replace(NULL, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(pods); i++) {
        for (size_t j = 0; j < pods[i].count; j++)
            buffer_free(&pods[i].pieces[j].bytes);
        free(pods[i].pieces);
        buffer_free(&pods[i].printed);
    }
    close(descriptor);
    unit_remove(directory);
    return 0;
}

/* ---- tests ---- */

static void lines_come_as_they_are_printed(void **state)
{
    (void)state;
    know_job();
    know_pod("one", 0, "Running", running);
    print_line(&pods[0], 100, 5, "first");
    assert_int_equal(copy(false).result, 0);
    holds("worker-0.log", "first\n");
    print_line(&pods[0], 100, 5, "first"); /* the same stamp, the same words */
    print_line(&pods[0], 100, 6, "");
    print_piece(&pods[0], 100, 7, "half", 4, true);
    copy(false);
    holds("worker-0.log", "first\nfirst\n\nhalf");
    print_piece(&pods[0], 200, 7, " and half", 9, false);
    print_line(&pods[0], 300, 0, "last");
    copy(false);
    copy(false);
    holds("worker-0.log", "first\nfirst\n\nhalf and half\nlast\n");
    print_piece(&pods[0], 400, 0, "no newline", 10, true);
    know_pod("one", 0, "Succeeded", succeeded);
    assert_int_equal(copy(true).result, 0);
    holds("worker-0.log", "first\nfirst\n\nhalf and half\nlast\nno newline");
    size_t asked = pods[0].asked;
    assert_int_equal(copy(true).result, 0);
    assert_int_equal(pods[0].asked, asked); /* it has ended: nothing more to ask for */
}

static void what_cannot_be_had_is_no_trouble(void **state)
{
    (void)state;
    know_job();
    know_pod("one", 0, "Pending", "'waiting':{'reason':'ContainerCreating'}");
    assert_int_equal(copy(false).result, 0);
    assert_int_equal(pods[0].asked, 0);
    know_pod("one", 0, "Running", running);
    pods[0].outcome = KUBERNETES_REFUSED;
    pods[0].status = 400;
    pods[0].message = "container \"main\" in pod \"one\" is waiting to start: ContainerCreating";
    assert_int_equal(copy(false).result, 0);
    pods[0].status = 403;
    pods[0].message = "pods \"one\" is forbidden: User \"x\" cannot get resource \"pods/log\"";
    struct job_call call = copy(false);
    assert_int_equal(call.result, -1);
    assert_non_null(strstr(call.error.text, "cannot get resource"));
    pods[0].outcome = KUBERNETES_UNKNOWN;
    pods[0].status = 0;
    assert_int_equal(copy(false).result, 0); /* it will be asked again ... */
    size_t asked = pods[0].asked;
    copy(false);
    assert_int_equal(pods[0].asked, asked);  /* ... but not soon */
    assert_int_equal(copy(true).result, -1); /* and the end is not given away */
    pods[0].outcome = KUBERNETES_MISSING;
    pods[0].status = 404;
    assert_int_equal(copy(true).result, 0);
    asked = pods[0].asked;
    assert_int_equal(copy(true).result, 0);
    assert_int_equal(pods[0].asked, asked);
}

static void a_second_pod_is_told_apart(void **state)
{
    (void)state;
    pods[1] = (struct pod){.name = "two", .status = 200};
    know_job();
    know_pod("one", 0, "Running", running);
    print_line(&pods[0], 100, 0, "of one");
    copy(false);
    print_line(&pods[0], 101, 0, "of one too");
    print_line(&pods[1], 102, 0, "of two");
    know_pod("one", 0, "Failed", succeeded);
    know_pod("two", 5, "Running", running);
    copy(false);
    copy(false);
    holds("worker-0.log", "of one\nof one too\n"
                          "[dlspool: the task was started again, as pod two]\nof two\n");
    stop();
    fake_forget_streams();
    start();
    know_job();
    know_pod("two", 5, "Succeeded", succeeded);
    print_line(&pods[1], 103, 0, "end");
    copy(true);
    holds("worker-0.log", "of one\nof one too\n"
                          "[dlspool: the task was started again, as pod two]\nof two\nend\n");
}

static void a_rotated_log_says_so(void **state)
{
    (void)state;
    know_job();
    know_pod("one", 0, "Running", running);
    print_line(&pods[0], 100, 0, "first");
    copy(false);
    for (size_t i = 0; i < pods[0].count; i++)
        buffer_free(&pods[0].pieces[i].bytes);
    pods[0].count = 0;
    print_line(&pods[0], 160, 0, "later");
    copy(false);
    copy(false);
    holds("worker-0.log",
          "first\n[dlspool: the node has rotated this log in the meantime; lines may "
          "be missing here]\nlater\n");
}

static void files_of_others_are_left_alone(void **state)
{
    (void)state;
    know_job();
    know_pod("one", 0, "Running", running);
    print_line(&pods[0], 100, 0, "first");
    assert_int_equal(symlinkat("/etc/hostname", descriptor, "worker-0.log"), 0);
    assert_int_equal(copy(false).result, -1);
    assert_int_equal(unlinkat(descriptor, "worker-0.log", 0), 0);
    assert_int_equal(symlinkat("elsewhere", descriptor, ".worker-0.position"), 0);
    assert_int_equal(copy(false).result, -1);
    assert_int_equal(unlinkat(descriptor, ".worker-0.position", 0), 0);
    assert_int_equal(faccessat(descriptor, "elsewhere", F_OK, 0), -1);
    assert_int_equal(copy(false).result, 0);
    holds("worker-0.log", "first\n");
}

/* What somebody wrote into it, or a power cut took from it, does not hold up what follows. */
static void damaged_positions_are_compared(void **state)
{
    (void)state;
    know_job();
    know_pod("one", 0, "Running", running);
    print_line(&pods[0], 100, 0, "first");
    print_line(&pods[0], 101, 0, "second");
    copy(false);
    for (int round = 0; round < 3; round++) {
        stop();
        fake_forget_streams();
        start();
        know_job();
        know_pod("one", 0, "Running", running);
        if (round == 0)
            unlinkat(descriptor, ".worker-0.position", 0);
        int file = openat(descriptor, round == 1 ? ".worker-0.position" : "worker-0.log",
                          O_WRONLY | O_CREAT, 0644);
        if (round == 1)
            assert_int_equal(pwrite(file, "since 9", 7, 60), 7);
        if (round == 2)
            assert_int_equal(ftruncate(file, 3), 0);
        close(file);
        copy(false);
        holds("worker-0.log", "first\nsecond\n");
    }
}

static bool has_place(void)
{
    bool has = faccessat(descriptor, ".worker-0.position", F_OK, 0) == 0;
    assert_int_equal(faccessat(descriptor, ".worker-0.log.times", F_OK, 0) == 0, has);
    return has;
}

static void start_again(void)
{
    stop();
    fake_forget_streams();
    start();
    know_job();
    know_pod("one", 0, "Succeeded", succeeded);
}

/* What is read once, when the job has ended, has no place; should it be read again, it is compared. */
static void a_log_that_is_read_once_has_no_place(void **state)
{
    (void)state;
    know_job();
    know_pod("one", 0, "Succeeded", succeeded);
    print_line(&pods[0], 100, 0, "first");
    print_line(&pods[0], 101, 0, "second");
    copy(true);
    holds("worker-0.log", "first\nsecond\n");
    assert_false(has_place());
    copy(true);
    assert_int_equal(pods[0].asked, 1);
    for (int round = 0; round < 2; round++) {
        start_again();
        int file = openat(descriptor, "worker-0.log", O_WRONLY);
        if (round == 1) /* a power cut took the end from it */
            assert_int_equal(ftruncate(file, 3), 0);
        close(file);
        copy(true);
        holds("worker-0.log", "first\nsecond\n");
    }
}

/* It is not left out where the job goes on, or the task had another pod. */
static void other_logs_have_a_place(void **state)
{
    (void)state;
    know_job();
    know_pod("one", 0, "Succeeded", succeeded);
    print_line(&pods[0], 100, 0, "first");
    copy(false);
    assert_true(has_place());
    unlinkat(descriptor, ".worker-0.position", 0);
    unlinkat(descriptor, ".worker-0.log.times", 0);
    unlinkat(descriptor, "worker-0.log", 0);
    start_again();
    pods[1] = (struct pod){.name = "two", .outcome = KUBERNETES_DONE};
    know_pod("two", 1, "Succeeded", succeeded);
    print_line(&pods[1], 102, 0, "again");
    copy(true);
    assert_int_equal(pods[1].asked, 1);
    assert_true(has_place());
}

static void print_at_random(struct pod *pod, int64_t *second, int *nanosecond)
{
    char bytes[600];
    size_t length = (size_t)random() % (random() % 20 ? 30 : sizeof(bytes));
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)('a' + random() % 26);
    /* A line that looks like a stamped one is data, too. */
    if (length > 40 && random() % 4 == 0)
        memcpy(bytes, "2026-01-01T00:00:00.000000001Z ", 31);
    int step = (int)(random() % 10);
    if (step > 6)
        *nanosecond += (int)(random() % 1000);
    if (step == 9 && random() % 3 == 0) {
        *second += random() % 4;
        *nanosecond = (int)(random() % 1000);
    }
    print_piece(pod, *second, *nanosecond, bytes, length, random() % 3 == 0);
}

static void check_all(const struct pod *pod, bool rotated)
{
    struct buffer old = read_file("worker-0.log.1"), new = read_file("worker-0.log");
    struct buffer both = {0};
    buffer_add_text(&both, buffer_text(&old));
    buffer_add_text(&both, buffer_text(&new));
    assert_true(both.length <= pod->printed.length);
    if (!rotated)
        assert_int_equal(both.length, pod->printed.length);
    if (both.length)
        assert_memory_equal(both.data, pod->printed.data + pod->printed.length - both.length,
                            both.length);
    if (rotated && pod->printed.length > 20000)
        assert_true(both.length > 4000);
    buffer_free(&both);
    buffer_free(&old);
    buffer_free(&new);
}

/* Calls that change files, to be stopped before: the process is gone then. */
static int calls_left;
static struct system_calls real;

static bool dead(void)
{
    if (calls_left > 0 && --calls_left == 0)
        calls_left = -1;
    if (calls_left == -1)
        errno = EIO;
    return calls_left == -1;
}

static ssize_t dying_write(int file, const void *bytes, size_t length)
{
    return dead() ? -1 : real.write(file, bytes, length);
}

static int dying_rename(int from, const char *old_name, int to, const char *new_name)
{
    return dead() ? -1 : real.renameat(from, old_name, to, new_name);
}

static int dying_open(int directory_, const char *name, int flags, mode_t mode)
{
    return (flags & O_CREAT) && dead() ? -1 : real.openat(directory_, name, flags, mode);
}

/* A crash after the log was written and before the place was; what is copied next is more than the file may
 * hold, and would be cut before what the crash has left there. */
static void what_a_crash_has_left_goes_into_no_second_file(void **state)
{
    (void)state;
    static char first[4701], second[61], third[4001];
    memset(first, 'a', sizeof(first) - 1);
    memset(second, 'b', sizeof(second) - 1);
    memset(third, 'c', sizeof(third) - 1);
    kubernetes.settings.log_limit = 10000;
    know_job();
    know_pod("one", 0, "Running", running);
    print_line(&pods[0], 100, 0, first);
    copy(false);
    print_line(&pods[0], 101, 0, "a short line");
    print_piece(&pods[0], 101, 1, second, sizeof(second) - 1, true); /* a line that goes on */
    real = sys;
    sys.write = dying_write;
    sys.openat = dying_open;
    calls_left = 3; /* open the log, write it; the place is not written */
    copy(false);
    assert_int_equal(calls_left, -1);
    calls_left = 0;
    sys = real;
    stop();
    fake_forget_streams();
    start();
    kubernetes.settings.log_limit = 10000;
    know_job();
    know_pod("one", 0, "Succeeded", succeeded);
    print_line(&pods[0], 102, 0, third);
    assert_int_equal(copy(true).result, 0);
    struct buffer old = read_file("worker-0.log.1"), new = read_file("worker-0.log");
    assert_int_equal(old.length, 4701 + 13 + 60);
    assert_int_equal(new.length, 4001);
    assert_int_equal(new.data[0], 'c');
    buffer_free(&old);
    buffer_free(&new);
}

static ino_t inode_of(const char *name)
{
    struct stat status;
    assert_int_equal(fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW), 0);
    return status.st_ino;
}

/* A crash after the file was rotated and before the next one was begun: what was copied before stays. */
static void a_rotated_file_is_not_copied_again(void **state)
{
    (void)state;
    static char first[4701], second[4001];
    memset(first, 'a', sizeof(first) - 1);
    memset(second, 'b', sizeof(second) - 1);
    kubernetes.settings.log_limit = 10000;
    know_job();
    know_pod("one", 0, "Running", running);
    print_line(&pods[0], 100, 0, first);
    copy(false);
    print_line(&pods[0], 101, 0, second);
    real = sys;
    sys.write = dying_write;
    sys.openat = dying_open;
    calls_left = 4; /* open the log, open the place, write it; the next log is not opened */
    copy(false);
    assert_int_equal(calls_left, -1);
    calls_left = 0;
    sys = real;
    stop();
    fake_forget_streams();
    start();
    kubernetes.settings.log_limit = 10000;
    assert_int_equal(faccessat(descriptor, "worker-0.log", F_OK, 0), -1);
    ino_t rotated = inode_of("worker-0.log.1");
    know_job();
    know_pod("one", 0, "Succeeded", succeeded);
    assert_int_equal(copy(true).result, 0);
    assert_true(inode_of("worker-0.log.1") == rotated);
    struct buffer new = read_file("worker-0.log");
    assert_int_equal(new.length, 4001);
    buffer_free(&new);
}

/* Each of the two files has its own times. */
static void times_go_with_their_file(void **state)
{
    (void)state;
    static char line[4001];
    memset(line, 'a', sizeof(line) - 1);
    kubernetes.settings.log_limit = 10000;
    know_job();
    know_pod("one", 0, "Running", running);
    print_line(&pods[0], 100, 0, line);
    copy(false);
    struct buffer before = read_file(".worker-0.log.times");
    assert_int_equal(strncmp(before.data, "0 ", 2), 0);
    know_pod("one", 0, "Succeeded", succeeded);
    print_line(&pods[0], 101, 0, line);
    assert_int_equal(copy(true).result, 0);
    struct buffer older = read_file(".worker-0.log.1.times"),
                  newer = read_file(".worker-0.log.times");
    assert_int_equal(older.length, before.length);
    assert_memory_equal(older.data, before.data, before.length);
    assert_int_equal(strncmp(newer.data, "0 ", 2), 0);
    buffer_free(&before);
    buffer_free(&older);
    buffer_free(&newer);
}

static void no_byte_is_lost_or_doubled(void **state)
{
    (void)state;
    struct pod *pod = &pods[0];
    for (unsigned int seed = 1; seed <= 150; seed++) {
        int64_t second = 1700000000;
        int nanosecond = 0;
        bool rotating = seed % 2;
        srandom(seed);
        real = sys;
        sys.write = dying_write;
        sys.renameat = dying_rename;
        sys.openat = dying_open;
        for (int round = 0; round < 60; round++) {
            bool end = round == 59;
            for (int i = (int)(random() % 40); i > 0; i--)
                print_at_random(pod, &second, &nanosecond);
            if (random() % 4 == 0)
                second += 1 + random() % 100;
            kubernetes.settings.log_limit = rotating ? 10000 : 100 << 20;
            know_job();
            know_pod("one", 0, end ? "Succeeded" : "Running", end ? succeeded : running);
            calls_left = !end && random() % 3 == 0 ? 1 + (int)(random() % 9) : 0;
            struct job_call call = copy(end);
            if (calls_left < 0) { /* killed */
                stop();
                fake_forget_streams();
                start();
            } else {
                assert_int_equal(call.result, 0);
            }
            calls_left = 0;
        }
        sys = real;
        check_all(pod, rotating);
        stop();
        fake_forget_streams();
        start();
        unlinkat(descriptor, "worker-0.log", 0);
        unlinkat(descriptor, "worker-0.log.1", 0);
        unlinkat(descriptor, ".worker-0.position", 0);
        unlinkat(descriptor, ".worker-0.log.times", 0);
        unlinkat(descriptor, ".worker-0.log.1.times", 0);
        for (size_t i = 0; i < pod->count; i++)
            buffer_free(&pod->pieces[i].bytes);
        pod->count = 0;
        buffer_clear(&pod->printed);
    }
}

/* ---- what is printed last ---- */

static struct kubernetes_stream *find_log_stream(void)
{
    for (size_t i = 0; i < fake_stream_count; i++)
        if (fake_streams[i].open && strstr(fake_streams[i].path, "follow=true"))
            return &fake_streams[i];
    return NULL;
}

/* The stream brings more of what the pod has printed: all of it, or some.  `sent` is how much it has
 * brought in all. */
static void feed(const struct pod *pod, struct kubernetes_stream *stream, size_t *sent, bool all)
{
    struct buffer out = {0};
    answer_log(pod, stream->path, &out);
    assert_true(out.length >= *sent);
    size_t left = out.length - *sent, some = all || !left ? left : (size_t)random() % left;
    buffer_add(&stream->lines, out.data + *sent, some);
    *sent += some;
    buffer_free(&out);
}

static struct job_call copy_ending(bool last)
{
    struct job_call call = {
        .id = "j", .attempt = 1, .directory = descriptor, .ending = true, .last = last};
    struct job_call *calls[] = {&call};
    now += 100;
    kubernetes_output(&kubernetes.executor, calls, 1);
    return call;
}

static void lose_pod(const char *name)
{
    struct arena *arena = arena_new();
    kubernetes_cache_take(
        kubernetes_follow_cache(&kubernetes), FOLLOW_PODS,
        fake_json(arena,
                  "{'metadata':{'name':'%s','uid':'uid-of-%s','labels':{'dlspool/job':'j',"
                  "'dlspool/attempt':'1','dlspool/role':'worker'}}}",
                  name, name),
        true, false);
    arena_free(arena);
}

/* Random programs print while they end, streams bring it in pieces, and dlspool is started anew. */
static void what_a_stream_brings_is_kept(void **state)
{
    (void)state;
    struct pod *pod = &pods[0];
    for (unsigned int seed = 1; seed <= 60; seed++) {
        int64_t second = 1700000000;
        int nanosecond = 0;
        size_t sent = 0;
        srandom(seed);
        know_job();
        know_pod("one", 0, "Running", running);
        for (int i = (int)(random() % 40); i > 0; i--)
            print_at_random(pod, &second, &nanosecond);
        if (seed % 3)
            assert_int_equal(copy(false).result, 0);
        assert_int_equal(copy_ending(false).result, 0);
        size_t asked = pod->asked;
        for (int round = 0; round < 20; round++) {
            if (random() % 12 == 0) {
                stop();
                fake_forget_streams();
                start();
                know_job();
                know_pod("one", 0, "Running", running);
                sent = 0;
            }
            for (int i = (int)(random() % 10); i > 0; i--)
                print_at_random(pod, &second, &nanosecond);
            assert_int_equal(copy_ending(false).result, 0);
            assert_non_null(find_log_stream());
            feed(pod, find_log_stream(), &sent, random() % 2);
        }
        struct kubernetes_stream *stream = find_log_stream();
        feed(pod, stream, &sent, true);
        stream->ended = true;
        if (seed % 2)
            know_pod("one", 0, "Failed", succeeded);
        else
            lose_pod("one");
        assert_int_equal(copy_ending(true).result, 0);
        assert_int_equal(pod->asked, asked); /* nothing but the stream was asked for */
        check_all(pod, false);
        stop();
        fake_forget_streams();
        start();
        unlinkat(descriptor, "worker-0.log", 0);
        unlinkat(descriptor, ".worker-0.position", 0);
        unlinkat(descriptor, ".worker-0.log.times", 0);
        for (size_t i = 0; i < pod->count; i++)
            buffer_free(&pod->pieces[i].bytes);
        pod->count = 0;
        buffer_clear(&pod->printed);
    }
}

/* What breaks, or ends though the container goes on, is followed again, or requested. */
static void a_stream_that_breaks_is_no_end(void **state)
{
    (void)state;
    size_t sent = 0;
    know_job();
    know_pod("one", 0, "Running", running);
    print_line(&pods[0], 100, 0, "first");
    copy_ending(false);
    feed(&pods[0], find_log_stream(), &sent, true);
    copy_ending(false);
    holds("worker-0.log", "first\n");
    assert_int_equal(pods[0].asked, 0);

    find_log_stream()->ended = true;
    snprintf(find_log_stream()->why, sizeof(find_log_stream()->why), "reset by peer");
    print_line(&pods[0], 101, 0, "second");
    copy_ending(false);
    copy_ending(false);
    holds("worker-0.log", "first\nsecond\n");
    assert_null(find_log_stream()); /* not at once */

    now += 20000;
    copy_ending(false);
    sent = 0;
    feed(&pods[0], find_log_stream(), &sent, true);
    find_log_stream()->ended = true; /* in order, and the container goes on */
    find_log_stream()->why[0] = '\0';
    copy_ending(false);
    print_line(&pods[0], 102, 0, "third");
    now += 10000;
    copy_ending(false); /* it was waited for long enough: followed once more */
    copy_ending(false);
    sent = 0;
    feed(&pods[0], find_log_stream(), &sent, true);
    copy_ending(false);
    holds("worker-0.log", "first\nsecond\nthird\n");

    /* An ended job waits for the end of the stream, and not for ever. */
    know_pod("one", 0, "Failed", succeeded);
    assert_int_equal(copy_ending(true).result, -1);
    print_line(&pods[0], 103, 0, "fourth");
    now += 10000;
    assert_int_equal(copy_ending(true).result, 0);
    holds("worker-0.log", "first\nsecond\nthird\nfourth\n");
}

/* ---- how often ---- */

enum { MANY = 2000, TURN = 2000 /* ms */, TURNS = 410 };

static size_t asked_in_all, asked_of[MANY];

/* All are silent but the one whose turn is remembered. */
static void answer_silence(struct kubernetes_call *call, struct arena *arena)
{
    if (!strstr(call->path.data, "/log?")) {
        answer(call, arena);
        return;
    }
    const char *number = strstr(call->path.data, "/pods/m");
    asked_in_all++;
    if (number)
        asked_of[strtoull(number + 7, NULL, 10)]++;
    if (strstr(call->path.data, "/pods/one/")) {
        answer(call, arena);
        return;
    }
    call->outcome = KUBERNETES_DONE;
    call->status = 200;
}

static void copy_many(struct job_call *calls, size_t count)
{
    enum { BATCH = 256 };
    struct job_call *batch[BATCH];
    for (size_t i = 0; i < count;) {
        size_t some = 0;
        for (; i < count && some < BATCH; i++)
            batch[some++] = &calls[i];
        kubernetes_output(&kubernetes.executor, batch, some);
        for (size_t at = 0; at < some; at++)
            assert_int_equal(batch[at]->result, 0);
    }
}

static void know_many(struct job_call *calls, char ids[][16], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(ids[i], sizeof(ids[i]), "m%zu", i);
        calls[i] = (struct job_call){.id = ids[i], .attempt = 1, .directory = descriptor};
        know("{'metadata':{'name':'%s-a1','uid':'u%zu','labels':{'dlspool/job':'%s',"
             "'dlspool/attempt':'1','dlspool/role':'worker'}},'spec':{'completions':1}}",
             ids[i], i, ids[i]);
        know("{'metadata':{'name':'%s','uid':'p%zu','creationTimestamp':'2026-01-01T00:00:00Z',"
             "'labels':{'dlspool/job':'%s','dlspool/attempt':'1','dlspool/role':'worker',"
             "'batch.kubernetes.io/job-completion-index':'0'}},'status':{'phase':'Running',"
             "'containerStatuses':[{'name':'main','state':{%s}}]}}",
             ids[i], i, ids[i], running);
    }
}

/* However many they are, and each of them has its turn. */
static void silent_logs_cost_so_many_requests_a_second(void **state)
{
    (void)state;
    static struct job_call calls[MANY];
    static char ids[MANY][16];
    fake_answer = answer_silence;
    know_many(calls, ids, MANY);
    asked_in_all = 0;
    copy_many(calls, MANY);
    assert_int_equal(asked_in_all, MANY); /* each once, as soon as it runs */
    asked_in_all = 0;
    int64_t begin = now;
    for (int i = 0; i < TURNS; i++) {
        now += TURN;
        copy_many(calls, MANY);
    }
    int64_t seconds = (now - begin) / 1000;
    assert_in_range(asked_in_all, 5 * (size_t)seconds - 5, 5 * (size_t)seconds + 5);
    for (size_t i = 0; i < MANY; i++)
        assert_in_range(asked_of[i], 1 + 1, 1 + 3);

    /* A new one need not wait for the turns of those that are gone. */
    for (size_t i = 30; i < MANY; i++)
        kubernetes_output_forget(&kubernetes, ids[i], 1);
    know_job();
    know_pod("one", 0, "Running", running);
    calls[30].id = "j";
    for (int i = 0; i < 10; i++) {
        now += TURN;
        copy_many(calls, 31);
    }
    assert_in_range(pods[0].asked, 2, 3);
}

/* Many jobs that end together wait together. */
static void streams_that_do_not_end_cost_one_wait(void **state)
{
    (void)state;
    enum { SOME = 20 };
    static struct job_call calls[SOME];
    static char ids[SOME][16];
    struct job_call *batch[SOME];
    fake_answer = answer_silence;
    know_many(calls, ids, SOME);
    for (int i = 0; i < SOME; i++) {
        calls[i].ending = true;
        batch[i] = &calls[i];
    }
    kubernetes_output(&kubernetes.executor, batch, SOME);
    for (int i = 0; i < SOME; i++)
        calls[i].last = true;
    int64_t begin = now;
    kubernetes_output(&kubernetes.executor, batch, SOME);
    assert_in_range(now - begin, 1, 1100);
    for (int i = 0; i < SOME; i++)
        assert_int_equal(calls[i].result, -1);
}

/* What a task prints is there soon, however many others are silent. */
static void one_that_prints_is_asked_again(void **state)
{
    (void)state;
    static struct job_call calls[MANY];
    static char ids[MANY][16];
    fake_answer = answer_silence;
    know_many(calls, ids, MANY - 1);
    know_job();
    know_pod("one", 0, "Running", running);
    calls[MANY - 1] = (struct job_call){.id = "j", .attempt = 1, .directory = descriptor};
    for (int i = 0; i < 60; i++) {
        char line[16];
        snprintf(line, sizeof(line), "%d", i);
        print_line(&pods[0], 100 + i, 0, line);
        now += 1000;
        copy_many(calls, MANY);
    }
    assert_int_equal(pods[0].asked, 60);
}

/* The API server puts off one request for a log: it comes again when it says. */
static void a_log_that_is_put_off_comes_again_when_the_server_says(void **state)
{
    (void)state;
    know_job();
    know_pod("one", 0, "Running", running);
    print_line(&pods[0], 100, 0, "first");
    pods[0].outcome = KUBERNETES_UNAVAILABLE;
    pods[0].status = 429;
    pods[0].rest = 4000;
    pods[0].message = "Too many requests";
    assert_int_equal(copy(false).result, 0);
    pods[0].outcome = KUBERNETES_DONE;
    pods[0].status = 200;
    struct job_call call = {.id = "j", .attempt = 1, .directory = descriptor};
    now += 3999;
    copy_many(&call, 1);
    assert_int_equal(pods[0].asked, 1);
    now += 1 + 1000;
    copy_many(&call, 1);
    assert_int_equal(pods[0].asked, 2);
    holds("worker-0.log", "first\n");
}

static void stamps_are_read(void **state)
{
    (void)state;
    struct pod_log_stamp stamp;
    assert_true(pod_log_stamp_read(TEXT("2026-11-21T06:38:55.123456789Z"), &stamp));
    assert_int_equal(stamp.nanosecond, 123456789);
    assert_true(pod_log_stamp_read(TEXT("2026-11-21T08:38:55.5+02:00"), &stamp));
    assert_int_equal(stamp.nanosecond, 500000000);
    assert_int_equal(stamp.second, 1795243135);
    assert_true(pod_log_stamp_read(TEXT("2026-11-21T06:38:55Z"), &stamp));
    assert_false(pod_log_stamp_read(TEXT("2026-11-21T06:38:55.Z"), &stamp));
    assert_false(pod_log_stamp_read(TEXT("2026-11-21T06:38:55.1234567890Z"), &stamp));
    assert_false(pod_log_stamp_read(TEXT("2026-11-21 06:38:55"), &stamp));
    assert_false(pod_log_stamp_read(TEXT("Traceback (most recent call"), &stamp));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_are_read),
        cmocka_unit_test_setup_teardown(lines_come_as_they_are_printed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_had_is_no_trouble, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_second_pod_is_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rotated_log_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_of_others_are_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_positions_are_compared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_that_is_read_once_has_no_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_logs_have_a_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_crash_has_left_goes_into_no_second_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_rotated_file_is_not_copied_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_go_with_their_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_byte_is_lost_or_doubled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_stream_brings_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stream_that_breaks_is_no_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(silent_logs_cost_so_many_requests_a_second, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(streams_that_do_not_end_cost_one_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_prints_is_asked_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_that_is_put_off_comes_again_when_the_server_says,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
