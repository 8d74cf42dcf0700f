/* web/microhttpd.c - GNU libmicrohttpd, opened when it is first needed */
#include "web/microhttpd.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/shared_library.h"

/* Its functions, by the order of the members of struct microhttpd. */
#define MICROHTTPD_NAME(name) #name,
static const char *const names[] = {MICROHTTPD_FUNCTIONS(MICROHTTPD_NAME)};
#undef MICROHTTPD_NAME

static const struct shared_library libmicrohttpd = {"libmicrohttpd.so.12", "libmicrohttpd12",
                                                    "pages need", names, ARRAY_COUNT(names)};

const struct microhttpd *microhttpd_open(struct error *error)
{
    static struct microhttpd library;
    static bool opened;
    void *pointers[ARRAY_COUNT(names)];
    if (opened)
        return &library;
    if (shared_library_open(&libmicrohttpd, pointers, error))
        return NULL;
    _Static_assert(sizeof(library) == sizeof(pointers), "nothing but pointers of one size");
    memcpy(&library, pointers, sizeof(library));
    opened = true;
    return &library;
}
