/* base/names.h - a bounded table of names, in the order in which they came
 *
 * Names are raw bytes, at most 65,535 of them, none NUL.  Each has a payload of the size that was given
 * to names_new(), zeroed when the name is added; a payload's address is its handle and stays the
 * same until the name is removed.  Finding, adding and removing take constant time; the hash is
 * seeded, so that nobody can choose names that fall together.  Memory is bounded by the limit:
 * about 40 bytes, the payload and the name for each.
 */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include "base/text.h"

struct names;

struct names *names_new(size_t limit, size_t payload);
void names_free(struct names *names); /* NULL is fine */

void *names_find(const struct names *names, struct text name); /* NULL when it is not there */
void *names_add(struct names *names, struct text name); /* must not be there; NULL when full */
void names_remove(struct names *names, void *payload);

void *names_first(const struct names *names); /* the oldest; NULL when there is none */
void *names_after(void *payload);             /* the next younger one */
struct text names_text(const void *payload);  /* valid until removed; a NUL follows it */

size_t names_count(const struct names *names);
bool names_full(const struct names *names);

#endif
