/* base/shared_library.h - opens a shared library when it is first needed
 *
 * A library that only one verb uses is not linked: loading it, and what it needs itself, would cost every command
 * some milliseconds.
 */
#ifndef BASE_SHARED_LIBRARY_H
#define BASE_SHARED_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

struct shared_library {
    const char *file_name;    /* libarchive.so.13 */
    const char *package;      /* Debian's, which has it */
    const char *purpose;      /* what needs it, with its verb: "archives need" */
    const char *const *names; /* of its functions */
    size_t count;
};

/* Open it for as long as the process lives, and set functions[i] to the function names[i].  -1 and a sentence
 * that names the package when it is not there or lacks a function. */
int shared_library_open(const struct shared_library *library, void *functions[],
                        struct error *error);

#endif
