/* watcher/content.h - does the content of a job file say that it is all there?
 *
 * Nearly half of the prefixes of an ordinary YAML request parse with every required key and a wrong
 * value, so parsing proves nothing.  These do say something:
 *
 *   CONTENT_COMPLETE   the writer said that this is the end: a JSON object or list that closes,
 *                      or YAML whose last line is `...` (which no line of a document may be)
 *   CONTENT_PLAUSIBLE  the last line is whole: it ends in a newline CONTENT_OPEN       the same,
 *   but further lines could continue it: a batch script, or a value that
 *                      is written over several lines, as `script: |` is
 *   CONTENT_CUT        the last line is incomplete CONTENT_UNCLOSED   a JSON object or list does
 *   not close CONTENT_FOREIGN    not text: its first bytes say what it is (base/file_kind.h)
 *   CONTENT_EMPTY      no bytes, or only white space CONTENT_UNKNOWN    it could not be read
 *
 * Only the end is judged, not whether the request is valid: JSON that closes but is not well-formed
 * is PLAUSIBLE, and its reader says what is wrong with it.
 *
 * Known weakness: YAML and scripts cut off just after a newline are PLAUSIBLE or OPEN.
 */
#ifndef WATCHER_CONTENT_H
#define WATCHER_CONTENT_H

#include "base/text.h"

enum content {
    CONTENT_UNKNOWN,
    CONTENT_EMPTY,
    CONTENT_CUT,
    CONTENT_UNCLOSED,
    CONTENT_OPEN,
    CONTENT_PLAUSIBLE,
    CONTENT_FOREIGN,
    CONTENT_COMPLETE
};

enum content content_judge(struct text bytes);

#endif
