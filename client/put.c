/* client/put.c - members of objects for --json that may not be known */
#include "client/put.h"

#include "base/clock.h"

void put_text(struct arena *arena, struct value *object, const char *key, struct text text)
{
    value_put(arena, object, key, text.length ? value_text(arena, text) : value_null(arena));
}

void put_time(struct arena *arena, struct value *object, const char *key, int64_t time)
{
    char text[CLOCK_TEXT_SIZE];
    value_put(arena, object, key,
              time ? value_string(arena, clock_format(time, text)) : value_null(arena));
}
