/* renderer/check_site.h - check the parts of site.yaml that dlspool reads
 *
 * These are locations of other systems and ports, where a mistake would otherwise show as a
 * location that is not found, and the word for homes, where it would count as `none`.  Mistakes in
 * what templates read show when they are rendered.
 */
#ifndef RENDERER_CHECK_SITE_H
#define RENDERER_CHECK_SITE_H

#include "base/error.h"
#include "base/value.h"

/* 0, or -1 and a sentence with file, line and field about the first fault. */
int check_site(const struct value *site, struct error *error);

#endif
