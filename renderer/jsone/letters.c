/* renderer/jsone/letters.c - upper and lower case of Unicode text
 *
 * Known weakness: a capital sigma becomes a final one when a cased letter is right before it and
 * none is right after it; the full rule also skips caseless marks between them.
 */
#include "renderer/jsone/letters.h"

#include <string.h>

#include "base/utf8.h"
#include "renderer/jsone/letter_table.h"

enum { CAPITAL_SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2, CAPITAL_I_WITH_DOT = 0x130 };

static uint32_t shift_point(const struct letter_range *ranges, size_t count, uint32_t point)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct letter_range *range = &ranges[middle];
        if (point > range->last)
            low = middle + 1;
        else if (point < range->first)
            high = middle;
        else if ((point - range->first) % range->stride == 0)
            return (uint32_t)((int32_t)point + range->shift);
        else
            return point;
    }
    return point;
}

static const char *find_expansion(uint32_t point)
{
    size_t low = 0, high = letter_expansions_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (letter_expansions[middle].point == point)
            return letter_expansions[middle].upper;
        if (letter_expansions[middle].point < point)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool has_case(uint32_t point)
{
    return shift_point(letter_to_upper, letter_to_upper_count, point) != point ||
           shift_point(letter_to_lower, letter_to_lower_count, point) != point;
}

static void add_point(struct buffer *out, uint32_t point)
{
    if (point < 0x80) {
        buffer_add_byte(out, (char)point);
        return;
    }
    unsigned char bytes[4];
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; point >>= 6)
        bytes[i] = (unsigned char)(0x80 | (point & 0x3f));
    bytes[0] = (unsigned char)(0xf0 << (4 - length) | point);
    buffer_add(out, bytes, length);
}

/* The code point at `at`, or 0 at the end or where there is none; *length is set. */
static uint32_t point_at(struct text text, size_t at, size_t *length)
{
    *length = utf8_sequence(text.data + at, text.length - at);
    return *length ? utf8_code_point(text.data + at, *length) : 0;
}

static void add_lower(struct buffer *out, uint32_t point, uint32_t before, uint32_t after)
{
    if (point == CAPITAL_I_WITH_DOT)
        buffer_add_string(out, "i\xcc\x87"); /* i and a dot above */
    else if (point == CAPITAL_SIGMA && has_case(before) && !has_case(after))
        add_point(out, FINAL_SIGMA);
    else
        add_point(out, shift_point(letter_to_lower, letter_to_lower_count, point));
}

static void add_upper(struct buffer *out, uint32_t point)
{
    const char *expansion = find_expansion(point);
    if (expansion)
        buffer_add_string(out, expansion);
    else
        add_point(out, shift_point(letter_to_upper, letter_to_upper_count, point));
}

static void change_unicode(struct buffer *out, struct text text, bool upper)
{
    uint32_t before = 0;
    for (size_t at = 0, length, next; at < text.length; at += length) {
        uint32_t point = point_at(text, at, &length);
        if (length == 0) {
            length = 1;
            buffer_add_byte(out, text.data[at]);
        } else if (upper) {
            add_upper(out, point);
        } else {
            add_lower(out, point, before, point_at(text, at + length, &next));
        }
        before = point;
    }
}

static bool is_ascii(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.data[i] >= 0x80)
            return false;
    return true;
}

static struct value *change_ascii(struct interpreter *self, struct text text, bool upper)
{
    char *bytes = arena_allocate(self->arena, text.length + 1);
    char first = upper ? 'a' : 'A', last = upper ? 'z' : 'Z';
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bytes[i] = c >= first && c <= last ? (char)(c ^ 0x20) : c;
    }
    return value_text(self->arena, (struct text){bytes, text.length});
}

struct value *letters_change(struct interpreter *self, struct text text, bool upper)
{
    /* No character grows to more than three times its bytes. */
    if (!interpreter_bytes(self, text.length) || text.length > self->limits.bytes ||
        !interpreter_may_take(self, text.length * 3 + 1 + sizeof(struct value)))
        return NULL;
    if (is_ascii(text))
        return change_ascii(self, text, upper);
    /* Code points take longer than bytes. */
    if (!interpreter_steps(self, text.length / 8))
        return NULL;
    struct buffer changed = {0};
    change_unicode(&changed, text, upper);
    struct text all = buffer_text(&changed);
    struct value *value = interpreter_text(self, all.data, all.length);
    buffer_free(&changed);
    return value;
}
