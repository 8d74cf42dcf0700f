/* base/mask.h - hides text that looks like a secret
 *
 * For output that is quoted to people who may pass it on.  Hidden are the values of variables and
 * options whose names end with a word such as password, token or api_key; passwords in URLs; text
 * after `Authorization:` and `Bearer`; tokens with the prefixes of well-known services; and values
 * that the caller declared secret.  Six asterisks replace them.
 *
 * Known weakness: names are only a guess; a secret with another name is not found.
 */
#ifndef BASE_MASK_H
#define BASE_MASK_H

#include "base/text.h"
#include "base/value.h"

struct mask; /* values that are secret */

struct mask *mask_new(void);
void mask_free(struct mask *mask); /* NULL is fine */

/* Learn a value, each of its lines separately; lines shorter than 6 bytes are ignored. */
void mask_learn(struct mask *mask, struct text value);

/* Learn from a tree the values of members with a secret's name, the `value` of objects with such
 * a `name`, and the text that mask_write() would hide in other strings. */
void mask_learn_tree(struct mask *mask, const struct value *tree);

/* Append a line with its secrets hidden.  `mask` may be NULL. */
void mask_write(const struct mask *mask, struct text line, struct buffer *out);

#endif
