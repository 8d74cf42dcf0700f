/* base/yaml_quick.h - reads the part of YAML that nearly all files keep to, without libyaml
 *
 * That part is ASCII; maps and lists in blocks, and in braces and brackets on one line; scalars on
 * one line, plain or in quotes; `|` and `|-`; comments; one document.  What dlspool writes is all of
 * it, and what people write mostly.  libyaml takes ten times as long: it makes a token and an event
 * of everything, each with memory of its own.
 *
 * Whatever is doubtful, or wrong, is left to libyaml, which says what is wrong: what is read here libyaml reads too, as
 * the same tree with the same places.  Tests and a fuzz target hold the two against each other.
 */
#ifndef BASE_YAML_QUICK_H
#define BASE_YAML_QUICK_H

#include "base/value.h"
#include "base/yaml_limits.h"

/* NULL when it is left to libyaml. */
struct value *yaml_quick_read(struct arena *arena, struct text source, struct yaml_origin origin,
                              const struct yaml_limits *limits);

#endif
