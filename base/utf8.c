/* base/utf8.c - well-formed UTF-8, and its code points */
#include "base/utf8.h"

#include "base/array.h"

size_t utf8_sequence(const char *bytes, size_t length)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (length == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    size_t wanted = b[0] >= 0xc2 && b[0] <= 0xdf   ? 2
                    : b[0] >= 0xe0 && b[0] <= 0xef ? 3
                    : b[0] >= 0xf0 && b[0] <= 0xf4 ? 4
                                                   : 0;
    if (wanted == 0 || wanted > length)
        return 0;
    for (size_t i = 1; i < wanted; i++)
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xf0 && b[1] < 0x90);
    bool surrogate = b[0] == 0xed && b[1] >= 0xa0;
    bool too_large = b[0] == 0xf4 && b[1] >= 0x90;
    return overlong || surrogate || too_large ? 0 : wanted;
}

bool utf8_valid(struct text a)
{
    for (size_t at = 0; at < a.length;) {
        size_t sequence = utf8_sequence(a.data + at, a.length - at);
        if (sequence == 0)
            return false;
        at += sequence;
    }
    return true;
}

uint32_t utf8_code_point(const char *bytes, size_t length)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (length < 2)
        return b[0];
    uint32_t point = b[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++)
        point = point << 6 | (b[i] & 0x3fu);
    return point;
}

size_t utf8_write(char to[static 4], uint32_t point)
{
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0}; /* by length */
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; point >>= 6)
        to[i] = (char)(0x80 | (point & 0x3f));
    to[0] = (char)(marks[length] | point);
    return length;
}

bool utf8_misleads(const char *bytes, size_t length)
{
    static const struct range {
        uint32_t first, last;
    } ranges[] = {{0x80, 0x9f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    if (length < 2)
        return false;
    uint32_t point = utf8_code_point(bytes, length);
    for (size_t i = 0; i < ARRAY_COUNT(ranges); i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    return false;
}
