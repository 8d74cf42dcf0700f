/* base/text.c - strings that carry their length, and a buffer that grows */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop_without_memory(size_t bytes)
{
    fprintf(stderr, "dlspool: out of memory (%zu bytes wanted)\n", bytes);
    abort();
}

void *memory_allocate(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        stop_without_memory(bytes);
    return memory;
}

void *memory_resize(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes ? bytes : 1);
    if (!memory)
        stop_without_memory(bytes);
    return memory;
}

size_t memory_more(size_t capacity)
{
    return capacity ? 2 * capacity : 4;
}

void *memory_grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = memory_more(*capacity);
    return memory_resize(items, *capacity * size);
}

char *memory_copy_string(const char *string)
{
    size_t length = strlen(string) + 1;
    return memcpy(memory_allocate(length), string, length);
}

char *memory_copy_text(struct text text)
{
    char *copy = memory_allocate(text.length + 1);
    if (text.length)
        memcpy(copy, text.data, text.length);
    return copy;
}

struct text text_of(const char *string)
{
    return (struct text){string, string ? strlen(string) : 0};
}

bool text_equal(struct text a, struct text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

bool text_is(struct text a, const char *string)
{
    return text_equal(a, text_of(string));
}

int text_compare(struct text a, struct text b)
{
    size_t shorter = a.length < b.length ? a.length : b.length;
    int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
    if (order)
        return order;
    return a.length < b.length ? -1 : a.length > b.length;
}

bool text_starts(struct text a, const char *prefix)
{
    size_t length = strlen(prefix);
    return a.length >= length && memcmp(a.data, prefix, length) == 0;
}

void text_copy(char *buffer, size_t size, struct text text)
{
    snprintf(buffer, size, "%.*s", (int)text.length, text.length ? text.data : "");
}

bool text_ends(struct text a, const char *suffix)
{
    size_t length = strlen(suffix);
    return a.length >= length && memcmp(a.data + a.length - length, suffix, length) == 0;
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

struct text text_trim(struct text a)
{
    while (a.length && is_space(a.data[0])) {
        a.data++;
        a.length--;
    }
    while (a.length && is_space(a.data[a.length - 1]))
        a.length--;
    return a;
}

bool text_contains(struct text haystack, struct text needle)
{
    if (needle.length == 0)
        return true;
    return haystack.length && memmem(haystack.data, haystack.length, needle.data, needle.length);
}

bool text_next(struct text *rest, char separator, struct text *piece)
{
    if (!rest->data)
        return false;
    const char *end = rest->length ? memchr(rest->data, separator, rest->length) : NULL;
    if (!end) {
        *piece = *rest;
        *rest = (struct text){NULL, 0};
        return true;
    }
    *piece = (struct text){rest->data, (size_t)(end - rest->data)};
    rest->length -= piece->length + 1;
    rest->data = end + 1;
    return true;
}

bool text_is_label(struct text text, size_t longest)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bool inner = i > 0 && i + 1 < text.length;
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && inner)))
            return false;
    }
    return text.length > 0 && text.length <= longest;
}

int64_t text_take_number(struct text *rest, int64_t most)
{
    int64_t number = 0;
    size_t length = 0;
    for (; length < rest->length && rest->data[length] >= '0' && rest->data[length] <= '9';
         length++) {
        int64_t digit = rest->data[length] - '0';
        if (digit > most || number > (most - digit) / 10)
            return -1;
        number = number * 10 + digit;
    }
    if (!length)
        return -1;
    *rest = (struct text){rest->data + length, rest->length - length};
    return number;
}

int64_t text_number(struct text text, int64_t most)
{
    int64_t number = text_take_number(&text, most);
    return text.length ? -1 : number;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    if (buffer->data)
        buffer->data[0] = '\0';
}

void buffer_fit(struct buffer *buffer)
{
    if (buffer->capacity <= buffer->length + 1)
        return;
    buffer->capacity = buffer->length + 1;
    buffer->data = memory_resize(buffer->data, buffer->capacity);
}

char *buffer_reserve(struct buffer *buffer, size_t bytes)
{
    if (bytes > SIZE_MAX / 2 - buffer->length)
        stop_without_memory(bytes);
    size_t wanted = buffer->length + bytes + 1;
    if (wanted > buffer->capacity) {
        size_t capacity = buffer->capacity ? buffer->capacity : 256;
        while (capacity < wanted)
            capacity *= 2;
        buffer->data = memory_resize(buffer->data, capacity);
        buffer->capacity = capacity;
    }
    return buffer->data + buffer->length;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t length)
{
    char *end = buffer_reserve(buffer, length);
    if (length)
        memcpy(end, bytes, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
}

void buffer_add_byte(struct buffer *buffer, char byte)
{
    buffer_add(buffer, &byte, 1);
}

void buffer_add_string(struct buffer *buffer, const char *string)
{
    buffer_add(buffer, string, strlen(string));
}

void buffer_add_text(struct buffer *buffer, struct text text)
{
    buffer_add(buffer, text.data, text.length);
}

void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    size_t free_bytes = 128;
    char *end = buffer_reserve(buffer, free_bytes);
    int length = vsnprintf(end, free_bytes, format, arguments);
    if (length > 0 && (size_t)length >= free_bytes) {
        end = buffer_reserve(buffer, (size_t)length);
        vsnprintf(end, (size_t)length + 1, format, again);
    }
    va_end(again);
    if (length > 0)
        buffer->length += (size_t)length;
    buffer->data[buffer->length] = '\0';
}

void buffer_add_count(struct buffer *buffer, size_t count)
{
    char digits[24], *from = digits + sizeof(digits);
    do {
        *--from = (char)('0' + count % 10);
        count /= 10;
    } while (count);
    buffer_add(buffer, from, (size_t)(digits + sizeof(digits) - from));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(buffer, format, arguments);
    va_end(arguments);
}

struct text buffer_text(const struct buffer *buffer)
{
    return (struct text){buffer->data ? buffer->data : "", buffer->length};
}
