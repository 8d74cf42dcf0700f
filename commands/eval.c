/* commands/eval.c - dlspool eval T C: render one JSON-e template with one context
 *
 * For authors of templates and for tests: reads and changes nothing in a spool.  The functions of
 * job templates are available; $include is not, since there is no repository.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "commands/repeat.h"
#include "renderer/functions.h"
#include "renderer/jsone/template.h"

static int read_source(const char *path, struct buffer *source, struct error *error)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    int file = file_open_named(path, error);
    if (file < 0)
        return -1;
    int result = file_read_all(file, yaml_trusted_limits.bytes, source, name, error);
    close(file);
    return result;
}

/* Read the source as JSON if it begins as JSON.  It may still be YAML: flow collections begin
 * alike. */
static struct value *read_perhaps_json(struct arena *arena, struct text source, const char *name)
{
    struct text trimmed = text_trim(source);
    if (trimmed.length == 0 || !strchr("{[\"", trimmed.data[0]))
        return NULL;
    return json_read(arena, source, name, &yaml_trusted_limits, NULL);
}

/* Read a file as a tree: as JSON when its name ends in .json or it is JSON, else as YAML. */
static struct value *read_tree(struct arena *arena, const char *path, struct error *error)
{
    struct buffer source = {0};
    struct value *tree = NULL;
    if (read_source(path, &source, error) == 0) {
        struct text text = buffer_text(&source);
        if (text_ends(text_of(path), ".json"))
            tree = json_read(arena, text, path, &yaml_trusted_limits, error);
        else if (!(tree = read_perhaps_json(arena, text, path)))
            tree = yaml_read(arena, text, path, &yaml_trusted_limits, error);
    }
    buffer_free(&source);
    return tree;
}

/* Measure the time of a rendering, in microseconds, by repeating it. */
static double measure_rendering(const struct template *template, struct rendering rendering,
                                int times)
{
    rendering.arena = arena_new();
    double begin = repeat_begin();
    for (int i = 0; i < times; i++) {
        arena_reset(rendering.arena);
        template_render(template, &rendering, NULL);
    }
    double each = repeat_say(begin, times);
    arena_free(rendering.arena);
    return each;
}

static struct value *result_object(struct arena *arena, struct value *result, double each)
{
    struct value *tree = value_object(arena);
    value_put(arena, tree, "result", result);
    value_put(arena, tree, "microseconds",
              each >= 0 ? value_number(arena, each) : value_null(arena));
    return tree;
}

/* Render the template with the context and print the result, or complain. */
static int evaluate_template(struct arena *arena, char **paths, int64_t now, int times)
{
    struct error error;
    struct buffer out = {0};
    struct value *tree = read_tree(arena, paths[0], &error);
    struct value *context = tree ? read_tree(arena, paths[1], &error) : NULL;
    struct value *result = NULL;
    double each = -1;
    int status = STATUS_FAILED;
    if (context) {
        const struct template *template = template_compile(arena, tree, paths[0]);
        struct rendering rendering = {
            .arena = arena, .context = context, .functions = template_functions, .now = now};
        result = template_render(template, &rendering, &error);
        if (result && times > 0)
            each = measure_rendering(template, rendering, times);
    }
    if (result && options_json())
        result = result_object(arena, result, each);
    if (!result || json_write(&out, result, true, &error)) {
        complain("%s", error.text);
    } else {
        buffer_add_byte(&out, '\n');
        fwrite(out.data, 1, out.length, stdout);
        status = STATUS_DONE;
    }
    buffer_free(&out);
    return status;
}

int command_eval(int argument_count, char **arguments)
{
    const char *time_text = NULL;
    int times = 0, operands, status;
    int64_t now = clock_now();
    bool json = false;
    const struct option_spec options[] = {
        {"now", 0, OPTION_TEXT, &time_text, "TIME", "the time that `now` gives (RFC 3339)"},
        {"repeat", 0, OPTION_WHOLE, &times, "N", "render N more times and say how long each took"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object with the result in it"},
        {0}};
    const struct verb_usage usage = {
        "eval",
        "TEMPLATE CONTEXT",
        2,
        2,
        "Render one JSON-e template with one context; both are files of YAML or JSON.",
        "The result is printed as JSON with sorted keys.  `-` stands for standard input.\n",
        options};
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (time_text && clock_parse(text_of(time_text), &now)) {
        complain("--now: found \"%s\", expected a time such as 2026-11-21T03:09:24.123Z",
                 time_text);
        return STATUS_USAGE;
    }
    if (strcmp(arguments[1], "-") == 0 && strcmp(arguments[2], "-") == 0) {
        complain("only one of TEMPLATE and CONTEXT can be standard input");
        return STATUS_USAGE;
    }
    struct arena *arena = arena_new();
    status = evaluate_template(arena, arguments + 1, now, times);
    arena_free(arena);
    return status;
}
