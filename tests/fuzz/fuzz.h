/* tests/fuzz/fuzz.h - what the fuzz targets share
 *
 * A target is a file <name>_fuzz.c with one function, LLVMFuzzerTestOneInput(), that is given any
 * bytes and must come back: without a crash, a leak or undefined behaviour, in little time, with
 * nothing printed, and with every CHECK() true.  It keeps no state from call to call that could
 * change a result.  `make fuzz` links it with libFuzzer, `make fuzz-corpus` with runner.c.
 *
 * Where an input has several parts, a line of `---` stands between them, so that corpora are text.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* What has to be true. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The input as text. */
static inline struct text fuzz_text(const uint8_t *bytes, size_t length)
{
    return (struct text){(const char *)bytes, length};
}

/* Cut the part before the next line of `---` off the front of `rest`; all of it when there is no
 * such line. */
static inline struct text fuzz_part(struct text *rest)
{
    static const char mark[] = "\n---\n";
    struct text part = *rest;
    const char *found =
        rest->length ? memmem(rest->data, rest->length, mark, sizeof(mark) - 1) : NULL;
    if (!found) {
        *rest = TEXT("");
        return part;
    }
    part.length = (size_t)(found - rest->data) + 1;
    rest->data += part.length + sizeof(mark) - 2;
    rest->length -= part.length + sizeof(mark) - 2;
    return part;
}

/* The sentence of an error is there, ends, is UTF-8, and holds no control characters but line
 * ends between sentences.  Set text[0] to NUL before the call that is to fill it in. */
static inline void check_sentence(const struct error *error)
{
    const char *end = memchr(error->text, '\0', sizeof(error->text));
    CHECK(end && end > error->text);
    struct text text = {error->text, (size_t)(end - error->text)};
    CHECK(utf8_valid(text));
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        CHECK(byte == '\n' || (byte >= 0x20 && byte != 0x7f));
        CHECK(byte != 0xc2 || (unsigned char)text.data[i + 1] >= 0xa0);
    }
}

/* As texts of values are promised: UTF-8, and a NUL after them. */
static inline void check_text(struct text text)
{
    CHECK(text.data && utf8_valid(text) && text.data[text.length] == '\0');
}

/* A tree as files and templates give it: texts are texts, numbers finite, keys single, nothing
 * is a function. */
static inline void check_tree(const struct value *value)
{
    switch (value->kind) {
    case VALUE_NULL:
    case VALUE_BOOLEAN:
        return;
    case VALUE_NUMBER:
        CHECK(isfinite(value->number));
        return;
    case VALUE_STRING:
        check_text(value->string);
        return;
    case VALUE_LIST:
        for (size_t i = 0; i < value->list.count; i++)
            check_tree(value->list.items[i]);
        return;
    case VALUE_OBJECT:
        for (size_t i = 0; i < value->object.count; i++) {
            const struct member *member = &value->object.members[i];
            check_text(member->key);
            CHECK(value_member(value, member->key) == member);
            check_tree(member->value);
        }
        return;
    case VALUE_FUNCTION:
        break;
    }
    CHECK(!"a function in a tree");
}

/* As check_tree(), of what was read: everything knows its place in the file. */
static inline void check_places(const struct value *value)
{
    CHECK(value->line >= 1 && value->column >= 1);
    for (size_t i = 0; value->kind == VALUE_LIST && i < value->list.count; i++)
        check_places(value->list.items[i]);
    for (size_t i = 0; value->kind == VALUE_OBJECT && i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        CHECK(member->line >= 1 && member->column >= 1);
        check_places(member->value);
    }
}

/* Written as YAML the tree reads back as an equal one, and that is written the same. */
static inline void check_yaml_round_trip(struct arena *arena, const struct value *value)
{
    static const struct yaml_limits limits = {64 << 20, 10000000, 1000};
    struct buffer once = {0}, twice = {0};
    struct error error = {""};
    CHECK(yaml_write(&once, value, &error) == 0);
    CHECK(utf8_valid(buffer_text(&once)));
    const struct value *read = yaml_read(arena, buffer_text(&once), "written", &limits, &error);
    CHECK(read && value_equal(read, value));
    CHECK(yaml_write(&twice, read, &error) == 0);
    CHECK(text_equal(buffer_text(&once), buffer_text(&twice)));
    buffer_free(&once);
    buffer_free(&twice);
}

/* The same for JSON. */
static inline void check_json_round_trip(struct arena *arena, const struct value *value)
{
    static const struct yaml_limits limits = {64 << 20, 10000000, 1000};
    struct buffer once = {0}, twice = {0};
    struct error error = {""};
    CHECK(json_write(&once, value, true, &error) == 0);
    const struct value *read = json_read(arena, buffer_text(&once), "written", &limits, &error);
    CHECK(read && value_equal(read, value));
    CHECK(json_write(&twice, read, true, &error) == 0);
    CHECK(text_equal(buffer_text(&once), buffer_text(&twice)));
    buffer_free(&once);
    buffer_free(&twice);
}

#endif
