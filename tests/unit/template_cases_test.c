/* tests/unit/template_cases_test.c - the cases of JSON-e's own specification
 *
 * Reads data/json-e/cases.yml of the shared data: a stream of documents {title, context, template}
 * with `result`, or with `error`: the message, or true when any will do.  Skipped where the data is
 * missing; tests/unit/template_test.c has cases of its own.
 */
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

static bool read_cases(struct buffer *source)
{
    const char *shared = getenv("DLSPOOL_SHARED");
    struct buffer path = {0};
    buffer_printf(&path, "%s/data/json-e/cases.yml", shared ? shared : "../shared");
    FILE *file = fopen(path.data, "rb");
    buffer_free(&path);
    if (!file)
        return false;
    for (size_t got = 1; got;) {
        got = fread(buffer_reserve(source, 65536), 1, 65536, file);
        source->length += got;
    }
    fclose(file);
    return true;
}

/* Does the case hold?  If not, the reason is printed. */
static bool holds(struct arena *arena, const struct value *one, int64_t now)
{
    static const struct value empty = {.kind = VALUE_OBJECT};
    const struct value *context = value_get(one, "context");
    struct rendering rendering = {
        .arena = arena, .context = context ? context : &empty, .now = now};
    struct error error = {""};
    const char *title = value_get_text(one, "title").data;
    struct template *template = template_compile(arena, value_get(one, "template"), "case.yaml");
    const struct value *result = template_render(template, &rendering, &error);
    const struct value *wanted = value_get(one, "result");
    if (wanted && result && value_equal(wanted, result))
        return true;
    if (wanted) {
        struct buffer text = {0};
        if (result)
            json_write(&text, result, true, NULL);
        printf("%s: gave %s\n", title, result ? text.data : error.text);
        buffer_free(&text);
        return false;
    }
    const struct value *message = value_get(one, "error");
    bool any = message->kind == VALUE_BOOLEAN;
    if (!result && (any || text_ends(text_of(error.text), message->string.data)))
        return true;
    printf("%s: wanted \"%s\", %s\n", title, any ? "any error" : message->string.data,
           result ? "there was none" : error.text);
    return false;
}

static void cases_of_the_specification_hold(void **state)
{
    (void)state;
    struct buffer source = {0};
    if (!read_cases(&source)) {
        printf("skipped: data/json-e/cases.yml of the shared data is missing\n");
        skip();
    }
    struct arena *arena = arena_new();
    struct error error;
    int64_t now;
    assert_int_equal(clock_parse(TEXT("2017-01-19T16:27:20.974Z"), &now), 0);
    const struct value *cases =
        yaml_read_all(arena, buffer_text(&source), "cases.yml", &yaml_trusted_limits, &error);
    if (!cases)
        fail_msg("%s", error.text);
    size_t tried = 0, failed = 0;
    for (size_t i = 0; i < cases->list.count; i++) {
        const struct value *one = cases->list.items[i];
        if (!value_get(one, "template"))
            continue;
        tried++;
        failed += !holds(arena, one, now);
    }
    printf("%zu of %zu cases hold\n", tried - failed, tried);
    assert_int_equal(failed, 0);
    assert_true(tried >= 700);
    arena_free(arena);
    buffer_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_of_the_specification_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
