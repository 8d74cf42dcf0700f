/* tests/crash/tree.c - directory trees: copying, removing, telling apart */
#include "tests/crash/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void harness_failed(const char *format, ...)
{
    va_list arguments;
    int number = errno;
    va_start(arguments, format);
    fprintf(stderr, "# the harness failed: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, " (%s)\n", strerror(number));
    va_end(arguments);
    _exit(99);
}

void tree_make(const char *path, mode_t mode)
{
    if (mkdir(path, mode) || chmod(path, mode))
        harness_failed("%s could not be made", path);
}

void tree_write(const char *path, struct text bytes, mode_t mode)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (file < 0 || write(file, bytes.data, bytes.length) != (ssize_t)bytes.length ||
        fchmod(file, mode) || close(file))
        harness_failed("%s could not be written", path);
}

struct buffer tree_read(const char *path)
{
    struct buffer bytes = {0};
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 && errno == ENOENT)
        return bytes;
    if (file < 0)
        harness_failed("%s could not be read", path);
    ssize_t count;
    buffer_add_string(&bytes, "");
    while ((count = read(file, buffer_reserve(&bytes, 4096), 4096)) > 0)
        bytes.length += (size_t)count;
    bytes.data[bytes.length] = '\0';
    close(file);
    return bytes;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct tree_names tree_list(const char *path)
{
    struct tree_names names = {0};
    DIR *directory = opendir(path);
    if (!directory)
        return names;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (names.count % 64 == 0)
            names.names = memory_resize(names.names, (names.count + 64) * sizeof(char *));
        names.names[names.count++] = memory_copy_string(entry->d_name);
    }
    closedir(directory);
    if (names.count)
        qsort(names.names, names.count, sizeof(char *), compare_names);
    return names;
}

void tree_list_free(struct tree_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct tree_names){0};
}

static void join(char path[static TREE_PATH_SIZE], const char *directory, const char *name)
{
    snprintf(path, TREE_PATH_SIZE, "%.1500s/%.400s", directory, name);
}

void tree_remove(const char *path)
{
    struct stat status;
    if (lstat(path, &status))
        return;
    if (S_ISDIR(status.st_mode)) {
        struct tree_names names = tree_list(path);
        for (size_t i = 0; i < names.count; i++) {
            char below[TREE_PATH_SIZE];
            join(below, path, names.names[i]);
            tree_remove(below);
        }
        tree_list_free(&names);
    }
    if (remove(path))
        harness_failed("%s could not be removed", path);
}

void tree_copy(const char *from, const char *to)
{
    struct stat status;
    if (lstat(from, &status))
        harness_failed("%s is not there to be copied", from);
    if (S_ISLNK(status.st_mode)) {
        char target[PATH_MAX] = "";
        if (readlink(from, target, sizeof(target) - 1) < 0 || symlink(target, to))
            harness_failed("%s could not be copied", from);
    } else if (S_ISDIR(status.st_mode)) {
        tree_make(to, status.st_mode & 07777);
        struct tree_names names = tree_list(from);
        for (size_t i = 0; i < names.count; i++) {
            char source[TREE_PATH_SIZE], target[TREE_PATH_SIZE];
            join(source, from, names.names[i]);
            join(target, to, names.names[i]);
            tree_copy(source, target);
        }
        tree_list_free(&names);
    } else {
        struct buffer bytes = tree_read(from);
        tree_write(to, buffer_text(&bytes), status.st_mode & 07777);
        if (status.st_uid != geteuid() && chown(to, status.st_uid, status.st_gid))
            harness_failed("%s could not be given to its owner", to);
        buffer_free(&bytes);
    }
}

/* FNV-1a, 64 bits: not for enemies, only for telling states apart. */
uint64_t digest_bytes(uint64_t start, const void *bytes, size_t length)
{
    const unsigned char *byte = bytes;
    uint64_t digest = start ? start : 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        digest = (digest ^ byte[i]) * 1099511628211u;
    return digest;
}

uint64_t tree_digest(const char *path, uint64_t start)
{
    struct stat status;
    if (lstat(path, &status))
        return start;
    uint64_t digest = digest_bytes(start, &status.st_mode, sizeof(status.st_mode));
    if (S_ISDIR(status.st_mode)) {
        struct tree_names names = tree_list(path);
        for (size_t i = 0; i < names.count; i++) {
            char below[TREE_PATH_SIZE];
            join(below, path, names.names[i]);
            digest = digest_bytes(digest, names.names[i], strlen(names.names[i]) + 1);
            digest = tree_digest(below, digest);
        }
        tree_list_free(&names);
    } else if (S_ISREG(status.st_mode)) {
        struct buffer bytes = tree_read(path);
        digest = digest_bytes(digest, &bytes.length, sizeof(bytes.length));
        digest = digest_bytes(digest, bytes.data, bytes.length);
        buffer_free(&bytes);
    }
    return digest;
}
