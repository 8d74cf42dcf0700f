/* tests/unit/notify_test.c - what systemd is told: by a socket that is not systemd's */
#include "tests/unit/unit.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/notify.h"
#include "stages/service/watchdog.h"

static int64_t now = 1000000;
static int64_t shifted(void)
{
    return now;
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    assert_int_equal(bind(descriptor, (struct sockaddr *)&address, sizeof(address)), 0);
    return descriptor;
}

static void hears(int descriptor, const char *expected)
{
    char message[4096] = "";
    ssize_t length = recv(descriptor, message, sizeof(message) - 1, 0);
    assert_string_equal(length < 0 ? "(nothing)" : message, expected);
}

static void messages_reach_the_socket(void **state)
{
    (void)state;
    char *directory = unit_directory(), path[256], text[32];
    snprintf(path, sizeof(path), "%s/notify", directory);
    int descriptor = listen_at(path);
    notify_send("READY=1");
    hears(descriptor, "(nothing)");
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "8000000", 1);
    snprintf(text, sizeof(text), "%d", getpid());
    setenv("WATCHDOG_PID", text, 1);
    assert_int_equal(notify_open(), 8000);
    assert_null(getenv("NOTIFY_SOCKET")); /* podman is not to speak for us */
    assert_null(getenv("WATCHDOG_USEC"));
    notify_send("READY=1\nSTATUS=%s", "serving");
    hears(descriptor, "READY=1\nSTATUS=serving");

    /* A watchdog of another process is none of ours, and what is no number is none. */
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "8000000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    assert_int_equal(notify_open(), 0);
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "soon", 1);
    assert_int_equal(notify_open(), 0);

    /* Nobody listens any more, or what is named is no socket: nothing happens. */
    close(descriptor);
    notify_send("WATCHDOG=1");
    setenv("NOTIFY_SOCKET", "relative", 1);
    assert_int_equal(notify_open(), 0);
    notify_send("WATCHDOG=1");
    unit_remove(directory);
}

/* The watchdog is told that all is well while the stages show signs of life, and no longer. */
static void a_silent_stage_is_told_on(void **state)
{
    (void)state;
    static const char *const names[] = {"submit", "track"};
    char *directory = unit_directory(), path[256];
    struct error error;
    snprintf(path, sizeof(path), "%s/notify", directory);
    int descriptor = listen_at(path);
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "4000000", 1);
    unsetenv("WATCHDOG_PID");
    clock_replace(NULL, shifted);
    struct watchdog *watchdog = watchdog_new(2, &error);
    assert_non_null(watchdog);
    struct heart *submit = watchdog_heart(watchdog, 0), *track = watchdog_heart(watchdog, 1);
    assert_true(submit->interval > 0 && submit->interval <= 1000);
    watchdog_check(watchdog, names);
    hears(descriptor, "WATCHDOG=1");
    watchdog_check(watchdog, names); /* too soon for another */
    hears(descriptor, "(nothing)");
    now += 1500;
    heartbeat_set(track);
    assert_int_equal(heartbeat_nap(50), 50);
    assert_int_equal(heartbeat_nap(60000), track->interval);
    watchdog_check(watchdog, names);
    hears(descriptor, "WATCHDOG=1");
    now += 1500;
    heartbeat(); /* of track only: submit is silent for 3 s of 2 */
    watchdog_check(watchdog, names);
    hears(descriptor, "(nothing)");
    heartbeat_set(submit);
    heartbeat();
    watchdog_check(watchdog, names);
    hears(descriptor, "WATCHDOG=1");
    /* One that has ended is waited for by others. */
    now += 3000;
    heartbeat();
    watchdog_rest(watchdog, 1);
    watchdog_check(watchdog, names);
    hears(descriptor, "WATCHDOG=1");
    heartbeat_set(NULL);
    clock_replace(NULL, NULL);
    watchdog_free(watchdog);
    close(descriptor);
    unit_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_reach_the_socket),
        cmocka_unit_test(a_silent_stage_is_told_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
