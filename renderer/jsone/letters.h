/* renderer/jsone/letters.h - upper and lower case of Unicode text, by letter_table.h */
#ifndef RENDERER_JSONE_LETTERS_H
#define RENDERER_JSONE_LETTERS_H

#include "renderer/jsone/interpreter.h"

/* The text in upper or lower case, or NULL when a limit was hit. */
struct value *letters_change(struct interpreter *self, struct text text, bool upper);

#endif
