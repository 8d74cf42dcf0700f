/* request/openpai/v2_parts.h - shared by the parts of the OpenPAI v2 reader
 *
 * v2_shape.c first checks the whole file against the schema and reports all problems together.
 * Later steps rely on it: every field that is present has its type.
 */
#ifndef REQUEST_OPENPAI_V2_PARTS_H
#define REQUEST_OPENPAI_V2_PARTS_H

#include "request/description.h"
#include "request/fields.h"

/* Add a problem for each secret in a place where it would not stay secret.  Call this first,
 * because other checks quote what they find. */
void openpai_v2_secrets_check(struct reading *reading, const struct value *root);

/* Check the whole file against the schema. */
void openpai_v2_shape_check(struct reading *reading, const struct value *root);

/* A file that passed openpai_v2_shape_check(). */
struct openpai_v2 {
    struct reading *reading;
    const struct value *root;
    struct description *job;
    const struct value *deployment; /* the one that defaults.deployment names, or NULL */
    size_t budget;                  /* bytes by which texts may still grow: a large
                                           value can be inserted many times */
};

/* prerequisites: fills in job->registries; adds notes on what has no effect. */
void openpai_v2_prerequisites_read(struct openpai_v2 *file);

/* The prerequisite of that type and name, or NULL. */
const struct value *openpai_v2_prerequisite_find(const struct openpai_v2 *file, const char *type,
                                                 struct text name);

/* taskRoles: fills in job->tasks and job->complete. */
void openpai_v2_roles_read(struct openpai_v2 *file);

/* extras: fills in job->priority; adds notes on what has no effect. */
void openpai_v2_extras_read(struct openpai_v2 *file);

/* Templates: text with tags such as <% $parameters.epochs %> */

/* What names stand for in a text. */
struct openpai_v2_names {
    const struct value *parameters, *secrets;   /* objects, or NULL */
    const struct value *script, *output, *data; /* the prerequisite that the role names, or NULL */
    bool secrets_only; /* only $secrets is defined: for a registry's credentials */
    size_t *budget;    /* bytes by which all texts of the file may still grow */
};

/* A text with its tags replaced; and the same text with asterisks for what comes from secrets. */
struct openpai_v2_text {
    struct buffer plain, masked;
    bool secret; /* the two differ */
};

/* Append a text with the tags replaced.  Problems are reported at `value`, the string that contains
 * it. */
void openpai_v2_template_render(struct reading *reading, const struct value_path *path,
                                const struct value *value, struct text text,
                                const struct openpai_v2_names *names, struct openpai_v2_text *out);
void openpai_v2_template_free(struct openpai_v2_text *text);

#endif
