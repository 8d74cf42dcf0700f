/* tests/crash/tree.h - directory trees: copying, removing, telling apart
 *
 * Plain calls, not those of `sys`: what the harness does to a tree is no part of what it tests.
 * Trouble ends the process, since no result would mean anything then.
 */
#ifndef TESTS_CRASH_TREE_H
#define TESTS_CRASH_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"

enum { TREE_PATH_SIZE = 2048 }; /* bytes; room for every path that the harness makes */

/* Say what went wrong with the harness itself, and end it. */
_Noreturn void harness_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

void tree_make(const char *path, mode_t mode); /* a directory with exactly that mode */
void tree_write(const char *path, struct text bytes, mode_t mode);
void tree_remove(const char *path);               /* not being there is fine */
void tree_copy(const char *from, const char *to); /* `to` must not be there */

/* A number that two trees share if they have the same names, kinds, modes and contents. */
uint64_t tree_digest(const char *path, uint64_t start);
uint64_t digest_bytes(uint64_t start, const void *bytes, size_t length);

/* The names in a directory, sorted by bytes, without "." and "..". */
struct tree_names {
    char **names;
    size_t count;
};
struct tree_names tree_list(const char *path);
void tree_list_free(struct tree_names *names);

/* All bytes of a file; data NULL when it is not there.  To be freed with buffer_free(). */
struct buffer tree_read(const char *path);

#endif
