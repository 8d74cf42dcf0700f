/* stages/notify/mime.h - text of any kind as parts of a mail: RFC 5322, 2045 and 2047, in ASCII
 *
 * Lines end in LF, as programs that take mail on standard input expect them.  Whatever the text, a header is one
 * header, and the body stays the body: in a header control characters are made blanks, and what is not ASCII, too
 * long or
 * means something at the start of a line is encoded.
 */
#ifndef STAGES_NOTIFY_MIME_H
#define STAGES_NOTIFY_MIME_H

#include "base/text.h"

/* Append "Name: text", in encoded words of UTF-8 where it must be. */
void mime_add_header(struct buffer *out, const char *name, struct text text);

/* Append the headers of the text's encoding, the empty line that ends headers, and the text. */
void mime_add_body(struct buffer *out, struct text text);

#endif
