/* request/notes.c - notes to the owner about an accepted job */
#include "request/notes.h"

#include <stdio.h>
#include <string.h>

enum { SENTENCE_LIMIT = 1024 }; /* bytes */

void request_notes_add(struct arena *arena, struct notes *notes, const char *field,
                       const char *format, ...)
{
    char sentence[SENTENCE_LIMIT];
    if (notes->count >= NOTES_MOST) {
        notes->count++;
        notes->items[NOTES_MOST - 1] = (struct note){
            .field = TEXT("..."),
            .sentence = arena_printf(arena, "and %zu more", notes->count - NOTES_MOST + 1),
        };
        return;
    }
    notes->items =
        arena_grow(arena, notes->items, notes->count, &notes->capacity, sizeof(*notes->items));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    notes->items[notes->count++] = (struct note){
        .field = text_of(arena_string(arena, field)),
        .sentence = text_of(arena_string(arena, sentence)),
    };
}
