/* base/json.h - JSON text to value trees and back
 *
 * Read is RFC 8259 in UTF-8, without duplicate keys (json_direct.h).
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/error.h"
#include "base/value.h"
#include "base/yaml.h"

/* Read one document, bounded like YAML.  NULL and a sentence on failure. */
struct value *json_read(struct arena *arena, struct text source, const char *name,
                        const struct yaml_limits *limits, struct error *error);

/* Replace comments, which JSON does not have, by blanks, so that lines and columns stay: `//`
 * outside strings, up to the end of the line.  *first is the start of the first one in `source`,
 * or NULL; without any, the result is `source` itself. */
struct text json_blank_comments(struct arena *arena, struct text source, const char **first);

/* The text after white space and comments at the start. */
struct text json_after_comments(struct text source);

/* The same, but step over the value of each member, at any depth, whose name is in `unread`, which ends with NULL:
 * it is null in the tree.  For what is large and not looked at.  The places of values are not right. */
struct value *json_read_without(struct arena *arena, struct text source, const char *name,
                                const char *const *unread, const struct yaml_limits *limits,
                                struct error *error);

/* Append the tree as JSON without spaces; with `sorted`, keys in the order of code points.
 * -1 and a sentence when the tree holds a function or a number that is not finite. */
int json_write(struct buffer *out, const struct value *value, bool sorted, struct error *error);

/* The tree as such JSON, in the arena; empty when json_write() would fail. */
struct text json_text(struct arena *arena, const struct value *value);

#endif
