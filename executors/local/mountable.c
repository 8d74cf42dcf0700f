/* executors/local/mountable.c - what no job may mount, whoever asks for it
 *
 * Known weakness: where an administrator has mounted a part of dlspool's directories at a second place, only
 * its directories are recognised there, and only if the top of the spool or of the storage is part of it.
 */
#include "executors/local/mountable.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 + 64 };

/* File systems without a name in linux/magic.h have the number of the kernel's source. */
static const struct {
    const char *name; /* as /proc/PID/mountinfo has it */
    unsigned long magic;
} kernel_types[] = {
    {"proc", PROC_SUPER_MAGIC},
    {"sysfs", SYSFS_MAGIC},
    {"devtmpfs", 0},
    {"devpts", DEVPTS_SUPER_MAGIC},
    {"cgroup", CGROUP_SUPER_MAGIC},
    {"cgroup2", CGROUP2_SUPER_MAGIC},
    {"securityfs", SECURITYFS_MAGIC},
    {"selinuxfs", SELINUX_MAGIC},
    {"smackfs", SMACK_MAGIC},
    {"debugfs", DEBUGFS_MAGIC},
    {"tracefs", TRACEFS_MAGIC},
    {"bpf", BPF_FS_MAGIC},
    {"pstore", PSTOREFS_MAGIC},
    {"efivarfs", EFIVARFS_MAGIC},
    {"configfs", 0x62656570},
    {"fusectl", 0x65735543},
    {"mqueue", 0x19800202},
    {"binfmt_misc", BINFMTFS_MAGIC},
    {"rpc_pipefs", 0x67596969},
    {"nfsd", 0x6e667364},
    {"resctrl", RDTGROUP_SUPER_MAGIC},
    {"nsfs", NSFS_MAGIC},
    {"xenfs", XENFS_SUPER_MAGIC},
    {"binder", BINDERFS_SUPER_MAGIC},
};

/* Look at what the kernel knows without asking a file server. */
static int look(int descriptor, struct statx *status)
{
    return statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO,
                 status);
}

static dev_t device_of(const struct statx *status)
{
    return makedev(status->stx_dev_major, status->stx_dev_minor);
}

/* ---- the kernel's own ---- */

/* devtmpfs reports that it is a tmpfs; all its mounts are one device, that of /dev. */
static bool is_devices(int descriptor)
{
    struct stat root, devices, status;
    return !stat("/", &root) && !stat("/dev", &devices) && !fstat(descriptor, &status) &&
           devices.st_dev != root.st_dev && status.st_dev == devices.st_dev;
}

const char *mountable_kernel_name(int descriptor)
{
    struct statfs status;
    if (fstatfs(descriptor, &status))
        return NULL;
    for (size_t i = 0; i < ARRAY_COUNT(kernel_types); i++)
        if (kernel_types[i].magic && (unsigned long)status.f_type == kernel_types[i].magic)
            return kernel_types[i].name;
    return status.f_type == TMPFS_MAGIC && is_devices(descriptor) ? "devtmpfs" : NULL;
}

/* As mountinfo writes a path. */
static void escape_path(struct buffer *out, const char *path)
{
    for (; *path; path++)
        if (strchr(" \t\n\\", *path))
            buffer_printf(out, "\\%03o", (unsigned char)*path);
        else
            buffer_add_byte(out, *path);
}

/* "36 35 98:0 /root /point options optional... - type source super-options" */
static void read_line(struct text line, struct text *point, struct text *type)
{
    struct text word;
    for (int i = 0; line.length && text_next(&line, ' ', &word) && !text_is(word, "-"); i++)
        *point = i == 4 ? word : *point;
    if (!line.length || !text_next(&line, ' ', type))
        *type = (struct text){"", 0};
}

struct text mountable_find_kernel(struct text mountinfo, const char *point, struct text *below)
{
    struct buffer wanted = {0};
    struct text line, found = {NULL, 0};
    escape_path(&wanted, point);
    while (!found.data && mountinfo.length && text_next(&mountinfo, '\n', &line)) {
        struct text at = {"", 0}, type = {"", 0};
        read_line(line, &at, &type);
        if (!text_starts(at, wanted.data) ||
            (at.length > wanted.length && at.data[wanted.length] != '/'))
            continue;
        for (size_t i = 0; i < ARRAY_COUNT(kernel_types); i++)
            if (text_is(type, kernel_types[i].name))
                found = type;
        *below = (struct text){at.data + wanted.length, at.length - wanted.length};
    }
    buffer_free(&wanted);
    return found;
}

/* ---- dlspool's own ---- */

static int open_place(struct mountable_place *place, const char *path, struct error *error)
{
    struct stat status;
    struct error_quote_buffer buffer;
    place->path = realpath(path, NULL);
    if (!place->path || stat(place->path, &status))
        return error_errno(error, "%s could not be looked at",
                           error_quote(&buffer, path, strlen(path)));
    place->device = status.st_dev;
    place->inode = status.st_ino;
    return 0;
}

int mountable_open(struct mountable *mountable, const char *spool, const char *storage,
                   struct error *error)
{
    *mountable = (struct mountable){0};
    return open_place(&mountable->spool, spool, error) ||
                   open_place(&mountable->storage, storage, error)
               ? -1
               : 0;
}

void mountable_close(struct mountable *mountable)
{
    free(mountable->spool.path);
    free(mountable->storage.path);
    *mountable = (struct mountable){0};
}

int mountable_path(int descriptor, char *buffer, size_t size)
{
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, buffer, size);
    if (length >= 0 && (size_t)length >= size)
        errno = ENAMETOOLONG;
    if (length < 0 || (size_t)length >= size)
        return -1;
    buffer[length] = '\0';
    return 0;
}

/* The part of a directory's path that lies below the place, found by going upwards, since the directory may be
 * mounted elsewhere, too.  Asks only as long as everything lies on the place's own file system. */
static const char *part_by_inodes(const struct mountable_place *place, int descriptor,
                                  const char *path)
{
    const char *part = path + strlen(path), *found = NULL;
    struct statx status;
    int at = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    while (at >= 0 && !look(at, &status) && S_ISDIR(status.stx_mode) &&
           device_of(&status) == place->device) {
        if (status.stx_ino == place->inode) {
            found = part + (*part == '/');
            break;
        }
        while (part > path && *--part != '/')
            ;
        int above = part > path ? openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        close(at);
        at = above;
    }
    if (at >= 0)
        close(at);
    return found;
}

/* The part of the path that lies below the place; "": it is the place; NULL: it does not lie there. */
static const char *part_below(const struct mountable_place *place, int descriptor, const char *path)
{
    size_t length = strlen(place->path);
    if (strncmp(path, place->path, length) == 0 && (path[length] == '/' || !path[length]))
        return path + length + (path[length] == '/');
    return part_by_inodes(place, descriptor, path);
}

/* Does this part of the spool belong to dlspool?  A job's output is its owner's, and files that somebody has
 * put beside the spool's own directories are not dlspool's. */
static bool is_ours(const char *part)
{
    static const char *const names[] = {"incoming", "rendered", "submitted",     "failed",
                                        "held",     "done",     "templates.git", "dlspool.yaml"};
    struct text rest = text_of(part), word = {"", 0};
    bool ours = !*part || *part == '.';
    for (int i = 0; rest.length && text_next(&rest, '/', &word); i++) {
        for (size_t j = 0; i == 0 && j < ARRAY_COUNT(names); j++)
            ours = ours || text_is(word, names[j]);
        if ((i == 2 || i == 3) && text_is(word, "output") &&
            !text_starts(text_of(part), "incoming/"))
            return *part == '.';
    }
    return ours;
}

int mountable_check(const struct mountable *mountable, int descriptor, struct error *error)
{
    char path[PATH_SIZE];
    struct error_quote_buffer buffers[2];
    if (mountable_path(descriptor, path, sizeof(path)))
        return error_errno(error, "it could not be determined where the path leads");
    const char *stored = part_below(&mountable->storage, descriptor, path);
    const char *spooled = part_below(&mountable->spool, descriptor, path);
    if (!stored && !(spooled && is_ours(spooled)))
        return 0;
    const char *own = stored ? mountable->storage.path : mountable->spool.path;
    return error_set(error, "%s is dlspool's own: expected a path outside of %s%s",
                     error_quote(&buffers[0], path, strlen(path)),
                     error_quote(&buffers[1], own, strlen(own)),
                     stored ? "" : ", or a job's output");
}
