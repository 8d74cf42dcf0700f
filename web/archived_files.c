/* web/archived_files.c - what the files of an archived job hold */
#include "web/archived_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/job_files.h"
#include "base/system.h"

enum { MOST_FILES = 4096, READ_BYTES = 16 * 1024, LONGEST_WHOLE = 16 << 20 };

struct reading {
    struct arena *arena;
    const struct archived_wish *wish;
    struct archived_files *files;
};

static bool is_wished(const struct archived_wish *wish, const struct job_file *member)
{
    return member->file[0] && member->file[0] != '.' &&
           (!wish->directory || strcmp(wish->directory, member->directory) == 0) &&
           (!wish->name || strcmp(wish->name, member->file) == 0);
}

/* Keep the last bytes of a file, from the start of a line on where it is cut. */
static int read_end(struct reading *reading, const struct job_file *member,
                    struct archived_file *file, struct error *error)
{
    size_t most = reading->wish->most;
    char bytes[READ_BYTES];
    struct buffer kept = {0};
    ssize_t got;
    while ((got = unpack_read(member->unpack, bytes, sizeof(bytes), error)) > 0) {
        buffer_add(&kept, bytes, (size_t)got);
        if (kept.length > 2 * most) {
            memmove(kept.data, kept.data + kept.length - most, most);
            kept.length = most;
            file->is_cut = true;
        }
    }
    struct text end = buffer_text(&kept);
    if (end.length > most) {
        end = (struct text){end.data + end.length - most, most};
        file->is_cut = true;
    }
    const char *line = file->is_cut ? memchr(end.data, '\n', end.length) : NULL;
    size_t cut = line ? (size_t)(line + 1 - end.data) : 0;
    if (end.length)
        file->end = arena_text(reading->arena, end.data + cut, end.length - cut);
    buffer_free(&kept);
    return (int)got;
}

static int take_member(void *context, const struct job_file *member, struct error *error)
{
    struct reading *reading = context;
    struct archived_files *files = reading->files;
    if (!is_wished(reading->wish, member) || files->count == MOST_FILES)
        return 0;
    files->items = arena_grow(reading->arena, files->items, files->count, &files->capacity,
                              sizeof(*files->items));
    struct archived_file *file = &files->items[files->count++];
    *file = (struct archived_file){.directory = arena_string(reading->arena, member->directory),
                                   .name = arena_string(reading->arena, member->file),
                                   .size = member->entry->size};
    return read_end(reading, member, file, error);
}

int archived_files_read(const struct exchange *exchange, struct text word,
                        const struct archived_wish *wish, struct archived_files *files,
                        struct error *error)
{
    struct reading reading = {exchange->arena, wish, files};
    struct found found;
    *files = (struct archived_files){.count = 0};
    int archive = parts_open(exchange->spool, false);
    if (archive < 0)
        return error_errno(error, "history/archive/ could not be opened");
    int result = find_archived(archive, word, getuid(), exchange->arena, &found, error);
    if (!result)
        result = job_files_walk(archive, &found, take_member, &reading, &files->denied, error);
    sys.close(archive);
    return result ? -1 : 0;
}

const struct archived_file *archived_files_get(const struct archived_files *files,
                                               const char *directory, const char *name)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->items[i].directory, directory) == 0 &&
            strcmp(files->items[i].name, name) == 0)
            return &files->items[i];
    return NULL;
}

const struct archived_file *archived_files_request(const struct archived_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (!files->items[i].directory[0] && text_starts(text_of(files->items[i].name), "request."))
            return &files->items[i];
    return NULL;
}

int archived_files_whole(const struct exchange *exchange, struct text word, const char *directory,
                         const char *name, struct text *bytes, struct error *error)
{
    bool is_request = !directory[0] && strcmp(name, "request") == 0;
    const struct archived_wish wish = {
        .directory = directory, .name = is_request ? NULL : name, .most = LONGEST_WHOLE};
    struct archived_files files;
    if (archived_files_read(exchange, word, &wish, &files, error))
        return HTTP_NOT_FOUND;
    const struct archived_file *file =
        is_request ? archived_files_request(&files) : archived_files_get(&files, directory, name);
    if (!file) {
        error_set(error, files.denied ? "you may not read %s of that job" : "that job has no %s",
                  name);
        return files.denied ? HTTP_FORBIDDEN : HTTP_NOT_FOUND;
    }
    *bytes = file->end;
    if (!file->is_cut)
        return HTTP_OK;
    error_set(error, "%s is larger than 16 MiB; at a terminal, dlspool logs and show print it",
              name);
    return HTTP_CONFLICT;
}
