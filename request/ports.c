/* request/ports.c - the ports of a role: tasks{role: {ports: {http: 1}}} */
#include "request/ports.h"

#include <math.h>

#include "request/values.h"

enum { LABELS_MOST = 100, PORTS_MOST = 1000, LONGEST_LABEL = 63 };

static void read_port(struct reading *reading, const struct value_path *above,
                      const struct member *member, struct port_request *port)
{
    struct value_path path = {.above = above, .name = member->key};
    const struct value *value = member->value;
    struct error_quote_buffer buffer;
    if (!values_is_word(member->key, LONGEST_LABEL))
        problems_add(reading, &path, member->line, member->column,
                     "found the name \"%s\", expected at most %d letters, digits and . _ -, the "
                     "first of them a letter or a digit",
                     error_quote(&buffer, member->key.data, member->key.length),
                     (int)LONGEST_LABEL);
    else if (value->kind != VALUE_NUMBER || value->number != floor(value->number) ||
             value->number < 1 || value->number > PORTS_MOST)
        problems_expected(reading, &path, value, "how many ports each task is to have, 1 to %d",
                          (int)PORTS_MOST);
    else
        *port = (struct port_request){.label = member->key, .count = (int)value->number};
}

void read_ports(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    if (value->kind != VALUE_OBJECT || value->object.count > LABELS_MOST) {
        problems_expected(reading, path, value,
                          "a map of at most %d names to numbers of ports such as {http: 1}",
                          (int)LABELS_MOST);
        return;
    }
    size_t count = value->object.count;
    struct port_request *ports = arena_allocate(reading->arena, (count + 1) * sizeof(*ports));
    for (size_t i = 0; i < count; i++)
        read_port(reading, path, &value->object.members[i], &ports[i]);
    *(struct port_request **)into = ports;
    *(size_t *)((char *)into - field->offset + field->count_offset) = count;
}
