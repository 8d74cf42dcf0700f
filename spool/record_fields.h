/* spool/record_fields.h - a table of fields, written to and read from a map of job.yaml
 *
 * A part of spool/record.c.  Each map of job.yaml has a table: for each field its name, and which
 * member of which kind it is of the structure that the map stands for.
 */
#ifndef SPOOL_RECORD_FIELDS_H
#define SPOOL_RECORD_FIELDS_H

#include <stddef.h>

#include "base/error.h"
#include "base/value.h"

enum field_kind {
    FIELD_TEXT,
    FIELD_INT,
    FIELD_UINT,
    FIELD_INT64,
    FIELD_TIME,
    FIELD_WHEN,
    /* The kinds below are never negative, and are not written when they are 0. */
    FIELD_COUNT,  /* int */
    FIELD_AMOUNT, /* int64_t */
    FIELD_DOUBLE,
    FIELD_SIZE_KIND
};

struct record_field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    bool needed; /* a record without it is damaged */
};

/* Add the fields of the structure at `base` to the map.  Absent texts and times are left out,
 * unless a time is required. */
void record_fields_put(struct arena *arena, struct value *map, const struct record_field *table,
                       size_t count, const void *base);

/* Read them into the structure; absent fields leave it unchanged.  -1 and a sentence when a
 * required field is missing, or a field is not of its kind. */
int record_fields_read(const struct value *map, const struct record_field *table, size_t count,
                       void *base, struct error *error);

#endif
