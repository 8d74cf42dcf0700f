/* base/visible.c - makes untrusted output safe for a terminal */
#include "base/visible.h"

#include <string.h>

#include "base/utf8.h"

enum { DELETE = 0x7f };

static void add_ascii(struct buffer *out, char byte)
{
    if (byte == DELETE) {
        buffer_add_string(out, "^?");
    } else if ((unsigned char)byte < ' ' && !memchr("\n\t\r", byte, 3)) {
        buffer_add_byte(out, '^');
        buffer_add_byte(out, (char)(byte + '@'));
    } else {
        buffer_add_byte(out, byte);
    }
}

static void add_bad(struct buffer *out, char byte)
{
    buffer_printf(out, "\\x%02x", (unsigned char)byte);
}

/* Could the bytes, an incomplete sequence, be the start of a character? */
static bool may_go_on(const char *bytes, size_t length)
{
    char whole[VISIBLE_BEGUN + 1];
    /* The first continuation byte is the one with limits (RFC 3629): one in the middle of them, or the last. */
    static const char next[] = {'\x80', '\x90', '\xa0', '\xbf'};
    if (length > VISIBLE_BEGUN)
        return false;
    memcpy(whole, bytes, length);
    for (size_t i = 0; i < sizeof(next); i++) {
        memset(whole + length, next[i], sizeof(whole) - length);
        for (size_t wanted = length + 1; wanted <= sizeof(whole); wanted++)
            if (utf8_sequence(whole, wanted) == wanted)
                return true;
    }
    return false;
}

/* Append the first character of `bytes`.  Returns how many bytes it had; 0 when more are needed
 * to decide. */
static size_t add_one(struct buffer *out, struct text bytes)
{
    size_t length = utf8_sequence(bytes.data, bytes.length);
    if (length == 0 && may_go_on(bytes.data, bytes.length))
        return 0;
    if (length == 0)
        add_bad(out, bytes.data[0]);
    else if (length == 1)
        add_ascii(out, bytes.data[0]);
    else if (utf8_misleads(bytes.data, length))
        buffer_printf(out, "\\u%04x", (unsigned)utf8_code_point(bytes.data, length));
    else
        buffer_add(out, bytes.data, length);
    return length ? length : 1;
}

void visible_add(struct visible *visible, struct buffer *out, struct text bytes)
{
    char joined[2 * VISIBLE_BEGUN];
    while (visible->count && bytes.length) { /* until the pending character is decided */
        memcpy(joined, visible->begun, visible->count);
        joined[visible->count] = bytes.data[0];
        struct text head = {joined, visible->count + 1};
        bytes.data++;
        bytes.length--;
        for (size_t taken; head.length && (taken = add_one(out, head)) > 0;) {
            head.data += taken;
            head.length -= taken;
        }
        memcpy(visible->begun, head.data, head.length);
        visible->count = head.length;
    }
    for (size_t taken; bytes.length && (taken = add_one(out, bytes)) > 0;) {
        bytes.data += taken;
        bytes.length -= taken;
    }
    if (bytes.length) {
        memcpy(visible->begun, bytes.data, bytes.length);
        visible->count = bytes.length;
    }
}

void visible_end(struct visible *visible, struct buffer *out)
{
    for (size_t i = 0; i < visible->count; i++)
        add_bad(out, visible->begun[i]);
    visible->count = 0;
}

void visible_add_json(struct buffer *out, struct text json)
{
    while (json.length) {
        size_t length = utf8_sequence(json.data, json.length);
        if (utf8_misleads(json.data, length))
            buffer_printf(out, "\\u%04x", (unsigned)utf8_code_point(json.data, length));
        else
            buffer_add(out, json.data, length ? length : 1);
        json.data += length ? length : 1;
        json.length -= length ? length : 1;
    }
}
