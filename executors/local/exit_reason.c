/* executors/local/exit_reason.c - why a task ended */
#include "executors/local/exit_reason.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/quantity.h"
#include "base/system.h"
#include "executors/local/conmon_log.h"
#include "executors/local/kernel_log.h"
#include "executors/local/storage.h"
#include "executors/local/turns.h"

enum {
    EXIT_KILLED = 128 + 9,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    START_TIME = 5000, /* milliseconds from the start of a container's time limit to its
                          own start, at most */
    EXIT_LOST = 255    /* podman does not know the exit code */
};

/* Find catatonit's message that it could not start the task's command; false: there is none. */
static bool find_start_error(struct local *local, const struct podman_container *container,
                             struct error_quote_buffer *buffer)
{
    enum { HEAD = 4096 };
    const struct text mark = TEXT("failed to exec pid1: ");
    char job[LOCAL_NAME_SIZE], task[LOCAL_NAME_SIZE];
    local_job_name(job, local_label(container, "job"),
                   (int)local_label_number(container, "attempt"));
    snprintf(task, sizeof(task), "%s-%s", local_label(container, "role"),
             local_label(container, "index"));
    int logs = local_storage_logs(local->directory, job);
    int file = logs >= 0 ? sys.openat(logs, task, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0) : -1;
    char head[HEAD];
    ssize_t length = file >= 0 ? sys.pread(file, head, sizeof(head), 0) : 0;
    if (file >= 0)
        sys.close(file);
    if (logs >= 0)
        sys.close(logs);
    struct text rest = {head, length > 0 ? (size_t)length : 0};
    struct buffer printed = {0};
    while (conmon_log_next(&rest, &printed))
        continue;
    struct text text = buffer_text(&printed);
    bool found = text.length && text_starts(text, "ERROR (catatonit:") && text_contains(text, mark);
    if (found) {
        const char *words =
            (const char *)memmem(text.data, text.length, mark.data, mark.length) + mark.length;
        size_t left = text.length - (size_t)(words - text.data);
        const char *end = memchr(words, '\n', left);
        error_quote(buffer, words, end ? (size_t)(end - words) : left);
    }
    buffer_free(&printed);
    return found;
}

/* What is found out about an ended task: the functions below are tried in turn, until one of them fills it in. */
struct finding {
    struct exit_reason *exit_reason;
    const struct podman_container *container;
    struct task_state *task;
    char detail[sizeof(((struct job_poll *)NULL)->detail)];
};

static void note_reason(struct finding *finding, int exit_code, const char *reason,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Note the reason and `task ROLE-INDEX` followed by the words. */
static void note_reason(struct finding *finding, int exit_code, const char *reason,
                        const char *format, ...)
{
    char words[sizeof(finding->detail) - 128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    finding->task->exit_code = exit_code;
    snprintf(finding->task->reason, sizeof(finding->task->reason), "%s", reason);
    snprintf(finding->detail, sizeof(finding->detail), "task %s-%d %s", finding->task->role,
             finding->task->index, words);
}

static bool find_success(struct finding *finding)
{
    if (finding->container->exit_code != 0)
        return false;
    finding->task->exit_code = 0;
    return true;
}

static bool find_refusal(struct finding *finding)
{
    const char *refusal = local_turns_refusal(finding->exit_reason->local, finding->container);
    if (refusal)
        note_reason(finding, EXIT_NOT_EXECUTABLE, "StartError", "could not be started: %s",
                    refusal);
    return refusal;
}

/* podman reports -1 both when it has killed a container at its time limit and when it does not know how one
 * ended.  Its clock starts shortly before the start that it reports. */
static bool find_time_limit(struct finding *finding)
{
    const struct podman_container *container = finding->container;
    int64_t limit = local_label_number(container, "time_limit");
    int64_t early = limit / 2 < START_TIME ? limit / 2 : START_TIME;
    char written[CLOCK_TEXT_SIZE];
    if (container->exit_code >= 0 || limit == 0 || !container->started ||
        container->ended - container->started < limit - early)
        return false;
    note_reason(finding, EXIT_KILLED, "TimeLimit",
                "was ended because it ran for longer than its time limit of %s",
                duration_format(limit, written));
    return true;
}

/* Where podman does not know the limit, the caller ends the container with SIGKILL.  One that was paused may be older
 * than its limit when something else kills it: then that is told wrongly. */
static bool find_kept_limit(struct finding *finding)
{
    const struct podman_container *container = finding->container;
    int64_t limit = local_label_number(container, "time_limit");
    char written[CLOCK_TEXT_SIZE];
    if (container->exit_code != EXIT_KILLED || !local_label_number(container, "untimed") ||
        !container->started || container->ended - container->started < limit)
        return false;
    note_reason(finding, EXIT_KILLED, "TimeLimit",
                "was ended because it ran for longer than its time limit of %s",
                duration_format(limit, written));
    return true;
}

static bool find_memory(struct finding *finding)
{
    struct exit_reason *exit_reason = finding->exit_reason;
    const struct podman_container *container = finding->container;
    if (!exit_reason->kills_read)
        kernel_log_read_kills(&exit_reason->kills);
    exit_reason->kills_read = true;
    enum memory_kill kill = kernel_log_find_kill(buffer_text(&exit_reason->kills), container->id);
    if (kill == MEMORY_KILL_NONE && !container->out_of_memory)
        return false;
    char memory[QUANTITY_TEXT_SIZE];
    int exit_code = container->exit_code < 0 ? EXIT_KILLED : container->exit_code;
    quantity_format_bytes(local_label_number(container, "memory"), memory);
    if (kill == MEMORY_KILL_MACHINE)
        note_reason(finding, exit_code, "OOMKilled",
                    "lost a process because this machine had no memory "
                    "left, although the task's limit is %s; it ended with exit code %d",
                    memory, exit_code);
    else
        note_reason(finding, exit_code, "OOMKilled",
                    "needed more than its %s of memory, and a process of "
                    "it was killed; it ended with exit code %d",
                    memory, exit_code);
    return true;
}

static bool find_loss(struct finding *finding)
{
    if (finding->container->exit_code >= 0)
        return false;
    note_reason(finding, EXIT_LOST, "NodeLost",
                "ended, and nobody knows how: its supervisor was killed, "
                "or this machine was restarted");
    return true;
}

static bool find_failed_start(struct finding *finding)
{
    struct error_quote_buffer buffer, command;
    if (finding->container->exit_code != 1 ||
        !find_start_error(finding->exit_reason->local, finding->container, &buffer))
        return false;
    bool missing = strcmp(buffer.text, "No such file or directory") == 0;
    const char *starts = local_label(finding->container, "starts");
    error_quote(&command, starts, strlen(starts));
    note_reason(finding, missing ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE, "StartError",
                "could not start its command%s%s: %s", *starts ? " " : "", command.text,
                buffer.text);
    return true;
}

static bool find_signal(struct finding *finding)
{
    int number = finding->container->exit_code - 128;
    if (number <= 0 || number >= NSIG)
        return false;
    const char *name = sigabbrev_np(number);
    note_reason(finding, finding->container->exit_code, "Exited", "was ended by signal %d%s%s%s",
                number, name ? " (SIG" : "", name ? name : "", name ? ")" : "");
    return true;
}

static bool find_exit(struct finding *finding)
{
    int exit_code = finding->container->exit_code;
    note_reason(finding, exit_code, "Exited", "ended with exit code %d", exit_code);
    return true;
}

void exit_reason_explain(struct exit_reason *exit_reason, const struct podman_container *container,
                         struct task_state *task, char *detail, size_t size)
{
    static bool (*const causes[])(struct finding * finding) = {
        find_success, find_refusal,      find_time_limit, find_memory, find_kept_limit,
        find_loss,    find_failed_start, find_signal,     find_exit,
    };
    struct finding finding = {.exit_reason = exit_reason, .container = container, .task = task};
    size_t at = 0;
    while (!causes[at](&finding))
        at++; /* the last function always finds a reason */
    snprintf(detail, size, "%s", finding.detail);
}

void exit_reason_clear(struct exit_reason *exit_reason)
{
    buffer_free(&exit_reason->kills);
}
