/* executors/kubernetes/output_files.c - <role>-<index>.log, .log.1, .<role>-<index>.position, and the times of
 * both logs (output_file.h)
 *
 * The log is written first, and then the place.  The three files show what a crash has left: bytes in the
 * log beyond the place are compared with what comes next; a place whose file is .log.1 was written just
 * before the rotation; when the log is shorter than the place says (the machine went down), copying
 * begins again from the start, and compares.  A log that is read once, when its job has ended, has no
 * place.
 */
#include "base/file.h"
#include "executors/kubernetes/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/system.h"
#include "executors/output_file.h"

enum { LEAST_HALF = 4096 }; /* bytes of a log before it is rotated, at least */

static void position_name(const struct copying *copying, char name[static OUTPUT_NAME_SIZE + 16])
{
    snprintf(name, OUTPUT_NAME_SIZE + 16, ".%s.position", copying->name);
}

static int fail_copy(struct copying *copying, const char *what)
{
    copying->log->loaded = false;
    copying->more = false;
    copying->job->result = -1;
    return error_errno(&copying->job->error, "output/%s%s", copying->name, what);
}

/* Read the place from its file; an empty one when the file is missing or damaged. */
static void read_place(struct copying *copying, struct pod_log_place *place)
{
    struct buffer bytes = {0};
    char name[OUTPUT_NAME_SIZE + 16];
    position_name(copying, name);
    *place = (struct pod_log_place){0};
    if (file_read_at(copying->job->directory, name, LOG_PLACE_SIZE, &bytes, NULL) ||
        !pod_log_place_read(place, buffer_text(&bytes)))
        *place = (struct pod_log_place){0};
    buffer_free(&bytes);
}

int kubernetes_output_write_place(struct copying *copying, const struct pod_log_place *place)
{
    char buffer[LOG_PLACE_SIZE];
    struct stat status;
    struct error error;
    char name[OUTPUT_NAME_SIZE + 16];
    position_name(copying, name);
    int file = output_file_open(copying->job->directory, name, O_WRONLY | O_CREAT, &status);
    if (file < 0)
        return fail_copy(copying, ".position could not be opened");
    pod_log_place_write(place, buffer);
    int result = 0;
    if (status.st_size > LOG_PLACE_SIZE && sys.ftruncate(file, 0))
        result = fail_copy(copying, ".position could not be shortened");
    else if (file_write_all(file, (struct text){buffer, sizeof(buffer)}, copying->name, &error))
        result = fail_copy(copying, ".position could not be written");
    sys.close(file);
    return result;
}

/* Determine the place in the log, by comparing the files with the place that was written. */
int kubernetes_output_load_place(struct copying *copying)
{
    struct pod_log_place *place = &copying->log->place;
    struct stat status = {0}, older = {0};
    char name[OUTPUT_NAME_SIZE + 16];
    if (copying->log->loaded)
        return 0;
    snprintf(name, sizeof(name), "%s.log", copying->name);
    int found = sys.fstatat(copying->job->directory, name, &status, AT_SYMLINK_NOFOLLOW);
    if (found && errno != ENOENT)
        return fail_copy(copying, ".log could not be looked at");
    if (found)
        status = (struct stat){0};
    snprintf(name, sizeof(name), "%s.log.1", copying->name);
    bool has_older = sys.fstatat(copying->job->directory, name, &older, AT_SYMLINK_NOFOLLOW) == 0;
    read_place(copying, place);
    if (found || place->file != status.st_ino) {
        if (place->file && has_older && place->file == older.st_ino)
            place->length = 0; /* it was rotated after the place was written */
        place->file = found ? 0 : status.st_ino;
    }
    if (place->length > (uint64_t)status.st_size) {
        /* The machine went down before the log was on disk: begin again, and compare. */
        *place = (struct pod_log_place){.file = place->file};
    }
    copying->log->loaded = true;
    return 0;
}

/* How many bytes at the start of `bytes` the file already has, from `place` on; SIZE_MAX when it differs. */
static size_t compare_file(int file, uint64_t place, uint64_t size, struct text bytes)
{
    char piece[8192];
    size_t same = 0;
    while (same < bytes.length && place + same < size) {
        size_t left = bytes.length - same;
        ssize_t length = sys.pread(file, piece, left < sizeof(piece) ? left : sizeof(piece),
                                   (off_t)(place + same));
        if (length <= 0 || memcmp(piece, bytes.data + same, (size_t)length) != 0)
            return SIZE_MAX;
        same += (size_t)length;
    }
    return same;
}

/* `before` is the place that the bytes which are being written begin at, `written` how many of them
 * are in the file. */
static int rotate_file(struct copying *copying, const struct pod_log_place *before,
                       uint64_t written)
{
    struct pod_log_place place = *before;
    char from[OUTPUT_NAME_SIZE + 16], to[OUTPUT_NAME_SIZE + 16];
    snprintf(from, sizeof(from), "%s.log", copying->name);
    snprintf(to, sizeof(to), "%s.log.1", copying->name);
    place.skip = written;
    place.file = copying->log->place.file;
    place.length = copying->log->place.length;
    if (kubernetes_output_write_place(copying, &place))
        return -1;
    /* Its times go first, so that those of one file are never taken for those of the next. */
    char times[OUTPUT_TIMES_NAME_SIZE], older_times[OUTPUT_TIMES_NAME_SIZE];
    sys.renameat(copying->job->directory, output_file_times_name(from, times),
                 copying->job->directory, output_file_times_name(to, older_times));
    if (sys.renameat(copying->job->directory, from, copying->job->directory, to))
        return fail_copy(copying, ".log could not be rotated");
    copying->log->place.file = 0;
    copying->log->place.length = 0;
    return 0;
}

/* Append the bytes that the open file does not have yet. */
static int append_new(struct copying *copying, int file, uint64_t size, struct text bytes)
{
    static const char note[] =
        "\n[dlspool: what was copied before a crash differs from what the pod says now; "
        "it follows once more]\n";
    struct pod_log_place *place = &copying->log->place;
    struct error error;
    size_t same = compare_file(file, place->length, size, bytes);
    if (same == SIZE_MAX) {
        if (file_write_all(file, text_of(note), copying->name, &error))
            return fail_copy(copying, ".log could not be written");
        place->length = size + sizeof(note) - 1;
        same = 0;
    }
    struct text rest = {bytes.data + same, bytes.length - same};
    if (rest.length && file_write_all(file, rest, copying->name, &error))
        return fail_copy(copying, ".log could not be written");
    place->length += bytes.length;
    return 0;
}

/* The part of `rest`, which begins at `length`, that still fits the file: up to the end of a line where there
 * is one.  What a crash has left behind `length` is of it in any case: the file is not cut, so what stands in
 * it may not go into the next one, too. */
static struct text cut_part(struct text rest, uint64_t length, uint64_t half, uint64_t size)
{
    uint64_t space = length < half ? half - length : 0;
    uint64_t least = size > length ? size - length : 0;
    if (rest.length <= space || rest.length <= least)
        return rest;
    const char *end = space ? memrchr(rest.data, '\n', (size_t)space) : NULL;
    size_t cut = end ? (size_t)(end - rest.data) + 1 : length ? 0 : (size_t)space;
    return (struct text){rest.data, cut > least ? cut : (size_t)least};
}

/* Is this the whole log of the only pod of a task whose job has ended, and did nothing come before it?  Then
 * no place is written: should the log be read again after a crash, it is compared from its start.  Nor is its
 * time, which is that of the file. */
static bool is_all_at_once(const struct copying *copying, const struct pod_log_place *before)
{
    return copying->log->place.whole && copying->job->last && copying->pod_count == 1 &&
           before->file == 0 && before->anchor.second == 0;
}

/* Write what lies between the place `before` and the one that is remembered. */
int kubernetes_output_write(struct copying *copying, const struct pod_log_place *before,
                            struct text out)
{
    bool at_once = is_all_at_once(copying, before);
    struct pod_log_place *place = &copying->log->place;
    uint64_t half = (uint64_t)copying->kubernetes->settings.log_limit / 2;
    half = half < LEAST_HALF ? LEAST_HALF : half;
    size_t written = before->skip < out.length ? (size_t)before->skip : out.length;
    place->skip = before->skip - written;
    do {
        struct stat status;
        struct text rest = {out.data + written, out.length - written};
        char name[OUTPUT_NAME_SIZE + 16];
        snprintf(name, sizeof(name), "%s.log", copying->name);
        int file =
            output_file_open(copying->job->directory, name, O_RDWR | O_APPEND | O_CREAT, &status);
        if (file < 0)
            return fail_copy(copying, ".log could not be opened");
        place->file = status.st_ino;
        struct text part = cut_part(rest, place->length, half, (uint64_t)status.st_size);
        int result = append_new(copying, file, (uint64_t)status.st_size, part);
        if (sys.close(file) && result == 0)
            result = fail_copy(copying, ".log could not be written");
        written += part.length;
        at_once = at_once && written == out.length;
        if (!at_once && result == 0 && place->length > (uint64_t)status.st_size)
            output_file_note_time(copying->job->directory, name, (int64_t)status.st_size);
        if (result || (written < out.length && rotate_file(copying, before, written)))
            return -1;
    } while (written < out.length);
    return at_once ? 0 : kubernetes_output_write_place(copying, place);
}
