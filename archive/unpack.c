/* archive/unpack.c - reads an archive that archive/pack.h has written, from the beginning of a frame on
 *
 * What tar needs is little: headers of 512 bytes (POSIX ustar), and pax headers for long names and large files.
 */
#include "archive/unpack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/zstd_file.h"
#include "base/file.h"
#include "base/text.h"

enum { READ_BYTES = 64 * 1024, BLOCK = 512, LONGEST_PAX = 64 * 1024 };

int unpack_prepare(struct error *error)
{
    return zstd_file_prepare(error);
}

/* ---- bytes ---- */

struct unpack {
    struct zstd_file *file;
    int64_t left;        /* bytes of the entry that were not read */
    size_t padding;      /* bytes behind them, up to the next block */
    char path[PATH_MAX]; /* of the entry */
};

/* So many bytes.  1; 0 when the archive ends before the first; -1 and a sentence. */
static int read_all(struct unpack *unpack, char *bytes, size_t count, struct error *error)
{
    size_t done = 0;
    while (done < count) {
        ssize_t got = zstd_file_read(unpack->file, bytes + done, count - done, error);
        if (got < 0)
            return -1;
        if (got == 0)
            return done ? zstd_file_failed(unpack->file, "it ends within an entry", error) : 0;
        done += (size_t)got;
    }
    return 1;
}

static int skip(struct unpack *unpack, int64_t count, struct error *error)
{
    char bytes[BLOCK];
    while (count > 0) {
        size_t part = count < (int64_t)sizeof(bytes) ? (size_t)count : sizeof(bytes);
        int result = read_all(unpack, bytes, part, error);
        if (result <= 0)
            return result ? -1 : zstd_file_failed(unpack->file, "it ends within an entry", error);
        count -= (int64_t)part;
    }
    return 0;
}

void unpack_close(struct unpack *unpack)
{
    if (!unpack)
        return;
    zstd_file_close(unpack->file);
    free(unpack);
}

struct unpack *unpack_open(int directory, const char *name, int64_t offset, struct error *error)
{
    struct zstd_file *file = zstd_file_open(directory, name, offset, error);
    if (!file)
        return NULL;
    struct unpack *unpack = memory_allocate(sizeof(*unpack));
    unpack->file = file;
    return unpack;
}

/* ---- headers ---- */

/* What a header says of the entry behind it. */
struct header {
    char kind;
    mode_t mode;
    int64_t size, changed;
};

/* A number of octal digits, or (with the highest bit set) of bytes; -1: it is none. */
static int64_t read_number(const char *field, size_t length)
{
    int64_t number = 0;
    size_t i = 0;
    if ((unsigned char)field[0] & 0x80) {
        for (i = length - 8; i < length; i++)
            number = (int64_t)((uint64_t)number << 8 | (unsigned char)field[i]);
        return number;
    }
    while (i < length && field[i] == ' ')
        i++;
    for (; i < length && field[i] >= '0' && field[i] <= '7'; i++)
        number = number * 8 + (field[i] - '0');
    return i == length || field[i] == '\0' || field[i] == ' ' ? number : -1;
}

static bool has_right_sum(const char *block)
{
    enum { SUM = 148, SUM_LENGTH = 8 };
    int64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= SUM && i < SUM + SUM_LENGTH ? ' ' : (unsigned char)block[i];
    return sum == read_number(block + SUM, SUM_LENGTH);
}

/* Can the entry have so many bytes, and the rest of a block behind them?  -1 and a sentence. */
static int check_size(const struct unpack *unpack, int64_t size, struct error *error)
{
    return size < 0 || size > INT64_MAX - BLOCK
               ? zstd_file_failed(unpack->file, "an entry has no size", error)
               : 0;
}

/* Read the next header, and the name in it.  1; 0 at the end; -1 and a sentence. */
static int read_header(struct unpack *unpack, struct header *header, struct error *error)
{
    char block[BLOCK];
    int result = read_all(unpack, block, sizeof(block), error);
    if (result <= 0 || !block[0])
        return result < 0 ? -1 : 0;
    if (!has_right_sum(block))
        return zstd_file_failed(unpack->file,
                                "found no header of a tar file where one was expected", error);
    *header = (struct header){.kind = block[156],
                              .mode = (mode_t)read_number(block + 100, 8) & 07777,
                              .size = read_number(block + 124, 12),
                              .changed = read_number(block + 136, 12)};
    if (check_size(unpack, header->size, error))
        return -1;
    snprintf(unpack->path, sizeof(unpack->path), "%.155s%s%.100s", block + 345,
             block[345] ? "/" : "", block);
    return 1;
}

/* A record of a pax header, "LENGTH NAME=VALUE\n", cut off `rest`.  False at the end. */
static bool next_record(struct text *rest, struct text *name, struct text *value)
{
    struct text line = *rest, number;
    if (!line.length || !text_next(&line, ' ', &number))
        return false;
    int64_t length = text_number(number, LONGEST_PAX);
    if (length <= (int64_t)number.length + 1 || (size_t)length > rest->length)
        return false;
    *value = (struct text){line.data, (size_t)length - number.length - 2};
    *rest = (struct text){rest->data + length, rest->length - (size_t)length};
    return text_next(value, '=', name);
}

/* What a pax header says of the entry that follows it, whose own header is read too. */
static int read_pax(struct unpack *unpack, struct header *header, struct error *error)
{
    char bytes[LONGEST_PAX], path[PATH_MAX] = "";
    int64_t size = -1;
    struct text rest = {bytes, (size_t)header->size}, name, value;
    if (header->size > LONGEST_PAX)
        return zstd_file_failed(unpack->file, "a header is too long", error);
    int result = read_all(unpack, bytes, rest.length, error);
    if (result == 0)
        return zstd_file_failed(unpack->file, "it ends within a header", error);
    if (result < 0 || skip(unpack, (BLOCK - header->size % BLOCK) % BLOCK, error))
        return -1;
    while (next_record(&rest, &name, &value)) {
        if (text_is(name, "path"))
            text_copy(path, sizeof(path), value);
        else if (text_is(name, "size"))
            size = text_number(value, INT64_MAX);
    }
    result = read_header(unpack, header, error);
    if (result > 0 && path[0])
        memcpy(unpack->path, path, sizeof(path));
    if (result > 0 && size >= 0)
        header->size = size;
    return result > 0 && check_size(unpack, header->size, error) ? -1 : result;
}

int unpack_next(struct unpack *unpack, struct unpack_member *member, struct error *error)
{
    struct header header = {.kind = '\0'};
    if (skip(unpack, unpack->left + (int64_t)unpack->padding, error))
        return -1;
    unpack->left = 0;
    unpack->padding = 0;
    int result = read_header(unpack, &header, error);
    while (result > 0 && header.kind == 'x')
        result = read_pax(unpack, &header, error);
    if (result <= 0)
        return result;
    unpack->left = header.size;
    unpack->padding = (size_t)((BLOCK - header.size % BLOCK) % BLOCK);
    *member = (struct unpack_member){.path = unpack->path,
                                     .directory = header.kind == '5',
                                     .mode = header.mode,
                                     .size = header.size,
                                     .changed = header.changed};
    return 1;
}

/* ---- an entry's bytes ---- */

ssize_t unpack_read(struct unpack *unpack, char *bytes, size_t most, struct error *error)
{
    if (unpack->left == 0 || most == 0)
        return 0;
    size_t part = (int64_t)most < unpack->left ? most : (size_t)unpack->left;
    ssize_t got = zstd_file_read(unpack->file, bytes, part, error);
    if (got == 0)
        return zstd_file_failed(unpack->file, "it ends within an entry", error);
    unpack->left -= got > 0 ? got : 0;
    return got;
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
