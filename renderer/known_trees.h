/* renderer/known_trees.h - rendered trees that were found good, to skip equal ones
 *
 * Two trees are equal when they have the same values (numbers bit by bit) and the same members in
 * the same order, so that they are written as the same bytes.  They are compared by SHA-256.  At
 * most MOST_KNOWN_TREES are remembered; later ones are always unknown.
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
