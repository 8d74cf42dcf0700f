/* commands/wrap.h - a job file around a command, for `submit -- COMMAND` */
#ifndef COMMANDS_WRAP_H
#define COMMANDS_WRAP_H

#include "base/arena.h"
#include "base/error.h"
#include "commands/options.h"

/* Append a job file in YAML with one task that runs the words literally, without a shell.  Its
 * `program` is the current directory, where the words run, unless that is / or `sets` has a
 * `program`.  -1 and a sentence. */
int wrap_command(struct arena *arena, char *const *words, int count, const struct option_list *sets,
                 struct buffer *out, struct error *error);

/* The name for such a file: the command's base name, and .yaml.  In the arena. */
const char *wrap_name(struct arena *arena, const char *command);

#endif
