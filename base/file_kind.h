/* base/file_kind.h - the kind of a file that is not text, by its first bytes
 *
 * For sentences to people who handed over the wrong file: an archive, a compressed file, an image,
 * a program, text in UTF-16.  The bytes are never unpacked.
 */
#ifndef BASE_FILE_KIND_H
#define BASE_FILE_KIND_H

#include "base/text.h"

/* The kind, and what to give instead: "a gzip file, expected the text of a job file; ...".  NULL
 * when the first bytes look like text. */
const char *file_kind(struct text bytes);

#endif
