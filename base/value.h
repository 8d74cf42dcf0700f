/* base/value.h - the value tree: null, boolean, number, string, list, object
 *
 * The one shape in which requests, templates, contexts, manifests, settings and job records are
 * held.  A tree lives in an arena and is freed with it.  Trees are treated as immutable once
 * built: parts may be shared between trees of the same arena.
 *
 * Numbers are doubles, as in JSON-e's first implementation (JavaScript): whole numbers are exact
 * up to 2^53.  Objects keep the order in which members were added; a key occurs once.
 *
 * A value that came from a file knows the line and column (both from 1) where it starts; built
 * values have line 0.  A member knows where its key starts.
 */
#ifndef BASE_VALUE_H
#define BASE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"

enum value_kind {
    VALUE_NULL,
    VALUE_BOOLEAN,
    VALUE_NUMBER,
    VALUE_STRING,
    VALUE_LIST,
    VALUE_OBJECT,
    VALUE_FUNCTION /* only inside the renderer; never in a file */
};

struct value;
struct function; /* renderer/'s own */

struct member {
    struct text key;
    struct value *value;
    uint32_t line, column; /* of the key */
};

struct value {
    enum value_kind kind;
    uint32_t line, column;
    union {
        bool boolean;
        struct {
            double number;
            struct text written; /* as it stood in the file (`1.10`); empty when built */
        };
        struct text string;
        struct {
            struct value **items;
            size_t count, capacity;
        } list;
        struct {
            struct member *members;
            size_t count, capacity;
            uint32_t *slots; /* hash table over members; NULL while the object is small */
            size_t slot_count;
        } object;
        const struct function *function;
    };
};

struct value *value_null(struct arena *arena);
struct value *value_boolean(struct arena *arena, bool boolean);
struct value *value_number(struct arena *arena, double number);
struct value *value_text(struct arena *arena, struct text string);   /* shares the bytes */
struct value *value_string(struct arena *arena, const char *string); /* copies the bytes */
struct value *value_list(struct arena *arena);
struct value *value_object(struct arena *arena);

void value_append(struct arena *arena, struct value *list, struct value *item);

/* Set a member; an existing one of that key is replaced in its place.  The key's bytes are shared. */
struct member *value_set(struct arena *arena, struct value *object, struct text key,
                         struct value *value);
/* The same for a key that is known not to be there yet. */
struct member *value_add(struct arena *arena, struct value *object, struct text key,
                         struct value *value);
/* Set a member with a literal key. */
void value_put(struct arena *arena, struct value *object, const char *key, struct value *value);

/* The member of that key, or NULL when there is none or `object` is NULL or not an object. */
struct member *value_member(const struct value *object, struct text key);
struct value *value_get(const struct value *object, const char *key);

/* Text of a string member, or the empty text with data NULL when it is absent or not a string. */
struct text value_get_text(const struct value *object, const char *key);
double value_get_number(const struct value *object, const char *key, double otherwise);
bool value_get_boolean(const struct value *object, const char *key, bool otherwise);

/* The number of items; 0 when `list` is NULL or not a list. */
size_t value_length(const struct value *list);

/* The first item of a list that is an object whose member `key` is that string, or NULL. */
struct value *value_find(const struct value *list, const char *key, struct text string);

bool value_equal(const struct value *a, const struct value *b); /* deep; order of keys is free */

/* A copy of an object that shares its members' values; NULL gives an empty one. */
struct value *value_copy_members(struct arena *arena, const struct value *object);

/* A deep copy in another arena. */
struct value *value_copy(struct arena *arena, const struct value *value);

/* "null", "boolean", "number", "string", "list", "object", "function": for sentences. */
const char *value_kind_name(enum value_kind kind);

/* The member indexes of an object in the order of its keys by Unicode code point (the same as by
 * bytes); `count` of them, in the arena. */
size_t *value_sorted(struct arena *arena, const struct value *object);

/* The shortest decimal text that reads back as the same double, written as ECMAScript's
 * Number::toString writes it (1, 0.1, 1e+21, -5e-7).  `buffer` must hold NUMBER_TEXT_SIZE bytes. */
enum { NUMBER_TEXT_SIZE = 40 };
size_t value_format_number(double number, char *buffer);

#endif
