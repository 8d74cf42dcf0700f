/* executors/home_path.c - which directories can be a task's HOME */
#include "executors/home_path.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

/* Is it a path that no mount may hide in a container, or Debian's home of accounts that have none? */
static bool is_reserved(const char *path)
{
    static const char *const reserved[] = {"/",    "/job", "/tmp",        "/dev", "/proc",
                                           "/sys", "/etc", "/usr",        "/bin", "/sbin",
                                           "/lib", "/run", "/nonexistent"};
    for (size_t i = 0; i < ARRAY_COUNT(reserved); i++) {
        size_t length = strlen(reserved[i]);
        if (strcmp(path, reserved[i]) == 0 ||
            (length > 1 && strncmp(path, reserved[i], length) == 0 && path[length] == '/'))
            return true;
    }
    return false;
}

bool home_path_fits(const char *path)
{
    return path[0] == '/' && !strstr(path, "/..") && !is_reserved(path);
}
