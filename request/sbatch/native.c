/* request/sbatch/native.c - writes options as the fields of a native job file */
#include "request/sbatch/native.h"

#include <inttypes.h>
#include <string.h>

#include "request/sbatch/mail.h"
#include "request/sbatch/shares.h"

enum { NAME_LONGEST = 63, LEAST_PRIORITY = -100 };

static void put_text(struct batch_options *options, struct value *root, const char *field,
                     enum batch_option_kind kind)
{
    const struct batch_option *option = batch_options_find(options, kind);
    if (option)
        batch_options_put(options, root, field, option,
                          value_text(options->reading->arena, option->text));
}

static bool is_of_name(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

/* The name, with hyphens for what a name cannot have here, which is noted. */
static void put_name(struct batch_options *options, struct value *root)
{
    const struct batch_option *option = batch_options_find(options, BATCH_NAME);
    struct buffer out = {0};
    for (size_t i = 0; option && i < option->text.length && out.length < NAME_LONGEST; i++) {
        char byte = option->text.data[i];
        if (is_of_name(byte) || (out.length && memchr("._-", byte, 3)))
            buffer_add_byte(&out, byte);
        else if (out.length && out.data[out.length - 1] != '-')
            buffer_add_byte(&out, '-');
    }
    struct text name = arena_take(options->reading->arena, &out);
    if (option && name.length == 0)
        batch_options_refuse(options, option->shown, option->place,
                             "found no letter or digit, expected a name that has one");
    else if (option) {
        if (!text_equal(name, option->text))
            batch_options_note(options, option->shown, option->place,
                               "%s here, as a name is at most %d letters, digits, and . _ -",
                               name.data, (int)NAME_LONGEST);
        batch_options_put(options, root, "name", option, value_text(options->reading->arena, name));
    }
}

static void put_time(struct batch_options *options, struct value *root)
{
    const struct batch_option *option = batch_options_find(options, BATCH_TIME);
    if (option && option->number)
        batch_options_put(options, root, "time_limit", option,
                          value_text(options->reading->arena,
                                     arena_printf(options->reading->arena, "%" PRId64 "s",
                                                  option->number / 1000)));
}

/* Nice lets others go first, as a lower priority does. */
static void put_nice(struct batch_options *options, struct value *root)
{
    const struct batch_option *option = batch_options_find(options, BATCH_NICE);
    if (!option || option->number == 0)
        return;
    int64_t priority = option->number > -LEAST_PRIORITY ? LEAST_PRIORITY : -option->number;
    batch_options_note(options, option->shown, option->place, "a priority of %d here",
                       (int)priority);
    batch_options_put(options, root, "priority", option,
                      value_number(options->reading->arena, (double)priority));
}

static void put_signal(struct batch_options *options, struct value *root)
{
    const struct batch_option *option = batch_options_find(options, BATCH_SIGNAL);
    struct arena *arena = options->reading->arena;
    if (!option)
        return;
    struct value *map = value_object(arena);
    map->line = option->place.line;
    map->column = option->place.column;
    batch_options_put(options, map, "name", option, value_text(arena, option->text));
    batch_options_put(
        options, map, "before", option,
        value_text(arena, arena_printf(arena, "%" PRId64 "s", option->number / 1000)));
    batch_options_put(options, root, "signal", option, map);
}

static void put_environment(struct batch_options *options, struct value *root)
{
    const struct value *variables = options->environment;
    struct value *map = value_get(root, "env");
    for (size_t i = 0; i < variables->object.count; i++) {
        const struct member *member = &variables->object.members[i];
        struct batch_option option = {.shown =
                                          arena_printf(options->reading->arena, "env.%.*s",
                                                       (int)member->key.length, member->key.data)
                                              .data,
                                      .place = {member->line, member->column}};
        if (!map) {
            map = value_object(options->reading->arena);
            batch_options_put(options, root, "env", &option, map);
        }
        if (map->kind == VALUE_OBJECT)
            batch_options_put(options, map, member->key.data, &option, member->value);
    }
}

void native_write(struct batch_options *options, struct value *root)
{
    put_text(options, root, "array", BATCH_ARRAY);
    put_name(options, root);
    put_time(options, root);
    put_text(options, root, "after", BATCH_AFTER);
    put_text(options, root, "begin", BATCH_BEGIN);
    put_text(options, root, "output", BATCH_DIRECTORY);
    put_text(options, root, "gpu_type", BATCH_GPU_TYPE);
    const struct batch_option *hold = batch_options_find(options, BATCH_HOLD);
    if (hold)
        batch_options_put(options, root, "hold", hold,
                          value_boolean(options->reading->arena, true));
    put_signal(options, root);
    const struct batch_option *spread = batch_options_find(options, BATCH_SPREAD);
    if (spread)
        batch_options_put(options, root, "spread", spread,
                          value_text(options->reading->arena,
                                     spread->text.length ? spread->text : TEXT("prefer")));
    const struct batch_option *exclusive = batch_options_find(options, BATCH_EXCLUSIVE);
    if (exclusive)
        batch_options_put(options, root, "exclusive", exclusive,
                          value_boolean(options->reading->arena, true));
    put_nice(options, root);
    mail_put(options, root);
    shares_put(options, root);
    put_environment(options, root);
}
