/* base/file_kind.h - what a file that is not text is, by its first bytes
 *
 * For sentences to people who handed over the wrong file: an archive, a compressed file, an image,
 * a program, text in UTF-16.  The bytes are never unpacked.
 */
#ifndef BASE_FILE_KIND_H
#define BASE_FILE_KIND_H

#include "base/text.h"

/* What it is, and what to hand over instead: "a gzip file, expected the text of a job file; ...".
 * NULL when the first bytes do not say that it is anything but text. */
const char *file_kind(struct text bytes);

#endif
