/* renderer/jsone/letters.h - upper and lower case of Unicode text
 *
 * Source: UnicodeData.txt and SpecialCasing.txt of Unicode 15, without the rules that depend on a
 * language.  They are tables here because the C library's depend on locale files, which a process
 * in a sandbox may not be able to read.
 */
#ifndef RENDERER_JSONE_LETTERS_H
#define RENDERER_JSONE_LETTERS_H

#include "renderer/jsone/interpreter.h"

/* The text in upper or lower case, or NULL when a limit was hit. */
struct value *letters_change(struct interpreter *self, struct text text, bool upper);

#endif
