/* renderer/jsone/from_now.h - times as offsets from another, for $fromNow and fromNow() */
#ifndef RENDERER_JSONE_FROM_NOW_H
#define RENDERER_JSONE_FROM_NOW_H

#include "renderer/jsone/interpreter.h"

/* The time `offset` ("-1 day 2 h") after `reference`, a time as text (NULL: the rendering's clock).  NULL when
 * one of them is not of that form, which was raised. */
struct value *from_now(struct interpreter *self, struct text offset, const struct value *reference);

#endif
