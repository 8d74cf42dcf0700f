/* tests/fuzz/unpack_fuzz.c - archive/unpack.h: any bytes as an archive
 *
 * The first byte tells what the others are: the bytes of an archive as it is on the disk, or of a tar file, which is
 * put into a frame of zstd as it is, so that changes reach what reads tar.  However the entries are read, skipped or
 * in pieces, they are the same, and they have no more bytes than the archive.
 */
#include "archive/unpack.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/system.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_ENTRIES = 4096, MOST_BYTES = 1 << 22, BLOCK_BYTES = 65535 };

static int archive = -1;

/* In place of openat(): the only file there is. */
static int open_archive(int directory, const char *path, int flags, mode_t mode)
{
    (void)directory, (void)path, (void)flags, (void)mode;
    return dup(archive);
}

static void add_little_endian(struct buffer *file, uint32_t number, size_t bytes)
{
    for (; bytes; bytes--, number >>= 8)
        buffer_add(file, &(char){(char)(number & 0xff)}, 1);
}

/* A frame of blocks that are not compressed (RFC 8878). */
static void add_frame(struct buffer *file, struct text tar)
{
    enum { MAGIC = (int)0xfd2fb528, WINDOW_64K = 0x30, LAST = 1, SIZE_SHIFT = 3 };
    add_little_endian(file, (uint32_t)MAGIC, 4);
    add_little_endian(file, WINDOW_64K << 8, 2);
    do {
        size_t part = tar.length < BLOCK_BYTES ? tar.length : BLOCK_BYTES;
        bool last = part == tar.length;
        add_little_endian(file, (uint32_t)part << SIZE_SHIFT | (last ? LAST : 0), 3);
        buffer_add(file, tar.data, part);
        tar = (struct text){tar.data + part, tar.length - part};
    } while (tar.length);
}

/* What was seen of the entries. */
struct seen {
    int entries, result;
    int64_t bytes;
    uint64_t hash; /* of paths, kinds, modes, sizes and times */
};

static void see_entry(struct seen *seen, const struct unpack_member *member)
{
    CHECK(strnlen(member->path, PATH_MAX) < PATH_MAX);
    CHECK(member->size >= 0 && (member->mode & ~(mode_t)07777) == 0);
    const int64_t numbers[] = {member->directory, member->mode, member->size, member->changed};
    seen->hash = hash_text(seen->hash, text_of(member->path));
    seen->hash = hash_text(seen->hash, (struct text){(const char *)numbers, sizeof(numbers)});
    seen->entries++;
}

static struct seen read_entries(size_t piece)
{
    char bytes[4096];
    struct seen seen = {.hash = HASH_START};
    struct error error = {""};
    struct unpack_member member;
    struct unpack *unpack = unpack_open(AT_FDCWD, "archive", 0, &error);
    CHECK(unpack);
    while (seen.entries < MOST_ENTRIES && seen.bytes < MOST_BYTES &&
           (seen.result = unpack_next(unpack, &member, &error)) > 0) {
        ssize_t got = 0;
        int64_t of_entry = 0;
        see_entry(&seen, &member);
        while (piece && of_entry < MOST_BYTES &&
               (got = unpack_read(unpack, bytes, piece, &error)) > 0)
            of_entry += got;
        CHECK(of_entry <= member.size && (got || !piece || of_entry == member.size));
        seen.bytes += of_entry;
        if ((seen.result = got < 0 ? -1 : 1) < 0)
            break;
    }
    if (seen.result < 0)
        check_sentence(&error);
    unpack_close(unpack);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct buffer file = {0};
    struct text all = fuzz_text(bytes, length);
    if (!length)
        return 0;
    struct text rest = {all.data + 1, all.length - 1};
    if (all.data[0] == 'z')
        buffer_add(&file, rest.data, rest.length);
    else
        add_frame(&file, rest);
    archive = memfd_create("archive", MFD_CLOEXEC);
    CHECK(archive >= 0 && write(archive, file.data, file.length) == (ssize_t)file.length);
    sys.openat = open_archive;
    struct seen skipped = read_entries(0), whole = read_entries(4096), small = read_entries(7);
    CHECK(all.data[0] == 'z' || whole.bytes <= (int64_t)rest.length);
    CHECK(whole.entries == small.entries && whole.result == small.result);
    CHECK(whole.hash == small.hash && (whole.result < 0 || whole.bytes == small.bytes));
    if (skipped.result == 0)
        CHECK(whole.result == 1 || (whole.result == 0 && skipped.hash == whole.hash));
    close(archive);
    buffer_free(&file);
    return 0;
}
