/* tests/unit/template_support.h - render a template written in a test; for the template tests
 *
 * What comes back is text: the result as JSON with sorted keys, or the sentence of the error.  It
 * lives until the next rendering.
 */
#ifndef TESTS_UNIT_TEMPLATE_SUPPORT_H
#define TESTS_UNIT_TEMPLATE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/yaml.h"
#include "renderer/jsone/template.h"

static struct arena *support_arena;
static struct buffer support_text;

static inline struct value *read_yaml(const char *text)
{
    struct error error = {""};
    struct value *value =
        yaml_read(support_arena, text_of(text), "test.yaml", &yaml_trusted_limits, &error);
    if (!value)
        fail_msg("%s", error.text);
    return value;
}

static inline const char *as_json(const struct value *value)
{
    struct error error = {""};
    buffer_clear(&support_text);
    if (json_write(&support_text, value, true, &error))
        fail_msg("%s", error.text);
    return support_text.data;
}

static inline const char *render_tree(const struct value *tree, struct rendering rendering)
{
    struct error error = {""};
    rendering.arena = support_arena;
    if (!rendering.now)
        clock_parse(TEXT("2017-01-19T16:27:20.974Z"), &rendering.now);
    const struct template *template = template_compile(support_arena, tree, "test.yaml");
    const struct value *value = template_render(template, &rendering, &error);
    if (value)
        return as_json(value);
    buffer_clear(&support_text);
    buffer_add_string(&support_text, error.text);
    return support_text.data;
}

static inline const char *render_text(const char *template, const char *context)
{
    return render_tree(read_yaml(template), (struct rendering){.context = read_yaml(context)});
}

static inline int support_start(void **state)
{
    (void)state;
    support_arena = arena_new();
    return 0;
}

static inline int support_stop(void **state)
{
    (void)state;
    arena_free(support_arena);
    support_arena = NULL;
    buffer_free(&support_text);
    return 0;
}

#define template_test(name) cmocka_unit_test_setup_teardown(name, support_start, support_stop)

#endif
