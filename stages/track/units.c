/* stages/track/units.c - how many units a job reports as done */
#include "stages/track/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/system.h"
#include "job/pattern.h"
#include "stages/track/user_file.h"

enum {
    LOOK_BYTES = 64 * 1024, /* of what was printed that a look reads at most, the newest */
    LINE_KEPT = 2 * PATTERN_LINE_MOST, /* of a line that has not ended yet */
    MOST_ROLES = 4
};

static const double most_units = 1e15; /* whole numbers up to here are exact */

/* How far the output of a task has been read. */
struct tail {
    char role[64];
    off_t offset;
    ino_t inode;        /* 0: not opened yet */
    struct buffer line; /* that has not ended */
    bool looked;        /* ... and has been looked at as it is */
};

struct units {
    char id[ID_SIZE];
    struct user_file *file; /* NULL: in the output */
    bool asked;             /* ... for what is in it, and it has not come yet */
    struct pattern pattern;
    struct tail tails[MOST_ROLES];
    size_t tail_count;
    const struct tail *chosen; /* the role that has said something; NULL: none yet */
    bool complained;
};

struct units *units_new(const struct job_record *record)
{
    struct units *units = memory_allocate(sizeof(*units));
    snprintf(units->id, sizeof(units->id), "%.*s", (int)record->id.length, record->id.data);
    if (record->units_file.length) {
        units->file = user_file_new(record->units_file, record->uid);
        return units;
    }
    if (record->units_pattern.length &&
        !pattern_parse(record->units_pattern, &units->pattern, NULL))
        return units;
    free(units);
    return NULL;
}

void units_free(struct units *units)
{
    if (!units)
        return;
    for (size_t i = 0; i < units->tail_count; i++)
        buffer_free(&units->tails[i].line);
    user_file_free(units->file);
    free(units);
}

static bool is_number(double number)
{
    return number >= 0 && number <= most_units;
}

/* What was printed */

static bool look_at_line(const struct units *units, struct text line, struct units_seen *seen)
{
    double done, total;
    if (!pattern_find(&units->pattern, line, &done, &total))
        return false;
    seen->done = done;
    seen->total = total;
    seen->count++;
    return true;
}

static void keep_line(struct tail *tail, struct text piece)
{
    size_t left = tail->line.length < LINE_KEPT ? LINE_KEPT - tail->line.length : 0;
    tail->looked = false;
    buffer_add(&tail->line, piece.data, piece.length < left ? piece.length : left);
}

/* Lines end at LF, and also at CR, with which programs draw progress bars. */
static bool look_at_bytes(const struct units *units, struct tail *tail, struct text bytes,
                          struct units_seen *seen)
{
    bool found = false;
    size_t start = 0;
    for (size_t i = 0; i < bytes.length; i++) {
        if (bytes.data[i] != '\n' && bytes.data[i] != '\r')
            continue;
        struct text piece = {bytes.data + start, i - start};
        if (tail->line.length) {
            keep_line(tail, piece);
            piece = buffer_text(&tail->line);
        }
        found = look_at_line(units, piece, seen) || found;
        buffer_clear(&tail->line);
        start = i + 1;
    }
    if (start < bytes.length)
        keep_line(tail, (struct text){bytes.data + start, bytes.length - start});
    return found;
}

/* A progress bar has no line end.  Before anything follows, the line may be cut within a number; once nothing
 * new comes, it counts as it is. */
static bool look_at_unended(const struct units *units, struct tail *tail, struct units_seen *seen)
{
    if (tail->line.length == 0 || tail->looked)
        return false;
    tail->looked = true;
    return look_at_line(units, buffer_text(&tail->line), seen);
}

/* Read what is new in the file, or the newest part of that. */
static bool read_tail(const struct units *units, struct tail *tail, int file, off_t size,
                      struct units_seen *seen)
{
    if (size == tail->offset)
        return look_at_unended(units, tail, seen);
    if (size < tail->offset)
        tail->offset = 0; /* it was rewritten */
    if (size - tail->offset > LOOK_BYTES) {
        tail->offset = size - LOOK_BYTES;
        buffer_clear(&tail->line);
    }
    bool found = false;
    char bytes[16384];
    while (tail->offset < size) {
        size_t want = size - tail->offset < (off_t)sizeof(bytes) ? (size_t)(size - tail->offset)
                                                                 : sizeof(bytes);
        ssize_t count = sys.pread(file, bytes, want, tail->offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        tail->offset += count;
        found = look_at_bytes(units, tail, (struct text){bytes, (size_t)count}, seen) || found;
    }
    return found;
}

static int open_output(int job, const char *name, struct stat *status)
{
    int file = sys.openat(job, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file >= 0 && (sys.fstat(file, status) || !S_ISREG(status->st_mode))) {
        sys.close(file);
        file = -1;
    }
    return file;
}

/* Read the rest of a log that became large, and was renamed to NAME.1. */
static bool finish_old(const struct units *units, struct tail *tail, int job, const char *name,
                       struct units_seen *seen)
{
    char old[128];
    struct stat status;
    bool found = false;
    snprintf(old, sizeof(old), "%s.1", name);
    int file = open_output(job, old, &status);
    if (file < 0)
        return false;
    if (status.st_ino == tail->inode)
        found = read_tail(units, tail, file, status.st_size, seen);
    sys.close(file);
    return found;
}

static bool look_at_tail(const struct units *units, struct tail *tail, int job,
                         struct units_seen *seen)
{
    char name[96];
    struct stat status;
    bool found = false;
    snprintf(name, sizeof(name), "output/%s-0.log", tail->role);
    int file = open_output(job, name, &status);
    if (file < 0)
        return false;
    if (tail->inode && status.st_ino != tail->inode) {
        found = finish_old(units, tail, job, name, seen);
        tail->offset = 0;
        buffer_clear(&tail->line);
    }
    tail->inode = status.st_ino;
    found = read_tail(units, tail, file, status.st_size, seen) || found;
    sys.close(file);
    return found;
}

static void add_roles(struct units *units, const struct task_state *tasks, size_t count)
{
    for (size_t i = 0; i < count && units->tail_count < MOST_ROLES; i++) {
        bool known = tasks[i].index != 0;
        for (size_t j = 0; j < units->tail_count && !known; j++)
            known = strcmp(units->tails[j].role, tasks[i].role) == 0;
        if (!known)
            snprintf(units->tails[units->tail_count++].role, sizeof(tasks[i].role), "%s",
                     tasks[i].role);
    }
}

static bool look_at_output(struct units *units, int job, struct units_seen *seen)
{
    if (units->chosen)
        return look_at_tail(units, &units->tails[units->chosen - units->tails], job, seen);
    for (size_t i = 0; i < units->tail_count && !units->chosen; i++)
        if (look_at_tail(units, &units->tails[i], job, seen))
            units->chosen = &units->tails[i];
    return units->chosen != NULL;
}

/* A file */

static bool parse_json(struct text bytes, struct units_seen *seen)
{
    struct arena *arena = arena_new();
    const struct value *value = json_read(arena, bytes, "progress", &yaml_request_limits, NULL);
    seen->done = value_get_number(value, "done", -1);
    seen->total = value_get_number(value, "total", 0);
    arena_free(arena);
    return is_number(seen->done) && is_number(seen->total);
}

bool units_parse(struct text bytes, struct units_seen *seen)
{
    struct pattern pattern;
    bytes = text_trim(bytes);
    *seen = (struct units_seen){0};
    if (bytes.length && bytes.data[0] == '{')
        return parse_json(bytes, seen);
    for (size_t i = 0; i < bytes.length; i++)
        if (bytes.data[i] == '\0' || !strchr("0123456789./ \t", bytes.data[i]))
            return false;
    bool with_total = bytes.length && memchr(bytes.data, '/', bytes.length);
    const char *const forms[] = {with_total ? "{done}/{total}" : "{done}", "{done} /{total}"};
    for (int i = 0; i <= with_total; i++)
        if (!pattern_parse(text_of(forms[i]), &pattern, NULL) &&
            pattern_find(&pattern, bytes, &seen->done, &seen->total))
            return is_number(seen->done) && is_number(seen->total);
    return false;
}

static bool look_at_file(struct units *units, struct units_seen *seen)
{
    /* From storage that answers this takes no time; otherwise the answer is taken at the next look. */
    const int64_t patience = 50;
    struct user_file_answer answer;
    bool waits = units->asked;
    if (!waits)
        user_file_ask(units->file);
    units->asked = !user_file_take(units->file, waits ? 0 : patience, &answer);
    if (units->asked)
        return false;
    if (answer.why[0] && !units->complained) {
        log_warn("%s: its progress file (units) cannot be used: %s", units->id, answer.why);
        units->complained = true;
    }
    if (!answer.read || !units_parse((struct text){answer.bytes, answer.length}, seen))
        return false;
    seen->count = 1;
    seen->written = answer.written;
    return true;
}

bool units_update(struct units *units, int job, const struct task_state *tasks, size_t task_count,
                  struct units_seen *seen)
{
    *seen = (struct units_seen){0};
    if (units->file)
        return look_at_file(units, seen);
    add_roles(units, tasks, task_count);
    return look_at_output(units, job, seen);
}
