/* base/directory.c - the names in a directory */
#include "base/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "base/text.h"

void directory_refresh(int directory)
{
    int keep = errno;
    int fresh = sys.openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fresh >= 0)
        sys.close(fresh);
    errno = keep;
}

int directory_walk(int directory, directory_visit *visit, void *context)
{
    int fresh = sys.openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fresh < 0)
        return -1;
    union {
        struct dirent64 alignment;
        char bytes[65536];
    } entries;
    int result = 0;
    while (result == 0) {
        ssize_t count = sys.getdents(fresh, entries.bytes, sizeof(entries.bytes));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            result = count < 0 ? -1 : 0;
            break;
        }
        for (ssize_t at = 0; at < count && result == 0;) {
            const struct dirent64 *entry =
                (const struct dirent64 *)(const void *)(entries.bytes + at);
            at += entry->d_reclen;
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                result = visit(context, entry->d_name, entry->d_type);
        }
    }
    int keep = errno;
    sys.close(fresh);
    errno = keep;
    return result;
}

struct list {
    directory_read *read;
    size_t size, count, capacity;
    char *items;
};

static int add_item(void *context, const char *name, unsigned char type)
{
    struct list *list = context;
    (void)type;
    list->items = memory_grow(list->items, list->count, &list->capacity, list->size);
    list->count += list->read(name, list->items + list->count * list->size);
    return 0;
}

int directory_list(int directory, directory_read *read, size_t size,
                   int (*compare)(const void *, const void *), void **items, size_t *count)
{
    struct list list = {.read = read, .size = size};
    int result = directory_walk(directory, add_item, &list), keep = errno;
    if (result)
        free(list.items);
    else if (list.count)
        qsort(list.items, list.count, size, compare);
    *items = result ? NULL : list.items;
    *count = result ? 0 : list.count;
    errno = keep;
    return result;
}
