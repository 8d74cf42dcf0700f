/* base/labels.h - the labels of a series, as Prometheus reads them */
#ifndef BASE_LABELS_H
#define BASE_LABELS_H

#include "base/text.h"

enum { LABEL_LONGEST = 64 }; /* bytes of a value */

/* Append `key="value"`, after a comma if something is there already.  The value is cut, what would end it escaped, and
 * what is no UTF-8, or a control character, made a question mark. */
void labels_add(struct buffer *labels, const char *key, struct text value);

#endif
