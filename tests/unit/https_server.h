/* tests/unit/https_server.h - an HTTPS server that misbehaves on order (tests/stand-in/https)
 *
 * One server and one directory serve all tests of a program.
 */
#ifndef TESTS_UNIT_HTTPS_SERVER_H
#define TESTS_UNIT_HTTPS_SERVER_H

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

static struct {
    pid_t process;
    char *directory;
    int port, proxy_port;
} server;

static inline void pause_for(int milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, (long)(milliseconds % 1000) * 1000000}, NULL);
}

/* The path of a file in the server's directory; good for four calls. */
static inline const char *in_directory(const char *name)
{
    static char buffers[4][512];
    static size_t next;
    char *buffer = buffers[next++ % 4];
    snprintf(buffer, sizeof(buffers[0]), "%s/%s", server.directory, name);
    return buffer;
}

/* Replace a file as a whole, as those do that renew tokens. */
static inline void write_file(const char *name, const char *content)
{
    char temporary[512];
    snprintf(temporary, sizeof(temporary), "%s", in_directory("new"));
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, content, strlen(content)), (ssize_t)strlen(content));
    close(file);
    assert_int_equal(rename(temporary, in_directory(name)), 0);
}

/* The content of a file there, to be freed. */
static inline char *read_whole(const char *name)
{
    char *content = calloc(1, 1 << 16);
    int file = open(in_directory(name), O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, content, (1 << 16) - 1) : -1;
    assert_true(length >= 0);
    close(file);
    return content;
}

static inline int server_start(void **state)
{
    (void)state;
    enum { PATIENCE = 20000 }; /* milliseconds */
    server.directory = unit_directory();
    server.process = fork();
    if (server.process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/usr/bin/python3", "python3", "-B", "tests/stand-in/https", server.directory,
              (char *)NULL);
        _exit(127);
    }
    int64_t begin = clock_elapsed();
    while (access(in_directory("ready"), F_OK)) {
        if (clock_elapsed() - begin > PATIENCE)
            return -1;
        pause_for(20);
    }
    char *port = read_whole("port"), *proxy_port = read_whole("proxy-port");
    server.port = atoi(port);
    server.proxy_port = atoi(proxy_port);
    free(port);
    free(proxy_port);
    return 0;
}

static inline int server_stop(void **state)
{
    (void)state;
    kill(server.process, SIGKILL);
    waitpid(server.process, NULL, 0);
    unit_remove(server.directory);
    return 0;
}

#endif
