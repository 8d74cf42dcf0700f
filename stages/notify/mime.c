/* stages/notify/mime.c - text of any kind as parts of a mail */
#include "stages/notify/mime.h"

#include "base/utf8.h"

enum {
    HEADER_MOST = 900, /* bytes of a line that need no folding: RFC 5322 has 998 */
    WORD_BYTES = 45,   /* of UTF-8 in an encoded word, which has at most 75 bytes: RFC 2047 */
    PLAIN_LINE = 900,  /* bytes of a line of a body that is not encoded */
    QUOTED_LINE = 75   /* bytes of an encoded line, without the = at its end */
};

/* One line, of valid UTF-8. */
static void make_line(struct buffer *out, struct text text)
{
    for (size_t i = 0; i < text.length;) {
        size_t length = utf8_sequence(text.data + i, text.length - i);
        unsigned char byte = (unsigned char)text.data[i];
        if (length == 0)
            buffer_add_byte(out, '?');
        else if (length == 1 && (byte < ' ' || byte == 0x7f))
            buffer_add_byte(out, ' ');
        else
            buffer_add(out, text.data + i, length);
        i += length ? length : 1;
    }
}

static bool is_plain_header(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] < ' ' || text.data[i] > '~')
            return false;
    return text.length <= HEADER_MOST && !text_contains(text, TEXT("=?"));
}

static void add_base64(struct buffer *out, struct text bytes)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.length; i += 3) {
        unsigned int group = 0;
        for (size_t j = 0; j < 3; j++)
            group = group << 8 | (i + j < bytes.length ? (unsigned char)bytes.data[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            buffer_add_byte(out,
                            i + j > bytes.length ? '=' : letters[group >> (18 - 6 * j) & 0x3f]);
    }
}

/* Encoded words, each of whole characters, on lines of their own. */
static void add_words(struct buffer *out, struct text line)
{
    const char *separator = "";
    for (size_t start = 0; start < line.length;) {
        size_t end = start;
        while (end < line.length) {
            size_t length = utf8_sequence(line.data + end, line.length - end);
            if (end + length - start > WORD_BYTES)
                break;
            end += length;
        }
        buffer_printf(out, "%s=?UTF-8?B?", separator);
        add_base64(out, (struct text){line.data + start, end - start});
        buffer_add_string(out, "?=");
        separator = "\n ";
        start = end;
    }
}

void mime_add_header(struct buffer *out, const char *name, struct text text)
{
    struct buffer line = {0};
    make_line(&line, text);
    buffer_printf(out, "%s: ", name);
    if (is_plain_header(buffer_text(&line)))
        buffer_add_text(out, buffer_text(&line));
    else
        add_words(out, buffer_text(&line));
    buffer_add_byte(out, '\n');
    buffer_free(&line);
}

/* What a server, or a mailbox, may take for something else at the start of a line. */
static bool is_special(struct text line)
{
    return text_starts(line, ".") || text_starts(line, "From ");
}

static bool is_plain_body(struct text text)
{
    struct text line;
    while (text_next(&text, '\n', &line)) {
        if (line.length > PLAIN_LINE || is_special(line))
            return false;
        for (size_t i = 0; i < line.length; i++)
            if ((line.data[i] < ' ' && line.data[i] != '\t') || line.data[i] > '~')
                return false;
    }
    return true;
}

static void add_quoted_line(struct buffer *out, struct text line)
{
    size_t column = 0;
    for (size_t i = 0; i < line.length; i++) {
        unsigned char byte = (unsigned char)line.data[i];
        bool last = i + 1 == line.length, blank = byte == ' ' || byte == '\t';
        bool plain = blank ? !last : byte > ' ' && byte <= '~' && byte != '=';
        if (i == 0 && is_special(line))
            plain = false;
        size_t width = plain ? 1 : 3;
        if (column + width > QUOTED_LINE) {
            buffer_add_string(out, "=\n");
            column = 0;
            plain = plain && byte != '.' && byte != 'F'; /* they begin a line now */
            width = plain ? 1 : 3;
        }
        if (plain)
            buffer_add_byte(out, (char)byte);
        else
            buffer_printf(out, "=%02X", (unsigned int)byte);
        column += width;
    }
}

void mime_add_body(struct buffer *out, struct text text)
{
    struct text rest = text, line;
    if (text_ends(rest, "\n"))
        rest.length--; /* each line gets one */
    bool plain = is_plain_body(rest);
    buffer_printf(out,
                  "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
                  "Content-Transfer-Encoding: %s\n\n",
                  plain ? "7bit" : "quoted-printable");
    while (text_next(&rest, '\n', &line)) {
        if (plain)
            buffer_add_text(out, line);
        else
            add_quoted_line(out, line);
        buffer_add_byte(out, '\n');
    }
}
