/* archive/pack.c - writes an archive: a tar file compressed by zstd, in frames that can be read alone
 *
 * libarchive ends each tar file with two empty blocks, which would end the whole archive for tar after
 * its first frame.  So a frame is made by two of its writers: one makes tar blocks, the other compresses
 * what it is given; what the first writes when it is closed is left out.
 */
#include "archive/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "archive/library.h"
#include "base/file.h"
#include "base/system.h"

enum {
    COPY_BYTES = 64 * 1024,
    SYNC_BYTES = 8 << 20 /* so much may be unwritten, lest a stage's sync has to wait for it */
};

struct pack {
    const struct library *library;
    int file;
    char name[128];
    bool durable;
    int64_t written, synced; /* bytes of the file */
    int64_t frame_bytes;
    struct archive *tar, *compressor; /* of the open frame, or NULL */
    bool closing;                     /* the frame's tar file is being ended */
    struct error problem;             /* why a write failed, if one has */
};

/* Bytes for the file.  libarchive's writers fail when this returns -1. */
static la_ssize_t write_file(struct archive *archive, void *context, const void *bytes,
                             size_t length)
{
    struct pack *pack = context;
    (void)archive;
    if (file_write_all(pack->file, (struct text){bytes, length}, pack->name, &pack->problem))
        return -1;
    pack->written += (int64_t)length;
    if (pack->durable && pack->written - pack->synced >= SYNC_BYTES) {
        pack->synced = pack->written;
        if (sys.fsync(pack->file)) {
            error_errno(&pack->problem, "%s could not be synced", pack->name);
            return -1;
        }
    }
    return (la_ssize_t)length;
}

/* Blocks of the tar file, for the compressor. */
static la_ssize_t write_blocks(struct archive *archive, void *context, const void *bytes,
                               size_t length)
{
    struct pack *pack = context;
    (void)archive;
    if (pack->closing)
        return (la_ssize_t)length;
    la_ssize_t taken = pack->library->archive_write_data(pack->compressor, bytes, length);
    return taken < 0 ? -1 : (la_ssize_t)length;
}

static int failed(struct pack *pack, struct archive *writer, struct error *error)
{
    const char *words = writer ? pack->library->archive_error_string(writer) : NULL;
    if (pack->problem.text[0])
        return error_set(error, "%s", pack->problem.text);
    return error_set(error, "%s could not be written: %s", pack->name,
                     words ? words : "libarchive failed");
}

static void drop_frame(struct pack *pack)
{
    pack->closing = true;
    if (pack->tar)
        pack->library->archive_write_free(pack->tar);
    if (pack->compressor)
        pack->library->archive_write_free(pack->compressor);
    pack->tar = pack->compressor = NULL;
}

void pack_free(struct pack *pack)
{
    if (!pack)
        return;
    drop_frame(pack);
    if (pack->file >= 0)
        sys.close(pack->file);
    free(pack);
}

/* Who may read it is settled before there is anything to read. */
static int set_readers(int file, struct pack_readers readers)
{
    if (readers.mode & S_IRGRP && !(readers.mode & S_IROTH) &&
        sys.fchown(file, (uid_t)-1, readers.group))
        readers.mode &= ~(mode_t)S_IRGRP;
    return sys.fchmod(file, readers.mode);
}

struct pack *pack_create(int directory, const char *name, struct pack_readers readers, bool durable,
                         struct error *error)
{
    const struct library *library = library_open(error);
    if (!library)
        return NULL;
    struct pack *pack = memory_allocate(sizeof(*pack));
    *pack = (struct pack){.library = library, .durable = durable};
    snprintf(pack->name, sizeof(pack->name), "%s", name);
    if (sys.unlinkat(directory, name, 0) && errno != ENOENT)
        pack->file = -1;
    else
        pack->file =
            sys.openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (pack->file >= 0 && set_readers(pack->file, readers) == 0)
        return pack;
    error_errno(error, "%s could not be made", name);
    pack_free(pack);
    return NULL;
}

/* A stream of one nameless entry, whose bytes are the tar file's. */
static bool open_compressor(struct pack *pack)
{
    const struct library *library = pack->library;
    struct archive *compressor = pack->compressor = library->archive_write_new();
    struct archive_entry *entry = library->archive_entry_new();
    bool opened = compressor && entry && !library->archive_write_set_format_raw(compressor) &&
                  !library->archive_write_add_filter_zstd(compressor) &&
                  !library->archive_write_set_bytes_per_block(compressor, 0) &&
                  !library->archive_write_open(compressor, pack, NULL, write_file, NULL);
    if (opened) {
        library->archive_entry_set_filetype(entry, S_IFREG);
        opened = !library->archive_write_header(compressor, entry);
    }
    library->archive_entry_free(entry);
    return opened;
}

int64_t pack_begin(struct pack *pack, struct error *error)
{
    const struct library *library = pack->library;
    if (pack->tar)
        return error_set(error, "%s has an open frame", pack->name);
    pack->closing = false;
    pack->frame_bytes = 0;
    int64_t offset = pack->written;
    if (!open_compressor(pack))
        return failed(pack, pack->compressor, error);
    pack->tar = library->archive_write_new();
    if (!pack->tar || library->archive_write_set_format_pax_restricted(pack->tar) ||
        library->archive_write_set_bytes_per_block(pack->tar, 0) ||
        library->archive_write_open(pack->tar, pack, NULL, write_blocks, NULL))
        return failed(pack, pack->tar, error);
    return offset;
}

/* 0, 1 and -1 as pack_add(). */
static int copy_bytes(struct pack *pack, int file, int64_t left, struct error *error)
{
    char bytes[COPY_BYTES];
    while (left > 0) {
        size_t most = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
        ssize_t got = sys.read(file, bytes, most);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(error, "a file for %s could not be read", pack->name), 1;
        if (got == 0)
            return 0; /* what is missing is filled up when the entry ends */
        if (pack->library->archive_write_data(pack->tar, bytes, (size_t)got) < 0)
            return failed(pack, pack->tar, error);
        left -= got;
    }
    return 0;
}

int pack_add(struct pack *pack, const char *path, const struct stat *status, int file,
             struct error *error)
{
    const struct library *library = pack->library;
    bool directory = S_ISDIR(status->st_mode);
    int64_t size = directory ? 0 : status->st_size;
    struct archive_entry *entry = library->archive_entry_new();
    if (!entry)
        return failed(pack, NULL, error);
    library->archive_entry_set_pathname(entry, path);
    library->archive_entry_set_filetype(entry, directory ? S_IFDIR : S_IFREG);
    library->archive_entry_set_perm(entry, status->st_mode & 07777);
    library->archive_entry_set_uid(entry, status->st_uid);
    library->archive_entry_set_gid(entry, status->st_gid);
    library->archive_entry_set_size(entry, size);
    library->archive_entry_set_mtime(entry, status->st_mtim.tv_sec, 0);
    int result = library->archive_write_header(pack->tar, entry);
    library->archive_entry_free(entry);
    if (result < ARCHIVE_WARN)
        return failed(pack, pack->tar, error);
    int copied = copy_bytes(pack, file, size, error);
    if (copied < 0)
        return -1;
    if (library->archive_write_finish_entry(pack->tar) < ARCHIVE_WARN)
        return failed(pack, pack->tar, error);
    pack->frame_bytes += size + 512;
    return copied;
}

int64_t pack_frame_bytes(const struct pack *pack)
{
    return pack->tar ? pack->frame_bytes : 0;
}

int pack_end(struct pack *pack, struct error *error)
{
    const struct library *library = pack->library;
    if (!pack->tar)
        return 0;
    pack->closing = true;
    if (library->archive_write_close(pack->tar))
        return failed(pack, pack->tar, error);
    if (library->archive_write_close(pack->compressor))
        return failed(pack, pack->compressor, error);
    drop_frame(pack);
    return 0;
}

int64_t pack_finish(struct pack *pack, struct error *error)
{
    int64_t size = -1;
    if (pack_end(pack, error) == 0) {
        if (pack->durable && sys.fsync(pack->file))
            error_errno(error, "%s could not be synced", pack->name);
        else
            size = pack->written;
    }
    /* A file server may say only now that there was no room. */
    if (size >= 0 && sys.close(pack->file)) {
        error_errno(error, "%s could not be closed", pack->name);
        size = -1;
    } else if (size < 0) {
        sys.close(pack->file);
    }
    pack->file = -1;
    pack_free(pack);
    return size;
}
