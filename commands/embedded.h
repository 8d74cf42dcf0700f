/* commands/embedded.h - files of the source tree that are built into the program
 *
 * `dlspool init` therefore needs only the program: it has the first templates, images.txt, the
 * settings and the hook.  Paths are those in the new spool: "templates.git/...", "dlspool.yaml" and
 * "hooks/pre-receive".  tools/embed makes the table at build time.
 */
#ifndef COMMANDS_EMBEDDED_H
#define COMMANDS_EMBEDDED_H

#include <stddef.h>

#include "base/text.h"

struct embedded_file {
    const char *path; /* NULL ends the array */
    const unsigned char *bytes;
    size_t length;
};

extern const struct embedded_file embedded_files[];

/* The bytes of the file at `path`; data is NULL when there is none. */
struct text embedded_find(const char *path);

#endif
