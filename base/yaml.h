/* base/yaml.h - YAML text to value trees and back
 *
 * Reading is into a bounded tree, by libyaml where it cannot be done more quickly
 * (base/yaml_quick.h).  Accepted is one document of the
 * part of YAML 1.2 that is JSON's data model: no aliases, anchors, tags, merge keys or duplicate
 * keys; keys are scalars, and strings whatever they look like; plain scalars follow the YAML 1.2
 * core schema, save that a number with superfluous leading zeros is a string (`no`, `010`, `1_000`
 * and dates stay strings; true, null, 1, 1.5, 1e3, 0x10, 0o7 do not) and a number must be finite.
 * Everything else is an error that gives file, line and column.
 *
 * Writing quotes every string with double quotes, so that no value can be taken for anything
 * else, and keeps the order of members.  What is written reads back as an equal tree, and is what
 * libyaml would write, to the byte.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/error.h"
#include "base/value.h"
#include "base/yaml_limits.h"

extern const struct yaml_limits yaml_request_limits; /* 1 MiB, 10,000 nodes, depth 32 */
extern const struct yaml_limits yaml_trusted_limits; /* 16 MiB, 1,000,000 nodes, depth 100 */

/* Read one document.  `name` is the file's name for sentences.  An empty document is null.
 * NULL and a sentence on failure. */
struct value *yaml_read(struct arena *arena, struct text source, const char *name,
                        const struct yaml_limits *limits, struct error *error);

/* The same for text that is part of a file: its first byte stands at `origin` there. */
struct value *yaml_read_at(struct arena *arena, struct text source, const char *name,
                           struct yaml_origin origin, const struct yaml_limits *limits,
                           struct error *error);

/* The same, but accept features that JSON's data model lacks, for files written for other
 * readers: anchors and aliases (an alias shares its anchor's value, and counts against the
 * limits as if it were written out), merge keys, and the tags !!str, !!int, !!float, !!bool,
 * !!null, !!seq, !!map and !. *beyond has the place of the first one, and the sentence with
 * which yaml_read() would refuse it, which is NULL when there is none. */
struct yaml_beyond {
    const char *sentence;
    uint32_t line, column;
};
struct value *yaml_read_beyond(struct arena *arena, struct text source, const char *name,
                               const struct yaml_limits *limits, struct yaml_beyond *beyond,
                               struct error *error);

/* Read every document of a stream into a list. */
struct value *yaml_read_all(struct arena *arena, struct text source, const char *name,
                            const struct yaml_limits *limits, struct error *error);

/* Append the tree as a YAML document.  -1 and a sentence when a string is not UTF-8, a number is
 * not finite, or the tree holds a function. */
int yaml_write(struct buffer *out, const struct value *value, struct error *error);
/* Is the key written without quotes?  False for words that some YAML reader takes for something else than a string. */
bool yaml_key_is_plain(struct text key);

#endif
