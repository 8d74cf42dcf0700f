/* renderer/jsone/collections.h - the operators on lists and objects, for the table in operators.c
 *
 * Each renders its operation and returns as the functions of render.h do.
 */
#ifndef RENDERER_JSONE_COLLECTIONS_H
#define RENDERER_JSONE_COLLECTIONS_H

#include "renderer/jsone/compiled.h"

struct value *collection_map(struct interpreter *self, const struct operation *operation);
struct value *collection_reduce(struct interpreter *self, const struct operation *operation);
struct value *collection_find(struct interpreter *self, const struct operation *operation);
struct value *collection_sort(struct interpreter *self, const struct operation *operation);
struct value *collection_reverse(struct interpreter *self, const struct operation *operation);
struct value *collection_flatten(struct interpreter *self, const struct operation *operation);
struct value *collection_flatten_deep(struct interpreter *self, const struct operation *operation);
struct value *collection_merge(struct interpreter *self, const struct operation *operation);
struct value *collection_merge_deep(struct interpreter *self, const struct operation *operation);

#endif
