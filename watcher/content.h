/* watcher/content.h - does the content of a job file say that it is all there?
 *
 * Of the beginnings of an ordinary YAML request nearly half parse with every required key and a
 * wrong value, so that a file parses proves nothing.  What does prove something:
 *
 *   CONTENT_COMPLETE   the writer said that this is the end: a JSON object or list that closes,
 *                      or YAML whose last line is `...` (which no line of a document may be)
 *   CONTENT_PLAUSIBLE  the last line is whole: it ends in a newline
 *   CONTENT_OPEN       so it is, in the midst of what may go on: a batch script, or a value that
 *                      is written over several lines, as `script: |` is
 *   CONTENT_CUT        the last line is not whole
 *   CONTENT_UNCLOSED   a JSON object or list does not close
 *   CONTENT_FOREIGN    it is no text: its first bytes say what it is (base/file_kind.h)
 *   CONTENT_EMPTY      no bytes, or only white space
 *   CONTENT_UNKNOWN    it could not be read
 *
 * This judges the end only.  Whether it is a good request is not asked here: JSON that closes but
 * is not well-formed is PLAUSIBLE, and whoever reads it says what is wrong with it.
 *
 * Known weakness: YAML and scripts that were cut just after a newline are PLAUSIBLE or OPEN.
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
