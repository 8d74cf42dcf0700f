/* base/json_string.c - one string of JSON text */
#include "base/json_string.h"

#include <endian.h>
#include <string.h>

#include "base/json_step.h"
#include "base/utf8.h"

/* Where reading is, and where what is read goes. */
struct characters {
    const char *at, *end;
    char *to;
    size_t inside;
};

static bool is_plain(char byte)
{
    unsigned char c = (unsigned char)byte;
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* The end of the plain characters that begin at `at`, by eight bytes at a time: of a word, minus one in each byte
 * changes the highest bit of those that are zero, and perhaps of some after one. */
static const char *after_plain(const char *at, const char *end)
{
    const uint64_t ones = 0x0101010101010101, high = 0x80 * ones;
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        word = le64toh(word);
        uint64_t quote = word ^ ('"' * ones), backslash = word ^ ('\\' * ones);
        uint64_t special =
            (word | (word - 0x20 * ones) | (quote - ones) | (backslash - ones)) & high;
        if (special)
            return at + __builtin_ctzll(special) / 8;
    }
    while (at < end && is_plain(*at))
        at++;
    return at;
}

/* The number of four hexadecimal digits, which are read; -1 when that is not what comes. */
static int32_t take_hexadecimal(struct characters *characters)
{
    int32_t number = 0;
    for (int i = 0; i < 4; i++) {
        char c = characters->at < characters->end ? *characters->at : '\0';
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        number = number * 16 + digit;
        characters->at++;
    }
    return number;
}

/* Read the rest of a \u, and what must follow the first half of a surrogate pair. */
static bool take_code_point(struct characters *characters)
{
    int32_t point = take_hexadecimal(characters), low;
    if (point < 0 || (point >= 0xdc00 && point <= 0xdfff))
        return false;
    if (point >= 0xd800 && point <= 0xdbff) {
        if (characters->end - characters->at < 2 || memcmp(characters->at, "\\u", 2) != 0)
            return false;
        characters->at += 2;
        low = take_hexadecimal(characters);
        if (low < 0xdc00 || low > 0xdfff)
            return false;
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    characters->to += utf8_write(characters->to, (uint32_t)point);
    return true;
}

static bool take_escape(struct characters *characters)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    if (++characters->at >= characters->end)
        return false;
    char letter = *characters->at++;
    if (letter == 'u')
        return take_code_point(characters);
    const char *found = memchr(letters, letter, sizeof(letters) - 1);
    if (found)
        *characters->to++ = bytes[found - letters];
    return found != NULL;
}

static bool take_character(struct characters *characters)
{
    size_t length = utf8_sequence(characters->at, (size_t)(characters->end - characters->at));
    if (!length || (unsigned char)*characters->at < 0x20)
        return false;
    memcpy(characters->to, characters->at, length);
    characters->to += length;
    characters->at += length;
    characters->inside += length - 1;
    return true;
}

const char *json_string_read(struct arena *arena, const char *at, const char *end, struct text *out,
                             size_t *inside)
{
    const char *start = at + 1, *stop = after_plain(start, end);
    *inside = 0;
    if (stop < end && *stop == '"') {
        *out = arena_text(arena, start, (size_t)(stop - start));
        return stop + 1;
    }
    size_t most = (size_t)(json_step_past_string(at, end) - start);
    char *copy = arena_allocate(arena, most + 1);
    struct characters characters = {.at = start, .end = end, .to = copy};
    while (characters.at < end && *characters.at != '"')
        if (!(*characters.at == '\\' ? take_escape(&characters) : take_character(&characters)))
            return NULL;
    *inside = characters.inside;
    *out = (struct text){copy, (size_t)(characters.to - copy)};
    return characters.at < end ? characters.at + 1 : NULL;
}
