/* executors/kubernetes/kubeconfig_pem.c - PEM of a kubeconfig: base64, and what it starts like */
#include "executors/kubernetes/kubeconfig_pem.h"

#include <string.h>

static int letter_value(char letter)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = letter ? strchr(letters, letter) : NULL;
    return found ? (int)(found - letters) : -1;
}

int kubeconfig_pem_decode(struct buffer *out, struct text base64)
{
    unsigned int bits = 0, count = 0;
    size_t letters = 0, padding = 0;
    for (size_t i = 0; i < base64.length; i++) {
        char letter = base64.data[i];
        int value = letter_value(letter);
        if (letter == '\n' || letter == '\r' || letter == ' ')
            continue;
        letters++;
        if (letter == '=') {
            padding++;
            continue;
        }
        if (value < 0 || padding)
            return -1;
        bits = bits << 6 | (unsigned int)value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            buffer_add_byte(out, (char)(bits >> count & 0xff));
        }
    }
    return letters % 4 || padding > 2 ? -1 : 0;
}

bool kubeconfig_pem_is_encoded(struct text bytes, const char *kind)
{
    struct buffer mark = {0};
    buffer_printf(&mark, "%s-----", kind);
    bool found =
        text_contains(bytes, TEXT("-----BEGIN ")) && text_contains(bytes, buffer_text(&mark));
    buffer_free(&mark);
    return found;
}
