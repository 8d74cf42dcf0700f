/* base/text.h - strings that carry their length, and a buffer that grows
 *
 * `struct text` is a view: it owns nothing, and is valid as long as what it was taken from.  Its
 * bytes may contain NUL.  Text that base/arena.h or base/value.h hands out is always followed by
 * a NUL byte outside its length, so that it can also be given to C functions.
 *
 * `struct buffer` owns its bytes until buffer_free().  Zero-initialise it.  `data` is always
 * NUL-terminated once anything was added.  Out of memory stops the process with a message:
 * every input is bounded before it gets here.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct text {
    const char *data;
    size_t length; /* bytes */
};

#define TEXT(literal) ((struct text){(literal), sizeof(literal) - 1})

struct text text_of(const char *string); /* NULL gives the empty text */
bool text_equal(struct text a, struct text b);
bool text_is(struct text a, const char *string);
int text_compare(struct text a, struct text b); /* by bytes: <0, 0, >0, as memcmp */
bool text_starts(struct text a, const char *prefix);
bool text_ends(struct text a, const char *suffix);
struct text text_trim(struct text a); /* without spaces, tabs, CR, LF at both ends */
bool text_contains(struct text haystack, struct text needle);
/* Copy it into a buffer of `size` bytes, cut to fit, with a NUL behind it. */
void text_copy(char *buffer, size_t size, struct text text);

/* Cut the next piece up to `separator` off the front of `rest`; false when nothing is left. */
bool text_next(struct text *rest, char separator, struct text *piece);

/* Is it a DNS label (RFC 1123): lower-case letters, digits and inner hyphens, at most `longest` of them, but not
 * empty? */
bool text_is_label(struct text text, size_t longest);
/* Cut the digits off the front of *rest.  Their number; -1 when there is none, or it is above `most`. */
int64_t text_take_number(struct text *rest, int64_t most);
/* The number that the text is, digits and nothing else; -1 when it is none, or above `most`. */
int64_t text_number(struct text text, int64_t most);

struct buffer {
    char *data;
    size_t length, capacity; /* bytes; capacity counts the final NUL */
};

void buffer_free(struct buffer *buffer);
void buffer_clear(struct buffer *buffer);                  /* keeps the memory */
void buffer_fit(struct buffer *buffer);                    /* gives back room for more, if any */
char *buffer_reserve(struct buffer *buffer, size_t bytes); /* room for `bytes` more; their start */
void buffer_add(struct buffer *buffer, const void *bytes, size_t length);
void buffer_add_byte(struct buffer *buffer, char byte);
void buffer_add_string(struct buffer *buffer, const char *string);
void buffer_add_text(struct buffer *buffer, struct text text);
void buffer_add_count(struct buffer *buffer, size_t count); /* in decimal */
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments);
struct text buffer_text(const struct buffer *buffer); /* valid until the buffer changes */

/* malloc and friends that stop the process with a message instead of returning NULL; what
 * memory_allocate() returns is zeroed. */
void *memory_allocate(size_t bytes);
void *memory_resize(void *old, size_t bytes);
char *memory_copy_string(const char *string);
char *memory_copy_text(struct text text); /* with a NUL behind it */

/* Make space for one more element: `items`, from memory_resize(), has `count` elements of `size`
 * bytes and space for *capacity (0 when it is NULL).  Full space is doubled: items =
 * memory_grow(items, count, &capacity, sizeof(*items)). */
void *memory_grow(void *items, size_t count, size_t *capacity, size_t size);
size_t memory_more(size_t capacity); /* the next capacity of such an array */

#endif
