/* tests/unit/least_templates.h - a templates.git with a retry.txt and the least of else, for stages that read it */
#ifndef TESTS_UNIT_LEAST_TEMPLATES_H
#define TESTS_UNIT_LEAST_TEMPLATES_H

#include <limits.h>
#include <unistd.h>

#include "tests/unit/scratch_repository.h"
#include "tests/unit/unit.h"

static struct scratch least_templates;

static inline void close_least_templates(void)
{
    scratch_close(&least_templates);
}

/* Give the spool at `path` one, the same for all tests of a program. */
static inline void give_least_templates(const char *path)
{
    char name[PATH_MAX];
    if (!least_templates.git) {
        scratch_open(&least_templates);
        scratch_put(&least_templates, "retry.txt", "exit 75 transient\n");
        scratch_put(&least_templates, "images.txt", "any * single * host\n");
        scratch_put(&least_templates, "site.yaml", "{}\n");
        scratch_commit(&least_templates);
        atexit(close_least_templates);
    }
    snprintf(name, sizeof(name), "%s/templates.git", path);
    assert_int_equal(symlink(least_templates.path, name), 0);
}

#endif
