/* request/openpai/v2_values.h - single values of an OpenPAI v2 file
 *
 * Readers for tables of fields (request/fields.h) that check and store nothing; values are taken
 * from the tree later.
 */
#ifndef REQUEST_OPENPAI_V2_VALUES_H
#define REQUEST_OPENPAI_V2_VALUES_H

#include "request/fields.h"

/* Defines a reader that does not use all of its arguments. */
#define SHAPE_READER(reader)                                                                       \
    void reader(struct reading *reading, const struct value_path *path, const struct value *value, \
                const struct field *field __attribute__((unused)),                                 \
                void *into __attribute__((unused)))

/* A row of a table; `least` and `most` may follow. */
#define SHAPE(field_name, reader) FIELD_NAME(field_name), reader, .offset = 0

field_reader shape_string;            /* a text */
field_reader shape_strings;           /* a list of at least `least` texts */
field_reader shape_secrets;           /* a map, never quoted */
field_reader shape_whole_number;      /* from `least` to `most` */
field_reader shape_completion_number; /* from -1 (never); null also means never */
field_reader shape_protocol_version;  /* 2, also as a text */
field_reader shape_text_or_number;
field_reader shape_job_type; /* job */
field_reader shape_name;     /* letters, digits, _ and - */
field_reader shape_image;    /* an image reference */
field_reader shape_any_map;
field_reader shape_anything;

/* Is it a valid name of a role or a port: [a-zA-Z_][a-zA-Z0-9_]*? */
bool openpai_v2_value_is_key(struct text key);

/* A value's path as text for a note, in the arena. */
const char *openpai_v2_value_place(struct arena *arena, const struct value_path *path);

#endif
