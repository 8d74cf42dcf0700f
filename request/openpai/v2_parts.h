/* request/openpai/v2_parts.h - what the parts of the OpenPAI v2 reader share
 *
 * First the shape of the whole file is looked at (v2_shape.c), and all that is wrong with
 * it is reported together.  What comes after relies on it: every field that is there has its type.
 */
#ifndef REQUEST_OPENPAI_V2_PARTS_H
#define REQUEST_OPENPAI_V2_PARTS_H

#include "request/description.h"
#include "request/fields.h"

/* Does anything secret stand where it does not stay secret?  First of all: other sentences quote what
 * they find. */
void openpai_v2_secrets_check(struct reading *reading, const struct value *root);

/* The shape of the whole file. */
void openpai_v2_shape_check(struct reading *reading, const struct value *root);

/* A file whose shape is good. */
struct openpai_v2 {
    struct reading *reading;
    const struct value *root;
    struct description *job;
    const struct value *deployment; /* the one that defaults.deployment names, or NULL */
    size_t budget;                  /* bytes that texts may still grow by: a value of many
                                           bytes can be named many times */
};

/* prerequisites: fills in job->registries; says what of them has no effect. */
void openpai_v2_prerequisites_read(struct openpai_v2 *file);

/* The prerequisite of that type and name, or NULL. */
const struct value *openpai_v2_prerequisite_find(const struct openpai_v2 *file, const char *type,
                                                 struct text name);

/* taskRoles: fills in job->tasks and job->complete. */
void openpai_v2_roles_read(struct openpai_v2 *file);

/* extras: fills in job->priority; says what of it has no effect. */
void openpai_v2_extras_read(struct openpai_v2 *file);

/* Templates: text with tags such as <% $parameters.epochs %> */

/* What names stand for where a text is used. */
struct openpai_v2_names {
    const struct value *parameters, *secrets;   /* objects, or NULL */
    const struct value *script, *output, *data; /* the prerequisite that the role names, or NULL */
    bool secrets_only; /* of these only $secrets is known: credentials of a registry */
    size_t *budget;    /* bytes that all texts of the file may still grow by */
};

/* A text with its tags replaced; and the same text with asterisks for what comes from secrets. */
struct openpai_v2_text {
    struct buffer plain, masked;
    bool secret; /* the two differ */
};

/* Append a text with the tags replaced.  Problems are reported at `value`, the string that it is
 * (or is part of). */
void openpai_v2_template_render(struct reading *reading, const struct value_path *path,
                                const struct value *value, struct text text,
                                const struct openpai_v2_names *names, struct openpai_v2_text *out);
void openpai_v2_template_free(struct openpai_v2_text *text);

#endif
