/* archive/unpack.c - reads an archive that archive/pack.h has written, from the beginning of a frame on */
#include "archive/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "archive/library.h"
#include "base/file.h"
#include "base/system.h"

enum { READ_BYTES = 64 * 1024 };

struct unpack {
    const struct library *library;
    struct archive *archive;
    int file;
    char name[128];
    off_t at;
    char bytes[READ_BYTES];
};

static la_ssize_t read_file(struct archive *archive, void *context, const void **bytes)
{
    struct unpack *unpack = context;
    ssize_t got;
    (void)archive;
    do
        got = sys.pread(unpack->file, unpack->bytes, sizeof(unpack->bytes), unpack->at);
    while (got < 0 && errno == EINTR);
    *bytes = unpack->bytes;
    unpack->at += got > 0 ? got : 0;
    return got;
}

static int failed(const struct unpack *unpack, struct error *error)
{
    const char *words = unpack->library->archive_error_string(unpack->archive);
    return error_set(error, "the archive %s could not be read: %s", unpack->name,
                     words ? words : "libarchive failed");
}

void unpack_close(struct unpack *unpack)
{
    if (!unpack)
        return;
    if (unpack->archive)
        unpack->library->archive_read_free(unpack->archive);
    if (unpack->file >= 0)
        sys.close(unpack->file);
    free(unpack);
}

struct unpack *unpack_open(int directory, const char *name, int64_t offset, struct error *error)
{
    const struct library *library = library_open(error);
    if (!library) {
        errno = ENOENT;
        return NULL;
    }
    struct unpack *unpack = memory_allocate(sizeof(*unpack));
    unpack->library = library;
    unpack->at = offset;
    snprintf(unpack->name, sizeof(unpack->name), "%s", name);
    unpack->file = sys.openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (unpack->file < 0) {
        int keep = errno;
        error_errno(error, "the archive %s could not be opened", name);
        unpack_close(unpack);
        errno = keep;
        return NULL;
    }
    unpack->archive = library->archive_read_new();
    if (unpack->archive && !library->archive_read_support_filter_zstd(unpack->archive) &&
        !library->archive_read_support_format_tar(unpack->archive) &&
        !library->archive_read_open(unpack->archive, unpack, NULL, read_file, NULL))
        return unpack;
    failed(unpack, error);
    unpack_close(unpack);
    errno = EIO;
    return NULL;
}

int unpack_next(struct unpack *unpack, struct unpack_member *member, struct error *error)
{
    const struct library *library = unpack->library;
    struct archive_entry *entry;
    int result = library->archive_read_next_header(unpack->archive, &entry);
    if (result == ARCHIVE_EOF)
        return 0;
    if (result < ARCHIVE_WARN)
        return failed(unpack, error);
    const char *path = library->archive_entry_pathname(entry);
    *member = (struct unpack_member){
        .path = path ? path : "",
        .directory = library->archive_entry_filetype(entry) == S_IFDIR,
        .mode = library->archive_entry_perm(entry) & 07777,
        .size = library->archive_entry_size(entry),
        .changed = library->archive_entry_mtime(entry),
    };
    return 1;
}

ssize_t unpack_read(struct unpack *unpack, char *bytes, size_t most, struct error *error)
{
    la_ssize_t got = unpack->library->archive_read_data(unpack->archive, bytes, most);
    return got < 0 ? failed(unpack, error) : got;
}

int unpack_copy(struct unpack *unpack, int file, struct error *error)
{
    char bytes[READ_BYTES];
    ssize_t got;
    while ((got = unpack_read(unpack, bytes, sizeof(bytes), error)) > 0)
        if (file_write_all(file, (struct text){bytes, (size_t)got}, "what an archive has", error))
            return -1;
    return (int)got;
}
