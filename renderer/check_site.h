/* renderer/check_site.h - is what site.yaml says of other systems' places, of homes and of ports,
 * well-formed?
 *
 * Only what dlspool itself reads of site.yaml, where a mistake would otherwise show as a place that
 * is not found, and the word for homes, where it would be taken for `none`.  What else templates read
 * shows when they are rendered.
 */
#ifndef RENDERER_CHECK_SITE_H
#define RENDERER_CHECK_SITE_H

#include "base/error.h"
#include "base/value.h"

/* 0, or -1 and a sentence with file, line and field about the first fault. */
int check_site(const struct value *site, struct error *error);

#endif
