/* request/later.h - fields that a later version implements
 *
 * Their values are looked at for their shape only, so that a mistake is reported as the mistake it
 * is; fields_read() then says that the field is not yet supported.  Each is a field_reader that
 * never touches `into`.
 */
#ifndef REQUEST_LATER_H
#define REQUEST_LATER_H

#include "request/fields.h"

field_reader read_later_words; /* notify: a text, or a list of texts */

#endif
