/* client/preview_tree.h - what another commit of the templates would change, as JSON */
#ifndef CLIENT_PREVIEW_TREE_H
#define CLIENT_PREVIEW_TREE_H

#include "stages/preview/preview.h"

/* As `dlspool plan REVISION --json` prints it, in the preview's arena; the commits that were compared. */
struct value *preview_tree_make(const struct preview *preview, const char *before,
                                const char *after, int days);

#endif
