/* request/roles.c - labels for roles in dialects that allow any name */
#include "request/roles.h"

#include <stdio.h>
#include <string.h>

#include "request/tasks.h"

void roles_start(struct arena *arena, struct role_names *names)
{
    names->names = value_object(arena);
    names->labels = value_object(arena);
}

bool roles_is_new(struct arena *arena, struct role_names *names, struct text name)
{
    if (value_member(names->names, name))
        return false;
    value_set(arena, names->names, name, value_null(arena));
    return true;
}

/* Write the name as a label, which may not be unique; returns its length in bytes. */
static size_t fold_name(struct text name, char label[static ROLE_LONGEST + 1])
{
    size_t length = 0;
    for (size_t i = 0; i < name.length && length < ROLE_LONGEST; i++) {
        char c = name.data[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        bool letter = c >= 'a' && c <= 'z';
        bool digit = c >= '0' && c <= '9';
        /* Not every scheduler accepts a name that starts with a digit. */
        if (length == 0 && digit)
            label[length++] = 'r';
        if (letter || digit)
            label[length++] = c;
        else if (length && label[length - 1] != '-')
            label[length++] = '-';
    }
    while (length && label[length - 1] == '-')
        length--;
    if (length == 0) {
        memcpy(label, "role", 4);
        length = 4;
    }
    return length;
}

struct text roles_label(struct arena *arena, struct role_names *names, struct text name)
{
    char label[ROLE_LONGEST + 1], ending[16];
    size_t length = fold_name(name, label);
    struct text plain = arena_text(arena, label, length);
    struct member *used = value_member(names->labels, plain);
    if (!used) {
        value_set(arena, names->labels, plain, value_number(arena, 1));
        return plain;
    }
    struct text numbered;
    do {
        used->value->number++;
        int digits = snprintf(ending, sizeof(ending), "-%.0f", used->value->number);
        size_t keep = ROLE_LONGEST - (size_t)digits;
        while (keep && keep <= length && label[keep - 1] == '-')
            keep--;
        numbered =
            arena_printf(arena, "%.*s%s", (int)(keep < length ? keep : length), label, ending);
    } while (value_member(names->labels, numbered));
    value_set(arena, names->labels, numbered, value_number(arena, 1));
    return numbered;
}
