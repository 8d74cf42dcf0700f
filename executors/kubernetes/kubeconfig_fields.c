/* executors/kubernetes/kubeconfig_fields.c - fields of a kubeconfig's entries */
#include "executors/kubernetes/kubeconfig_fields.h"

#include <string.h>

#include "executors/base64.h"
#include "executors/secret.h"

const char *kubeconfig_fields_beside(const struct config_entry *entry, struct text path)
{
    const char *slash = strrchr(entry->file->path, '/');
    if (text_starts(path, "/") || !slash)
        return arena_text(entry->reader->arena, path.data, path.length).data;
    return arena_printf(entry->reader->arena, "%.*s/%s", (int)(slash - entry->file->path),
                        entry->file->path, path.data)
        .data;
}

int kubeconfig_fields_refuse(const struct config_entry *entry, const struct value *value,
                             const char *field, const char *words)
{
    struct error_quote_buffer quote;
    return error_set(entry->reader->error, "%s:%u: %s \"%s\": %s: %s", entry->file->path,
                     value ? value->line : entry->object->line, entry->kind,
                     error_quote(&quote, entry->name.data, entry->name.length), field, words);
}

int kubeconfig_fields_string(const struct config_entry *entry, const struct value *object,
                             const char *field, const char **target)
{
    const struct value *value = value_get(object, field);
    *target = "";
    if (!value || value->kind == VALUE_NULL)
        return 0;
    if (value->kind != VALUE_STRING)
        return kubeconfig_fields_refuse(entry, value, field,
                                        "expected a string (put it in quotes)");
    for (size_t i = 0; i < value->string.length; i++)
        if ((unsigned char)value->string.data[i] < ' ' || value->string.data[i] == 0x7f)
            return kubeconfig_fields_refuse(entry, value, field,
                                            "there is a control character in it");
    *target = value->string.data;
    return 0;
}

int kubeconfig_fields_path(const struct config_entry *entry, const char *field, const char **target)
{
    const char *path;
    if (kubeconfig_fields_string(entry, entry->object, field, &path))
        return -1;
    *target = *path ? kubeconfig_fields_beside(entry, text_of(path)) : NULL;
    return 0;
}

int kubeconfig_fields_boolean(const struct config_entry *entry, const struct value *object,
                              const char *field, bool *target)
{
    const struct value *value = value_get(object, field);
    *target = false;
    if (!value || value->kind == VALUE_NULL)
        return 0;
    if (value->kind != VALUE_BOOLEAN)
        return kubeconfig_fields_refuse(entry, value, field, "expected true or false");
    *target = value->boolean;
    return 0;
}

int kubeconfig_fields_pem(const struct config_entry *entry, const char *field, const char *kind,
                          struct kubeconfig_pem *pem)
{
    const struct config_reader *reader = entry->reader;
    const char *data_field = arena_printf(reader->arena, "%s-data", field).data;
    const struct value *value = value_get(entry->object, data_field);
    if (!value || value->kind == VALUE_NULL ||
        (value->kind == VALUE_STRING && value->string.length == 0))
        return kubeconfig_fields_path(entry, field, &pem->file);
    if (value->kind != VALUE_STRING)
        return kubeconfig_fields_refuse(entry, value, data_field, "expected PEM in base64");
    struct buffer bytes = {0};
    int result = base64_decode(&bytes, value->string, false);
    if (result)
        kubeconfig_fields_refuse(entry, value, data_field, "this is not base64");
    else if (!kubeconfig_pem_is_encoded(buffer_text(&bytes), kind))
        result =
            kubeconfig_fields_refuse(entry, value, data_field, "what is encoded there is not PEM");
    else
        pem->bytes = arena_text(reader->arena, bytes.data, bytes.length);
    secret_wipe(&bytes);
    if (strcmp(kind, "PRIVATE KEY") == 0)
        secret_wipe_text(value->string);
    return result;
}
