/* renderer/known_trees.h - rendered trees that were found good, so that the same is not looked at
 * twice
 *
 * Two trees are the same when they have the same values, numbers to the bit, and the same members
 * in the same order: then they are written as the same bytes.  They are told by the SHA-256 of all
 * that. At most MOST_KNOWN_TREES are remembered; what comes after is always unknown.
 */
#ifndef RENDERER_KNOWN_TREES_H
#define RENDERER_KNOWN_TREES_H

#include "base/sha256.h"
#include "base/value.h"

enum { MOST_KNOWN_TREES = 16384 };

struct known_trees;

struct tree_digest {
    unsigned char bytes[SHA256_SIZE];
};

struct known_trees *known_trees_new(void);
void known_trees_free(struct known_trees *known); /* NULL is fine */

struct tree_digest known_trees_digest(struct known_trees *known, const struct value *tree);
bool known_trees_has(const struct known_trees *known, const struct tree_digest *digest);
void known_trees_add(struct known_trees *known, const struct tree_digest *digest);

#endif
