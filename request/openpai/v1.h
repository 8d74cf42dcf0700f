/* request/openpai/v1.h - job files of OpenPAI and of SCM, as their own services read them
 *
 * Version 1 is JSON, checked by the schema of its REST server, and by the minimums in its manual:
 * see docs/openpai.md for each field.  SCM's dialect adds `storageGB` and `tmp`.
 */
#ifndef REQUEST_OPENPAI_V1_H
#define REQUEST_OPENPAI_V1_H

#include "request/description.h"
#include "request/fields.h"

bool openpai_v1_recognise(const struct value *root);

/* NULL after a problem. */
struct description *openpai_v1_read(struct reading *reading, const struct value *root);

#endif
