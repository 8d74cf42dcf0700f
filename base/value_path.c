/* base/value_path.c - the path to a value in its document */
#include "base/value_path.h"

#include "base/error.h"

void value_path_add(struct buffer *out, const struct value_path *path)
{
    struct error_quote_buffer buffer;
    if (!path)
        return;
    value_path_add(out, path->above);
    if (!path->name.data)
        buffer_printf(out, "[%zu]", path->index);
    else
        buffer_printf(out, "%s%s", path->above ? "." : "",
                      path->name.length ? error_quote(&buffer, path->name.data, path->name.length)
                                        : "\"\"");
}

void value_path_add_found(struct buffer *out, const struct value *value)
{
    struct error_quote_buffer buffer;
    char number[NUMBER_TEXT_SIZE];
    switch (value->kind) {
    case VALUE_NULL:
        buffer_add_string(out, "nothing");
        break;
    case VALUE_BOOLEAN:
        buffer_add_string(out, value->boolean ? "true" : "false");
        break;
    case VALUE_NUMBER:
        if (value->written.length)
            buffer_add_string(out,
                              error_quote(&buffer, value->written.data, value->written.length));
        else
            buffer_add(out, number, value_format_number(value->number, number));
        break;
    case VALUE_STRING:
        buffer_printf(out, "\"%s\"",
                      error_quote(&buffer, value->string.data, value->string.length));
        break;
    default:
        buffer_add_string(out, value->kind == VALUE_LIST ? "a list" : "a map");
    }
}
