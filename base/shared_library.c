/* base/shared_library.c - opens a shared library when it is first needed */
#include "base/shared_library.h"

#include <dlfcn.h>

int shared_library_open(const struct shared_library *library, void *functions[],
                        struct error *error)
{
    void *handle = dlopen(library->file_name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return error_set(error,
                         "%s the library %s, which could not be opened (%s); install the package "
                         "%s",
                         library->purpose, library->file_name, dlerror(), library->package);
    for (size_t i = 0; i < library->count; i++) {
        functions[i] = dlsym(handle, library->names[i]);
        if (functions[i])
            continue;
        error_set(error, "%s has no function %s; %s that of the package %s", library->file_name,
                  library->names[i], library->purpose, library->package);
        dlclose(handle);
        return -1;
    }
    return 0;
}
