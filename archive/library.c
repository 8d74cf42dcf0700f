/* archive/library.c - libarchive, opened when it is first needed */
#include "archive/library.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/shared_library.h"

/* Its functions, by the order of the members of struct library. */
#define LIBRARY_NAME(name) #name,
static const char *const names[] = {LIBRARY_FUNCTIONS(LIBRARY_NAME)};
#undef LIBRARY_NAME

static const struct shared_library libarchive = {"libarchive.so.13", "libarchive13",
                                                 "archives need", names, ARRAY_COUNT(names)};

const struct library *library_open(struct error *error)
{
    static struct library library;
    static bool opened;
    void *pointers[ARRAY_COUNT(names)];
    if (opened)
        return &library;
    if (shared_library_open(&libarchive, pointers, error))
        return NULL;
    _Static_assert(sizeof(library) == sizeof(pointers), "nothing but pointers of one size");
    memcpy(&library, pointers, sizeof(library));
    opened = true;
    return &library;
}
