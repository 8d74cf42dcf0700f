/* executors/local/look.c - checks whether this process may access a path, and what its user can do if not
 *
 * Known weakness: a directory of more than MOST_NAMES names is searched for a near name no further.
 */
#include "executors/local/look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nearest.h"
#include "executors/local/mountable.h"

enum { MOST_NAMES = 4096, PATH_SIZE = 4096 + 64 };

static bool may_access(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

int look_open(const char *path)
{
    int descriptor = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return descriptor < 0 && errno == ENOTDIR ? open(path, O_PATH | O_CLOEXEC) : descriptor;
}

bool look_may(int descriptor, int mode)
{
    return faccessat(descriptor, "", mode, AT_EACCESS | AT_EMPTY_PATH) == 0;
}

static const char *quote_path(struct error_quote_buffer *buffer, const char *path)
{
    return error_quote(buffer, path, strlen(path));
}

/* Can the path be typed as a word of a shell as it stands? */
static bool is_plain(const char *path)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:=@%";
    return path[strspn(path, plain)] == '\0';
}

/* Add the remedy "WORDS: COMMAND PATH", or WORDS alone when the path cannot be typed. */
static void advise_command(struct look *look, const char *words, const char *command,
                           const char *path)
{
    buffer_printf(&look->remedy, "%s", words);
    if (is_plain(path))
        buffer_printf(&look->remedy, ": %s %s", command, path);
}

/* The name in the directory that is most like `name`, in `buffer`; or NULL. */
static const char *nearest_in(const char *directory, const char *name, char buffer[NAME_MAX + 1])
{
    char *names[MOST_NAMES + 1];
    size_t count = 0;
    DIR *stream = opendir(directory);
    for (struct dirent *entry; stream && count < MOST_NAMES && (entry = readdir(stream));)
        if (entry->d_name[0] != '.')
            names[count++] = memory_copy_string(entry->d_name);
    if (stream)
        closedir(stream);
    names[count] = NULL;
    const char *nearest = nearest_word(text_of(name), (const char *const *)names);
    if (nearest)
        memcpy(buffer, nearest, strlen(nearest) + 1);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    return nearest ? buffer : NULL;
}

/* Cut `path` behind the first part that does not exist.  Returns the name in its directory that was probably
 * meant, or NULL. */
static const char *find_missing(char *path, char buffer[NAME_MAX + 1])
{
    struct stat status;
    for (char *slash = path; slash;) {
        char *next = strchr(slash + 1, '/');
        if (next)
            *next = '\0';
        if (lstat(path, &status)) {
            const char *nearest = NULL;
            *slash = '\0';
            nearest = nearest_in(slash == path ? "/" : path, slash + 1, buffer);
            *slash = '/';
            return nearest;
        }
        if (next)
            *next = '/';
        slash = next;
    }
    return NULL;
}

/* Find the first directory on the way that this user may not enter; `path` is cut there. */
static const char *closed_directory(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!may_access(path, X_OK))
            return path;
        *slash = '/';
    }
    return NULL;
}

/* Say that a path or, with `entry`, a file below the program's directory, is missing. */
static void say_missing(struct look *look, const char *path, bool entry, bool write)
{
    struct error_quote_buffer buffer, inner;
    char name[NAME_MAX + 1];
    char *copy = memory_copy_string(path);
    const char *nearest = find_missing(copy, name);
    buffer_printf(&look->sentence,
                  "%s%s: No such file or directory (checked on this machine as user %s)",
                  entry ? "entry: " : "", quote_path(&buffer, path), look->user);
    if (nearest)
        buffer_printf(&look->sentence, "; did you mean %s?", quote_path(&inner, nearest));
    if (write)
        advise_command(look, "Make the directory", "mkdir -p", path);
    else
        buffer_printf(&look->remedy, "Put it there");
    free(copy);
}

static void say_unreachable(struct look *look, const char *path, bool write, int number)
{
    struct error_quote_buffer buffer, inner;
    struct stat status;
    char *copy = memory_copy_string(path);
    const char *closed = number == EACCES ? closed_directory(copy) : NULL;
    if (closed) {
        buffer_printf(&look->sentence, "%s: user %s may not enter the directory %s",
                      quote_path(&buffer, path), look->user, quote_path(&inner, closed));
        if (!stat(closed, &status) && status.st_uid == look->uid)
            advise_command(look, "Let yourself in", "chmod u+x", closed);
        else
            buffer_printf(&look->remedy, "Ask the owner of %s for access", inner.text);
    } else if (number == ENOENT || number == ENOTDIR) {
        say_missing(look, path, false, write);
    } else {
        buffer_printf(&look->sentence, "%s: user %s cannot reach it: %s", quote_path(&buffer, path),
                      look->user, strerror(number));
    }
    free(copy);
}

/* `what` is "read", "write to" or "execute", `bits` what chmod(1) is told. */
static void say_denied(struct look *look, const char *path, const char *what, const char *bits,
                       int number, const struct stat *status)
{
    struct error_quote_buffer buffer;
    char command[32];
    quote_path(&buffer, path);
    if (number != EACCES) {
        buffer_printf(&look->sentence, "user %s may not %s %s: %s", look->user, what, buffer.text,
                      strerror(number));
        return;
    }
    buffer_printf(&look->sentence,
                  "user %s may not %s %s: it belongs to user %u and group %u, and its mode is %03o",
                  look->user, what, buffer.text, status->st_uid, status->st_gid,
                  status->st_mode & 07777u);
    snprintf(command, sizeof(command), "chmod u+%s", bits);
    if (status->st_uid == look->uid)
        advise_command(look, "Change its mode", command, path);
    else
        buffer_printf(&look->remedy, "Ask the owner of %s for access", buffer.text);
}

/* Check a program: it must be a file that can be read and, unless an interpreter reads it, executed. */
static bool look_at_program(struct look *look, const char *path, bool entry, bool executable)
{
    struct error_quote_buffer buffer;
    struct stat status;
    if (stat(path, &status)) {
        /* A link may lead to something that exists only in the container. */
        struct stat link;
        if (!lstat(path, &link) && S_ISLNK(link.st_mode))
            return true;
        if (errno == ENOENT || errno == ENOTDIR)
            say_missing(look, path, entry, false);
        else
            say_unreachable(look, path, false, errno);
    } else if (!S_ISREG(status.st_mode)) {
        if (!entry)
            return true; /* a directory, of which a command uses what it likes */
        buffer_printf(&look->sentence, "entry: %s is a directory; name the file that is started",
                      quote_path(&buffer, path));
    } else if (!may_access(path, R_OK)) {
        say_denied(look, path, "read", "r", errno, &status);
    } else if (executable && !may_access(path, X_OK)) {
        say_denied(look, path, "execute", "x", errno, &status);
    } else {
        return true;
    }
    return false;
}

static bool look_at_entry(struct look *look, const struct look_wanted *wanted)
{
    if (!wanted->entry && !wanted->executable)
        return true;
    struct buffer file = {0};
    buffer_printf(&file, "%s%s%s", look->resolved.data, wanted->entry ? "/" : "",
                  wanted->entry ? wanted->entry : "");
    bool granted = look_at_program(look, file.data, wanted->entry, wanted->executable);
    buffer_free(&file);
    return granted;
}

static void say_kernel(struct look *look, const char *path, const char *type)
{
    struct error_quote_buffer buffer;
    buffer_printf(&look->sentence,
                  "%s lies on %s, a file system of the kernel, which shows all of the machine: "
                  "expected a directory or file on a disk, on a file server or in memory",
                  quote_path(&buffer, path), type);
    buffer_printf(&look->remedy, "Name another path");
}

bool look_at(struct look *look, const struct look_wanted *wanted)
{
    struct error_quote_buffer buffer;
    struct stat status;
    char resolved[PATH_SIZE];
    const char *type;
    look->descriptor = look_open(wanted->path);
    int found = look->descriptor;
    if (found < 0 || fstat(found, &status) || mountable_path(found, resolved, sizeof(resolved))) {
        say_unreachable(look, wanted->path, wanted->write, errno);
    } else if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) {
        buffer_printf(&look->sentence,
                      "%s is neither a directory nor a file: only those are mounted",
                      quote_path(&buffer, wanted->path));
    } else if (!look_may(found, R_OK | (S_ISDIR(status.st_mode) ? X_OK : 0))) {
        say_denied(look, wanted->path, "read", S_ISDIR(status.st_mode) ? "rx" : "r", errno,
                   &status);
    } else if (wanted->write && !look_may(found, W_OK)) {
        say_denied(look, wanted->path, "write to", "w", errno, &status);
    } else if ((type = mountable_kernel_name(found))) {
        say_kernel(look, wanted->path, type);
    } else {
        buffer_add_string(&look->resolved, resolved);
        return look_at_entry(look, wanted);
    }
    return false;
}

void look_free(struct look *look)
{
    if (look->descriptor >= 0)
        close(look->descriptor);
    look->descriptor = -1;
    buffer_free(&look->resolved);
    buffer_free(&look->sentence);
    buffer_free(&look->remedy);
}
