/* executors/environment.c - the environment of a program that is started */
#include "executors/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static bool is_set(const char *const *variables, const char *entry)
{
    size_t length = strcspn(entry, "=");
    for (size_t i = 0; variables && variables[i]; i += 2)
        if (strlen(variables[i]) == length && strncmp(variables[i], entry, length) == 0)
            return true;
    return false;
}

char **environment_make(const char *const *variables, const char *without)
{
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    for (size_t i = 0; variables && variables[i]; i += 2)
        count++;
    char **environment = memory_allocate((count + 1) * sizeof(*environment));
    for (size_t i = 0; environ[i]; i++)
        if (!is_set(variables, environ[i]) &&
            !(without && text_starts(text_of(environ[i]), without)))
            environment[used++] = memory_copy_string(environ[i]);
    for (size_t i = 0; variables && variables[i]; i += 2) {
        struct buffer variable = {0};
        buffer_printf(&variable, "%s=%s", variables[i], variables[i + 1]);
        environment[used++] = variable.data;
    }
    return environment;
}

void environment_free(char **environment)
{
    for (char **variable = environment; *variable; variable++)
        free(*variable);
    free(environment);
}
