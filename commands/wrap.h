/* commands/wrap.h - a job file around a command, for `submit -- COMMAND` */
#ifndef COMMANDS_WRAP_H
#define COMMANDS_WRAP_H

#include "base/arena.h"
#include "base/error.h"
#include "commands/options.h"

/* Append a job file, in YAML, whose one task runs the words as they are, with no shell in between, and whose
 * `program` is the current directory, so that this is where they run: unless that is /, or `sets` has
 * a `program`.  -1 and a sentence. */
int wrap_command(struct arena *arena, char *const *words, int count, const struct option_list *sets,
                 struct buffer *out, struct error *error);

/* What such a file is called: the command's name without its directory, and .yaml.  In the arena. */
const char *wrap_name(struct arena *arena, const char *command);

#endif
