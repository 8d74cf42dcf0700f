/* commands/set_fields.h - changes fields of a job file, for submit --set */
#ifndef COMMANDS_SET_FIELDS_H
#define COMMANDS_SET_FIELDS_H

#include "base/arena.h"
#include "base/error.h"
#include "commands/options.h"

/* Append the job file `bytes` with each FIELD=VALUE of `sets` applied in turn.  FIELD is a name,
 * or names with dots between (tasks.main.gpus); VALUE is parsed as YAML, or taken literally if
 * that fails.  A batch script gets lines of #DL; other files are rewritten, without comments.
 * Whether the fields are known is checked by the reader of job files.  -1 and a sentence. */
int set_fields(struct arena *arena, struct text bytes, const char *path,
               const struct option_list *sets, struct buffer *out, struct error *error);

#endif
