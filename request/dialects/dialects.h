/* request/dialects/dialects.h - which dialect a job file is written in, and reading it
 *
 * The only module that knows every dialect.
 */
#ifndef REQUEST_DIALECTS_DIALECTS_H
#define REQUEST_DIALECTS_DIALECTS_H

#include "base/error.h"
#include "request/description.h"

/* Read a job file.  `name` is the dropped file's name: its suffix and the first bytes decide the
 * dialect (YAML, JSON, batch script).  NULL and a sentence with file, line, column, field, what was
 * found and what was expected, on failure. */
struct description *dialects_read(struct arena *arena, struct text source, const char *name,
                                  struct error *error);

#endif
