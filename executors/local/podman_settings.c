/* executors/local/podman_settings.c - the settings files of dlspool's own podman */
#include "executors/local/podman_settings.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/system.h"

enum {
    OPEN_FILES = 20000, /* default limits of a container's processes, if we may give them */
    PROCESSES = 32768   /* podman lowers its own limit to this first */
};

int podman_settings_write_file(int directory, const char *name, struct text bytes,
                               struct error *error)
{
    int file =
        sys.openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return error_errno(error, "%s in the local executor's storage could not be opened", name);
    int result = file_write_all(file, bytes, name, error);
    if (sys.close(file) && result == 0)
        result =
            error_errno(error, "%s in the local executor's storage could not be written", name);
    return result;
}

/* A TOML basic string. */
static void add_quoted(struct buffer *out, const char *string)
{
    buffer_add_byte(out, '"');
    for (; *string; string++) {
        unsigned char byte = (unsigned char)*string;
        if (byte == '"' || byte == '\\')
            buffer_printf(out, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            buffer_printf(out, "\\u%04x", byte);
        else
            buffer_add_byte(out, *string);
    }
    buffer_add_byte(out, '"');
}

static void add_setting(struct buffer *out, const char *key, const char *value)
{
    buffer_printf(out, "%s = ", key);
    add_quoted(out, value);
    buffer_add_byte(out, '\n');
}

static void add_path(struct buffer *out, const char *key, const struct podman_settings *settings,
                     const char *name)
{
    struct buffer path = {0};
    buffer_printf(&path, "%s/%s", settings->storage, name);
    add_setting(out, key, path.data);
    buffer_free(&path);
}

/* The limit for containers: at most this process's own, or runc cannot set it. */
static uintmax_t bounded_limit(int resource, uintmax_t request)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) || limit.rlim_max == RLIM_INFINITY || limit.rlim_max > request)
        return request;
    return limit.rlim_max;
}

/* The same for locked memory, which may be unlimited. */
static void add_locked_memory(struct buffer *out, int64_t request)
{
    uintmax_t limit =
        bounded_limit(RLIMIT_MEMLOCK, request < 0 ? RLIM_INFINITY : (uintmax_t)request);
    if (limit == RLIM_INFINITY)
        buffer_add_string(out, ", \"memlock=-1:-1\"");
    else
        buffer_printf(out, ", \"memlock=%ju:%ju\"", limit, limit);
}

static void add_storage(struct buffer *out, const struct podman_settings *settings)
{
    buffer_add_string(out, "[storage]\n");
    if (settings->overlay)
        add_setting(out, "driver", "overlay");
    add_path(out, "graphroot", settings, "root");
    add_path(out, "runroot", settings, "run");
    if (settings->mount_program) {
        buffer_add_string(out, "[storage.options.overlay]\n");
        add_setting(out, "mount_program", settings->mount_program);
    }
}

static void add_containers(struct buffer *out, const struct podman_settings *settings)
{
    uintmax_t files = bounded_limit(RLIMIT_NOFILE, OPEN_FILES);
    uintmax_t processes = bounded_limit(RLIMIT_NPROC, PROCESSES);
    buffer_printf(out,
                  "[containers]\nlog_driver = \"k8s-file\"\n"
                  "default_ulimits = [\"nofile=%ju:%ju\", \"nproc=%ju:%ju\"",
                  files, files, processes, processes);
    if (settings->locked_memory)
        add_locked_memory(out, settings->locked_memory);
    buffer_add_string(out, "]\n");
    if (settings->seccomp_profile)
        add_path(out, "seccomp_profile", settings, settings->seccomp_profile);
    buffer_printf(out, "[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n"
                       "image_default_transport = \"docker://\"\n");
    add_setting(out, "runtime", settings->runtime);
    add_path(out, "tmp_dir", settings, "tmp");
    buffer_add_string(out, "[network]\nnetwork_backend = \"netavark\"\n");
}

int podman_settings_write(int directory, const struct podman_settings *settings,
                          struct error *error)
{
    struct buffer out = {0};
    add_storage(&out, settings);
    int result = podman_settings_write_file(directory, "storage.conf", buffer_text(&out), error);
    buffer_clear(&out);
    add_containers(&out, settings);
    if (result == 0)
        result = podman_settings_write_file(directory, "containers.conf", buffer_text(&out), error);
    buffer_free(&out);
    return result;
}
