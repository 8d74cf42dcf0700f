/* commands/embedded_find.c - finds a file that is built into the program */
#include <string.h>

#include "commands/embedded.h"

struct text embedded_find(const char *path)
{
    for (const struct embedded_file *file = embedded_files; file->path; file++)
        if (strcmp(file->path, path) == 0)
            return (struct text){(const char *)file->bytes, file->length};
    return (struct text){0};
}
