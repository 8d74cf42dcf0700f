/* spool/usage_tail.c - reads on in the accounts: what was written since the last time */
#include "spool/usage_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/directory.h"
#include "base/system.h"
#include "spool/usage_files.h"
#include "spool/usage_met.h"

enum {
    PIECE = 1 << 20,      /* bytes; a longer line is skipped: one has some hundred */
    MOST_MET = 1 << 16,   /* attempts; when there are as many, the oldest half is forgotten */
    MOST_MONTHS = 12 * 30 /* files */
};

struct usage_tail {
    const struct spool *spool;
    int64_t since;
    struct usage_place places[MOST_MONTHS]; /* by month */
    size_t count;
    struct usage_met met, met_before;
    struct arena *arena; /* of a line */
    usage_take *take;    /* NULL: the lines were read before, and are only noted */
    void *context;
};

struct usage_tail *usage_tail_new(const struct spool *spool, int64_t since)
{
    struct usage_tail *tail = memory_allocate(sizeof(*tail));
    *tail = (struct usage_tail){.spool = spool, .since = since, .arena = arena_new()};
    return tail;
}

void usage_tail_free(struct usage_tail *tail)
{
    if (!tail)
        return;
    usage_met_free(&tail->met);
    usage_met_free(&tail->met_before);
    arena_free(tail->arena);
    free(tail);
}

const struct usage_place *usage_tail_places(const struct usage_tail *tail, size_t *count)
{
    *count = tail->count;
    return tail->places;
}

/* ---- lines ---- */

static bool is_met(struct usage_tail *tail, const struct usage *usage)
{
    if (usage_met_has(&tail->met_before, usage) || usage_met_add(&tail->met, usage))
        return true;
    if (tail->met.count == MOST_MET / 2) {
        usage_met_free(&tail->met_before);
        tail->met_before = tail->met;
        tail->met = (struct usage_met){0};
    }
    return false;
}

static int take_lines(struct usage_tail *tail, struct text lines)
{
    struct event event;
    struct usage usage;
    int result = 0;
    while (!result && eventlog_next(&lines, &event)) {
        if (event.time >= tail->since && usage_parse(tail->arena, &event, &usage) &&
            !is_met(tail, &usage) && tail->take)
            result = tail->take(tail->context, &usage);
        arena_reset(tail->arena);
    }
    return result;
}

/* Take the whole lines of the file between two places, and move *from behind them.  What follows the last end of a
 * line is being written. */
static int read_lines(struct usage_tail *tail, int file, int64_t *from, int64_t to,
                      struct error *error)
{
    char *piece = memory_allocate(PIECE);
    int result = 0;
    while (!result && *from < to) {
        size_t most = to - *from < PIECE ? (size_t)(to - *from) : PIECE;
        ssize_t count = sys.pread(file, piece, most, *from);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            result = error_errno(error, "history/usage/ could not be read");
        if (count <= 0)
            break;
        const char *end = memrchr(piece, '\n', (size_t)count);
        size_t whole = end ? (size_t)(end - piece) + 1 : count == PIECE ? PIECE : 0;
        if (!whole)
            break;
        result = take_lines(tail, (struct text){piece, whole});
        *from += (int64_t)whole;
    }
    free(piece);
    return result;
}

/* ---- files ---- */

/* The place in the file of that month, which is in order with the others; NULL when there are too many. */
static struct usage_place *find_place(struct usage_tail *tail, const char *month)
{
    size_t at = 0;
    while (at < tail->count && strcmp(tail->places[at].month, month) < 0)
        at++;
    if (at < tail->count && strcmp(tail->places[at].month, month) == 0)
        return &tail->places[at];
    if (tail->count == MOST_MONTHS)
        return NULL;
    memmove(&tail->places[at + 1], &tail->places[at], (tail->count++ - at) * sizeof(*tail->places));
    tail->places[at] = (struct usage_place){.bytes = 0};
    memcpy(tail->places[at].month, month, USAGE_MONTH_SIZE);
    return &tail->places[at];
}

static int note_month(void *context, const char *name, unsigned char type)
{
    struct usage_tail *tail = context;
    char first[USAGE_FILE_NAME_SIZE];
    (void)type;
    usage_files_name(tail->since > 0 ? tail->since : 0, first);
    if (usage_files_is_month(name) && strcmp(name, first) >= 0)
        find_place(tail, name);
    return 0;
}

static int open_file(int directory, const char *month, struct stat *status, struct error *error)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int file = sys.openat(directory, month, flags, 0);
    if (file < 0 || sys.fstat(file, status)) {
        error_errno(error, "history/usage/%s could not be opened", month);
        if (file >= 0)
            sys.close(file);
        return -1;
    }
    return file;
}

int usage_tail_seek(struct usage_tail *tail, const struct usage_place *place, struct error *error)
{
    struct stat status;
    int directory = usage_files_open(tail->spool, false, error);
    if (directory < 0)
        return -1;
    int file = open_file(directory, place->month, &status, error);
    sys.close(directory);
    if (file < 0)
        return -1;
    struct usage_place *known = find_place(tail, place->month);
    int result = status.st_size < place->bytes || place->bytes < 0 || !known
                     ? error_set(error, "history/usage/%s is not as it was", place->month)
                     : 0;
    if (!result) {
        int64_t from = place->bytes > PIECE ? place->bytes - PIECE : 0;
        known->bytes = place->bytes;
        tail->take = NULL;
        result = read_lines(tail, file, &from, place->bytes, error);
    }
    sys.close(file);
    return result;
}

static int read_file(struct usage_tail *tail, int directory, struct usage_place *place,
                     struct error *error)
{
    struct stat status;
    if (sys.fstatat(directory, place->month, &status, AT_SYMLINK_NOFOLLOW))
        return error_errno(error, "history/usage/%s could not be looked at", place->month);
    if (status.st_size < place->bytes)
        return error_set(error, "history/usage/%s is shorter than it was", place->month);
    if (status.st_size == place->bytes || !S_ISREG(status.st_mode))
        return 0;
    int file = open_file(directory, place->month, &status, error);
    if (file < 0)
        return -1;
    int result = read_lines(tail, file, &place->bytes, status.st_size, error);
    sys.close(file);
    return result;
}

int usage_tail_read(struct usage_tail *tail, usage_take *take, void *context, struct error *error)
{
    int directory = usage_files_open(tail->spool, false, error);
    if (directory < 0)
        return errno == ENOENT && !tail->count ? 0 : -1;
    tail->take = take;
    tail->context = context;
    int result = directory_walk(directory, note_month, tail)
                     ? error_errno(error, "history/usage/ could not be read")
                     : 0;
    for (size_t i = 0; i < tail->count && !result; i++)
        result = read_file(tail, directory, &tail->places[i], error);
    sys.close(directory);
    return result;
}
