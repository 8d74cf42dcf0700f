/* executors/home_path.c - which directories can be a task's HOME */
#include "executors/home_path.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

/* Places of a container that no directory may hide, and one that Debian gives to who has none. */
static bool is_taken(const char *path)
{
    static const char *const taken[] = {"/",    "/job", "/tmp",        "/dev", "/proc",
                                        "/sys", "/etc", "/usr",        "/bin", "/sbin",
                                        "/lib", "/run", "/nonexistent"};
    for (size_t i = 0; i < ARRAY_COUNT(taken); i++) {
        size_t length = strlen(taken[i]);
        if (strcmp(path, taken[i]) == 0 ||
            (length > 1 && strncmp(path, taken[i], length) == 0 && path[length] == '/'))
            return true;
    }
    return false;
}

bool home_path_fits(const char *path)
{
    return path[0] == '/' && !strstr(path, "/..") && !is_taken(path);
}
