/* request/notes.c - what the owner is told about a job that was accepted */
#include "request/notes.h"

#include <stdio.h>
#include <string.h>

enum { SENTENCE_LIMIT = 1024 }; /* bytes */

void note_add(struct arena *arena, struct notes *notes, const char *field, const char *format, ...)
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
    if (notes->count == notes->room) {
        size_t room = notes->room ? notes->room * 2 : 8;
        struct note *items = arena_allocate(arena, room * sizeof(*items));
        if (notes->count)
            memcpy(items, notes->items, notes->count * sizeof(*items));
        notes->items = items;
        notes->room = room;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    notes->items[notes->count++] = (struct note){
        .field = text_of(arena_string(arena, field)),
        .sentence = text_of(arena_string(arena, sentence)),
    };
}
