/* executors/local/conmon_log.c - the log format of conmon (k8s-file) */
#include "executors/local/conmon_log.h"

#include <string.h>

enum { HEADER_MAX = 64 }; /* bytes before the program's own: time, stream and tag */

/* The length of the header, or 0 when the line has none. */
static size_t header_length(const char *line, size_t length, bool *ends_line)
{
    size_t at = 0, blanks = 0;
    size_t limit = length < HEADER_MAX ? length : HEADER_MAX;
    while (at < limit && blanks < 2)
        blanks += line[at++] == ' ';
    if (blanks < 2 || at + 2 > length || line[at + 1] != ' ' ||
        (line[at] != 'P' && line[at] != 'F'))
        return 0;
    *ends_line = line[at] == 'F';
    return at + 2;
}

bool conmon_log_next(struct text *rest, struct buffer *out)
{
    const char *end = rest->length ? memchr(rest->data, '\n', rest->length) : NULL;
    if (!end)
        return false;
    size_t length = (size_t)(end - rest->data);
    bool ends_line = true;
    size_t header = header_length(rest->data, length, &ends_line);
    buffer_add(out, rest->data + header, length - header);
    if (ends_line)
        buffer_add_byte(out, '\n');
    *rest = (struct text){end + 1, rest->length - length - 1};
    return true;
}
