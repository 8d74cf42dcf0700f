/* request/openpai/values.h - values as OpenPAI's REST server takes them
 *
 * Each is a field_reader (request/fields.h).  A number may be written as a text ("2"), as the
 * server's schema converts it; null is refused by openpai_values_refuse_nulls(), because
 * fields_read() ignores it.
 */
#ifndef REQUEST_OPENPAI_VALUES_H
#define REQUEST_OPENPAI_VALUES_H

#include "request/description.h"
#include "request/fields.h"

enum { OPENPAI_NAME_LONGEST = 255, OPENPAI_TEXT_LONGEST = 4096 };

/* int64_t: a whole number from `least` to `most`, or a text that is one. */
field_reader openpai_integer;
/* struct text: at most `most` bytes on one line.  ..._text may be empty. */
field_reader openpai_text;
/* struct text: letters, digits and - . _ */
field_reader openpai_job_name;
/* struct text: letters, digits and . _ ~ */
field_reader openpai_name;
/* struct text: an image reference; blanks around it are dropped. */
field_reader openpai_image;
/* struct text: empty, or without blanks. */
field_reader openpai_gpu_type;
/* const struct value *: an object, or a list, as it is. */
field_reader openpai_object, openpai_list;
/* Accepts anything and stores nothing. */
field_reader openpai_anything;

/* A shell's words: `bash -c COMMAND`.  False after a problem. */
bool openpai_values_command(struct reading *reading, const struct value_path *path,
                            struct text command, const struct value *value, struct task_role *role);

/* Add a problem for each member that is null and not named in `but`, a list that ends in NULL. */
void openpai_values_refuse_nulls(struct reading *reading, const struct value_path *above,
                                 const struct value *map, const struct field_table *table,
                                 const char *const *but);

/* Add a problem for each of the names that is not there. */
void openpai_values_require(struct reading *reading, const struct value_path *above,
                            const struct value *map, const char *const *names,
                            const char *const *expected);

/* Read a map of variables for the tasks; one that cannot be a variable is left out, with a note. */
void openpai_values_environment(struct reading *reading, const struct value_path *path,
                                const struct value *map, struct environment *environment,
                                struct notes *notes);

/* Add the ports that the server adds when a job names none: http and ssh.  `role->ports` must have
 * room for two more. */
void openpai_values_usual_ports(struct task_role *role);

#endif
