/* archive/parts.c - the files of history/archive/ */
#include "archive/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "base/file.h"

enum {
    DIRECTORY_MODE = 0755,
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    INDEX_LIMIT = 256 << 20, /* bytes */
    DAY_LENGTH = 10,
    MOST_PARTS = 1000000
};

static const char archive_ending[] = ".tar.zst";

const char *part_name(const struct part *part, struct text kind, char buffer[static PART_NAME_SIZE])
{
    char number[16] = "";
    if (part->number > 1)
        snprintf(number, sizeof(number), ".%d", part->number);
    bool index = text_is(kind, "index");
    snprintf(buffer, PART_NAME_SIZE, "%s%s%s%.*s%s", part->day, number, kind.length ? "." : "",
             (int)kind.length, kind.length ? kind.data : "", index ? "" : archive_ending);
    return buffer;
}

static bool is_day(const char *name)
{
    for (int i = 0; i < DAY_LENGTH; i++)
        if (i == 4 || i == 7 ? name[i] != '-' : name[i] < '0' || name[i] > '9')
            return false;
    return name[DAY_LENGTH] == '.';
}

bool part_parse(const char *name, struct part *part, struct text *kind)
{
    char again[PART_NAME_SIZE];
    if (!is_day(name))
        return false;
    memcpy(part->day, name, DAY_LENGTH);
    part->day[DAY_LENGTH] = '\0';
    part->number = 1;
    struct text rest = text_of(name + DAY_LENGTH + 1);
    if (rest.length && rest.data[0] >= '0' && rest.data[0] <= '9') {
        char *end;
        long number = strtol(rest.data, &end, 10);
        if (*end != '.' || number < 2 || number > MOST_PARTS)
            return false;
        part->number = (int)number;
        rest = text_of(end + 1);
    }
    if (text_is(rest, "tar.zst"))
        rest = TEXT("");
    else if (text_ends(rest, archive_ending))
        rest.length -= sizeof(archive_ending) - 1;
    *kind = rest;
    return rest.length < 32 && strcmp(part_name(part, rest, again), name) == 0;
}

int parts_open(const struct spool *spool, bool make)
{
    if (make && sys.mkdirat(spool->root, "history", DIRECTORY_MODE) && errno != EEXIST)
        return -1;
    int history = sys.openat(spool->root, "history", OPEN_DIRECTORY, 0);
    if (history < 0)
        return -1;
    int archive = -1;
    if (!make || !sys.mkdirat(history, "archive", DIRECTORY_MODE) || errno == EEXIST)
        archive = sys.openat(history, "archive", OPEN_DIRECTORY, 0);
    int keep = errno;
    sys.close(history);
    errno = keep;
    return archive;
}

static bool read_part(const char *name, void *item)
{
    struct text kind;
    return part_parse(name, item, &kind) && text_is(kind, "index");
}

static int compare_newest(const void *a, const void *b)
{
    const struct part *first = a, *second = b;
    int order = strcmp(second->day, first->day);
    return order ? order : second->number - first->number;
}

int parts_list(int archive, struct part **parts, size_t *count)
{
    void *items;
    int result = directory_list(archive, read_part, sizeof(**parts), compare_newest, &items, count);
    *parts = items;
    return result;
}

int parts_read_index(int archive, const struct part *part, struct buffer *lines,
                     struct error *error)
{
    char name[PART_NAME_SIZE];
    return file_read_at(archive, part_name(part, TEXT("index"), name), INDEX_LIMIT, lines, error);
}

struct measure {
    int archive;
    int64_t bytes;
};

static int measure_file(void *context, const char *name, unsigned char type)
{
    struct measure *measure = context;
    struct stat status;
    (void)type;
    if (!sys.fstatat(measure->archive, name, &status, AT_SYMLINK_NOFOLLOW))
        measure->bytes += (int64_t)status.st_blocks * 512;
    return 0;
}

int64_t parts_measure(int archive)
{
    struct measure measure = {.archive = archive};
    return directory_walk(archive, measure_file, &measure) ? -1 : measure.bytes;
}
