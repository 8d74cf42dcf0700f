/* archive/library.c - libarchive, opened when it is first needed */
#include "archive/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"

static const char file_name[] = "libarchive.so.13";

/* Its functions, by the order of the members of struct library. */
#define LIBRARY_NAME(name) #name,
static const char *const names[] = {LIBRARY_FUNCTIONS(LIBRARY_NAME)};
#undef LIBRARY_NAME

const struct library *library_open(struct error *error)
{
    static struct library library;
    static bool opened;
    void *pointers[ARRAY_COUNT(names)];
    if (opened)
        return &library;
    void *handle = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        error_set(
            error,
            "archives need the library %s, which could not be opened (%s); install the package "
            "libarchive13",
            file_name, dlerror());
        return NULL;
    }
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        pointers[i] = dlsym(handle, names[i]);
        if (!pointers[i]) {
            error_set(error,
                      "%s has no function %s; archives need that of the package libarchive13",
                      file_name, names[i]);
            dlclose(handle);
            return NULL;
        }
    }
    _Static_assert(sizeof(library) == sizeof(pointers), "nothing but pointers of one size");
    memcpy(&library, pointers, sizeof(library));
    opened = true;
    return &library;
}
