/* executors/base64.h - bytes from base64 (RFC 4648) */
#ifndef EXECUTORS_BASE64_H
#define EXECUTORS_BASE64_H

#include "base/text.h"

/* Append the bytes of base64 text, in which white space is allowed; with `url`, of the alphabet for URLs
 * without padding (section 5), and without white space.  -1 when it is something else. */
int base64_decode(struct buffer *out, struct text text, bool url);

#endif
