/* executors/manifest_fields.h - reading a manifest strictly, by tables of its fields
 *
 * A kind of object is a table of fields, each with the function that reads it; one function reads any
 * of them.  An unknown field, a missing one, or one of another type is an error, and its sentence
 * gives line, column, field, what was found and what was expected:
 *
 *   manifest.yaml:3:22: tasks[0].cpus: found "lots", expected a number of CPUs such as 2 or 0.5
 *
 * Nothing is copied: what is read shares the bytes and trees of the document.
 */
#ifndef EXECUTORS_MANIFEST_FIELDS_H
#define EXECUTORS_MANIFEST_FIELDS_H

#include "base/error.h"
#include "base/value_path.h"

struct manifest_reading {
    struct arena *arena; /* for what is read */
    struct error *error;
};

/* -1 and a sentence, or 0 with what was read at `target`. */
typedef int manifest_reader(struct manifest_reading *reading, const struct value_path *place,
                            struct value *value, void *target);

struct manifest_field {
    const char *name; /* NULL: the end of the table */
    bool required;
    manifest_reader *read;
    size_t offset; /* of the target in the struct */
};

/* Read an object; -1 and a sentence. */
int manifest_fields_read(struct manifest_reading *reading, const struct value_path *place,
                         const struct value *value, const struct manifest_field *fields,
                         void *target);

/* Set the sentence "... found <value>, expected <what>"; -1. */
int manifest_fields_expected(struct manifest_reading *reading, const struct value_path *place,
                             const struct value *value, const char *what);

/* A whole number from 0 to `max`, into an int. */
int manifest_fields_read_count(struct manifest_reading *reading, const struct value_path *place,
                               struct value *value, int max, const char *what, void *target);

/* Does the rule of completion (NULL: none) name only roles that tasks have?  `roles` is the role of the
 * first task, the next one's lies `stride` bytes behind it.  -1 and a sentence when not. */
int manifest_fields_check_complete(struct manifest_reading *reading, const struct value *rule,
                                   const struct text *roles, size_t count, size_t stride);

bool manifest_fields_is_plain(const struct value *value); /* a string without NUL bytes */

manifest_reader manifest_fields_read_content;     /* struct text: any string */
manifest_reader manifest_fields_read_role;        /* struct text: the name of a role */
manifest_reader manifest_fields_read_bytes;       /* int64_t, from 1 */
manifest_reader manifest_fields_read_boolean;     /* bool */
manifest_reader manifest_fields_read_environment; /* struct value *: an object of plain strings */
manifest_reader manifest_fields_read_complete;    /* struct value *: a rule of completion.h */

#endif
