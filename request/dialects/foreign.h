/* request/dialects/foreign.h - files that are meant for another program, and what to do instead
 *
 * Told before the fields are read, so that a manifest of another system is one mistake with a
 * sentence, not one for each of its fields; and so that a program is not taken for a job file.
 */
#ifndef REQUEST_DIALECTS_FOREIGN_H
#define REQUEST_DIALECTS_FOREIGN_H

#include "request/problems.h"

/* Add a problem when the tree is a file of another system, or the text a program or a file of
 * another kind, which `name` and its first lines tell; true then. */
bool foreign_tree(struct reading *reading, const struct value *root);
bool foreign_text(struct reading *reading, struct text source, struct text name);

#endif
