/* base/visible.h - makes untrusted output safe for a terminal
 *
 * A terminal obeys control characters: a job's output could set its title, clear it, or make it
 * type.  Here control characters become visible: ^[ for escape, as cat -v has it, ^? for delete,
 * \u009b for those of Unicode beyond ASCII and for what turns the order in which text is shown, \xff for a byte that
 * is not UTF-8.  Left as they are:
 * line ends, tabs, the carriage returns of progress bars, which stay on their line, and all other
 * UTF-8.
 */
#ifndef BASE_VISIBLE_H
#define BASE_VISIBLE_H

#include "base/text.h"

enum { VISIBLE_BEGUN = 3 };

/* The state of a stream: the bytes of an incomplete character.  Zero-initialise it. */
struct visible {
    char begun[VISIBLE_BEGUN];
    size_t count;
};

/* Append the next bytes of a stream. */
void visible_add(struct visible *visible, struct buffer *out, struct text bytes);
/* The stream has ended: append the bytes of an incomplete character. */
void visible_end(struct visible *visible, struct buffer *out);

/* Append JSON with the same meaning: control characters that JSON allows unescaped, and a
 * terminal obeys, become \u009b. */
void visible_add_json(struct buffer *out, struct text json);

#endif
