/* web/form_tree.h - a form whose names have brackets, as a tree: taskRoles[0][name]=worker
 *
 * So JavaScript's `request` and `qs` send an object as a form.  All values are texts.  Members whose names are the
 * numbers from 0 on are a list.
 */
#ifndef WEB_FORM_TREE_H
#define WEB_FORM_TREE_H

#include "base/error.h"
#include "web/form.h"

enum { FORM_TREE_DEEPEST = 16 };

/* The tree, in the arena.  NULL and a sentence when a name is both a value and an object, or too deep. */
struct value *form_tree_build(struct arena *arena, const struct form *form, struct error *error);

#endif
