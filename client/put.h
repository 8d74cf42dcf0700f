/* client/put.h - members of objects for --json that may not be known, which is null there */
#ifndef CLIENT_PUT_H
#define CLIENT_PUT_H

#include <stdint.h>

#include "base/value.h"

/* The bytes of the text are shared; an empty one is null. */
void put_text(struct arena *arena, struct value *object, const char *key, struct text text);

/* A time of day, as RFC 3339 writes it; 0 is null. */
void put_time(struct arena *arena, struct value *object, const char *key, int64_t time);

#endif
