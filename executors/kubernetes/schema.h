/* executors/kubernetes/schema.h - are the fields of a Kubernetes object those that there are?
 *
 * The table of types is kubernetes_schema.txt, which travels inside the program and says in its
 * first lines how it is written.  It is read once, at the first question.
 *
 * What is checked is what an API server's strict decoding refuses: unknown fields and wrong types;
 * and, because the table says it: missing fields, words that are none of those a field takes, and
 * the form of quantities, times and base64.  A null counts as a mistake: it means that the field is
 * absent, which a template says by leaving it out.
 *
 * A server may be newer than the table.  An unknown field that resembles none of the table's is told apart
 * from the problems: a newer server may know it, and one that does not refuses the object.  It stays a
 * problem where it could give a pod more rights: in a security context, in a volume, or with a name that
 * begins with "host".
 */
#ifndef EXECUTORS_KUBERNETES_SCHEMA_H
#define EXECUTORS_KUBERNETES_SCHEMA_H

#include <stdbool.h>

#include "base/error.h"
#include "base/value.h"

/* Problems found in a tree: sentences, each on a line of its own. */
struct schema_problems {
    struct buffer text; /* the first SCHEMA_PROBLEMS_SHOWN of them; the caller frees it */
    size_t count;       /* of all */
    struct buffer
        newer; /* unknown fields that a newer server may know, as many; the caller frees it */
    size_t newer_count;    /* of all of these */
    size_t settings_count; /* of those that only the site's dlspool.yaml forbids */
};

enum { SCHEMA_PROBLEMS_SHOWN = 5 };

/* Check the tree against the type of that name.  `path` is the tree's own place, such as
 * "items[0]"; may be "".  Each problem is "LINE:COLUMN: PATH: SENTENCE", without the position in a
 * tree that came from no file.  Whether the table has the type at all is the caller's to know. */
void kubernetes_schema_check(const char *type, const struct value *tree, const char *path,
                             struct schema_problems *problems);

/* Add a problem of one's own, with the position of the value (may be NULL). */
void kubernetes_schema_problem(struct schema_problems *problems, const struct value *at,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Read a quantity: a decimal number, perhaps with a sign, and a suffix m, k, M, G, T, P, E, n, u, Ki,
 * Mi, Gi, Ti, Pi, Ei, or an exponent.  A NUL follows the text.  False when it is none. */
bool kubernetes_schema_read_quantity(struct text text, double *number);

#endif
