/* simulation/csv.c - reads comma-separated tables with a header line */
#include "simulation/csv.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { MOST_BYTES = 256 << 20, MOST_DIGITS = 63 };

static int read_whole(const char *path, struct buffer *buffer, struct error *error)
{
    int file = file_open_named(path, error);
    if (file < 0)
        return -1;
    int result = file_read_all(file, MOST_BYTES, buffer, path, error);
    close(file);
    return result;
}

/* Split the next non-empty line into `fields`.  Returns their number, 0 at the end, or -1. */
static int next_line(struct csv *csv, struct text *fields, struct error *error)
{
    struct text line;
    do {
        if (!text_next(&csv->rest, '\n', &line))
            return 0;
        csv->line++;
        line = text_trim(line);
    } while (line.length == 0);
    if (memchr(line.data, '"', line.length))
        return error_set(error, "%s: line %d: found a quote, expected fields between commas",
                         csv->path, csv->line);
    size_t count = 0;
    for (const char *at = line.data, *end = at + line.length;; at++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        if (count == CSV_COLUMNS)
            return error_set(error, "%s: line %d: found more than %d fields", csv->path, csv->line,
                             CSV_COLUMNS);
        fields[count++] = text_trim((struct text){at, (size_t)(stop - at)});
        if (!comma)
            return (int)count;
        at = comma;
    }
}

int csv_open(struct csv *csv, struct arena *arena, const char *path, struct error *error)
{
    struct buffer buffer = {0};
    *csv = (struct csv){.path = path};
    if (read_whole(path, &buffer, error)) {
        buffer_free(&buffer);
        return -1;
    }
    csv->rest = arena_text(arena, buffer.data ? buffer.data : "", buffer.length);
    buffer_free(&buffer);
    int count = next_line(csv, csv->names, error);
    if (count == 0)
        return error_set(error, "%s: found nothing, expected a line with the columns' names", path);
    csv->columns = count > 0 ? (size_t)count : 0;
    return count < 0 ? -1 : 0;
}

int csv_next(struct csv *csv, struct error *error)
{
    int count = next_line(csv, csv->fields, error);
    if (count <= 0)
        return count;
    if ((size_t)count != csv->columns)
        return error_set(error, "%s: line %d: found %d fields, expected %zu", csv->path, csv->line,
                         count, csv->columns);
    return 1;
}

int csv_column(const struct csv *csv, const char *name, struct error *error)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (text_is(csv->names[i], name))
            return (int)i;
    return error_set(error, "%s: line 1: found no column %s", csv->path, name);
}

int csv_number(const struct csv *csv, int column, double least, double most, double *number,
               struct error *error)
{
    struct text field = csv->fields[column], name = csv->names[column];
    char digits[MOST_DIGITS + 1];
    char *end = digits;
    if (field.length > 0 && field.length <= MOST_DIGITS) {
        memcpy(digits, field.data, field.length);
        digits[field.length] = '\0';
        *number = strtod(digits, &end);
        if (end == digits + field.length && *number >= least && *number <= most)
            return 0;
    }
    struct error_quote_buffer buffer, title;
    return error_set(error, "%s: line %d: column %s: found \"%s\", expected a number from %g to %g",
                     csv->path, csv->line, error_quote(&title, name.data, name.length),
                     error_quote(&buffer, field.data, field.length), least, most);
}
