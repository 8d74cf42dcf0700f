/* executors/local/podman_service.c - runs dlspool's own `podman system service`
 *
 * Known weakness: a change of the runtime or of this machine's limits reaches the service only
 * when it is started next.
 */
#include "executors/local/podman_service.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/system.h"
#include "executors/local/podman_settings.h"
#include "executors/local/process.h"
#include "executors/local/seccomp_profile.h"

enum {
    PING_TIMEOUT = 5000, /* milliseconds, and all that follow */
    PINGS = 2,           /* without an answer before the service counts as hung */
    LOCK_WAIT = 20000,   /* for another process that is starting it */
    START_WAIT = 15000,
    END_WAIT = 5000,     /* between TERM and KILL */
    PAUSE = 20,          /* between two looks */
    LOG_LIMIT = 1 << 20, /* bytes of service.log before it is begun again */
    SOCKET_SIZE = sizeof(((struct sockaddr_un *)NULL)->sun_path) + sizeof("unix://")
};

struct podman_service {
    char *storage, *socket, *runtime, *mount_program;
    int directory;
    struct podman_settings settings; /* points to the above */
};

static char *join_path(const char *directory, const char *name)
{
    struct buffer path = {0};
    buffer_printf(&path, "%s/%s", directory, name);
    return path.data;
}

/* File systems on which the kernel refuses an overlay's upper directory. */
static const char *unfit_file_system(int directory)
{
    static const struct {
        unsigned long type;
        const char *name;
    } unfit[] = {{NFS_SUPER_MAGIC, "NFS"},   {SMB_SUPER_MAGIC, "SMB"},
                 {CIFS_SUPER_MAGIC, "CIFS"}, {FUSE_SUPER_MAGIC, "a FUSE file system"},
                 {V9FS_MAGIC, "9p"},         {AFS_SUPER_MAGIC, "AFS"}};
    struct statfs status;
    if (sys.fstatfs(directory, &status))
        return NULL;
    for (size_t i = 0; i < ARRAY_COUNT(unfit); i++)
        if ((unsigned long)status.f_type == unfit[i].type)
            return unfit[i].name;
    return NULL;
}

static int prepare_storage(const struct podman_service *service, struct error *error)
{
    const char *storage = service->storage;
    struct error_quote_buffer buffer;
    const char *quoted = error_quote(&buffer, storage, strlen(storage));
    struct sockaddr_un address;
    if (strlen(service->socket) >= sizeof(address.sun_path))
        return error_set(error,
                         "the path of podman's socket would have %zu bytes, and %zu is the "
                         "most a socket can have: set local.storage in dlspool.yaml to a shorter "
                         "path than %s",
                         strlen(service->socket), sizeof(address.sun_path) - 1, quoted);
    const char *unfit = unfit_file_system(service->directory);
    if (unfit)
        return error_set(error,
                         "%s lies on %s, where podman cannot keep containers: set "
                         "local.storage in dlspool.yaml to a directory on a local disk",
                         quoted, unfit);
    for (const char *const *name = (const char *const[]){"root", "run", "tmp", NULL}; *name; name++)
        if (sys.mkdirat(service->directory, *name, 0700) && errno != EEXIST)
            return error_errno(error, "%s/%s could not be made", quoted, *name);
    return 0;
}

struct podman_service *podman_service_open(const char *storage, int directory,
                                           const struct local_settings *settings,
                                           struct error *error)
{
    struct podman_service *service = memory_allocate(sizeof(*service));
    *service = (struct podman_service){
        .storage = memory_copy_string(storage),
        .socket = join_path(storage, "podman.sock"),
        .runtime = memory_copy_string(settings->runtime.data),
        .directory = directory,
        .mount_program = geteuid() == 0 ? NULL : process_find("fuse-overlayfs"),
    };
    service->settings = (struct podman_settings){
        .storage = service->storage,
        .runtime = service->runtime,
        .locked_memory = settings->locked_memory,
        .seccomp_profile = settings->user_namespaces ? NULL : SECCOMP_PROFILE_FILE,
        .mount_program = service->mount_program,
        .overlay = geteuid() == 0 || service->mount_program,
    };
    if (prepare_storage(service, error)) {
        podman_service_close(service);
        return NULL;
    }
    return service;
}

void podman_service_close(struct podman_service *service)
{
    if (!service)
        return;
    free(service->storage);
    free(service->socket);
    free(service->runtime);
    free(service->mount_program);
    free(service);
}

bool podman_service_has_overlay(const struct podman_service *service)
{
    return service->settings.overlay;
}

const char *podman_service_socket(const struct podman_service *service)
{
    return service->socket;
}

/* podman recognises a restart of the machine by its "alive" file being gone with /run.  dlspool's podman has
 * that file on a disk, so it is removed when the boot id has changed since the last start. */
static void notice_restart(const struct podman_service *service)
{
    struct buffer now = {0}, then = {0};
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (file_read_all(file, 256, &now, "boot_id", NULL))
            buffer_clear(&now);
        close(file);
    }
    file_read_at(service->directory, "boot", 256, &then, NULL);
    if (now.length && !text_equal(buffer_text(&now), buffer_text(&then))) {
        sys.unlinkat(service->directory, "tmp/alive", 0);
        podman_settings_write_file(service->directory, "boot", buffer_text(&now), NULL);
    }
    buffer_free(&now);
    buffer_free(&then);
}

/* ---- the process ---- */

/* The socket's address as the service is given it. */
static void socket_address(const struct podman_service *service, char buffer[static SOCKET_SIZE])
{
    snprintf(buffer, SOCKET_SIZE, "unix://%s", service->socket);
}

static void write_identity(const struct podman_service *service, pid_t process)
{
    char line[64];
    int length = snprintf(line, sizeof(line), "%d %" PRIu64 " %d\n", process,
                          process_start_time(process), getpgid(process));
    podman_settings_write_file(service->directory, "service.pid",
                               (struct text){line, (size_t)length}, NULL);
}

/* The service that was started last, if it still runs; else 0.  The process id alone may belong to another
 * process by now.  *group is its group, also when it no longer runs; 0: not known. */
static pid_t running_service(const struct podman_service *service, pid_t *group)
{
    struct buffer line = {0};
    int process = 0;
    uint64_t start = 0;
    *group = 0;
    bool known = file_read_at(service->directory, "service.pid", 64, &line, NULL) == 0 &&
                 sscanf(line.data, "%d %" SCNu64 " %d", &process, &start, group) >= 2 &&
                 process > 1 && start != 0 && process_start_time(process) == start;
    buffer_free(&line);
    if (known && *group <= 1) /* an older version has started it */
        *group = getpgid(process);
    return known ? process : 0;
}

/* End the service.  Without root the process that was started is not the one that serves: that is its child in
 * a user namespace, and may outlive it.  Both are of one group, and have the socket among their arguments;
 * processes that containers need (conmon, their network) have not. */
static int end_service(const struct podman_service *service, struct error *error)
{
    pid_t group;
    char address[SOCKET_SIZE];
    running_service(service, &group);
    socket_address(service, address);
    if (group <= 1 || process_signal_group(group, address, SIGTERM) == 0)
        return 0;
    /* A stopped process gets TERM only once it is continued. */
    process_signal_group(group, address, SIGCONT);
    int64_t begin = clock_elapsed();
    bool killed = false;
    while (process_signal_group(group, address, 0) > 0) {
        int64_t waited = clock_elapsed() - begin;
        if (waited > 2 * END_WAIT)
            return error_set(error, "the podman service (process group %d) does not end", group);
        if (waited > END_WAIT && !killed) {
            process_signal_group(group, address, SIGKILL);
            killed = true;
        }
        process_pause(PAUSE);
    }
    return 0;
}

/* The last line of the service's log, for a sentence. */
static void last_words(const struct podman_service *service, struct error_quote_buffer *buffer)
{
    struct buffer log = {0};
    file_read_at(service->directory, "service.log", 4 * LOG_LIMIT, &log, NULL);
    struct text words = text_trim(buffer_text(&log)), line = words, piece;
    while (text_next(&words, '\n', &piece))
        line = piece;
    error_quote(buffer, line.length ? line.data : "it said nothing",
                line.length ? line.length : 15);
    buffer_free(&log);
}

static int open_log(const struct podman_service *service)
{
    int log = sys.openat(service->directory, "service.log",
                         O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat status;
    if (log >= 0 && sys.fstat(log, &status) == 0 && status.st_size > LOG_LIMIT)
        (void)!sys.ftruncate(log, 0);
    return log;
}

/* Start the service.  Without root podman ignores parts of storage.conf, so the command line says the same. */
static int spawn_service(const struct podman_service *service, pid_t *process, struct error *error)
{
    char *root = join_path(service->storage, "root"), *run = join_path(service->storage, "run");
    char *storage_conf = join_path(service->storage, "storage.conf");
    char *containers_conf = join_path(service->storage, "containers.conf");
    struct buffer program = {0};
    char address[SOCKET_SIZE];
    const char *command[16] = {"podman", "--root", root, "--runroot", run};
    size_t words = 5;
    if (service->settings.overlay) {
        command[words++] = "--storage-driver";
        command[words++] = "overlay";
    }
    if (service->mount_program) {
        buffer_printf(&program, "overlay.mount_program=%s", service->mount_program);
        command[words++] = "--storage-opt";
        command[words++] = program.data;
    }
    socket_address(service, address);
    for (const char *const *word = (const char *const[]){"system", "service", "--time=0", NULL};
         *word; word++)
        command[words++] = *word;
    command[words++] = address;
    const char *const variables[] = {"CONTAINERS_STORAGE_CONF", storage_conf, "CONTAINERS_CONF",
                                     containers_conf, NULL};
    struct process_start start = {
        .command = command,
        .variables = variables,
        .without = "CONTAINER",
        .directory = service->directory,
        .log = open_log(service),
    };
    int result = process_start_detached(&start, process);
    if (result && errno == ENOENT)
        error_set(error, "podman is not installed: expected the program podman in PATH");
    else if (result)
        error_errno(error, "podman could not be started");
    if (start.log >= 0)
        sys.close(start.log);
    buffer_free(&program);
    free(root);
    free(run);
    free(storage_conf);
    free(containers_conf);
    return result;
}

/* ---- answering ---- */

static enum podman_outcome ping_service(struct podman *podman)
{
    struct podman_call call = {0};
    podman_call_ping(&call, PING_TIMEOUT);
    podman_run(podman, &call, 1);
    enum podman_outcome outcome = call.outcome;
    podman_call_free(&call);
    return outcome;
}

/* Does the service answer?  When nobody listens at the socket, that is known at once; a silent service is
 * pinged again. */
static bool service_answers(struct podman *podman)
{
    for (int i = 0; i < PINGS; i++) {
        enum podman_outcome outcome = ping_service(podman);
        if (outcome == PODMAN_DONE)
            return true;
        if (outcome == PODMAN_DOWN)
            return false;
    }
    return false;
}

/* Say why the service ended: its last message, or what to do where that is known. */
static int tell_end(const struct podman_service *service, struct error *error)
{
    struct error_quote_buffer buffer;
    last_words(service, &buffer);
    if (!strstr(buffer.text, "runroot is longer than"))
        return error_set(error, "the podman service ended at once: %s", buffer.text);
    const char *path = error_quote(&buffer, service->storage, strlen(service->storage));
    return error_set(
        error,
        "the path %s/run has %zu bytes, and this version of podman takes at most 50: set "
        "local.storage in dlspool.yaml to a directory with a shorter path, such as "
        "/var/tmp/containers-%d",
        path, strlen(service->storage) + strlen("/run"), (int)geteuid());
}

static int write_settings(const struct podman_service *service, struct error *error)
{
    struct podman_settings settings = service->settings;
    if (settings.seccomp_profile && seccomp_profile_write(service->directory, error)) {
        log_warn("%s; jobs may make user namespaces", error->text);
        settings.seccomp_profile = NULL;
    }
    return podman_settings_write(service->directory, &settings, error);
}

static int start_service(struct podman_service *service, struct podman *podman, struct error *error)
{
    if (end_service(service, error) || write_settings(service, error))
        return -1;
    notice_restart(service);
    /* podman removes a socket that a killed service left behind, but not a dangling link. */
    sys.unlinkat(service->directory, "podman.sock", 0);
    pid_t process;
    if (spawn_service(service, &process, error))
        return -1;
    write_identity(service, process);
    pid_t group;
    int64_t begin = clock_elapsed();
    while (ping_service(podman) != PODMAN_DONE) {
        if (running_service(service, &group) == 0)
            return tell_end(service, error);
        if (clock_elapsed() - begin > START_WAIT) {
            struct error_quote_buffer buffer;
            last_words(service, &buffer);
            return error_set(error, "the podman service does not answer at %s: %s", service->socket,
                             buffer.text);
        }
        process_pause(PAUSE);
    }
    return 0;
}

/* Take service.lock, so that one process at a time starts or ends the service. */
static int take_lock(const struct podman_service *service, struct error *error)
{
    int lock = sys.openat(service->directory, "service.lock",
                          O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock < 0)
        return error_errno(error, "%s/service.lock could not be opened", service->storage);
    int64_t begin = clock_elapsed();
    while (sys.lock(lock, F_WRLCK)) {
        bool taken = errno == EAGAIN || errno == EACCES;
        if (taken && clock_elapsed() - begin < LOCK_WAIT) {
            process_pause(PAUSE);
            continue;
        }
        if (taken)
            error_set(error, "another process holds %s/service.lock for more than %d s",
                      service->storage, LOCK_WAIT / 1000);
        else
            error_errno(error, "%s/service.lock could not be locked", service->storage);
        sys.close(lock);
        return -1;
    }
    return lock;
}

int podman_service_ensure(struct podman_service *service, struct podman *podman,
                          struct error *error)
{
    if (service_answers(podman))
        return 0;
    int lock = take_lock(service, error);
    if (lock < 0)
        return -1;
    int result = service_answers(podman) ? 0 : start_service(service, podman, error);
    sys.close(lock);
    return result;
}

int podman_service_stop(struct podman_service *service, struct error *error)
{
    int lock = take_lock(service, error);
    if (lock < 0)
        return -1;
    int result = end_service(service, error);
    if (result == 0) {
        sys.unlinkat(service->directory, "podman.sock", 0);
        sys.unlinkat(service->directory, "service.pid", 0);
    }
    sys.close(lock);
    return result;
}
