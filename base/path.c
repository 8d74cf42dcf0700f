/* base/path.c - paths as text */
#include "base/path.h"

#include <string.h>

static bool has_part(struct text path, const char *name)
{
    struct text part;
    while (text_next(&path, '/', &part))
        if (text_is(part, name))
            return true;
    return false;
}

bool path_climbs(struct text path)
{
    return has_part(path, "..");
}

bool path_is_plain(struct text path)
{
    return !has_part(path, "..") && !has_part(path, ".");
}

bool path_clean(struct arena *arena, struct text path, struct text *clean)
{
    char *copy = arena_allocate(arena, path.length + 1);
    size_t length = 0;
    bool absolute = text_starts(path, "/");
    struct text rest = path, part;
    while (text_next(&rest, '/', &part)) {
        if (part.length == 0 || text_is(part, "."))
            continue;
        if (length || absolute)
            copy[length++] = '/';
        memcpy(copy + length, part.data, part.length);
        length += part.length;
    }
    *clean = (struct text){copy, length};
    return length > 0 && !path_climbs(path);
}

bool path_is_below(struct text path, struct text root)
{
    while (root.length > 1 && text_ends(root, "/"))
        root.length--;
    if (root.length == 0 || path.length < root.length ||
        memcmp(path.data, root.data, root.length) != 0)
        return false;
    return text_is(root, "/") || path.length == root.length || path.data[root.length] == '/';
}
