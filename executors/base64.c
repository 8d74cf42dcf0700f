/* executors/base64.c - bytes from base64 (RFC 4648) */
#include "executors/base64.h"

#include <string.h>

static int letter_value(char letter, bool url)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found)
        return (int)(found - letters);
    return letter == (url ? '-' : '+') ? 62 : letter == (url ? '_' : '/') ? 63 : -1;
}

int base64_decode(struct buffer *out, struct text text, bool url)
{
    unsigned int bits = 0, count = 0;
    size_t letters = 0, padding = 0;
    for (size_t i = 0; i < text.length; i++) {
        char letter = text.data[i];
        int value = letter_value(letter, url);
        if (!url && (letter == '\n' || letter == '\r' || letter == ' '))
            continue;
        letters++;
        if (!url && letter == '=') {
            padding++;
            continue;
        }
        if (value < 0 || padding)
            return -1;
        bits = (bits << 6 | (unsigned int)value) & 0xffff;
        count += 6;
        if (count >= 8) {
            count -= 8;
            buffer_add_byte(out, (char)(bits >> count & 0xff));
        }
    }
    return url || (letters % 4 == 0 && padding <= 2) ? 0 : -1;
}
