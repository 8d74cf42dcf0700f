/* base/file_kind.c - the kind of a file that is not text, by its first bytes
 *
 * The marks are those of file(1)'s magic(5) database.
 */
#include "base/file_kind.h"

#include <string.h>

#define MARK(literal)                                                                              \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }
#define UNPACK ", expected the text of a job file; unpack it, and drop the job file that is in it"
#define TEXT_FILE ", expected the text of a job file; drop that, and name this one in it"
#define UTF_8 ", expected text in UTF-8; save it so, or convert it: iconv -f UTF-16 -t UTF-8"

static const struct {
    size_t offset;
    struct text mark;
    const char *kind;
} marks[] = {
    {0, MARK("\x1f\x8b"), "a gzip file" UNPACK},
    {0, MARK("PK\x03\x04"), "a zip archive" UNPACK},
    {0, MARK("PK\x05\x06"), "a zip archive" UNPACK},
    {0, MARK("BZh"), "a bzip2 file" UNPACK},
    {0,
     MARK("\xfd"
          "7zXZ"),
     "an xz file" UNPACK},
    {0, MARK("\x28\xb5\x2f\xfd"), "a zstd file" UNPACK},
    {0, MARK("7z\xbc\xaf"), "a 7-Zip archive" UNPACK},
    {257, MARK("ustar"), "a tar archive" UNPACK},
    {0,
     MARK("\x7f"
          "ELF"),
     "a compiled program (ELF)" TEXT_FILE},
    {0, MARK("%PDF-"), "a PDF document" TEXT_FILE},
    {0, MARK("\x89PNG"), "a PNG image" TEXT_FILE},
    {0, MARK("\xff\xd8\xff"), "a JPEG image" TEXT_FILE},
    {0, MARK("\x89HDF"), "an HDF5 file" TEXT_FILE},
    {0, MARK("SQLite format 3"), "an SQLite database" TEXT_FILE},
    {0, MARK("b0VIM"), "a swap file of vim" TEXT_FILE},
    {0, MARK("\xff\xfe"), "UTF-16" UTF_8},
    {0, MARK("\xfe\xff"), "UTF-16" UTF_8},
};

enum {
    LOOKED_AT = 512, /* bytes; in binary data more than one in eight is not text */
    FEWEST_STRANGE = 4,
};

/* ASCII in UTF-16 without its mark: every second byte is zero. */
static bool is_utf_16(struct text bytes)
{
    enum { ENOUGH = 8 };
    if (bytes.length < ENOUGH)
        return false;
    size_t zeros[2] = {0, 0}, length = bytes.length < LOOKED_AT ? bytes.length : LOOKED_AT;
    for (size_t i = 0; i < length; i++)
        zeros[i % 2] += bytes.data[i] == '\0';
    size_t half = length / 2;
    return (zeros[0] == 0 && zeros[1] >= half - half / 8) ||
           (zeros[1] == 0 && zeros[0] >= half - half / 8);
}

static bool is_binary(struct text bytes)
{
    size_t strange = 0, zeros = 0;
    size_t length = bytes.length < LOOKED_AT ? bytes.length : LOOKED_AT;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes.data[i];
        zeros += byte == 0;
        strange += (byte < 0x20 && !strchr("\t\n\r\f\x1b", byte)) || byte == 0 || byte == 0x7f;
    }
    return zeros > 0 && strange >= FEWEST_STRANGE && strange > length / 8;
}

const char *file_kind(struct text bytes)
{
    for (size_t i = 0; i < ARRAY_COUNT(marks); i++) {
        struct text mark = marks[i].mark;
        size_t end = marks[i].offset + mark.length;
        if (bytes.length >= end &&
            memcmp(bytes.data + marks[i].offset, mark.data, mark.length) == 0)
            return marks[i].kind;
    }
    if (is_utf_16(bytes))
        return "UTF-16" UTF_8;
    return is_binary(bytes) ? "binary data" TEXT_FILE : NULL;
}
