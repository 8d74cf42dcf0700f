/* base/labels.c - the labels of a series, as Prometheus reads them */
#include "base/labels.h"

#include "base/utf8.h"

void labels_add(struct buffer *labels, const char *key, struct text value)
{
    size_t length = value.length < LABEL_LONGEST ? value.length : LABEL_LONGEST;
    while (length < value.length && length && ((unsigned char)value.data[length] & 0xc0) == 0x80)
        length--; /* no character is cut in two */
    bool valid = utf8_valid((struct text){value.data, length});
    buffer_printf(labels, "%s%s=\"", labels->length ? "," : "", key);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)value.data[i];
        if (byte < ' ' || byte == 0x7f || (byte >= 0x80 && !valid))
            byte = '?';
        if (byte == '"' || byte == '\\')
            buffer_add_byte(labels, '\\');
        buffer_add_byte(labels, (char)byte);
    }
    buffer_add_byte(labels, '"');
}
