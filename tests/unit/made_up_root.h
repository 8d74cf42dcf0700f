/* tests/unit/made_up_root.h - a tree in place of / for what reads /proc and control groups
 *
 * The test makes `root`, by unit_directory(), and removes it.
 */
#ifndef TESTS_UNIT_MADE_UP_ROOT_H
#define TESTS_UNIT_MADE_UP_ROOT_H

#include "tests/unit/unit.h"

#include <string.h>
#include <sys/stat.h>

static char *root;

/* Write a file of the tree, with the directories above it; @ in the content is where the tree is. */
static inline void put(const char *name, const char *content)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0755);
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    for (; *content; content++)
        *content == '@' ? fputs(root, file) : fputc(*content, file);
    assert_int_equal(fclose(file), 0);
}

#endif
