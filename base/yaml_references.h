/* base/yaml_references.h - what stands for something else in YAML: anchors, aliases, merge keys
 *
 * An alias shares the value that its anchor names: nothing is copied.  But whoever walks the tree
 * meets the value each time, so an anchor knows how many values and levels it stands for, and the
 * reader (base/yaml.c) counts them against its bounds at each alias.
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

/* The later one of two with one name counts, from there on. */
void yaml_references_set_anchor(struct yaml_anchors *anchors, struct text name,
                                struct yaml_anchor anchor);

/* NULL when no value that is complete has that name. */
const struct yaml_anchor *yaml_references_find_anchor(const struct yaml_anchors *anchors,
                                                      struct text name);

/* Merge keys: add to `object` what it has not.  `source` is an object, or a list of them of which
 * the first that has a key gives it.  `merged` is an object that remembers which keys came so: a
 * key that is written out later takes their place.  False, with nothing done, when `source` is
 * anything else. */
bool yaml_references_merge(struct arena *arena, struct value *object, struct value *merged,
                           const struct value *source);

/* May `key` be written out though `object` has it already?  Once it may. */
bool yaml_references_take_merged(struct arena *arena, struct value *merged, struct text key);

#endif
