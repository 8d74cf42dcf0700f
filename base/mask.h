/* base/mask.h - what looks like a secret is not shown
 *
 * For text of strangers that is quoted to people who may pass it on: the values of variables and
 * options whose names end with a word such as password, token or api_key; passwords in URLs; what
 * stands after `Authorization:` and `Bearer`; tokens that begin as those of well-known services do;
 * and values that were told to be secret.  Six asterisks stand in their place.  It is a guess from
 * names: a secret under another name is not found.
 */
#ifndef BASE_MASK_H
#define BASE_MASK_H

#include "base/text.h"
#include "base/value.h"

struct mask; /* values that are secret */

struct mask *mask_new(void);
void mask_free(struct mask *mask); /* NULL is fine */

/* Learn a value, each of its lines for itself; shorter ones than 6 bytes say too little. */
void mask_learn(struct mask *mask, struct text value);

/* Learn, of a tree, the values of members with such a name; of objects with `name` and `value` also
 * the value; and what mask_write() would hide in other strings. */
void mask_learn_tree(struct mask *mask, const struct value *tree);

/* Append a line with its secrets hidden.  `mask` may be NULL. */
void mask_write(const struct mask *mask, struct text line, struct buffer *out);

#endif
