/* executors/kubernetes/kubeconfig_fields.h - the inside of kubeconfig.c: files, their entries, and fields of those
 *
 * Only kubeconfig*.c include this.  Every function that can fail gives -1 and a sentence with the
 * file, the line and the name of the entry.  What is read lives in the reader's arena.
 */
#ifndef EXECUTORS_KUBERNETES_KUBECONFIG_FIELDS_H
#define EXECUTORS_KUBERNETES_KUBECONFIG_FIELDS_H

#include "base/error.h"
#include "base/value.h"
#include "executors/kubernetes/kubeconfig_pem.h"

struct kubeconfig;

enum { CONFIG_FILES_MOST = 64 }; /* names in $KUBECONFIG */

struct config_file {
    const char *path;
    const struct value *tree;
};

struct config_reader {
    struct arena *arena;
    struct config_file files[CONFIG_FILES_MOST];
    size_t count;
    struct error *error;
};

/* An entry of a list of names: `cluster "kind"` of a file. */
struct config_entry {
    const struct config_reader *reader;
    const struct config_file *file;
    const char *kind;
    struct text name;
    const struct value *object;
};

/* The sentence for a field that is not as it should be; -1. */
int kubeconfig_fields_refuse(const struct config_entry *entry, const struct value *value,
                             const char *field, const char *words);

/* A field without control characters, which would end up in headers and file names; "" when it
 * is not there. */
int kubeconfig_fields_string(const struct config_entry *entry, const struct value *object,
                             const char *field, const char **target);

/* A file's name, NULL when it is not there; relative ones are beside the kubeconfig. */
int kubeconfig_fields_path(const struct config_entry *entry, const char *field,
                           const char **target);
const char *kubeconfig_fields_beside(const struct config_entry *entry, struct text path);

int kubeconfig_fields_boolean(const struct config_entry *entry, const struct value *object,
                              const char *field, bool *target);

/* `<field>-data`, which comes first, or `<field>`, a file. */
int kubeconfig_fields_pem(const struct config_entry *entry, const char *field, const char *kind,
                          struct kubeconfig_pem *pem);

/* kubeconfig_user.c: how the user authenticates; `cluster` is what a plugin may be told of. */
int kubeconfig_fields_read_user(const struct config_entry *user, const struct config_entry *cluster,
                                struct kubeconfig *config);

#endif
