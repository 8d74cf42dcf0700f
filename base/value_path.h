/* base/value_path.h - the path to a value in its document, for sentences such as
 *
 *   train.yaml:7:11: tasks.worker.memory: found "lots", expected a size such as 512Mi or 16Gi
 */
#ifndef BASE_VALUE_PATH_H
#define BASE_VALUE_PATH_H

#include "base/value.h"

/* The way from the top of a document to a value: a chain on the stack of the readers. */
struct value_path {
    const struct value_path *above; /* NULL for a field at the top */
    struct text name;               /* of the member; data NULL for an item of a list */
    size_t index;                   /* of the item, from 0 */
};

/* Append `tasks[0].mounts`; nothing for NULL. */
void value_path_add(struct buffer *out, const struct value_path *path);

/* Append the value as found: `"lots"`, `3`, `true`, `nothing`, `a list`, `a map`. */
void value_path_add_found(struct buffer *out, const struct value *value);

#endif
