/* request/later.h - fields that a later version implements
 *
 * Only the form of their values is checked, so that a wrong value is reported as such;
 * fields_read() then says that the field is not yet supported.  Each is a field_reader that never
 * writes to `into`.
 */
#ifndef REQUEST_LATER_H
#define REQUEST_LATER_H

#include "request/fields.h"

field_reader read_later_words; /* notify: a text, or a list of texts */

#endif
