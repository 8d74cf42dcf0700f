/* base/yaml_write.c - value trees to YAML text, through libyaml
 *
 * Every string is written in double quotes, so that no reader of any YAML version takes one for
 * something else; keys stay plain only where that is as safe.
 */
#include "base/yaml.h"

#include <math.h>
#include <strings.h>
#include <yaml.h>

static int append_output(void *data, unsigned char *bytes, size_t length)
{
    buffer_add(data, bytes, length);
    return 1;
}

/* Does some YAML reader take this word, in any case, for something else than a string? */
static bool is_reserved(struct text word)
{
    static const char *const reserved[] = {"y",    "n",     "yes",  "no",  "on", "off",
                                           "true", "false", "null", "nan", "inf"};
    if (word.length > sizeof("false") - 1)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(reserved); i++)
        if (strncasecmp(word.data, reserved[i], word.length) == 0 && !reserved[i][word.length])
            return true;
    return false;
}

bool yaml_key_is_plain(struct text key)
{
    if (key.length == 0 || key.length > 60)
        return false;
    for (size_t i = 0; i < key.length; i++) {
        char c = key.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool later = (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
        if (!letter && !(later && i > 0))
            return false;
    }
    return !is_reserved(key);
}

static int emit_event(yaml_emitter_t *emitter, yaml_event_t *event, struct error *error)
{
    if (yaml_emitter_emit(emitter, event))
        return 0;
    return error_set(error, "YAML could not be written: %s",
                     emitter->problem ? emitter->problem : "unknown problem");
}

static int emit_scalar(yaml_emitter_t *emitter, struct text t, bool quoted, struct error *error)
{
    yaml_event_t event;
    if (!yaml_scalar_event_initialize(
            &event, NULL, NULL, (const yaml_char_t *)t.data, (int)t.length, !quoted, quoted,
            quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE))
        return error_set(error, "YAML could not be written: a string is not UTF-8");
    return emit_event(emitter, &event, error);
}

static int emit_key(yaml_emitter_t *emitter, struct text key, struct error *error)
{
    if (!yaml_key_is_plain(key))
        return emit_scalar(emitter, key, true, error);
    yaml_event_t event;
    yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)key.data, (int)key.length,
                                 1, 1, YAML_PLAIN_SCALAR_STYLE);
    return emit_event(emitter, &event, error);
}

/* Write a value with all below it.  Fails for numbers that are not finite, and for functions. */
static int emit_value(yaml_emitter_t *emitter, const struct value *value, struct error *error)
{
    yaml_event_t event;
    char number[NUMBER_TEXT_SIZE];
    switch (value->kind) {
    case VALUE_NULL:
        return emit_scalar(emitter, TEXT("null"), false, error);
    case VALUE_BOOLEAN:
        return emit_scalar(emitter, text_of(value->boolean ? "true" : "false"), false, error);
    case VALUE_NUMBER:
        if (!isfinite(value->number))
            return error_set(error, "YAML could not be written: a number is not finite");
        return emit_scalar(emitter,
                           (struct text){number, value_format_number(value->number, number)}, false,
                           error);
    case VALUE_STRING:
        return emit_scalar(emitter, value->string, true, error);
    case VALUE_FUNCTION:
        return error_set(error, "YAML could not be written: a function is not a value");
    case VALUE_LIST:
        yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                             value->list.count ? YAML_BLOCK_SEQUENCE_STYLE
                                                               : YAML_FLOW_SEQUENCE_STYLE);
        if (emit_event(emitter, &event, error))
            return -1;
        for (size_t i = 0; i < value->list.count; i++)
            if (emit_value(emitter, value->list.items[i], error))
                return -1;
        yaml_sequence_end_event_initialize(&event);
        return emit_event(emitter, &event, error);
    case VALUE_OBJECT:
        yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                            value->object.count ? YAML_BLOCK_MAPPING_STYLE
                                                                : YAML_FLOW_MAPPING_STYLE);
        if (emit_event(emitter, &event, error))
            return -1;
        for (size_t i = 0; i < value->object.count; i++) {
            const struct member *member = &value->object.members[i];
            if (emit_key(emitter, member->key, error) || emit_value(emitter, member->value, error))
                return -1;
        }
        yaml_mapping_end_event_initialize(&event);
        return emit_event(emitter, &event, error);
    }
    return error_set(error, "YAML could not be written: a value of no known kind");
}

int yaml_write(struct buffer *out, const struct value *value, struct error *error)
{
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter))
        return error_set(error, "YAML could not be written: no memory for an emitter");
    yaml_emitter_set_output(&emitter, append_output, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    yaml_event_t event;
    int result = -1;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    if (emit_event(&emitter, &event, error))
        goto done;
    yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
    if (emit_event(&emitter, &event, error))
        goto done;
    if (emit_value(&emitter, value, error))
        goto done;
    yaml_document_end_event_initialize(&event, 1);
    if (emit_event(&emitter, &event, error))
        goto done;
    yaml_stream_end_event_initialize(&event);
    if (emit_event(&emitter, &event, error))
        goto done;
    result = 0;
done:
    yaml_emitter_delete(&emitter);
    return result;
}
