/* tests/unit/kubelet.h - what a kubelet does to a container's environment, command and arguments */
#ifndef TESTS_UNIT_KUBELET_H
#define TESTS_UNIT_KUBELET_H

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/value.h"

/* The address that every pod has. */
#define KUBELET_ADDRESS "10.1.2.3"

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
        if (from && strstr(value_get_text(from, "fieldPath").data, "podIP"))
            value = TEXT(KUBELET_ADDRESS);
        else if (from)
            value = arena_printf(arena, "%d", index);
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

/* Run the line that starts a task, behind the functions `before` it (a getent), with `env -0` for its
 * program; its environment. */
static inline struct value *kubelet_started(struct arena *arena, const struct value *container,
                                            const struct value *env, const char *before)
{
    enum { MOST_VARIABLES = 4096 };
    struct value *command = kubelet_words(arena, container, "command", env);
    const char *arguments[8] = {NULL};
    char **variables = memory_allocate(MOST_VARIABLES * sizeof(*variables));
    size_t count = 0, used = 0;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int ends[2], status;
    assert_int_equal(command->list.count, 4);
    for (; count < command->list.count; count++)
        arguments[count] = command->list.items[count]->string.data;
    arguments[2] = arena_printf(arena, "%s\n%s", before, arguments[2]).data;
    arguments[count++] = "env";
    arguments[count] = "-0";
    variables[used++] = memory_copy_string("PATH=/usr/bin:/bin");
    /* There are no volumes here, so what is started is not looked for. */
    for (size_t i = 0; i < env->object.count && used < MOST_VARIABLES - 1; i++)
        if (!text_is(env->object.members[i].key, "DLSPOOL_ENTRY"))
            variables[used++] =
                memory_copy_string(arena_printf(arena, "%s=%s", env->object.members[i].key.data,
                                                env->object.members[i].value->string.data)
                                       .data);
    /* (A fork would copy the tables of all memory, which is much under sanitizers.) */
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    assert_int_equal(posix_spawn(&child, arguments[0], &actions, NULL,
                                 (char *const *)(uintptr_t)arguments, variables),
                     0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    struct buffer out = {0};
    ssize_t got;
    while ((got = read(ends[0], buffer_reserve(&out, 4096), 4096)) > 0)
        out.length += (size_t)got;
    close(ends[0]);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    struct value *result = value_object(arena);
    struct text rest = arena_text(arena, out.data ? out.data : "", out.length), line;
    while (text_next(&rest, '\0', &line)) {
        const char *equals = memchr(line.data, '=', line.length);
        if (!equals)
            continue;
        struct text name = {line.data, (size_t)(equals - line.data)};
        struct text value = {equals + 1, line.length - name.length - 1};
        value_set(arena, result, name, value_text(arena, value));
    }
    buffer_free(&out);
    for (size_t i = 0; i < used; i++)
        free(variables[i]);
    free(variables);
    return result;
}

/* What the program of task `index` sees. */
static inline struct value *kubelet_seen(struct arena *arena, const struct value *container,
                                         int index, const char *before)
{
    struct value *env = kubelet_environment(arena, container, index);
    return value_get(container, "args") ? kubelet_started(arena, container, env, before) : env;
}

#endif
