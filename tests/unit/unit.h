/* tests/unit/unit.h - what the unit tests share */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A new directory below $TMPDIR; unit_remove() removes it with all that is in it. */
static inline char *unit_directory(void)
{
    const char *parent = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof(path), "%s/dlspool-unit.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(path))
        abort();
    return strdup(path);
}

static inline void unit_remove(char *path)
{
    char command[4200];
    snprintf(command, sizeof(command), "rm -rf '%s'", path);
    if (system(command) != 0)
        abort();
    free(path);
}

#endif
