/* archive/zstd_file.c - reads a file that zstd has compressed, from the beginning of a frame on */
#include "archive/zstd_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/shared_library.h"
#include "base/system.h"
#include "base/text.h"

enum { READ_BYTES = 64 * 1024 };

/* ---- libzstd ---- */

/* As zstd.h has it; the ABI of libzstd.so.1 is stable. */
struct zstd_input {
    const void *bytes;
    size_t size, position;
};
struct zstd_output {
    void *bytes;
    size_t size, position;
};
struct zstd {
    void *(*create)(void);
    size_t (*end)(void *stream);
    size_t (*start)(void *stream);
    size_t (*decompress)(void *stream, struct zstd_output *output, struct zstd_input *input);
    unsigned int (*is_error)(size_t code);
    const char *(*error_name)(size_t code);
};

static const char *const zstd_names[] = {"ZSTD_createDStream", "ZSTD_freeDStream",
                                         "ZSTD_initDStream",   "ZSTD_decompressStream",
                                         "ZSTD_isError",       "ZSTD_getErrorName"};
static const struct shared_library libzstd = {"libzstd.so.1", "libzstd1", "archives need",
                                              zstd_names, ARRAY_COUNT(zstd_names)};

static const struct zstd *open_zstd(struct error *error)
{
    static struct zstd zstd;
    void *pointers[ARRAY_COUNT(zstd_names)];
    if (zstd.create)
        return &zstd;
    if (shared_library_open(&libzstd, pointers, error))
        return NULL;
    _Static_assert(sizeof(zstd) == sizeof(pointers), "nothing but pointers of one size");
    memcpy(&zstd, pointers, sizeof(zstd));
    return &zstd;
}

int zstd_file_prepare(struct error *error)
{
    return open_zstd(error) ? 0 : -1;
}

/* ---- bytes ---- */

struct zstd_file {
    const struct zstd *zstd;
    void *stream;
    int file;
    char name[128];
    off_t at;
    struct zstd_input input;
    bool within_frame;
    char bytes[READ_BYTES];
};

int zstd_file_failed(const struct zstd_file *file, const char *words, struct error *error)
{
    return error_set(error, "the archive %s could not be read: %s", file->name, words);
}

/* Read on in the file.  1; 0 at its end; -1 and a sentence. */
static int read_more(struct zstd_file *file, struct error *error)
{
    ssize_t got;
    do
        got = sys.pread(file->file, file->bytes, sizeof(file->bytes), file->at);
    while (got < 0 && errno == EINTR);
    file->input = (struct zstd_input){.bytes = file->bytes, .size = got > 0 ? (size_t)got : 0};
    file->at += got > 0 ? got : 0;
    return got < 0 ? zstd_file_failed(file, strerror(errno), error) : got > 0;
}

ssize_t zstd_file_read(struct zstd_file *file, char *bytes, size_t most, struct error *error)
{
    struct zstd_output output = {.bytes = bytes, .size = most};
    for (;;) {
        size_t before = file->input.position;
        size_t code = file->zstd->decompress(file->stream, &output, &file->input);
        if (output.position || file->input.position != before)
            file->within_frame = code != 0;
        if (file->zstd->is_error(code))
            return zstd_file_failed(file, file->zstd->error_name(code), error);
        if (output.position)
            return (ssize_t)output.position;
        int more = file->input.position < file->input.size ? 1 : read_more(file, error);
        if (more == 0 && file->within_frame)
            return zstd_file_failed(file, "it ends too early", error);
        if (more <= 0)
            return more;
    }
}

void zstd_file_close(struct zstd_file *file)
{
    if (!file)
        return;
    if (file->stream)
        file->zstd->end(file->stream);
    if (file->file >= 0)
        sys.close(file->file);
    free(file);
}

struct zstd_file *zstd_file_open(int directory, const char *name, int64_t offset,
                                 struct error *error)
{
    const struct zstd *zstd = open_zstd(error);
    if (!zstd) {
        errno = ENOENT;
        return NULL;
    }
    struct zstd_file *file = memory_allocate(sizeof(*file));
    file->zstd = zstd;
    file->at = offset;
    snprintf(file->name, sizeof(file->name), "%s", name);
    file->file = sys.openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file->file < 0) {
        int keep = errno;
        error_errno(error, "the archive %s could not be opened", name);
        zstd_file_close(file);
        errno = keep;
        return NULL;
    }
    file->stream = zstd->create();
    if (file->stream && !zstd->is_error(zstd->start(file->stream)))
        return file;
    zstd_file_failed(file, "libzstd failed", error);
    zstd_file_close(file);
    errno = EIO;
    return NULL;
}
