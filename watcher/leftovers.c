/* watcher/leftovers.c - files in the drop directory that are never taken */
#include "watcher/leftovers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/names.h"
#include "base/system.h"
#include "watcher/settle.h"

enum { MOST_NAMED = 1024 }; /* names remembered, so that each is logged once */

struct leftovers {
    char *path;
    int64_t patience, due;
    struct names *named;
    int directory; /* this and `count`: during a look */
    int count;
};

struct leftovers *leftovers_new(const char *path, int64_t patience)
{
    struct leftovers *leftovers = memory_allocate(sizeof(*leftovers));
    *leftovers = (struct leftovers){
        .path = memory_copy_string(path), .patience = patience, .named = names_new(MOST_NAMED, 1)};
    return leftovers;
}

void leftovers_free(struct leftovers *leftovers)
{
    if (!leftovers)
        return;
    names_free(leftovers->named);
    free(leftovers->path);
    free(leftovers);
}

/* Is it a name that dlspool or an NFS client makes itself? */
static bool is_ours(struct text name)
{
    return text_starts(name, ".refused-") || text_starts(name, ".nfs");
}

static void name_it(struct leftovers *leftovers, struct text name, int64_t age)
{
    struct error_quote_buffer buffer;
    char duration[CLOCK_TEXT_SIZE];
    log_say(
        "%s: \"%s\" has waited for %s and is never taken: a name that begins with `.` or ends in "
        "~ .tmp .part .swp .filepart is that of a file which is still being written; rename it",
        leftovers->path, error_quote(&buffer, name.data, name.length),
        duration_format(age / 1000 * 1000, duration));
    leftovers->count++;
}

static int look_at(void *context, const char *entry, unsigned char type)
{
    struct leftovers *leftovers = context;
    struct text name = text_of(entry);
    struct stat status;
    (void)type;
    if (!settle_ignores(name) || is_ours(name) || names_find(leftovers->named, name) ||
        sys.fstatat(leftovers->directory, entry, &status, AT_SYMLINK_NOFOLLOW))
        return 0;
    int64_t changed = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
    int64_t made = (int64_t)status.st_ctim.tv_sec * 1000 + status.st_ctim.tv_nsec / 1000000;
    int64_t age = clock_now() - (made > changed ? made : changed);
    if (age < leftovers->patience)
        return 0;
    if (!names_add(leftovers->named, name))
        return 1; /* the table is full: log no more names */
    name_it(leftovers, name, age);
    return 0;
}

int leftovers_check(struct leftovers *leftovers, int directory, int64_t now)
{
    if (now < leftovers->due)
        return 0;
    leftovers->due = now + leftovers->patience / 2;
    leftovers->directory = directory;
    leftovers->count = 0;
    if (!names_full(leftovers->named))
        directory_walk(directory, look_at, leftovers);
    return leftovers->count;
}

int64_t leftovers_due(const struct leftovers *leftovers)
{
    return leftovers->due;
}
