/* stages/prune/write.c - the archives and the index of jobs that ended on one day, under hidden names
 *
 * Each file goes to the archive of those who may read it: everybody, one group, or only the daemon's user.  So
 * archiving gives nobody more than they had, and takes nothing from them.  The archives are written one
 * after another, since each that is open takes megabytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/index.h"
#include "archive/pack.h"
#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/file.h"
#include "stages/prune/inside.h"
#include "stages/prune/readers.h"

enum {
    FRAME_JOBS = 64, /* in a frame at most: to show one, these are unpacked */
    FRAME_BYTES = 1 << 20,
    KINDS_NOTED = 4, /* of a job; with more, every archive is tried for it */
    INDEX_MODE = 0644,
    OPEN_FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

struct written_job {
    struct buffer line; /* of the index, without `others`; empty: it is not in this part */
    int64_t bytes, offset;
    int kinds[KINDS_NOTED]; /* archives beside the first one that have files of it */
    int kind_count;
    struct buffer others; /* of its line in the index */
};

struct writing {
    struct pruner *pruner;
    const struct ending *endings;
    size_t count;
    bool *kept;
    struct part part;
    struct written_job *jobs;
    struct arena *arena; /* of one job */
    struct readers *kinds;
    int kind_count, kind_capacity, kind; /* the one that is written now */
    struct pack *pack;
    int64_t frame; /* offset */
    int frame_jobs;
    bool any;        /* a job is to be in the index */
    bool unreadable; /* a file of this job */
    bool broken;     /* the archive could not be written */
    struct error *error;
};

/* ".2026-08-01.tar.zst.new" */
static const char *hidden_name(const struct part *part, struct text kind,
                               char buffer[static PART_NAME_SIZE])
{
    char name[PART_NAME_SIZE];
    snprintf(buffer, PART_NAME_SIZE, ".%.*s.new", PART_NAME_SIZE - 8, part_name(part, kind, name));
    return buffer;
}

/* ---- one job ---- */

/* Note that the job has files of this kind, which is written later. */
static void note_kind(struct writing *writing, struct written_job *job, struct readers kind)
{
    int which = 0;
    while (which < writing->kind_count && !readers_are_same(writing->kinds[which], kind))
        which++;
    if (which == writing->kind_count) {
        size_t capacity = (size_t)writing->kind_capacity;
        writing->kinds = memory_grow(writing->kinds, (size_t)writing->kind_count, &capacity,
                                     sizeof(*writing->kinds));
        writing->kind_capacity = (int)capacity;
        writing->kinds[writing->kind_count++] = kind;
    }
    for (int i = 0; i < job->kind_count && i < KINDS_NOTED; i++)
        if (job->kinds[i] == which)
            return;
    if (job->kind_count < KINDS_NOTED)
        job->kinds[job->kind_count] = which;
    job->kind_count++;
}

static bool has_kind(const struct written_job *job, int kind)
{
    for (int i = 0; i < job->kind_count && i < KINDS_NOTED; i++)
        if (job->kinds[i] == kind)
            return true;
    return job->kind_count > KINDS_NOTED;
}

/* A directory that is read now. */
struct level {
    struct writing *writing;
    struct written_job *job;
    int directory;
    struct readers above;
    const char *path; /* "<id>" or "<id>/output" */
    bool inner;
};

static int begin_frame(struct writing *writing)
{
    if (writing->frame >= 0)
        return 0;
    writing->frame_jobs = 0;
    writing->frame = pack_begin(writing->pack, writing->error);
    writing->broken = writing->broken || writing->frame < 0;
    return writing->frame < 0 ? -1 : 0;
}

static int add_to_pack(struct level *level, const char *path, const struct stat *status, int file)
{
    struct writing *writing = level->writing;
    struct error error;
    if (begin_frame(writing))
        return -1;
    int result = pack_add(writing->pack, path, status, file, &error);
    if (result > 0) {
        log_warn("%s: %s", path, error.text);
        writing->unreadable = true;
    } else if (result < 0) {
        error_set(writing->error, "%s", error.text);
        writing->broken = true;
    }
    return result < 0 ? -1 : 0;
}

/* A regular file, if it is of the kind that is written now. */
static int take_file(struct level *level, const char *name, const char *path)
{
    struct writing *writing = level->writing;
    struct stat status;
    int file = sys.openat(level->directory, name, OPEN_FILE, 0);
    int result = 0;
    if (file < 0 || sys.fstat(file, &status)) {
        if (errno != ENOENT) {
            log_warn("%s could not be read for its archive: %s", path, strerror(errno));
            writing->unreadable = true;
        }
    } else if (S_ISREG(status.st_mode) &&
               readers_are_same(readers_of(&status, level->above), writing->kinds[writing->kind])) {
        result = add_to_pack(level, path, &status, file);
    }
    if (file >= 0)
        sys.close(file);
    return result;
}

static int take_entry(void *context, const char *name, unsigned char type);

/* output/ and output-N/, once: a directory below that is not dlspool's. */
static int take_directory(struct level *level, const char *name, const char *path,
                          const struct stat *status)
{
    struct writing *writing = level->writing;
    if (level->inner)
        return 0;
    struct level below = {.writing = writing,
                          .job = level->job,
                          .above = readers_below(status, level->above),
                          .path = path,
                          .inner = true};
    if (writing->kind == 0 && add_to_pack(level, path, status, -1))
        return -1;
    below.directory = sys.openat(level->directory, name, OPEN_DIRECTORY, 0);
    if (below.directory < 0) {
        writing->unreadable = writing->unreadable || errno != ENOENT;
        return 0;
    }
    int result = directory_walk(below.directory, take_entry, &below);
    sys.close(below.directory);
    return result;
}

/* What is being written, or a file server's; and `dropped`, which could not be a job file and is as large as its
 * owner liked. */
static bool is_left_out(const char *name, bool inner)
{
    bool half = name[0] == '.' && text_ends(text_of(name), ".new");
    return half || text_starts(text_of(name), ".nfs") || (!inner && strcmp(name, "dropped") == 0);
}

static int take_entry(void *context, const char *name, unsigned char type)
{
    struct level *level = context;
    struct writing *writing = level->writing;
    struct stat status;
    char path[ID_SIZE + 2 * NAME_MAX];
    (void)type;
    if (is_left_out(name, level->inner))
        return 0;
    if (sys.fstatat(level->directory, name, &status, AT_SYMLINK_NOFOLLOW))
        return 0;
    snprintf(path, sizeof(path), "%s/%s", level->path, name);
    if (S_ISDIR(status.st_mode))
        return take_directory(level, name, path, &status);
    if (!S_ISREG(status.st_mode))
        return 0;
    struct readers kind = readers_of(&status, level->above);
    if (writing->kind == 0) {
        level->job->bytes += status.st_size;
        if (!readers_are_same(kind, writing->kinds[0]))
            note_kind(writing, level->job, kind);
    }
    return readers_are_same(kind, writing->kinds[writing->kind]) ? take_file(level, name, path) : 0;
}

/* End the frame when it is large enough, so that the next job begins another. */
static int end_job(struct writing *writing)
{
    writing->frame_jobs++;
    if (writing->frame < 0 ||
        (writing->frame_jobs < FRAME_JOBS && pack_frame_bytes(writing->pack) < FRAME_BYTES))
        return 0;
    writing->frame = -1;
    if (pack_end(writing->pack, writing->error) == 0)
        return 0;
    writing->broken = true;
    return -1;
}

/* The job's files of the kind that is written now.  -1 when the archive cannot be written. */
static int write_job(struct writing *writing, size_t which, int job)
{
    struct written_job *written = &writing->jobs[which];
    struct stat status;
    const struct readers everybody = {0644, 0};
    struct level level = {.writing = writing,
                          .job = written,
                          .directory = job,
                          .path = writing->endings[which].place.id};
    writing->unreadable = sys.fstat(job, &status) != 0;
    if (writing->unreadable)
        return 0;
    level.above = readers_below(&status, everybody);
    if (begin_frame(writing) ||
        (writing->kind == 0 && add_to_pack(&level, level.path, &status, -1)))
        return -1;
    int64_t frame = writing->frame;
    if (directory_walk(job, take_entry, &level))
        writing->unreadable = true;
    if (writing->broken || end_job(writing))
        return -1;
    if (writing->kind == 0) {
        written->offset = frame;
        return 0;
    }
    char kind[READERS_NAME_SIZE];
    readers_name(writing->kinds[writing->kind], kind);
    buffer_printf(&written->others, "%s%s:%lld", written->others.length ? "," : "", kind,
                  (long long)frame);
    return 0;
}

/* ---- the archives ---- */

static int open_pack(struct writing *writing)
{
    char name[PART_NAME_SIZE], kind[READERS_NAME_SIZE];
    const struct readers *own = &writing->kinds[writing->kind];
    struct pack_readers readers = {.mode = own->mode, .group = own->group};
    readers_name(*own, kind);
    writing->frame = -1;
    writing->pack =
        pack_create(writing->pruner->archive, hidden_name(&writing->part, text_of(kind), name),
                    readers, writing->pruner->stage.spool.sync_mode != SYNC_NONE, writing->error);
    return writing->pack ? 0 : -1;
}

static int close_pack(struct writing *writing)
{
    int64_t size = pack_finish(writing->pack, writing->error);
    writing->pack = NULL;
    writing->pruner->report.archived_bytes += size > 0 ? size : 0;
    return size < 0 ? -1 : 0;
}

/* One more archive: what the jobs have of a kind. */
static int write_kind(struct writing *writing)
{
    if (open_pack(writing))
        return -1;
    for (size_t i = 0; i < writing->count; i++) {
        if (writing->kept[i] || !has_kind(&writing->jobs[i], writing->kind))
            continue;
        if (!prune_slice_goes_on(writing->pruner))
            return error_set(writing->error, "stopped");
        int job = job_open(&writing->pruner->stage.spool, &writing->endings[i].place);
        int result = job < 0 ? 0 : write_job(writing, i, job);
        if (job < 0 || writing->unreadable)
            writing->kept[i] = true;
        if (job >= 0)
            sys.close(job);
        if (result)
            return -1;
    }
    return close_pack(writing);
}

/* ---- what is archived already ---- */

/* The ends of jobs in the day's last part; writing->part becomes the next one.  NULL and a sentence. */
static struct names *read_last_part(struct writing *writing, struct error *error)
{
    struct part *parts;
    size_t count, at = 0;
    struct buffer lines = {0};
    struct archived_job job;
    if (parts_list(writing->pruner->archive, &parts, &count)) {
        error_errno(error, "history/archive/ could not be read");
        return NULL;
    }
    while (at < count && strcmp(parts[at].day, writing->part.day) != 0)
        at++;
    struct part last = at < count ? parts[at] : writing->part;
    free(parts);
    writing->part.number = last.number + 1;
    struct names *known = names_new((size_t)2 * SLICE_JOBS, 1);
    if (last.number == 0)
        return known;
    if (parts_read_index(writing->pruner->archive, &last, &lines, error)) {
        names_free(known);
        return NULL;
    }
    struct text rest = buffer_text(&lines);
    while (index_next(&rest, writing->arena, &job)) {
        char key[INDEX_END_SIZE];
        index_end_key(&job, key);
        if (!names_find(known, text_of(key)))
            names_add(known, text_of(key));
        arena_reset(writing->arena);
    }
    buffer_free(&lines);
    return known;
}

/* What everybody may read of a job, unless it is archived already, and its line of the index. */
static int write_first_of(struct writing *writing, size_t which, int job, const struct names *known)
{
    struct job_record record;
    struct archived_job archived;
    struct written_job *written = &writing->jobs[which];
    char key[INDEX_END_SIZE];
    bool readable = record_read(job, writing->arena, &record, NULL) == 0;
    index_describe(job, &writing->endings[which].place, readable ? &record : NULL, writing->arena,
                   &archived);
    if (names_find(known, text_of(index_end_key(&archived, key))))
        return 0; /* a crash came before it was removed */
    if ((!writing->pack && open_pack(writing)) || write_job(writing, which, job))
        return -1;
    archived.archived = writing->pruner->now;
    archived.offset = written->offset;
    archived.bytes = written->bytes;
    index_format(&archived, &written->line);
    return 0;
}

/* The first archive; it is found out which others there are to be. */
static int write_first(struct writing *writing, const struct names *known)
{
    for (size_t i = 0; i < writing->count; i++) {
        if (!prune_slice_goes_on(writing->pruner))
            return error_set(writing->error, "stopped");
        int job = job_open(&writing->pruner->stage.spool, &writing->endings[i].place);
        writing->kept[i] = job < 0;
        if (job < 0)
            continue;
        writing->unreadable = false;
        int result = write_first_of(writing, i, job, known);
        writing->kept[i] = writing->unreadable;
        sys.close(job);
        arena_reset(writing->arena);
        if (result)
            return -1;
    }
    return writing->pack ? close_pack(writing) : 0;
}

/* The lines of all jobs that are in the archives; none: there is no part. */
static int write_index(struct writing *writing)
{
    struct buffer lines = {0};
    char name[PART_NAME_SIZE];
    for (size_t i = 0; i < writing->count; i++) {
        struct written_job *written = &writing->jobs[i];
        if (writing->kept[i] || !written->line.length)
            continue;
        writing->any = true;
        index_add_others(&written->line, buffer_text(&written->others));
        buffer_add_text(&lines, buffer_text(&written->line));
    }
    if (!writing->any)
        return 0;
    hidden_name(&writing->part, TEXT("index"), name);
    int archive = writing->pruner->archive;
    int result =
        sys.unlinkat(archive, name, 0) && errno != ENOENT
            ? error_errno(writing->error, "%s could not be removed", name)
            : spool_file_create(archive, name, buffer_text(&lines), INDEX_MODE, writing->error);
    buffer_free(&lines);
    if (result || writing->pruner->stage.spool.sync_mode == SYNC_NONE)
        return result;
    int file = sys.openat(archive, name, OPEN_FILE, 0);
    if (file < 0 || sys.fsync(file))
        result = error_errno(writing->error, "%s could not be synced", name);
    if (file >= 0)
        sys.close(file);
    return result;
}

int prune_write_part(struct pruner *pruner, const struct ending *endings, size_t count,
                     struct part *written, bool *kept, struct error *error)
{
    struct writing writing = {.pruner = pruner,
                              .endings = endings,
                              .count = count,
                              .kept = kept,
                              .arena = arena_new(),
                              .jobs = memory_allocate(count * sizeof(*writing.jobs)),
                              .error = error};
    memcpy(writing.part.day, endings[0].day, sizeof(writing.part.day));
    writing.kinds = memory_allocate(sizeof(*writing.kinds));
    writing.kinds[0] = (struct readers){0644, 0};
    writing.kind_count = writing.kind_capacity = 1;
    struct names *known = read_last_part(&writing, error);
    int result = known ? write_first(&writing, known) : -1;
    for (writing.kind = 1; result == 0 && writing.kind < writing.kind_count; writing.kind++)
        result = write_kind(&writing);
    if (result == 0)
        result = write_index(&writing);
    *written = writing.part;
    written->number = writing.any ? written->number : 0;
    pack_free(writing.pack);
    for (size_t i = 0; i < count; i++) {
        buffer_free(&writing.jobs[i].line);
        buffer_free(&writing.jobs[i].others);
    }
    free(writing.jobs);
    free(writing.kinds);
    names_free(known);
    arena_free(writing.arena);
    return result;
}

/* ---- putting into place ---- */

struct publishing {
    int archive;
    const struct part *part;
    bool index;
};

static int publish_file(void *context, const char *name, unsigned char type)
{
    struct publishing *publishing = context;
    char shown[PART_NAME_SIZE];
    struct part part;
    struct text kind;
    size_t length = strlen(name);
    (void)type;
    if (name[0] != '.' || length >= sizeof(shown) || !text_ends(text_of(name), ".new"))
        return 0;
    snprintf(shown, sizeof(shown), "%.*s", (int)(length - 5), name + 1);
    if (!part_parse(shown, &part, &kind) || part.number != publishing->part->number ||
        strcmp(part.day, publishing->part->day) != 0 || text_is(kind, "index") != publishing->index)
        return 0;
    return file_rename(publishing->archive, name, publishing->archive, shown);
}

int prune_write_publish(struct pruner *pruner, const struct part *part, struct error *error)
{
    struct publishing publishing = {.archive = pruner->archive, .part = part};
    for (int i = 0; i < 2; i++) {
        publishing.index = i == 1;
        if (directory_walk(pruner->archive, publish_file, &publishing))
            return error_errno(error, "the archive of %s could not be put into place", part->day);
    }
    return 0;
}
