/* client/node_tree.h - the nodes of the executor, as JSON and as tables have them */
#ifndef CLIENT_NODE_TREE_H
#define CLIENT_NODE_TREE_H

#include "base/value.h"
#include "stages/shared/capacity_file.h"

/* As `dlspool nodes --json` prints them, dlspool-json(5).  `time`: when the daemon was told so; 0: the executor was
 * asked just now. */
struct value *node_tree_make(struct arena *arena, const struct capacity *capacity,
                             const struct nodes *nodes, int64_t time);

/* "a fan is broken (ann, 2026-11-26 10:00)": why it is not ready, whose reason that is and since when, as far as it is
 * known, on one line; else empty. */
struct text node_tree_why(struct arena *arena, const struct node *node);

/* "1 of 4 a100, 0 of 2 without a type": its GPUs, and how many are in use; "0" where it has none. */
struct text node_tree_gpus(struct arena *arena, const struct node *node);

/* The sentence for people where there are no nodes to show. */
struct text node_tree_none(struct arena *arena, const struct capacity *capacity);

#endif
