/* base/arena.c - memory that is freed at once
 *
 * A list of blocks, each twice as large as the one before up to a limit; a piece larger than a
 * block gets one of its own.  Under AddressSanitizer every piece does, so that a step past the end
 * of one is seen.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __has_feature /* clang's way of telling; gcc defines __SANITIZE_ADDRESS__ */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { SEPARATE_PIECES = 1 };
#else
enum { SEPARATE_PIECES = 0 };
#endif

enum { FIRST_BLOCK = 16 * 1024, LARGEST_BLOCK = 1024 * 1024 };

struct block {
    struct block *next;
    size_t used, size; /* bytes of `bytes` */
    max_align_t bytes[];
};

struct arena {
    struct block *blocks; /* newest first; pieces come from the first */
    size_t used;
};

static struct block *block_new(size_t size)
{
    struct block *block = memory_resize(NULL, sizeof(struct block) + size);
    block->next = NULL;
    block->used = 0;
    block->size = size;
    return block;
}

struct arena *arena_new(void)
{
    struct arena *arena = memory_allocate(sizeof(*arena));
    arena->blocks = block_new(FIRST_BLOCK);
    return arena;
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    for (struct block *block = arena->blocks; block;) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    free(arena);
}

void arena_reset(struct arena *arena)
{
    /* Keep the newest block that is of ordinary size: the last workload fitted into about that. */
    struct block *keep = NULL;
    for (struct block *block = arena->blocks; block;) {
        struct block *next = block->next;
        if (!keep && !SEPARATE_PIECES && block->size <= LARGEST_BLOCK)
            keep = block;
        else
            free(block);
        block = next;
    }
    if (!keep)
        keep = block_new(FIRST_BLOCK);
    keep->next = NULL;
    keep->used = 0;
    arena->blocks = keep;
    arena->used = 0;
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}

/* A piece whose bytes are still anything. */
static void *take_piece(struct arena *arena, size_t bytes)
{
    const size_t alignment = _Alignof(max_align_t);
    if (bytes > SIZE_MAX / 4)
        abort();
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    struct block *block = arena->blocks;
    if (SEPARATE_PIECES || block->size - block->used < rounded) {
        size_t size = block->size * 2 < LARGEST_BLOCK ? block->size * 2 : LARGEST_BLOCK;
        struct block *new = block_new(SEPARATE_PIECES ? bytes : size > rounded ? size : rounded);
        new->next = block;
        arena->blocks = block = new;
    }
    void *piece = (char *)block->bytes + block->used;
    block->used += rounded;
    arena->used += rounded;
    return piece;
}

void *arena_allocate(struct arena *arena, size_t bytes)
{
    return memset(take_piece(arena, bytes), 0, bytes);
}

struct text arena_text(struct arena *arena, const char *bytes, size_t length)
{
    char *copy = take_piece(arena, length + 1);
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return (struct text){copy, length};
}

struct text arena_take(struct arena *arena, struct buffer *buffer)
{
    struct text text = arena_text(arena, buffer->data, buffer->length);
    buffer_free(buffer);
    return text;
}

char *arena_string(struct arena *arena, const char *string)
{
    size_t length = strlen(string) + 1;
    return memcpy(arena_allocate(arena, length), string, length);
}

void *arena_grow(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = memory_more(*capacity);
    void *more = arena_allocate(arena, *capacity * size);
    if (count)
        memcpy(more, items, count * size);
    return more;
}

struct text arena_printf(struct arena *arena, const char *format, ...)
{
    struct buffer buffer = {0};
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&buffer, format, arguments);
    va_end(arguments);
    return arena_take(arena, &buffer);
}
