/* base/json_direct.h - JSON text to a value tree, in one pass
 *
 * What json_read() (json.h) reads with.  It accepts RFC 8259 in UTF-8, no key twice in an object and no NUL in a
 * key, and numbers that a double can hold; the same as jansson, which is asked to say what is wrong with the
 * rest, save for a NUL behind a number.
 */
#ifndef BASE_JSON_DIRECT_H
#define BASE_JSON_DIRECT_H

#include "base/error.h"
#include "base/value.h"
#include "base/yaml.h"

/* Read one document.  Values of members whose name is in `unread` (as it is written; at most 127 names; NULL: of
 * none) are stepped over, and null in the tree; the places of what follows are not right then.  NULL when it is not
 * well-formed, and `error` stays as it was; or when it exceeds the limits, which are those of json_read() save for
 * the bytes, with the sentence in `error`. */
struct value *json_direct_read(struct arena *arena, struct text source, const char *name,
                               const struct yaml_limits *limits, const char *const *unread,
                               struct error *error);

#endif
