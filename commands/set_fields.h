/* commands/set_fields.h - a changed copy of a job file, for submit --set */
#ifndef COMMANDS_SET_FIELDS_H
#define COMMANDS_SET_FIELDS_H

#include "base/arena.h"
#include "base/error.h"
#include "commands/options.h"

/* Append the job file `bytes` with each FIELD=VALUE of `sets` set in it, in turn.  FIELD is a name, or names
 * with dots between (tasks.main.gpus); VALUE is read as YAML, or taken as it stands where it is none.  A batch
 * script gets lines of #DL, anything else is rewritten, without comments.  Whether the fields are known
 * is for the reader of job files to say.  -1 and a sentence. */
int set_fields(struct arena *arena, struct text bytes, const char *path,
               const struct option_list *sets, struct buffer *out, struct error *error);

#endif
