/* request/fields.h - a table of fields, read from a map
 *
 * Every map of the job file whose keys are ours (the file itself, a task role) has a table: for
 * each field its name, the function that reads its value, its limits, and whether a later version
 * implements it.  One walk serves all tables:
 *
 *   - a key that is not in the table is a problem that names what is called so elsewhere, or the
 *     nearest one that is, or once all of them, unless the table is an open one;
 *   - null means that the field is not given, so that programs may write out all of them, unless
 *     the table takes null for a value;
 *   - a field of a later version is read first, so that nonsense is called nonsense, and is then
 *     refused as not yet supported; `false`, which asks for nothing, passes where a boolean is due.
 */
#ifndef REQUEST_FIELDS_H
#define REQUEST_FIELDS_H

#include "request/problems.h"

struct field;

/* Read one value.  `into` is the member of the structure that the field fills, or NULL for a field
 * of a later version.  Problems go to the reading; after one, *into is of no use. */
typedef void field_reader(struct reading *reading, const struct value_path *path,
                          const struct value *value, const struct field *field, void *into);

struct field {
    struct text name;
    field_reader *read;
    size_t offset;       /* of the member in the structure that is filled */
    size_t count_offset; /* of the member that counts a list's items */
    int64_t least, most; /* of the number, in the unit of the member; or bytes of the text */
    bool later;
};

/* A field's name with its length, for an initialiser. */
#define FIELD_NAME(literal)                                                                        \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

/* What a field of ours is called elsewhere. */
struct synonym {
    const char *word; /* in small letters, with _ for - */
    const char *ours; /* the field, as it is written in a job file */
};

struct field_table {
    const struct field *fields;
    size_t count;
    const char *owner;               /* "a job", "a task role": whose fields these are */
    const struct field_table *other; /* where a field may have been meant to go */
    const struct synonym *synonyms;  /* ends with a word NULL; NULL: there are none */
    bool null_is_value;              /* null goes to the field's reader, as any value does */
    bool open;                       /* keys that are not in the table are let pass */
};

/* Read `map`, an object, into the structure at `into`.  `above` may be NULL. */
void fields_read(struct reading *reading, const struct value_path *above, const struct value *map,
                 const struct field_table *table, void *into);

const struct field *fields_find(const struct field_table *table, struct text name);

/* Is the member there and not null?  Its value, or NULL. */
const struct value *fields_given(const struct value *map, const char *name);

#endif
