/* stages/notify/courier.c - the process that sends messages, with the site's command or to its webhook */
#include "stages/notify/courier.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/journal.h"
#include "base/signals.h"
#include "base/visible.h"
#include "stages/notify/webhook.h"
#include "stages/sandbox.h"

enum {
    PACKET_MOST = 96 << 10, /* bytes of a message with its environment */
    BODY_MOST = 64 << 10,
    ENVIRONMENT_MOST = 16 << 10,
    PLAN_MOST = 4 << 20, /* bytes: some 20,000 jobs */
    SOCKET = 3           /* the courier's end, of which it has no other descriptors */
};

/* A packet: this, then the environment, the body and the id. */
struct head {
    int32_t slot;
    uint32_t environment, body, id;
};

struct delivery {
    pid_t process; /* 0: the slot is free */
    int64_t until; /* of clock_elapsed */
    int output;    /* what it prints */
    bool late;
};

/* In memory that both processes share: the stage reads it between an answer and its next question. */
struct courier_plan {
    uint32_t length;
    char bytes[PLAN_MOST];
};

struct desk {
    const char *directory;
    struct courier_plan *plan;
    struct timespec plan_time; /* of the file that was read last */
    const struct message_settings *settings;
    const char *url; /* of the webhook; NULL: there is a command */
    int signals;
    struct delivery deliveries[COURIER_SLOTS];
    char packet[PACKET_MOST];
};

/* ---- in the courier ---- */

static void answer(const struct courier_result *result)
{
    if (send(SOCKET, result, sizeof(*result), MSG_NOSIGNAL) < 0)
        _exit(0);
}

/* The last line that was printed, so that it can be shown. */
static void read_output(int output, char *said)
{
    char bytes[1024];
    struct stat status;
    off_t start = fstat(output, &status) || status.st_size < (off_t)sizeof(bytes)
                      ? 0
                      : status.st_size - (off_t)sizeof(bytes);
    ssize_t count = pread(output, bytes, sizeof(bytes), start);
    struct text rest = text_trim((struct text){bytes, count > 0 ? (size_t)count : 0});
    const char *line = rest.length ? memrchr(rest.data, '\n', rest.length) : NULL;
    if (line)
        rest = (struct text){line + 1, rest.length - (size_t)(line + 1 - rest.data)};
    struct visible visible = {.count = 0};
    struct buffer shown = {0};
    visible_add(&visible, &shown, rest);
    visible_end(&visible, &shown);
    if (shown.length)
        snprintf(said, COURIER_SAID_SIZE, "%s", shown.data);
    buffer_free(&shown);
}

static void report(struct desk *desk, int slot, int status)
{
    struct delivery *delivery = &desk->deliveries[slot];
    struct courier_result result = {.slot = slot};
    char limit[CLOCK_TEXT_SIZE], printed[COURIER_SAID_SIZE] = "";
    const int room = COURIER_SAID_SIZE - 80; /* of a message that took too long */
    result.sent = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    read_output(delivery->output, printed);
    if (delivery->late)
        snprintf(result.said, sizeof(result.said), "it took longer than %s and was ended%s%.*s",
                 duration_format(desk->settings->timeout, limit), *printed ? "; it printed: " : "",
                 room, printed);
    else if (*printed)
        snprintf(result.said, sizeof(result.said), "%s", printed);
    else if (WIFSIGNALED(status))
        snprintf(result.said, sizeof(result.said), "it was ended by signal %d", WTERMSIG(status));
    else
        snprintf(result.said, sizeof(result.said), "it ended with status %d", WEXITSTATUS(status));
    close(delivery->output);
    *delivery = (struct delivery){.process = 0};
    answer(&result);
}

static void reap(struct desk *desk)
{
    struct signalfd_siginfo signal;
    int status;
    pid_t process;
    while (read(desk->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal))
        continue;
    while ((process = waitpid(-1, &status, WNOHANG)) > 0)
        for (int slot = 0; slot < COURIER_SLOTS; slot++)
            if (desk->deliveries[slot].process == process) {
                kill(-process, SIGKILL); /* what it may have left behind */
                report(desk, slot, status);
            }
}

static void start_delivery(struct desk *desk, int slot, const struct message *message)
{
    struct delivery *delivery = &desk->deliveries[slot];
    int output = deliver_file("output", TEXT(""));
    pid_t process = output < 0 ? -1 : fork();
    if (process == 0)
        deliver_message(desk->settings, desk->url, message, output);
    if (process < 0) {
        struct courier_result result = {.slot = slot};
        snprintf(result.said, sizeof(result.said), "no process could be started: %s",
                 strerror(errno));
        if (output >= 0)
            close(output);
        answer(&result);
        return;
    }
    setpgid(process, process);
    *delivery = (struct delivery){
        .process = process, .until = clock_elapsed() + desk->settings->timeout, .output = output};
}

/* Read the plan, if it is another than before.  None at all is an empty one. */
static void read_plan(struct desk *desk)
{
    struct courier_result result = {.slot = COURIER_PLAN};
    struct stat status = {.st_size = 0};
    char path[PATH_MAX + 8];
    snprintf(path, sizeof(path), "%s/plan", desk->directory);
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status))
        status = (struct stat){.st_size = 0};
    if (memcmp(&status.st_mtim, &desk->plan_time, sizeof(status.st_mtim)) != 0) {
        uint32_t length = 0;
        ssize_t count = 0;
        desk->plan_time = status.st_mtim;
        while (file >= 0 && length < PLAN_MOST &&
               (count = read(file, desk->plan->bytes + length, PLAN_MOST - length)) > 0)
            length += (uint32_t)count;
        desk->plan->length = length;
        result.sent = true;
    }
    if (file >= 0)
        close(file);
    answer(&result);
}

/* False when the stage has ended. */
static bool take_packet(struct desk *desk)
{
    struct head head;
    ssize_t length = recv(SOCKET, desk->packet, sizeof(desk->packet), 0);
    if (length < (ssize_t)sizeof(head))
        return length < 0 && errno == EINTR;
    memcpy(&head, desk->packet, sizeof(head));
    if (head.slot == COURIER_PLAN) {
        read_plan(desk);
        return true;
    }
    if (head.slot < 0 || head.slot >= COURIER_SLOTS || desk->deliveries[head.slot].process ||
        head.environment > ENVIRONMENT_MOST || head.body > BODY_MOST || head.id >= 128 ||
        (size_t)length != sizeof(head) + head.environment + head.body + head.id + 1 ||
        desk->packet[length - 1] ||
        (head.environment && desk->packet[sizeof(head) + head.environment - 1]))
        return false;
    const char *environment = desk->packet + sizeof(head);
    const struct message message = {
        .environment = {environment, head.environment},
        .body = {environment + head.environment, head.body},
        .id = {environment + head.environment + head.body, head.id},
    };
    start_delivery(desk, head.slot, &message);
    return true;
}

/* End what takes too long.  Returns how long to wait at most, milliseconds; -1: for ever. */
static int end_late(struct desk *desk)
{
    int64_t now = clock_elapsed(), wait = -1;
    for (int slot = 0; slot < COURIER_SLOTS; slot++) {
        struct delivery *delivery = &desk->deliveries[slot];
        if (!delivery->process || delivery->late)
            continue;
        if (delivery->until <= now) {
            delivery->late = true;
            kill(-delivery->process, SIGKILL);
        } else if (wait < 0 || delivery->until - now < wait) {
            wait = delivery->until - now;
        }
    }
    return (int)wait;
}

static void serve(struct desk *desk)
{
    for (;;) {
        struct pollfd ready[] = {{.fd = SOCKET, .events = POLLIN},
                                 {.fd = desk->signals, .events = POLLIN}};
        if (poll(ready, 2, end_late(desk)) < 0 && errno != EINTR)
            return;
        if (ready[1].revents)
            reap(desk);
        if (ready[0].revents && !take_packet(desk))
            return;
    }
}

/* Nothing of what the stage has open is kept, above all not the lock of the spool. */
static _Noreturn void be_courier(struct desk *desk, struct text user, int socket, pid_t parent)
{
    static const int signals[] = {SIGCHLD};
    struct error error;
    int null = open("/dev/null", O_RDWR);
    journal_close(); /* before its number is another's */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "courier");
    setsid(); /* not to be stopped from the keyboard; the stage says when */
    if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
        (socket != SOCKET && dup2(socket, SOCKET) < 0))
        _exit(1);
    close_range(SOCKET + 1, ~0U, 0);
    fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
    if (sandbox_become_user(user, &error)) {
        dprintf(STDERR_FILENO, "dlspool[courier]: %s\n", error.text);
        _exit(1);
    }
    /* Taking another user on clears it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signals_reset();
    signals_ignore();
    desk->signals = signals_take(signals, ARRAY_COUNT(signals), NULL, &error);
    if (desk->signals >= 0)
        serve(desk);
    for (int slot = 0; slot < COURIER_SLOTS; slot++)
        if (desk->deliveries[slot].process)
            kill(-desk->deliveries[slot].process, SIGKILL);
    _exit(0);
}

/* ---- in the stage ---- */

/* Start the process, which knows what is on the desk. */
static int start(struct courier *courier, struct desk *desk, struct text user, struct error *error)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return error_errno(error, "the process that sends messages could not be reached");
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0)
        be_courier(desk, user, ends[1], parent);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return error_errno(error, "the process that sends messages could not be started");
    }
    courier->socket = ends[0];
    return 0;
}

int courier_start(struct courier *courier, const char *directory,
                  const struct message_settings *settings, struct text user, struct error *error)
{
    struct buffer url = {0};
    *courier = (struct courier){.socket = -1};
    if (settings->webhook.length && webhook_resolve(settings->webhook, &url, error)) {
        buffer_free(&url);
        return -1;
    }
    courier->plan = mmap(NULL, sizeof(*courier->plan), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (courier->plan == MAP_FAILED) {
        courier->plan = NULL;
        buffer_free(&url);
        return error_errno(error, "no memory to share with the process that sends messages");
    }
    struct desk *desk = memory_allocate(sizeof(*desk));
    *desk = (struct desk){
        .directory = directory, .plan = courier->plan, .settings = settings, .url = url.data};
    int result = start(courier, desk, user, error);
    free(desk);
    buffer_free(&url);
    return result;
}

void courier_stop(struct courier *courier)
{
    if (courier->socket >= 0)
        close(courier->socket);
    if (courier->plan)
        munmap(courier->plan, sizeof(*courier->plan));
    *courier = (struct courier){.socket = -1};
}

void courier_ask_plan(struct courier *courier)
{
    const struct head head = {.slot = COURIER_PLAN};
    if (!courier->asked)
        courier->asked = send(courier->socket, &head, sizeof(head), MSG_NOSIGNAL | MSG_DONTWAIT) ==
                         (ssize_t)sizeof(head);
}

struct text courier_plan(const struct courier *courier)
{
    uint32_t length = courier->plan->length;
    return (struct text){courier->plan->bytes, length < PLAN_MOST ? length : PLAN_MOST};
}

int courier_free_slot(const struct courier *courier)
{
    for (int slot = 0; slot < COURIER_SLOTS; slot++)
        if (!courier->busy[slot])
            return slot;
    return -1;
}

int courier_send(struct courier *courier, int slot, const struct message *message,
                 struct error *error)
{
    struct head head = {slot, (uint32_t)message->environment.length, (uint32_t)message->body.length,
                        (uint32_t)message->id.length};
    struct buffer packet = {0};
    if (message->environment.length > ENVIRONMENT_MOST || message->body.length > BODY_MOST)
        return error_set(error, "the message is larger than %d bytes", (int)BODY_MOST);
    buffer_add(&packet, &head, sizeof(head));
    buffer_add_text(&packet, message->environment);
    buffer_add_text(&packet, message->body);
    buffer_add_text(&packet, message->id);
    buffer_add_byte(&packet, '\0');
    ssize_t sent = send(courier->socket, packet.data, packet.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    int result = sent == (ssize_t)packet.length
                     ? 0
                     : error_errno(error, "the process that sends messages takes none");
    buffer_free(&packet);
    courier->busy[slot] = result == 0;
    return result;
}

int courier_receive(struct courier *courier, struct courier_result *result, struct error *error)
{
    ssize_t length = recv(courier->socket, result, sizeof(*result), MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (length != (ssize_t)sizeof(*result) || result->slot < COURIER_PLAN ||
        result->slot >= COURIER_SLOTS)
        return error_set(error, "the process that sends messages has ended");
    result->said[sizeof(result->said) - 1] = '\0';
    if (result->slot == COURIER_PLAN)
        courier->asked = false;
    else
        courier->busy[result->slot] = false;
    return 1;
}
