/* tests/unit/kubernetes_stand_in.h - an API server that misbehaves on order, for tests
 *
 * One stand-in (tests/stand-in/kubernetes/server) serves all tests of a program, as an ordinary
 * user with the rights that etc/kubernetes-role.yaml gives, and no others.  Orders are those at the
 * head of orders.py, without the outermost braces.
 */
#ifndef TESTS_UNIT_KUBERNETES_STAND_IN_H
#define TESTS_UNIT_KUBERNETES_STAND_IN_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "executors/executor.h"
#include "tests/unit/unit.h"

enum { STAND_IN_PATIENCE = 30000 }; /* milliseconds that are waited for anything */

static struct {
    pid_t process;
    int control;
    char directory[64];
    struct arena *arena; /* of the settings, and of the last answer to an order */
    struct arena *answers;
} stand_in = {.control = -1};

static inline void stand_in_pause(int64_t milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static inline int stand_in_start(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(stand_in.directory, sizeof(stand_in.directory), "/tmp/dlspool-kubernetes-XXXXXX");
    if (!mkdtemp(stand_in.directory))
        return -1;
    stand_in.arena = arena_new();
    stand_in.answers = arena_new();
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/control", stand_in.directory);
    stand_in.process = fork();
    if (stand_in.process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/usr/bin/python3", "python3", "-B", "tests/stand-in/kubernetes/server",
              "--directory", stand_in.directory, "--role", "etc/kubernetes-role.yaml", "--volatile",
              (char *)NULL);
        _exit(127);
    }
    for (int64_t begin = clock_elapsed(); clock_elapsed() - begin < STAND_IN_PATIENCE;) {
        char ready[128];
        snprintf(ready, sizeof(ready), "%s/ready", stand_in.directory);
        stand_in.control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (access(ready, F_OK) == 0 &&
            connect(stand_in.control, (struct sockaddr *)&address, sizeof(address)) == 0)
            return 0;
        close(stand_in.control);
        stand_in_pause(20);
    }
    return -1;
}

static inline void stand_in_stop(void)
{
    char line[256];
    close(stand_in.control);
    if (stand_in.process > 0) {
        kill(stand_in.process, SIGTERM);
        waitpid(stand_in.process, NULL, 0);
    }
    snprintf(line, sizeof(line), "rm -rf '%s'", stand_in.directory);
    if (system(line) != 0)
        print_message("%s could not be removed\n", stand_in.directory);
    arena_free(stand_in.answers);
    arena_free(stand_in.arena);
}

/* Give an order, and wait for its answer, which lives until the next. */
static inline const struct value *order(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static inline const struct value *order(const char *format, ...)
{
    struct buffer text = {0};
    struct error error;
    va_list arguments;
    va_start(arguments, format);
    buffer_add_byte(&text, '{');
    buffer_vprintf(&text, format, arguments);
    buffer_add_string(&text, "}\n");
    va_end(arguments);
    assert_int_equal(send(stand_in.control, text.data, text.length, 0), text.length);
    struct buffer reply = {0};
    do {
        char *buffer = buffer_reserve(&reply, 65536);
        ssize_t got = recv(stand_in.control, buffer, 65536, 0);
        assert_true(got > 0);
        reply.length += (size_t)got;
    } while (reply.data[reply.length - 1] != '\n');
    arena_reset(stand_in.answers);
    const struct value *answer =
        json_read(stand_in.answers, buffer_text(&reply), "answer", &yaml_trusted_limits, &error);
    if (!answer)
        fail_msg("%s: %s", text.data, error.text);
    if (!value_get_boolean(answer, "ok", false))
        fail_msg("%s: %s", text.data, value_get_text(answer, "error").data);
    buffer_free(&text);
    buffer_free(&reply);
    return answer;
}

/* Requests that the server has seen. */
static inline long stand_in_requests(void)
{
    return (long)value_get_number(order("\"order\": \"dump\", \"what\": \"counts\""), "requests",
                                  0);
}

/* An executor for the stand-in; `more` are further settings, indented by two blanks. */
static inline struct executor *stand_in_executor(const char *more)
{
    char text[1024];
    struct error error;
    snprintf(text, sizeof(text),
             "executor: kubernetes\nkubernetes:\n  kubeconfig: %s/kubeconfig\n%s",
             stand_in.directory, more);
    const struct value *settings =
        yaml_read(stand_in.arena, arena_text(stand_in.arena, text, strlen(text)), "dlspool.yaml",
                  &yaml_trusted_limits, &error);
    struct executor *executor =
        settings ? executor_kubernetes_open(settings, "test", stand_in.directory, &error) : NULL;
    if (!executor) {
        fail_msg("%s", error.text);
        abort(); /* the compiler does not know that the test is over */
    }
    return executor;
}

/* For a program's beginning: a stand-in and an executor for it, or NULL. */
static inline struct executor *stand_in_open(void)
{
    return stand_in_start() ? NULL : stand_in_executor("");
}

/* For a program's end; `executor` may be NULL. */
static inline int stand_in_close(struct executor *executor)
{
    if (executor)
        executor->operations->close(executor);
    stand_in_stop();
    return 0;
}

/* ---- what the server holds ---- */

/* The objects of that kind ("pods", "jobs", ...), whosever they are. */
static inline const struct value *stand_in_objects(const char *kind)
{
    return value_get(order("\"order\": \"dump\", \"what\": \"objects\", \"kind\": \"%s\"", kind),
                     "objects");
}

static inline bool stand_in_belongs(const struct value *object, const char *id)
{
    const struct value *labels = value_get(value_get(object, "metadata"), "labels");
    return text_is(value_get_text(labels, "dlspool/job"), id);
}

/* ---- manifests, in which @ stands for the token ---- */

#define STAND_IN_JOB(name, role, more)                                                             \
    "- apiVersion: batch/v1\n  kind: Job\n"                                                        \
    "  metadata:\n    name: " name "\n    labels: {dlspool/role: " role "}\n" more "  spec:\n"     \
    "    completionMode: Indexed\n    completions: 1\n    parallelism: 1\n"                        \
    "    backoffLimit: 0\n    podReplacementPolicy: Failed\n"                                      \
    "    template:\n      spec:\n        restartPolicy: Never\n        containers:\n"              \
    "        - name: main\n          image: busybox\n          command: [\"true\"]\n"              \
    "          resources:\n            requests: {cpu: 500m, memory: 1Gi}\n"                       \
    "            limits: {cpu: 500m, memory: 1Gi}\n"
#define STAND_IN_LIST "apiVersion: v1\nkind: List\nitems:\n"
#define STAND_IN_SERVICE                                                                           \
    "- apiVersion: v1\n  kind: Service\n  metadata: {name: \"@\"}\n"                               \
    "  spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {dlspool/role: main}}\n"
#define STAND_IN_SECRET                                                                            \
    "- apiVersion: v1\n  kind: Secret\n  metadata: {name: \"@-env\"}\n  stringData: {TOKEN: abc}\n"

static const char *const stand_in_single = STAND_IN_LIST STAND_IN_JOB("\"@\"", "main", "");
static const char *const stand_in_several = STAND_IN_LIST STAND_IN_JOB("\"@-master\"", "master", "")
    STAND_IN_SERVICE STAND_IN_SECRET STAND_IN_JOB("\"@-worker\"", "worker", "");

/* A manifest for the job; the bytes are freed with the last answer's arena's next use. */
static inline struct text stand_in_manifest(struct arena *arena, const char *pattern,
                                            const char *id)
{
    struct buffer text = {0};
    for (; *pattern; pattern++)
        if (*pattern == '@')
            buffer_printf(&text, "%s-a1", id);
        else
            buffer_add_byte(&text, *pattern);
    struct text copy = arena_text(arena, text.data, text.length);
    buffer_free(&text);
    return copy;
}

static inline struct submission stand_in_submit(struct executor *executor, const char *pattern,
                                                const char *id)
{
    struct arena *arena = arena_new();
    struct submission submission = {.id = id,
                                    .attempt = 1,
                                    .uid = 1000,
                                    .gid = 1000,
                                    .manifest = stand_in_manifest(arena, pattern, id),
                                    .owner = TEXT("ann")};
    struct submission *batch[] = {&submission};
    executor->operations->submit(executor, batch, 1);
    if (submission.outcome != SUBMIT_ACCEPTED)
        assert_true(submission.error.text[0]);
    submission.manifest = (struct text){0};
    arena_free(arena);
    return submission;
}

/* It is accepted. */
static inline void stand_in_accept(struct executor *executor, const char *pattern, const char *id)
{
    struct submission submission = stand_in_submit(executor, pattern, id);
    if (submission.outcome != SUBMIT_ACCEPTED)
        fail_msg("%s: %s", id, submission.error.text);
}

/* How many objects of that name (or, with a hyphen at its end, whose names start with it) were ever
 * created; those of `kind` ("jobs", ...) or of all. */
static inline int stand_in_created(const char *kind, const char *name)
{
    const struct value *all =
        kind ? order("\"order\": \"dump\", \"what\": \"creations\", \"kind\": \"%s\"", kind)
             : order("\"order\": \"dump\", \"what\": \"creations\"");
    const struct value *list = value_get(all, "creations");
    int count = 0;
    for (size_t i = 0; i < list->list.count; i++)
        count += text_is(value_get_text(list->list.items[i], "name"), name);
    return count;
}

#endif
