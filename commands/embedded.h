/* commands/embedded.h - files of the source tree that the program carries
 *
 * So that `dlspool init` needs nothing but the program: the first templates, images.txt, the
 * settings and the hook.  Paths are those in the new spool: "templates.git/..." and
 * "dlspool.yaml", "hooks/pre-receive".  Made by tools/embed at build time.
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

/* Its bytes; data NULL when there is none of that path. */
struct text embedded_find(const char *path);

#endif
