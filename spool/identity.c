/* spool/identity.c - the identity of a spool, which differs for another one at the same path, and for
 * a copy */
#include "spool/identity.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/file.h"

enum { FILE_LIMIT = 256, FILE_MODE = 0644 };
static const char file_name[] = ".identity", new_name[] = ".identity.new";

/* The line of that identity, if the file with that status is the one that it was written into. */
static int format_line(char *buffer, size_t size, const char *identity, const struct stat *root,
                       const struct stat *file)
{
    return snprintf(buffer, size, "%s %" PRIuMAX " %" PRIuMAX "\n", identity,
                    (uintmax_t)root->st_ino, (uintmax_t)file->st_ino);
}

void identity_read(const struct spool *spool, char buffer[static IDENTITY_SIZE])
{
    struct buffer bytes = {0};
    struct stat root, file;
    char expected[FILE_LIMIT];
    buffer[0] = '\0';
    if (file_read_at(spool->root, file_name, FILE_LIMIT, &bytes, NULL) == 0 &&
        !sys.fstat(spool->root, &root) &&
        !sys.fstatat(spool->root, file_name, &file, AT_SYMLINK_NOFOLLOW) &&
        bytes.length >= IDENTITY_SIZE &&
        strspn(bytes.data, "0123456789abcdef") == IDENTITY_SIZE - 1) {
        memcpy(buffer, bytes.data, IDENTITY_SIZE - 1);
        buffer[IDENTITY_SIZE - 1] = '\0';
        format_line(expected, sizeof(expected), buffer, &root, &file);
        if (!text_is(buffer_text(&bytes), expected))
            buffer[0] = '\0';
    }
    buffer_free(&bytes);
}

static int write_line(const struct spool *spool, int file, struct error *error)
{
    struct stat root, status;
    uint64_t drawn;
    char identity[IDENTITY_SIZE], line[FILE_LIMIT];
    if (getrandom(&drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
        return error_errno(error, "no random number could be drawn");
    if (sys.fstat(spool->root, &root) || sys.fstat(file, &status))
        return error_errno(error, "%s could not be looked at", new_name);
    snprintf(identity, sizeof(identity), "%016" PRIx64, drawn);
    int length = format_line(line, sizeof(line), identity, &root, &status);
    if (file_write_all(file, (struct text){line, (size_t)length}, new_name, error))
        return -1;
    return sys.fsync(file) ? error_errno(error, "%s could not be made durable", new_name) : 0;
}

int identity_make(struct spool *spool, struct error *error)
{
    char known[IDENTITY_SIZE];
    identity_read(spool, known);
    if (known[0])
        return 0;
    int file = sys.openat(spool->root, new_name,
                          O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (file < 0)
        return error_errno(error, "%s could not be made", new_name);
    int result = write_line(spool, file, error);
    if (sys.close(file) && result == 0)
        result = error_errno(error, "%s could not be written", new_name);
    if (result == 0 && sys.renameat(spool->root, new_name, spool->root, file_name))
        result = error_errno(error, "%s could not be put in its place", file_name);
    return result ? result : spool_sync_directory(spool, spool->root, spool->path, error);
}
