/* executors/section.h - reading an executor's own part of dlspool.yaml, such as `local:`
 *
 * A section is an object whose members are listed in a table of fields, each with the function
 * that reads it.  An unknown member is an error that names the nearest field; null means the
 * default, as leaving the member out does.  Every sentence says line, section, field, what was
 * found and what was expected.
 */
#ifndef EXECUTORS_SECTION_H
#define EXECUTORS_SECTION_H

#include <stdint.h>

#include "base/error.h"
#include "base/value.h"

struct section {
    const char *name;    /* "local" */
    void *target;        /* the struct that the fields are read into */
    struct arena *arena; /* for what is read */
    struct error *error;
};

struct section_field {
    const char *name;
    int (*read)(const struct section *section, const struct value *value); /* never VALUE_NULL */
};

/* Read the section of that name in `settings`, the tree of dlspool.yaml (NULL: nothing is set).  -1
 * and a sentence. */
int section_read(const struct section *section, const struct value *settings,
                 const struct section_field *fields, size_t count);

/* Set the sentence "... found <value>, expected <what>"; -1. */
int section_expected(const struct section *section, const struct value *value, const char *field,
                     const char *what);

/* Values.  -1 and a sentence, with *target untouched. */
int section_whole(const struct section *section, const struct value *value, const char *field,
                  int64_t least, int64_t most, int64_t *target);
/* Milliseconds, from a number of seconds or a text such as "30s"; `most` in seconds. */
int section_duration(const struct section *section, const struct value *value, const char *field,
                     int64_t most, const char *what, int64_t *target);
/* Bytes, from a number or a text such as "16Gi". */
int section_bytes(const struct section *section, const struct value *value, const char *field,
                  const char *what, int64_t *target);

/* An absolute path in its normal form, in the section's arena: no "..", no doubled slashes, none at
 * the end but that of "/" itself. */
int section_path(const struct section *section, const struct value *value, const char *field,
                 struct text *target);

/* Whether it is text without control characters, such as may end up in headers and file names. */
bool section_is_plain(const struct value *value);

#endif
