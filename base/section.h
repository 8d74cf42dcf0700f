/* base/section.h - settings of dlspool.yaml, as rows of a table: of its top, or of a section such as `local:`
 *
 * A section is an object whose members are listed in a table of fields, each with its kind, its
 * default and its bounds.  An unknown member is an error that names the nearest field; null means
 * the default, as leaving the member out does.  Every sentence says line, section, field, what was
 * found and what was expected.
 */
#ifndef BASE_SECTION_H
#define BASE_SECTION_H

#include <stdint.h>

#include "base/error.h"
#include "base/value.h"

struct section {
    const char *name;    /* "local"; "": the top of the file */
    void *target;        /* the struct that the fields are read into */
    struct arena *arena; /* for what is read */
    struct error *error;
};

enum section_kind {
    SECTION_OWN,      /* any type: `read` reads it, and sets no default */
    SECTION_WHOLE,    /* int64_t, from least to most */
    SECTION_COUNT,    /* int, from least to most */
    SECTION_DURATION, /* int64_t, milliseconds, from least to most; in the file "30s", or seconds */
    SECTION_BYTES,    /* int64_t: a number, or a text such as "16Gi" */
    SECTION_BOOLEAN,  /* bool */
    SECTION_TEXT,     /* struct text: plain, and `valid` where it has one; default "" */
    SECTION_PATH,     /* struct text: absolute in its normal form, or ""; default "" */
    SECTION_INNER, /* a section of its own; its settings are rows NAME.SETTING of the same table */
    SECTION_TREE,  /* a section that its own reader reads */
};

struct section_field {
    const char *name;
    enum section_kind kind;
    size_t offset;     /* in the target */
    int64_t otherwise; /* the default of numbers */
    int64_t least, most;
    const char *what; /* the expected value, for sentences; NULL: by the kind */
    bool (*valid)(struct text text);
    int (*read)(const struct section *section, const struct value *value); /* never VALUE_NULL */
};

/* Set the defaults of the fields that have one, and read `tree`, an object (NULL or null: nothing is
 * set).  -1 and a sentence. */
int section_read(const struct section *section, const struct value *tree,
                 const struct section_field *fields, size_t count);

/* Set the sentence "... found <value>, expected <what>"; -1. */
int section_expected(const struct section *section, const struct value *value, const char *field,
                     const char *what);

/* Values of fields of the executor's own.  -1 and a sentence, with *target untouched. */

/* Bytes, from a number or a text such as "16Gi". */
int section_bytes(const struct section *section, const struct value *value, const char *field,
                  const char *what, int64_t *target);

/* An absolute path in its normal form, in the section's arena: no "..", no doubled slashes, none at
 * the end but that of "/" itself. */
int section_path(const struct section *section, const struct value *value, const char *field,
                 struct text *target);

/* Is it text without control characters, which is safe in headers and file names? */
bool section_is_plain(const struct value *value);

#endif
