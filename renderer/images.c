/* renderer/images.c - images.txt: which base image for (library, version, type, accelerator)
 *
 * The table is small (tens of rows), so a look-up walks it.
 */
#include "renderer/images.h"

#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"

enum { COLUMNS = 5, LONGEST_IMAGE = 512 /* bytes */, LONGEST_WORD = 128 /* bytes */ };

static const char header[] = "library version type accelerator image";

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static bool is_alphanumeric(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

/* The next word of a line; false at its end or where a comment starts. */
static bool next_word(struct text *rest, struct text *word)
{
    while (rest->length && is_blank(rest->data[0])) {
        rest->data++;
        rest->length--;
    }
    if (rest->length == 0 || rest->data[0] == '#')
        return false;
    size_t length = 0;
    while (length < rest->length && !is_blank(rest->data[length]))
        length++;
    *word = (struct text){rest->data, length};
    rest->data += length;
    rest->length -= length;
    return true;
}

bool images_name_valid(struct text image)
{
    if (image.length == 0 || image.length > LONGEST_IMAGE)
        return false;
    for (size_t i = 0; i < image.length; i++) {
        char byte = image.data[i];
        bool first = is_alphanumeric(byte) || byte == '.' || byte == '/' || byte == '_';
        bool later = byte == ':' || byte == '@' || byte == '+' || byte == '-' || byte == '#';
        if (!first && !(later && i > 0))
            return false;
    }
    return true;
}

static int check_word(struct text word, const char *column, struct error *error)
{
    struct error_quote_buffer buffer;
    if (text_is(word, "*"))
        return 0;
    if (memchr(word.data, '*', word.length))
        return error_set(error,
                         "%s is \"%s\"; * matches anything and stands alone in its column "
                         "(the version 2.1.3 already fits jobs that ask for 2.1)",
                         column, error_quote(&buffer, word.data, word.length));
    bool valid = word.length <= LONGEST_WORD && is_alphanumeric(word.data[0]);
    for (size_t i = 0; valid && i < word.length; i++)
        valid = is_alphanumeric(word.data[i]) || memchr("._+-", word.data[i], 4);
    if (!valid)
        return error_set(error, "%s is \"%s\", expected * or a word of letters, digits and . _ + -",
                         column, error_quote(&buffer, word.data, word.length));
    return 0;
}

static int check_row(const struct image_row *row, struct error *error)
{
    struct error_quote_buffer buffer;
    if (check_word(row->library, "library", error) || check_word(row->version, "version", error) ||
        check_word(row->type, "type", error) || check_word(row->accelerator, "accelerator", error))
        return -1;
    if (text_is(row->image, "*"))
        return error_set(error, "image is *, expected the name of one image");
    if (!images_name_valid(row->image))
        return error_set(error, "image is \"%s\", which cannot be the name of an image",
                         error_quote(&buffer, row->image.data, row->image.length));
    return 0;
}

/* 1 and a row, 0 for a line without one, -1 and a sentence without file and line. */
static int parse_line(struct text line, struct image_row *row, struct error *error)
{
    struct text words[COLUMNS], word;
    size_t count = 0;
    while (next_word(&line, &word)) {
        if (count < COLUMNS)
            words[count] = word;
        count++;
    }
    if (count == 0)
        return 0;
    if (count != COLUMNS)
        return error_set(error, "%zu column%s, expected %d: %s", count,
                         quantity_plural((int64_t)count), COLUMNS, header);
    *row = (struct image_row){words[0], words[1], words[2], words[3], words[4], 0};
    return check_row(row, error) ? -1 : 1;
}

struct images *images_parse(struct arena *arena, struct text source, const char *name,
                            struct error *error)
{
    struct images *images = arena_allocate(arena, sizeof(*images));
    size_t lines = 1;
    for (size_t i = 0; i < source.length; i++)
        lines += source.data[i] == '\n';
    images->rows = arena_allocate(arena, lines * sizeof(*images->rows));

    struct text copy = arena_text(arena, source.data, source.length);
    struct text line;
    for (int number = 1; text_next(&copy, '\n', &line); number++) {
        struct image_row *row = &images->rows[images->count];
        int found = parse_line(line, row, error);
        if (found < 0) {
            error_prefix(error, "%s:%d", name, number);
            return NULL;
        }
        row->line = number;
        images->count += (size_t)found;
    }
    return images;
}

static bool column_covers(struct text wide, struct text narrow)
{
    return text_is(wide, "*") || text_equal(wide, narrow);
}

static bool image_serves(struct text image, bool host)
{
    return host || !text_is(image, "host");
}

/* Does the earlier version match every job that the later one matches?  `*` matches only jobs that
 * name no version, which every other row matches, too. */
static bool version_hides(struct text earlier, struct text later)
{
    return text_is(later, "*") || (!text_is(earlier, "*") && host_version_begins(earlier, later));
}

/* The earlier row that matches whatever `row` matches, or NULL. */
static const struct image_row *hidden_by(const struct image_row *rows, size_t count,
                                         const struct image_row *row)
{
    for (size_t i = 0; i < count; i++)
        if (image_serves(rows[i].image, text_is(row->image, "host")) &&
            column_covers(rows[i].library, row->library) &&
            version_hides(rows[i].version, row->version) &&
            column_covers(rows[i].type, row->type) &&
            column_covers(rows[i].accelerator, row->accelerator))
            return &rows[i];
    return NULL;
}

size_t images_report(struct text source, const char *name, struct buffer *report, size_t *warnings)
{
    struct image_row *rows = NULL;
    size_t count = 0, capacity = 0, faults = 0;
    struct text line;
    for (int number = 1; text_next(&source, '\n', &line); number++) {
        struct error error;
        rows = memory_grow(rows, count, &capacity, sizeof(*rows));
        int found = parse_line(line, &rows[count], &error);
        if (found < 0) {
            buffer_printf(report, "%s:%d: %s\n", name, number, error.text);
            faults++;
        }
        if (found <= 0)
            continue;
        rows[count].line = number;
        const struct image_row *earlier = hidden_by(rows, count, &rows[count]);
        if (earlier) {
            buffer_printf(report,
                          "%s:%d: warning: this row is never reached: line %d matches all that "
                          "it matches\n",
                          name, number, earlier->line);
            ++*warnings;
        }
        count++;
    }
    free(rows);
    return faults;
}

/* The library on this machine; NULL: none, or not known. */
static const struct host_library *on_machine(const struct image_query *query)
{
    return query->machine ? host_find(query->machine, query->library) : NULL;
}

static bool version_fits(struct text row, struct text asked)
{
    return asked.length == 0 || (!text_is(row, "*") && host_version_begins(row, asked));
}

/* Does the machine have what the row and the job require? */
static bool machine_fits(const struct image_row *row, const struct image_query *query,
                         struct text accelerator)
{
    const struct host_library *library = on_machine(query);
    return library && (library->gpus || text_is(accelerator, "none")) &&
           (text_is(row->version, "*") || host_version_begins(library->version, row->version)) &&
           host_version_begins(library->version, query->version);
}

static bool row_fits(const struct image_row *row, const struct image_query *query)
{
    struct text accelerator = query->accelerator.length ? query->accelerator : TEXT("none");
    if (!image_serves(row->image, query->host) || !column_covers(row->library, query->library) ||
        !column_covers(row->type, query->type) || !column_covers(row->accelerator, accelerator))
        return false;
    return query->machine && text_is(row->image, "host")
               ? machine_fits(row, query, accelerator)
               : version_fits(row->version, query->version);
}

const struct image_row *images_find(const struct images *images, const struct image_query *query)
{
    for (size_t i = 0; i < images->count; i++)
        if (row_fits(&images->rows[i], query))
            return &images->rows[i];
    return NULL;
}

struct text images_version(const struct image_row *row, const struct image_query *query)
{
    const struct host_library *library = text_is(row->image, "host") ? on_machine(query) : NULL;
    if (library)
        return library->version;
    return text_is(row->version, "*") ? TEXT("") : row->version;
}

void images_tell_versions(const struct images *images, const struct image_query *query,
                          struct buffer *out)
{
    const struct host_library *library = query->host ? on_machine(query) : NULL;
    size_t before = out->length;
    if (library)
        buffer_printf(out, "%.*s on this machine%s", (int)library->version.length,
                      library->version.data, library->gpus ? "" : ", without GPUs");
    for (size_t i = 0; i < images->count; i++) {
        const struct image_row *row = &images->rows[i];
        if (text_is(row->image, "host") || text_is(row->version, "*") ||
            !column_covers(row->library, query->library) || !column_covers(row->type, query->type))
            continue;
        buffer_printf(out, "%s%.*s (line %d, accelerator %.*s)", out->length > before ? "; " : "",
                      (int)row->version.length, row->version.data, row->line,
                      (int)row->accelerator.length, row->accelerator.data);
    }
}

bool images_serve(const struct images *images, struct text library, struct text type, bool host)
{
    for (size_t i = 0; i < images->count; i++)
        if (image_serves(images->rows[i].image, host) &&
            column_covers(images->rows[i].library, library) &&
            column_covers(images->rows[i].type, type))
            return true;
    return false;
}

bool images_host_counts(const char *executor, const struct value *site)
{
    if (strcmp(executor, "slurm") == 0)
        return text_is(value_get_text(value_get(site, "slurm"), "container"), "none");
    return strcmp(executor, "local") == 0;
}
