/* executors/secret.c - secrets in files and in our memory */
#include "executors/secret.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum {
    OLD_AFTER = 60000, /* milliseconds after which a file is read again in any case */
    FILE_LIMIT = 1 << 20
};

void secret_wipe(struct buffer *buffer)
{
    if (buffer->data)
        explicit_bzero(buffer->data, buffer->capacity);
    buffer_free(buffer);
}

void secret_wipe_text(struct text text)
{
    union {
        const char *data;
        char *own;
    } bytes = {text.data};
    if (bytes.own)
        explicit_bzero(bytes.own, text.length);
}

void secret_close_memory(void)
{
    static bool done;
    const struct rlimit none = {0, 0};
    if (done)
        return;
    done = true;
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void secret_is_stale(struct secret *secret)
{
    secret->read_at = 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool is_due(const struct secret *secret)
{
    struct stat now;
    if (!secret->path)
        return false;
    if (secret->read_at == 0 || clock_elapsed() - secret->read_at > OLD_AFTER)
        return true;
    return stat(secret->path, &now) || !is_same(&now, &secret->seen);
}

/* What changes between looking at the file and reading it is seen the next time. */
int secret_read_file(const char *path, size_t limit, struct buffer *out, struct stat *seen,
                     struct error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return error_errno(error, "%s could not be opened", path);
    int result = fstat(file, seen);
    if (result)
        error_errno(error, "%s could not be looked at", path);
    else if (!S_ISREG(seen->st_mode))
        result = error_set(error, "%s is not a regular file", path);
    else
        result = file_read_all(file, limit, out, path, error);
    close(file);
    return result;
}

int secret_refresh(struct secret *secret, secret_check *check, struct error *error)
{
    struct buffer bytes = {0};
    struct stat seen = {0};
    if (!is_due(secret))
        return 0;
    secret_close_memory();
    int result = secret_read_file(secret->path, FILE_LIMIT, &bytes, &seen, error);
    struct text trimmed = text_trim(buffer_text(&bytes));
    if (!result && trimmed.length == 0)
        result = error_set(error, "%s is empty", secret->path);
    if (!result && check)
        result = check(trimmed, &seen, secret->path, error);
    if (!result && !text_equal(trimmed, buffer_text(&secret->bytes))) {
        secret_wipe(&secret->bytes);
        buffer_add_text(&secret->bytes, trimmed);
        result = 1;
    }
    secret_wipe(&bytes);
    if (result < 0 && secret->bytes.length)
        return 0; /* the file may be half written; keep the old secret */
    secret->read_at = clock_elapsed();
    secret->seen = seen;
    return result;
}
