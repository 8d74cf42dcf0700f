/* tests/unit/kubelet.h - what a kubelet does to a container's environment, command and arguments */
#ifndef TESTS_UNIT_KUBELET_H
#define TESTS_UNIT_KUBELET_H

#include <string.h>

#include "base/value.h"

/* $(NAME) becomes the variable's value where there is one, $$ one $; all else stays (Kubernetes,
 * "Define Dependent Environment Variables"). */
static inline struct text kubelet_expand(struct arena *arena, struct text source,
                                         const struct value *env)
{
    struct buffer out = {0};
    for (size_t i = 0; i < source.length; i++) {
        const char *end;
        char next = i + 1 < source.length ? source.data[i + 1] : '\0';
        if (source.data[i] != '$' || (next != '$' && next != '(')) {
            buffer_add_byte(&out, source.data[i]);
        } else if (next == '$') {
            buffer_add_byte(&out, '$');
            i++;
        } else if ((end = memchr(source.data + i, ')', source.length - i)) != NULL) {
            struct text name = {source.data + i + 2, (size_t)(end - source.data) - i - 2};
            const struct member *found = value_member(env, name);
            if (found)
                buffer_add_text(&out, found->value->string);
            else
                buffer_add(&out, source.data + i, name.length + 3);
            i += name.length + 2;
        } else {
            buffer_add_string(&out, "$(");
            i++;
        }
    }
    struct text result = arena_text(arena, out.data ? out.data : "", out.length);
    buffer_free(&out);
    return result;
}

/* The environment of the task of that index, variables in order. */
static inline struct value *kubelet_environment(struct arena *arena, const struct value *container,
                                                int index)
{
    const struct value *env = value_get(container, "env");
    struct value *result = value_object(arena);
    for (size_t i = 0; i < env->list.count; i++) {
        const struct value *item = env->list.items[i];
        const struct value *from = value_get(value_get(item, "valueFrom"), "fieldRef");
        struct text value = kubelet_expand(arena, value_get_text(item, "value"), result);
        if (from) {
            value = arena_printf(arena, "%d", index);
        }
        value_set(arena, result, value_get_text(item, "name"), value_text(arena, value));
    }
    return result;
}

/* The container's list of words under that key, `command` or `args`. */
static inline struct value *kubelet_words(struct arena *arena, const struct value *container,
                                          const char *key, const struct value *env)
{
    const struct value *list = value_get(container, key);
    struct value *result = value_list(arena);
    for (size_t i = 0; list && i < list->list.count; i++)
        value_append(arena, result,
                     value_text(arena, kubelet_expand(arena, list->list.items[i]->string, env)));
    return result;
}

#endif
