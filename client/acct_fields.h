/* client/acct_fields.h - the fields of an attempt in the accounts, by sacct's names
 *
 * The values are written as sacct writes them, so that what reads sacct's output reads ours.  Fields that
 * sacct does not have are at the end of the table.
 */
#ifndef CLIENT_ACCT_FIELDS_H
#define CLIENT_ACCT_FIELDS_H

#include "spool/usage.h"

struct acct_source {
    const struct usage *usage;
    const char *cluster; /* what Cluster is */
};

struct acct_field {
    const char *name;
    int width; /* of its column; negative: to the left */
    void (*write)(const struct acct_source *source, struct buffer *out);
};

/* Capital letters do not matter.  NULL and a sentence about --format when there is none of that name. */
const struct acct_field *acct_fields_find(struct text name, struct error *error);

/* The table; it ends with a NULL name. */
extern const struct acct_field acct_fields[];

/* The number of an attempt: JobID, made of its id and attempt, as readers of sacct take only numbers.  Two
 * attempts may have the same one; with Submit and End it is unique. */
uint32_t acct_fields_number(const struct usage *usage);

/* The name of a group, or its number as text; "" when it is -1.  Valid until the next call. */
const char *acct_fields_group(int64_t gid);

#endif
