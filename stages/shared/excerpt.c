/* stages/shared/excerpt.c - the last lines of what a task printed, for people */
#include "stages/shared/excerpt.h"

#include <string.h>

#include "base/utf8.h"

/* The index behind the escape sequence that starts at `at`. */
static size_t escape_end(struct text line, size_t at)
{
    if (++at >= line.length)
        return at;
    if (line.data[at] == ']') { /* a title: up to BEL, or ESC and a backslash */
        while (at < line.length && line.data[at] != '\a' && line.data[at] != '\033')
            at++;
        return at < line.length && line.data[at] == '\a' ? at + 1 : at;
    }
    if (line.data[at] != '[')
        return at + 1;
    while (++at < line.length && (unsigned char)line.data[at] < 0x40)
        continue;
    return at < line.length ? at + 1 : at;
}

/* The part of a line that was written last over the others. */
static struct text last_writing(struct text line)
{
    while (line.length && line.data[line.length - 1] == '\r')
        line.length--;
    const char *over = line.length ? memrchr(line.data, '\r', line.length) : NULL;
    if (over) {
        line.length -= (size_t)(over + 1 - line.data);
        line.data = over + 1;
    }
    return line;
}

static void add_visible(struct text line, struct buffer *out)
{
    for (size_t at = 0; at < line.length;) {
        unsigned char byte = (unsigned char)line.data[at];
        size_t sequence = utf8_sequence(line.data + at, line.length - at);
        bool control = byte < 0x20 || byte == 0x7f ||
                       (sequence == 2 && byte == 0xc2 && (unsigned char)line.data[at + 1] < 0xa0);
        if (byte == '\033') {
            at = escape_end(line, at);
        } else if (byte == '\t') {
            buffer_add_string(out, "    ");
            at++;
        } else if (sequence == 0 || control) {
            buffer_printf(out, "\\x%02x", byte);
            at++;
        } else {
            buffer_add(out, line.data + at, sequence);
            at += sequence;
        }
    }
}

/* As much of it as there is room for, in whole characters. */
static struct text shorten_line(struct text line)
{
    size_t end = 0;
    while (end < line.length && end <= EXCERPT_WIDTH - 8) {
        size_t sequence = utf8_sequence(line.data + end, line.length - end);
        end += sequence ? sequence : 1;
    }
    return (struct text){line.data, end};
}

void excerpt_line(struct text line, const struct mask *mask, struct buffer *out)
{
    struct buffer visible = {0};
    add_visible(last_writing(line), &visible);
    mask_write(mask, buffer_text(&visible), out);
    buffer_free(&visible);
}

/* Secrets are hidden before the line is cut, lest the first half of one be shown. */
static bool add_line(struct text line, const struct mask *mask, struct buffer *out)
{
    struct buffer masked = {0};
    excerpt_line(line, mask, &masked);
    struct text whole = buffer_text(&masked), shown = shorten_line(whole);
    bool empty = text_trim(whole).length == 0;
    if (!empty)
        buffer_printf(out, "    %.*s%s\n", (int)shown.length, shown.data,
                      shown.length < whole.length ? "..." : "");
    buffer_free(&masked);
    return !empty;
}

void excerpt_write(struct text printed, const struct mask *mask, struct buffer *out)
{
    struct buffer lines[EXCERPT_LINES] = {{0}};
    size_t count = 0, end = printed.length;
    while (end > 0 && count < EXCERPT_LINES) {
        const char *newline = memrchr(printed.data, '\n', end - 1);
        size_t start = newline ? (size_t)(newline - printed.data) + 1 : 0;
        size_t length = end - start - (printed.data[end - 1] == '\n');
        count += add_line((struct text){printed.data + start, length}, mask, &lines[count]);
        end = start;
    }
    while (count > 0) {
        struct buffer *line = &lines[--count];
        buffer_add(out, line->data, line->length);
        buffer_free(line);
    }
}
