/* spool/usage_scan.c - reads the accounts: file after file, in pieces, each attempt once */
#include "spool/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/directory.h"
#include "base/system.h"
#include "spool/eventlog.h"
#include "spool/usage_files.h"
#include "spool/usage_met.h"

enum { PIECE = 1 << 20 }; /* bytes; a longer line is skipped: one has some hundred */
enum {
    BEFORE = 2 << 20
}; /* bytes before a mark, in which attempts are looked for that come twice */

struct scanning {
    int64_t since;
    usage_take *take;
    void *context;
    struct arena *arena; /* of a line */
    struct usage_met met;
    struct usage_mark *mark; /* NULL: all is read */
};

/* ---- a file ---- */

/* `known`: they were taken before, and are only noted. */
static int take_lines(struct scanning *scanning, struct text lines, bool known)
{
    struct event event;
    struct usage usage;
    int result = 0;
    while (!result && eventlog_next(&lines, &event)) {
        if (event.time >= scanning->since && usage_parse(scanning->arena, &event, &usage) &&
            !usage_met_add(&scanning->met, &usage) && !known)
            result = scanning->take(scanning->context, &usage);
        arena_reset(scanning->arena);
    }
    return result;
}

/* Read the file piece by piece, from *at on, which is moved behind the last whole line.  What is behind the last end
 * of a line is carried over to the next piece, and at the end left out: it is being written.  Lines before `fresh` are
 * known. */
static int read_lines(struct scanning *scanning, int file, char *piece, const char *name,
                      int64_t *at, int64_t fresh, struct error *error)
{
    size_t held = 0;
    for (;;) {
        bool known = *at < fresh;
        size_t most = known && fresh - *at < PIECE ? (size_t)(fresh - *at) : PIECE;
        ssize_t count = sys.pread(file, piece + held, most - held, (off_t)*at + (off_t)held);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_errno(error, "history/usage/%s could not be read", name);
        if (count == 0)
            return 0;
        held += (size_t)count;
        const char *end = memrchr(piece, '\n', held);
        size_t whole = end ? (size_t)(end - piece) + 1 : 0;
        int result = take_lines(scanning, (struct text){piece, whole}, known);
        if (result)
            return result;
        *at += (int64_t)whole;
        held -= whole;
        memmove(piece, piece + whole, held);
        if (known && *at + (int64_t)held == fresh) {
            *at = fresh; /* a line that nobody finished */
            held = 0;
        } else if (held == PIECE) {
            *at += PIECE - 1;
            held = 1; /* no line of ours; its rest is none either */
        }
    }
}

/* Where to begin in a file of `size` bytes: at *at, and what is before *fresh is known.  False: nothing is new. */
static bool find_begin(const struct scanning *scanning, const char *name, int64_t size, bool last,
                       int64_t *at, int64_t *fresh)
{
    const struct usage_mark *mark = scanning->mark;
    *at = *fresh = 0;
    if (!mark || strcmp(mark->file, name) != 0)
        return true;
    *fresh = mark->offset <= size ? mark->offset : 0; /* less: it is another file of that name */
    *at = *fresh > BEFORE ? *fresh - BEFORE : 0;
    return !last || *fresh < size;
}

static int scan_file(struct scanning *scanning, int directory, const char *name, bool last,
                     char *piece, struct error *error)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat status;
    int64_t at, fresh;
    int result = 0;
    int file = sys.openat(directory, name, flags, 0);
    if (file < 0)
        return error_errno(error, "history/usage/%s could not be opened", name);
    if (sys.fstat(file, &status)) {
        result = error_errno(error, "history/usage/%s could not be looked at", name);
    } else if (S_ISREG(status.st_mode)) {
        if (find_begin(scanning, name, status.st_size, last, &at, &fresh))
            result = read_lines(scanning, file, piece, name, &at, fresh, error);
        else
            at = fresh;
        if (scanning->mark && !result) {
            memcpy(scanning->mark->file, name, USAGE_FILE_NAME_SIZE);
            scanning->mark->offset = at;
        }
    }
    sys.close(file);
    return result;
}

/* ---- the files ---- */

struct names {
    char (*items)[USAGE_FILE_NAME_SIZE];
    size_t count, capacity;
    char first[USAGE_FILE_NAME_SIZE]; /* older ones are left out */
};

static int add_name(void *context, const char *name, unsigned char type)
{
    struct names *names = context;
    (void)type;
    if (!usage_files_is_month(name) || strcmp(name, names->first) < 0)
        return 0;
    names->items = memory_grow(names->items, names->count, &names->capacity, sizeof(*names->items));
    memcpy(names->items[names->count++], name, USAGE_FILE_NAME_SIZE);
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int scan_files(struct scanning *scanning, int directory, struct error *error)
{
    struct names names = {0};
    if (scanning->mark)
        memcpy(names.first, scanning->mark->file, USAGE_FILE_NAME_SIZE);
    else
        usage_files_name(scanning->since > 0 ? scanning->since : 0, names.first);
    int result = directory_walk(directory, add_name, &names)
                     ? error_errno(error, "history/usage/ could not be read")
                     : 0;
    if (names.count)
        qsort(names.items, names.count, sizeof(*names.items), compare_names);
    char *piece = memory_allocate(PIECE);
    for (size_t i = 0; i < names.count && !result; i++)
        result = scan_file(scanning, directory, names.items[i], i + 1 == names.count, piece, error);
    free(piece);
    free(names.items);
    return result;
}

static int scan(const struct spool *spool, struct scanning *scanning, struct error *error)
{
    int directory = usage_files_open(spool, false, error);
    if (directory < 0)
        return errno == ENOENT ? 0 : -1;
    scanning->arena = arena_new();
    int result = scan_files(scanning, directory, error);
    usage_met_free(&scanning->met);
    arena_free(scanning->arena);
    sys.close(directory);
    return result;
}

int usage_scan(const struct spool *spool, int64_t since, usage_take *take, void *context,
               struct error *error)
{
    struct scanning scanning = {.since = since, .take = take, .context = context};
    return scan(spool, &scanning, error);
}

int usage_scan_on(const struct spool *spool, struct usage_mark *mark, usage_take *take,
                  void *context, struct error *error)
{
    struct scanning scanning = {.since = INT64_MIN, .take = take, .context = context, .mark = mark};
    return scan(spool, &scanning, error);
}
