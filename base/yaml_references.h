/* base/yaml_references.h - anchors, aliases and merge keys of YAML
 *
 * An alias shares the value that its anchor names: nothing is copied.  But a walk over the tree
 * visits the value each time, so an anchor has the count of its values and levels, and the reader
 * (base/yaml.c) counts them against its limits at each alias.
 */
#ifndef BASE_YAML_REFERENCES_H
#define BASE_YAML_REFERENCES_H

#include "base/value.h"

struct yaml_anchor {
    struct value *value;
    size_t nodes, height; /* in it, it included */
};

/* All anchors of a document.  Starts zeroed but for the arena. */
struct yaml_anchors {
    struct arena *arena;
    struct value *names; /* to places in `list` */
    struct yaml_anchor *list;
    size_t count, capacity;
};

/* Set an anchor.  It replaces an earlier one of that name from there on. */
void yaml_references_set_anchor(struct yaml_anchors *anchors, struct text name,
                                struct yaml_anchor anchor);

/* The anchor of that name; NULL when there is none on a complete value. */
const struct yaml_anchor *yaml_references_find_anchor(const struct yaml_anchors *anchors,
                                                      struct text name);

/* Merge keys: add to `object` the members that it lacks.  `source` is an object, or a list of
 * objects, where the first one with a key counts.  `merged` remembers which keys were merged, as
 * an explicit member replaces a merged one.  False, with nothing done, when `source` is anything
 * else. */
bool yaml_references_merge(struct arena *arena, struct value *object, struct value *merged,
                           const struct value *source);

/* May an explicit `key` replace a merged one that `object` has?  True once. */
bool yaml_references_take_merged(struct arena *arena, struct value *merged, struct text key);

#endif
