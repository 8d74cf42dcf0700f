/* tests/unit/yaml_emitter.h - value trees to YAML by libyaml, against which base/yaml_write.c is held
 *
 * Manifests were written so before it was; they are rendered again, and compared byte by byte.
 */
#ifndef TESTS_UNIT_YAML_EMITTER_H
#define TESTS_UNIT_YAML_EMITTER_H

#include <stdlib.h>
#include <yaml.h>

#include "base/yaml.h"

static inline int emitter_append(void *data, unsigned char *bytes, size_t length)
{
    buffer_add(data, bytes, length);
    return 1;
}

static inline void emitter_event(yaml_emitter_t *emitter, yaml_event_t *event)
{
    if (!yaml_emitter_emit(emitter, event))
        abort();
}

static inline void emitter_scalar(yaml_emitter_t *emitter, struct text t, bool quoted)
{
    yaml_event_t event;
    if (!yaml_scalar_event_initialize(
            &event, NULL, NULL, (const yaml_char_t *)t.data, (int)t.length, !quoted, quoted,
            quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE))
        abort();
    emitter_event(emitter, &event);
}

/* Append a value with all below it. */
static inline void emitter_value(yaml_emitter_t *emitter, const struct value *value)
{
    yaml_event_t event;
    char number[NUMBER_TEXT_SIZE];
    bool full = value->kind == VALUE_LIST ? value->list.count > 0 : value->object.count > 0;
    if (value->kind == VALUE_NULL) {
        emitter_scalar(emitter, TEXT("null"), false);
    } else if (value->kind == VALUE_BOOLEAN) {
        emitter_scalar(emitter, text_of(value->boolean ? "true" : "false"), false);
    } else if (value->kind == VALUE_NUMBER) {
        size_t length = value_format_number(value->number, number);
        emitter_scalar(emitter, (struct text){number, length}, false);
    } else if (value->kind == VALUE_STRING) {
        emitter_scalar(emitter, value->string, true);
    } else if (value->kind == VALUE_LIST) {
        yaml_sequence_start_event_initialize(
            &event, NULL, NULL, 1, full ? YAML_BLOCK_SEQUENCE_STYLE : YAML_FLOW_SEQUENCE_STYLE);
        emitter_event(emitter, &event);
        for (size_t i = 0; i < value->list.count; i++)
            emitter_value(emitter, value->list.items[i]);
        yaml_sequence_end_event_initialize(&event);
        emitter_event(emitter, &event);
    } else {
        yaml_mapping_start_event_initialize(
            &event, NULL, NULL, 1, full ? YAML_BLOCK_MAPPING_STYLE : YAML_FLOW_MAPPING_STYLE);
        emitter_event(emitter, &event);
        for (size_t i = 0; i < value->object.count; i++) {
            struct text key = value->object.members[i].key;
            emitter_scalar(emitter, key, !yaml_key_is_plain(key));
            emitter_value(emitter, value->object.members[i].value);
        }
        yaml_mapping_end_event_initialize(&event);
        emitter_event(emitter, &event);
    }
}

/* Append the tree as yaml_write() does. */
static inline void emitter_write(struct buffer *out, const struct value *value)
{
    yaml_emitter_t emitter;
    yaml_event_t event;
    if (!yaml_emitter_initialize(&emitter))
        abort();
    yaml_emitter_set_output(&emitter, emitter_append, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    emitter_event(&emitter, &event);
    yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
    emitter_event(&emitter, &event);
    emitter_value(&emitter, value);
    yaml_document_end_event_initialize(&event, 1);
    emitter_event(&emitter, &event);
    yaml_stream_end_event_initialize(&event);
    emitter_event(&emitter, &event);
    yaml_emitter_delete(&emitter);
}

#endif
