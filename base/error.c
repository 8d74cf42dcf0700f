/* base/error.c - the sentence that says what went wrong */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

enum { QUOTE_LIMIT = 80 }; /* bytes of untrusted text that a sentence quotes */

/* Remove an incomplete character from the end of a sentence that was cut. */
static void end_sentence(struct error *error)
{
    size_t length = strlen(error->text), start = length - 1;
    if (length + 1 < sizeof(error->text))
        return;
    while (start > 0 && length - start < 4 && ((unsigned char)error->text[start] & 0xc0) == 0x80)
        start--;
    if (utf8_sequence(error->text + start, length - start) != length - start)
        error->text[start] = '\0';
}

int error_set_list(struct error *error, const char *format, va_list arguments)
{
    if (!error)
        return -1;
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    end_sentence(error);
    return -1;
}

int error_set(struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_set_list(error, format, arguments);
    va_end(arguments);
    return -1;
}

int error_errno(struct error *error, const char *format, ...)
{
    int number = errno;
    if (!error)
        return -1;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof(error->text))
        snprintf(error->text + length, sizeof(error->text) - (size_t)length, ": %s",
                 strerror(number));
    end_sentence(error);
    errno = number;
    return -1;
}

int error_prefix(struct error *error, const char *format, ...)
{
    if (!error)
        return -1;
    char old[ERROR_TEXT_SIZE];
    memcpy(old, error->text, sizeof(old));
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof(error->text) &&
        snprintf(error->text + length, sizeof(error->text) - (size_t)length, ": %s", old) < 0)
        error->text[length] = '\0';
    end_sentence(error);
    return -1;
}

const char *error_quote(struct error_quote_buffer *buffer, const char *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    char *to = buffer->text;
    size_t at = 0;
    while (at < length && at < QUOTE_LIMIT) {
        unsigned char byte = (unsigned char)bytes[at];
        size_t sequence = utf8_sequence(bytes + at, length - at);
        bool control = byte < 0x20 || byte == 0x7f || utf8_misleads(bytes + at, sequence);
        if (sequence == 0 || control || byte == '\\') {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = digits[byte >> 4];
            *to++ = digits[byte & 15];
            at++;
            continue;
        }
        memcpy(to, bytes + at, sequence);
        to += sequence;
        at += sequence;
    }
    if (at < length) {
        memcpy(to, "...", 3);
        to += 3;
    }
    *to = '\0';
    return buffer->text;
}
