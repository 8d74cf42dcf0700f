/* base/arena.h - memory that is freed at once
 *
 * One arena per job, request or rendering.  What it hands out is zeroed, aligned for any type,
 * and lives until arena_free() or arena_reset().  There is no freeing of single pieces.
 * Never returns NULL: out of memory stops the process with a message (inputs are bounded first).
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/text.h"

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *arena);         /* NULL is fine */
void arena_reset(struct arena *arena);        /* forget all pieces, keep one block for reuse */
size_t arena_used(const struct arena *arena); /* bytes handed out since creation or reset */

void *arena_allocate(struct arena *arena, size_t bytes);
struct text arena_text(struct arena *arena, const char *bytes, size_t length); /* copy + NUL */
char *arena_string(struct arena *arena, const char *string);                   /* copy */
/* A copy of the buffer's bytes, which may be none, and a NUL; the buffer is freed. */
struct text arena_take(struct arena *arena, struct buffer *buffer);
void *arena_grow(struct arena *arena, void *items, size_t count, size_t *capacity,
                 size_t size); /* as memory_grow(); the old ones stay until the arena is freed */
struct text arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
