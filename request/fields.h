/* request/fields.h - a table of fields, read from a map
 *
 * Every map of the job file whose keys are ours (the file itself, a task role) has a table: for
 * each field its name, the function that reads its value, its limits, and whether a later version
 * implements it.  fields_read() serves all tables:
 *
 *   - a key that is not in the table is a problem, which suggests the field that another system
 *     calls so, or the nearest name, or lists all names once; an open table ignores such keys;
 *   - null means that the field is not given, so that programs may write all fields, unless the
 *     table has null_is_value;
 *   - a field of a later version is read first, so that a wrong value is reported as such, and is
 *     then refused as not yet supported; `false` passes for a boolean, since it asks for nothing.
 */
#ifndef REQUEST_FIELDS_H
#define REQUEST_FIELDS_H

#include "request/problems.h"

struct field;

/* Read one value.  `into` is the member of the structure that the field fills, or NULL for a field
 * of a later version.  Problems are added to `reading`; after one, *into is undefined. */
typedef void field_reader(struct reading *reading, const struct value_path *path,
                          const struct value *value, const struct field *field, void *into);

struct field {
    struct text name;
    field_reader *read;
    size_t offset;       /* of the member in the structure that is filled */
    size_t count_offset; /* of the member for the number of a list's items */
    int64_t least, most; /* of a number, in the member's unit; or of a text, in bytes */
    bool later;
};

/* A field's name with its length, for an initialiser. */
#define FIELD_NAME(literal)                                                                        \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

/* What other systems call a field. */
struct synonym {
    const char *word; /* in lower case, with _ for - */
    const char *ours; /* the field's name in a job file */
};

struct field_table {
    const struct field *fields;
    size_t count;
    const char *owner;               /* "a job", "a task role": whose fields these are */
    const struct field_table *other; /* where a misplaced field may belong */
    const struct synonym *synonyms;  /* ends with a word NULL; NULL: there are none */
    bool null_is_value;              /* null is passed to the field's reader like any value */
    bool open;                       /* keys that are not in the table are ignored */
};

/* Read `map`, an object, into the structure at `into`.  `above` may be NULL. */
void fields_read(struct reading *reading, const struct value_path *above, const struct value *map,
                 const struct field_table *table, void *into);

const struct field *fields_find(const struct field_table *table, struct text name);

/* The member's value; NULL when it is absent or null. */
const struct value *fields_given(const struct value *map, const char *name);

#endif
