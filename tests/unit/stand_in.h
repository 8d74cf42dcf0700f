/* tests/unit/stand_in.h - a podman that misbehaves on order (tests/stand-in/podman), for tests
 *
 * One stand-in and one directory serve all tests of a program.  Commands are those at the head of
 * the stand-in.
 */
#ifndef TESTS_UNIT_STAND_IN_H
#define TESTS_UNIT_STAND_IN_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/unit/local_fixture.h"

struct stand_in {
    pid_t process;
    int control;
    char directory[64];
    char reply[64 << 10];
};

static struct stand_in stand_in = {.control = -1};

static inline int stand_in_start(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char podman[160];
    snprintf(stand_in.directory, sizeof(stand_in.directory), "/tmp/dlspool-once-XXXXXX");
    if (!mkdtemp(stand_in.directory))
        return -1;
    snprintf(podman, sizeof(podman), "%s/podman", stand_in.directory);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/control", stand_in.directory);
    stand_in.process = fork();
    if (stand_in.process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/usr/bin/python3", "python3", "-B", "tests/stand-in/podman", "--socket", podman,
              "--control", address.sun_path, (char *)NULL);
        _exit(127);
    }
    for (int64_t begin = clock_elapsed(); clock_elapsed() - begin < FIXTURE_PATIENCE;) {
        stand_in.control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(stand_in.control, (struct sockaddr *)&address, sizeof(address)) == 0)
            return 0;
        close(stand_in.control);
        fixture_pause(20);
    }
    return -1;
}

static inline void stand_in_stop(void)
{
    char line[256];
    close(stand_in.control);
    kill(stand_in.process, SIGTERM);
    waitpid(stand_in.process, NULL, 0);
    snprintf(line, sizeof(line), "rm -rf '%s'", stand_in.directory);
    if (system(line) != 0)
        print_message("%s could not be removed\n", stand_in.directory);
}

/* Give commands, one a line; the replies, with " | " between them, until the next call. */
static inline const char *order(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline const char *order(const char *format, ...)
{
    char commands[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(commands, sizeof(commands) - 1, format, arguments);
    va_end(arguments);
    assert_true(length > 0 && length < (int)sizeof(commands) - 1);
    commands[length++] = '\n';
    assert_int_equal(send(stand_in.control, commands, (size_t)length, 0), length);
    int wanted = 0;
    for (int i = 0; i < length; i++)
        wanted += commands[i] == '\n';
    char piece[4096];
    size_t used = 0;
    while (wanted > 0) {
        ssize_t got = recv(stand_in.control, piece, sizeof(piece), 0);
        assert_true(got > 0 && used + 3 * (size_t)got < sizeof(stand_in.reply));
        for (ssize_t i = 0; i < got; i++) {
            if (piece[i] != '\n')
                stand_in.reply[used++] = piece[i];
            else if (--wanted > 0)
                used += (size_t)snprintf(stand_in.reply + used, 4, " | ");
        }
    }
    stand_in.reply[used] = '\0';
    if (strstr(stand_in.reply, "error "))
        fail_msg("%s: %s", commands, stand_in.reply);
    return stand_in.reply;
}

#endif
