/* executors/kubernetes/plugin.c - the program that makes a kubeconfig's credential
 *
 * The plugin runs in a process group of its own, which is killed as a whole when its time is over.
 */
#include "executors/kubernetes/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "executors/environment.h"
#include "executors/secret.h"

enum {
    OUTPUT_LIMIT = 1 << 20, /* bytes of an ExecCredential */
    COMPLAINT_LIMIT = 4096, /* bytes of standard error that are kept */
    CLOSED_GRACE = 2000     /* milliseconds between the end of the output and that of the
                                   process */
};

struct run {
    const char *command;
    pid_t process;
    int output, complaints; /* ends of pipes; -1: closed */
    struct buffer written, complained;
    int64_t begin, limit;
};

/* ---- starting it ---- */

/* The value of KUBERNETES_EXEC_INFO, the input of the plugin. */
static char *make_information(const struct kubeconfig_plugin *plugin)
{
    struct arena *arena = arena_new();
    struct value *tree = value_object(arena), *specification = value_object(arena);
    struct buffer out = {0};
    value_put(arena, tree, "apiVersion", value_string(arena, plugin->api_version));
    value_put(arena, tree, "kind", value_string(arena, "ExecCredential"));
    value_put(arena, specification, "interactive", value_boolean(arena, false));
    if (plugin->cluster)
        value_put(arena, specification, "cluster", value_copy(arena, plugin->cluster));
    value_put(arena, tree, "spec", specification);
    json_write(&out, tree, false, NULL);
    arena_free(arena);
    return out.data;
}

/* The variables of the kubeconfig file, and KUBERNETES_EXEC_INFO. */
static char **make_environment(const struct kubeconfig_plugin *plugin)
{
    size_t count = 0;
    while (plugin->variables[count])
        count++;
    const char **variables = memory_allocate((count + 3) * sizeof(*variables));
    memcpy(variables, plugin->variables, count * sizeof(*variables));
    char *information = make_information(plugin);
    variables[count] = "KUBERNETES_EXEC_INFO";
    variables[count + 1] = information;
    char **environment = environment_make(variables, NULL);
    free(variables);
    free(information);
    return environment;
}

/* Start the plugin in a session of its own, with the default signals; its standard output and standard
 * error go to the two descriptors. */
static int spawn_plugin(const struct kubeconfig_plugin *plugin, int output, int complaints,
                        pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    char **environment = make_environment(plugin);
    union {
        const char **given;
        char *const *wanted; /* they are not changed */
    } arguments = {plugin->arguments};
    int number = posix_spawnp(process, plugin->arguments[0], &actions, &attributes,
                              arguments.wanted, environment);
    environment_free(environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return number;
}

static int start_plugin(struct run *run, const struct kubeconfig_plugin *plugin,
                        struct error *error)
{
    /* The dup2() of the child must not meet the ends themselves: they are never 0, 1 or 2, unless
     * those are closed here, which dlspool ensures. */
    int output[2], complaints[2];
    if (pipe2(output, O_CLOEXEC))
        return error_errno(error, "the credential plugin %s got no pipe", run->command);
    if (pipe2(complaints, O_CLOEXEC)) {
        error_errno(error, "the credential plugin %s got no pipe", run->command);
        close(output[0]);
        close(output[1]);
        return -1;
    }
    int number = spawn_plugin(plugin, output[1], complaints[1], &run->process);
    close(output[1]);
    close(complaints[1]);
    run->output = output[0];
    run->complaints = complaints[0];
    if (number == 0)
        return 0;
    run->process = 0;
    struct error_quote_buffer quote;
    const char *hint = plugin->install_hint ? plugin->install_hint : "";
    return error_set(error, "the credential plugin %s could not be started: %s%s%s", run->command,
                     strerror(number), *hint ? "; " : "", error_quote(&quote, hint, strlen(hint)));
}

/* ---- listening to it ---- */

/* Take what has come; the pipe is closed at its end. */
static void read_available(int *pipe, struct buffer *out, size_t limit)
{
    char bytes[4096];
    ssize_t count = read(*pipe, bytes, sizeof(bytes));
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (count <= 0) {
        close(*pipe);
        *pipe = -1;
        return;
    }
    size_t space = limit - out->length, length = (size_t)count;
    buffer_add(out, bytes, length < space ? length : space);
    explicit_bzero(bytes, sizeof(bytes));
}

/* Read until its output ends or its time is over.  Its children may keep standard error open longer. */
static void listen_to(struct run *run)
{
    while (run->output >= 0) {
        int64_t left = run->limit - (clock_elapsed() - run->begin);
        struct pollfd files[] = {{.fd = run->output, .events = POLLIN},
                                 {.fd = run->complaints, .events = POLLIN}};
        if (left <= 0)
            return;
        int count = poll(files, 2, (int)left);
        if (count < 0 && errno != EINTR)
            return;
        if (count > 0 && files[0].revents)
            read_available(&run->output, &run->written, OUTPUT_LIMIT + 1);
        if (count > 0 && files[1].revents)
            read_available(&run->complaints, &run->complained, COMPLAINT_LIMIT);
    }
}

/* Wait for its end, within the limits, and kill its process group.  Its status; -1: it had to be killed. */
static int wait_for(struct run *run)
{
    int status = 0;
    int64_t begin = clock_elapsed(), left = run->limit - (begin - run->begin);
    if (left > CLOSED_GRACE)
        left = CLOSED_GRACE;
    bool late = run->output >= 0;
    while (!late) {
        pid_t ended = waitpid(run->process, &status, WNOHANG);
        if (ended == run->process || (ended < 0 && errno != EINTR))
            break;
        late = clock_elapsed() - begin > left;
        if (!late)
            poll(NULL, 0, 5);
    }
    kill(-run->process, SIGKILL); /* what it started, too */
    while (late && waitpid(run->process, NULL, 0) < 0 && errno == EINTR)
        ;
    if (run->complaints >= 0) { /* its last words */
        fcntl(run->complaints, F_SETFL, O_NONBLOCK);
        read_available(&run->complaints, &run->complained, COMPLAINT_LIMIT);
    }
    return late ? -1 : status;
}

/* The last line of its standard error, quoted. */
static const char *last_words(const struct run *run, struct error_quote_buffer *quote)
{
    struct text all = text_trim(buffer_text(&run->complained));
    for (size_t i = all.length; i > 0; i--)
        if (all.data[i - 1] == '\n') {
            all = (struct text){all.data + i, all.length - i};
            break;
        }
    return all.length ? error_quote(quote, all.data, all.length) : "it said nothing";
}

static int check_end(const struct run *run, int status, struct error *error)
{
    struct error_quote_buffer quote;
    const char *words = last_words(run, &quote);
    if (status == -1)
        return error_set(error, "the credential plugin %s did not end within %lld s: %s",
                         run->command, (long long)run->limit / 1000, words);
    if (WIFSIGNALED(status))
        return error_set(error, "the credential plugin %s was ended by signal %d: %s", run->command,
                         WTERMSIG(status), words);
    if (WEXITSTATUS(status))
        return error_set(error, "the credential plugin %s failed with exit code %d: %s",
                         run->command, WEXITSTATUS(status), words);
    if (run->written.length > OUTPUT_LIMIT)
        return error_set(error, "the credential plugin %s wrote more than %d bytes", run->command,
                         OUTPUT_LIMIT);
    return 0;
}

/* ---- its answer ---- */

static int add_pem(struct buffer *out, struct text pem, const char *kind, struct error *error)
{
    if (!pem.length)
        return 0;
    if (!kubeconfig_pem_is_encoded(pem, kind))
        return error_set(error, "there is no PEM of a %s in its status", kind);
    buffer_add_text(out, pem);
    return 0;
}

static int read_status(const struct value *status, struct kubernetes_plugin_answer *answer,
                       struct error *error)
{
    struct text token = text_trim(value_get_text(status, "token"));
    struct text certificate = value_get_text(status, "clientCertificateData");
    struct text key = value_get_text(status, "clientKeyData");
    struct text expires = value_get_text(status, "expirationTimestamp");
    if (!status || (!token.length && !certificate.length))
        return error_set(error, "it gave neither a token nor a certificate");
    if (!certificate.length != !key.length)
        return error_set(error, "clientCertificateData and clientKeyData go together");
    for (size_t i = 0; i < token.length; i++)
        if (token.data[i] <= ' ' || token.data[i] == 0x7f)
            return error_set(error, "its token is not one");
    if (expires.length && clock_parse(expires, &answer->expires))
        return error_set(error, "its expirationTimestamp is not a time");
    if (token.length)
        buffer_add_text(&answer->token, token);
    return add_pem(&answer->certificate, certificate, "CERTIFICATE", error) ||
                   add_pem(&answer->key, key, "PRIVATE KEY", error)
               ? -1
               : 0;
}

int kubernetes_plugin_read(struct text output, const char *api_version,
                           struct kubernetes_plugin_answer *answer, struct error *error)
{
    struct arena *arena = arena_new();
    /* The reader's own sentence might repeat what stands there. */
    const struct value *tree = json_read(arena, output, "it", &yaml_request_limits, NULL);
    int result;
    if (!tree)
        result = error_set(error, "what it wrote is not JSON");
    else if (!text_is(value_get_text(tree, "kind"), "ExecCredential"))
        result = error_set(error, "what it wrote is no ExecCredential");
    else if (!text_is(value_get_text(tree, "apiVersion"), api_version))
        result = error_set(error, "its ExecCredential is not of %s, as the kubeconfig says",
                           api_version);
    else
        result = read_status(value_get(tree, "status"), answer, error);
    secret_wipe_text(value_get_text(value_get(tree, "status"), "token"));
    secret_wipe_text(value_get_text(value_get(tree, "status"), "clientKeyData"));
    arena_free(arena);
    return result;
}

int kubernetes_plugin_run(const struct kubeconfig_plugin *plugin, int64_t time_limit,
                          struct kubernetes_plugin_answer *answer, struct error *error)
{
    struct error_quote_buffer quote;
    const char *command = plugin->arguments[0];
    struct run run = {
        .command = error_quote(&quote, command, strlen(command)),
        .output = -1,
        .complaints = -1,
        .begin = clock_elapsed(),
        .limit = time_limit,
    };
    int result = start_plugin(&run, plugin, error);
    if (!result) {
        listen_to(&run);
        result = check_end(&run, wait_for(&run), error);
    }
    if (!result &&
        kubernetes_plugin_read(buffer_text(&run.written), plugin->api_version, answer, error))
        result = error_prefix(error, "the credential plugin %s", run.command);
    if (run.output >= 0)
        close(run.output);
    if (run.complaints >= 0)
        close(run.complaints);
    secret_wipe(&run.written);
    secret_wipe(&run.complained);
    return result;
}
