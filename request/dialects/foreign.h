/* request/dialects/foreign.h - recognise files of other programs, and say what to do instead
 *
 * Checked before the fields are read, so that another system's manifest is one problem, not one for
 * each of its fields, and so that a program is not read as a job file.
 */
#ifndef REQUEST_DIALECTS_FOREIGN_H
#define REQUEST_DIALECTS_FOREIGN_H

#include "request/problems.h"

/* Add a problem when the tree is another system's file, or when `name` and the first lines show
 * that the text is a program or another kind of file; true then. */
bool foreign_tree(struct reading *reading, const struct value *root);
bool foreign_text(struct reading *reading, struct text source, struct text name);

#endif
