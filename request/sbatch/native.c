/* request/sbatch/native.c - writes wishes as the fields of a native job file */
#include "request/sbatch/native.h"

#include <inttypes.h>
#include <string.h>

#include "request/sbatch/mail.h"
#include "request/sbatch/shares.h"

enum { NAME_LONGEST = 63, LEAST_PRIORITY = -100 };

static void put_text(struct wishes *wishes, struct value *root, const char *field,
                     enum wish_kind kind)
{
    const struct wish *wish = wishes_find(wishes, kind);
    if (wish)
        wishes_put(wishes, root, field, wish, value_text(wishes->reading->arena, wish->text));
}

static bool is_of_name(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

/* The name, with hyphens for what a name cannot have here, which is noted. */
static void put_name(struct wishes *wishes, struct value *root)
{
    const struct wish *wish = wishes_find(wishes, WISH_NAME);
    struct buffer out = {0};
    for (size_t i = 0; wish && i < wish->text.length && out.length < NAME_LONGEST; i++) {
        char byte = wish->text.data[i];
        if (is_of_name(byte) || (out.length && memchr("._-", byte, 3)))
            buffer_add_byte(&out, byte);
        else if (out.length && out.data[out.length - 1] != '-')
            buffer_add_byte(&out, '-');
    }
    struct text name = arena_take(wishes->reading->arena, &out);
    if (wish && name.length == 0)
        wishes_refuse(wishes, wish->shown, wish->place,
                      "found no letter or digit, expected a name that has one");
    else if (wish) {
        if (!text_equal(name, wish->text))
            wishes_note(wishes, wish->shown, wish->place,
                        "%s here, as a name is at most %d letters, digits, and . _ -", name.data,
                        (int)NAME_LONGEST);
        wishes_put(wishes, root, "name", wish, value_text(wishes->reading->arena, name));
    }
}

static void put_time(struct wishes *wishes, struct value *root)
{
    const struct wish *wish = wishes_find(wishes, WISH_TIME);
    if (wish && wish->number)
        wishes_put(
            wishes, root, "time_limit", wish,
            value_text(wishes->reading->arena,
                       arena_printf(wishes->reading->arena, "%" PRId64 "s", wish->number / 1000)));
}

/* Nice lets others go first, as a lower priority does. */
static void put_nice(struct wishes *wishes, struct value *root)
{
    const struct wish *wish = wishes_find(wishes, WISH_NICE);
    if (!wish || wish->number == 0)
        return;
    int64_t priority = wish->number > -LEAST_PRIORITY ? LEAST_PRIORITY : -wish->number;
    wishes_note(wishes, wish->shown, wish->place, "a priority of %d here", (int)priority);
    wishes_put(wishes, root, "priority", wish,
               value_number(wishes->reading->arena, (double)priority));
}

static void put_signal(struct wishes *wishes, struct value *root)
{
    const struct wish *wish = wishes_find(wishes, WISH_SIGNAL);
    struct arena *arena = wishes->reading->arena;
    if (!wish)
        return;
    struct value *map = value_object(arena);
    map->line = wish->place.line;
    map->column = wish->place.column;
    wishes_put(wishes, map, "name", wish, value_text(arena, wish->text));
    wishes_put(wishes, map, "before", wish,
               value_text(arena, arena_printf(arena, "%" PRId64 "s", wish->number / 1000)));
    wishes_put(wishes, root, "signal", wish, map);
}

static void put_environment(struct wishes *wishes, struct value *root)
{
    const struct value *variables = wishes->environment;
    struct value *map = value_get(root, "env");
    for (size_t i = 0; i < variables->object.count; i++) {
        const struct member *member = &variables->object.members[i];
        struct wish wish = {.shown = arena_printf(wishes->reading->arena, "env.%.*s",
                                                  (int)member->key.length, member->key.data)
                                         .data,
                            .place = {member->line, member->column}};
        if (!map) {
            map = value_object(wishes->reading->arena);
            wishes_put(wishes, root, "env", &wish, map);
        }
        if (map->kind == VALUE_OBJECT)
            wishes_put(wishes, map, member->key.data, &wish, member->value);
    }
}

void native_write(struct wishes *wishes, struct value *root)
{
    put_text(wishes, root, "array", WISH_ARRAY);
    put_name(wishes, root);
    put_time(wishes, root);
    put_text(wishes, root, "after", WISH_AFTER);
    put_text(wishes, root, "begin", WISH_BEGIN);
    put_text(wishes, root, "output", WISH_DIRECTORY);
    put_text(wishes, root, "gpu_type", WISH_GPU_TYPE);
    const struct wish *hold = wishes_find(wishes, WISH_HOLD);
    if (hold)
        wishes_put(wishes, root, "hold", hold, value_boolean(wishes->reading->arena, true));
    put_signal(wishes, root);
    const struct wish *spread = wishes_find(wishes, WISH_SPREAD);
    if (spread)
        wishes_put(wishes, root, "spread", spread,
                   value_text(wishes->reading->arena,
                              spread->text.length ? spread->text : TEXT("prefer")));
    put_nice(wishes, root);
    mail_put(wishes, root);
    shares_put(wishes, root);
    put_environment(wishes, root);
}
