/* stages/notify/deliver.c - the process of one message: it becomes the site's command, or posts to the webhook */
#include "stages/notify/deliver.h"

#include <errno.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/signals.h"
#include "stages/notify/webhook.h"

enum {
    VARIABLES_MOST = 64,
    FILE_MOST = 64 << 20 /* bytes that the command may write to a file */
};

int deliver_file(const char *name, struct text bytes)
{
    int file = memfd_create(name, MFD_CLOEXEC);
    size_t written = 0;
    while (file >= 0 && written < bytes.length) {
        ssize_t count = write(file, bytes.data + written, bytes.length - written);
        if (count <= 0) {
            close(file);
            return -1;
        }
        written += (size_t)count;
    }
    if (file >= 0)
        lseek(file, 0, SEEK_SET);
    return file;
}

static _Noreturn void fail(const char *what)
{
    dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
    _exit(71); /* EX_OSERR of sysexits.h */
}

/* What the command finds: where programs are, and the facts of the message. */
static void fill_environment(char **variables, struct text facts)
{
    static const char *const kept[] = {"HOME", "TZ", "SSL_CERT_FILE"};
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    static char language[] = "LANG=C.UTF-8";
    size_t count = 0;
    variables[count++] = path;
    variables[count++] = language;
    for (size_t i = 0; i < ARRAY_COUNT(kept); i++) {
        const char *value = getenv(kept[i]);
        struct buffer variable = {0};
        if (value) {
            buffer_printf(&variable, "%s=%s", kept[i], value);
            variables[count++] = variable.data;
        }
    }
    union {
        const char *data;
        char *own;
    } fact = {facts.data};
    const char *end = facts.data + facts.length;
    while (fact.data < end && count < VARIABLES_MOST) {
        variables[count++] = fact.own;
        fact.data += strlen(fact.data) + 1;
    }
    variables[count] = NULL;
}

static _Noreturn void run_command(const struct message_settings *settings,
                                  const struct message *message)
{
    char *variables[VARIABLES_MOST + 1];
    const struct rlimit files = {FILE_MOST, FILE_MOST};
    int input = deliver_file("message", message->body);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0 || chdir("/"))
        fail("the message could not be handed over");
    setrlimit(RLIMIT_FSIZE, &files);
    umask(077);
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    fill_environment(variables, message->environment);
    union {
        const char **words;
        char *const *arguments;
    } command = {settings->command};
    execve(command.words[0], command.arguments, variables);
    fail(command.words[0]);
}

_Noreturn void deliver_message(const struct message_settings *settings, const char *url,
                               const struct message *message, int output)
{
    struct error error;
    setpgid(0, 0);
    signals_reset();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
        _exit(71);
    if (!url)
        run_command(settings, message);
    int64_t timeout = settings->timeout;
    if (webhook_post(url, message->body, message->id.data, timeout, &error)) {
        dprintf(STDERR_FILENO, "%s\n", error.text);
        _exit(75);
    }
    _exit(0);
}
