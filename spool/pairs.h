/* spool/pairs.h - members of a struct as key=value pairs of a line, by a table
 *
 * For files whose lines are those of <id>/log (spool/eventlog.h).  A number is written in the
 * shortest form that reads back the same, a time as everywhere.  Unknown keys are ignored, for
 * forward compatibility.
 */
#ifndef SPOOL_PAIRS_H
#define SPOOL_PAIRS_H

#include <stddef.h>

#include "base/arena.h"
#include "spool/eventlog.h"

enum pair_kind {
    PAIR_TEXT, /* struct text; left out when empty */
    PAIR_INT,
    PAIR_INT64,
    PAIR_KNOWN,  /* int64_t, 0 or more; left out when it is -1: not known */
    PAIR_TIME,   /* int64_t, a time of day; left out when 0 */
    PAIR_DOUBLE, /* finite, 0 or more */
    PAIR_FLAG    /* bool, 1; left out when false */
};

struct pair_field {
    const char *name;
    enum pair_kind kind;
    size_t offset;
};

#define PAIR(type, name, kind, member)                                                             \
    {                                                                                              \
        name, kind, offsetof(type, member)                                                         \
    }

/* Append the pairs of the struct at `base` to a line. */
void pairs_add(struct buffer *line, const struct pair_field *fields, size_t count,
               const void *base);

/* Read an event's pairs into the struct at `base`; a member without a pair stays as it is.  Texts
 * are in the arena or in the line.  -1: a value is invalid. */
int pairs_read(struct arena *arena, const struct event *event, const struct pair_field *fields,
               size_t count, void *base);

#endif
