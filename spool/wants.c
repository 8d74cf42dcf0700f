/* spool/wants.c - what of a job its site gives only by approval */
#include "spool/wants.h"

#include <string.h>

#include "spool/limit_words.h"

bool wants_next(struct text *rest, struct text *entry)
{
    static const char between[] = "; ";
    if (!rest->length)
        return false;
    const char *end = memmem(rest->data, rest->length, between, sizeof(between) - 1);
    size_t length = end ? (size_t)(end - rest->data) : rest->length;
    size_t cut = end ? length + sizeof(between) - 1 : length;
    *entry = (struct text){rest->data, length};
    *rest = (struct text){rest->data + cut, rest->length - cut};
    return true;
}

bool wants_have(struct text wants, struct text entry)
{
    struct text found;
    while (wants_next(&wants, &found))
        if (text_equal(found, entry))
            return true;
    return false;
}

struct text wants_add(struct arena *arena, struct text wants, struct text entry)
{
    if (wants_have(wants, entry))
        return wants;
    return arena_printf(arena, "%.*s%s%.*s", (int)wants.length, wants.length ? wants.data : "",
                        wants.length ? "; " : "", (int)entry.length, entry.data);
}

struct text wants_of_row(struct arena *arena, const struct limit_row *row)
{
    struct buffer key = {0};
    limit_row_describe_limits(row, &key);
    struct text entry =
        arena_printf(arena, WANTS_LIMIT "%.*s", (int)key.length, key.length ? key.data : "");
    buffer_free(&key);
    return entry;
}

bool wants_have_row(struct text wants, const struct limit_row *row)
{
    if (!wants.length)
        return false;
    struct arena *arena = arena_new();
    bool result = wants_have(wants, wants_of_row(arena, row));
    arena_free(arena);
    return result;
}

static void describe_entry(struct text entry, struct buffer *out)
{
    const size_t head = sizeof(WANTS_LIMIT) - 1;
    if (!text_starts(entry, WANTS_LIMIT)) {
        buffer_add_text(out, entry);
        return;
    }
    buffer_add_string(out, "more than ");
    limit_words_add((struct text){entry.data + head, entry.length - head}, out);
}

void wants_describe(struct text wants, struct buffer *out)
{
    struct text entry;
    for (const char *between = ""; wants_next(&wants, &entry); between = "; ") {
        buffer_add_string(out, between);
        describe_entry(entry, out);
    }
}
