/* executors/local/sources.c - holds what a job's containers mount, from the check until they have started */
#include "executors/local/sources.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "executors/local/mountable.h"
#include "executors/local/storage.h"

enum { LIST_LIMIT = 32 << 20, MOUNTS_LIMIT = 64 << 20 }; /* bytes */

bool sources_are_held(void)
{
    return geteuid() == 0;
}

/* ---- which ---- */

static bool is_same(const struct access_path *a, const struct access_path *b)
{
    return text_equal(a->path, b->path) && text_equal(a->entry, b->entry) && a->write == b->write &&
           a->executable == b->executable;
}

/* The index of the path among the known ones; a new path is added. */
static size_t number_of(struct access_check *access, const struct access_path *path)
{
    size_t number = 0;
    while (number < access->count && !is_same(&access->paths[number], path))
        number++;
    if (number == access->count)
        access->paths[access->count++] = *path;
    return number;
}

void sources_of(struct arena *arena, struct sources *sources, struct local *local,
                const struct submission *submission, const struct local_manifest *manifest,
                size_t **numbers)
{
    bool root = geteuid() == 0;
    size_t most = 1;
    for (size_t i = 0; i < manifest->task_count; i++)
        most += manifest->tasks[i].mount_count;
    *sources = (struct sources){
        .local = local,
        .access = {.uid = root ? submission->uid : geteuid(),
                   .gid = root ? submission->gid : getegid(),
                   .paths = arena_allocate(arena, most * sizeof(struct access_path)),
                   .wants_home = manifest->home && (!root || submission->uid != 0)},
    };
    local_job_name(sources->job, submission->id, submission->attempt);
    for (size_t i = 0; i < manifest->task_count; i++) {
        const struct local_task *task = &manifest->tasks[i];
        numbers[i] = arena_allocate(arena, (task->mount_count + 1) * sizeof(size_t));
        for (size_t j = 0; j < task->mount_count; j++) {
            const struct local_mount *mount = &task->mounts[j];
            struct access_path path = {.path = mount->source,
                                       .write = !mount->readonly && mount->must_write,
                                       .entry = mount->entry,
                                       .executable = mount->executable};
            numbers[i][j] = number_of(&sources->access, &path);
        }
    }
}

/* ---- holding ---- */

static enum access_outcome take_source(void *context, size_t number, int descriptor,
                                       struct error *error)
{
    struct sources *sources = context;
    const struct access_check *access = &sources->access;
    struct text path = number < access->count ? access->paths[number].path : access->home;
    struct error_quote_buffer buffer;
    enum staging_outcome held = STAGING_REFUSED;
    if (mountable_check(&sources->local->mountable, descriptor, error) == 0)
        held = sources_are_held() ? staging_add(&sources->staging, number, descriptor, error)
                                  : STAGING_DONE;
    if (held != STAGING_DONE)
        error_prefix(error, "%s cannot be mounted", error_quote(&buffer, path.data, path.length));
    return held == STAGING_DONE      ? ACCESS_GRANTED
           : held == STAGING_REFUSED ? ACCESS_DENIED
                                     : ACCESS_UNKNOWN;
}

/* Say which file system is mounted below a source: "/3/proc" is what lies at /proc below the third one. */
static void say_kernel(struct sources *sources, struct text type, struct text below)
{
    struct access_check *access = &sources->access;
    struct text rest = below, number;
    struct error_quote_buffer buffers[2];
    size_t at = 0;
    text_next(&rest, '/', &number);
    text_next(&rest, '/', &number);
    for (size_t i = 0; i < number.length && at < access->count; i++)
        at = at * 10 + (size_t)(number.data[i] - '0');
    struct text path = at < access->count ? access->paths[at].path : access->home;
    error_set(&access->error,
              "%s cannot be mounted: a file system of the kernel (%.*s), which shows all of the "
              "machine, is mounted below it, at %s; expected a directory without one",
              error_quote(&buffers[0], path.data, path.length), (int)type.length, type.data,
              error_quote(&buffers[1], rest.data, rest.length));
    access->remedy = TEXT("Name another path");
    access->outcome = ACCESS_DENIED;
}

/* What is mounted below a source is mounted with it; only now that it is held, it cannot change any more. */
static void look_below(struct sources *const *jobs, size_t count)
{
    struct buffer mounts = {0}, place = {0};
    struct error error;
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        struct sources *sources = jobs[i];
        if (sources->staging.place < 0 || sources->access.outcome != ACCESS_GRANTED)
            continue;
        if (!mounts.length)
            result = file_read_at(-1, "/proc/self/mountinfo", MOUNTS_LIMIT, &mounts, &error);
        buffer_clear(&place);
        buffer_printf(&place, "%s/mounts/%s", sources->local->mountable.storage.path, sources->job);
        struct text below, type = mountable_find_kernel(buffer_text(&mounts), place.data, &below);
        if (result) {
            sources->access.error = error;
            sources->access.outcome = ACCESS_UNKNOWN;
        } else if (type.data) {
            say_kernel(sources, type, below);
        }
    }
    buffer_free(&mounts);
    buffer_free(&place);
}

void sources_hold(struct arena *arena, struct sources *const *jobs, size_t count, int64_t timeout)
{
    struct access_check **checks =
        arena_allocate(arena, (count + 1) * sizeof(struct access_check *));
    for (size_t i = 0; i < count; i++) {
        jobs[i]->staging = (struct staging){.storage = jobs[i]->local->mountable.storage.path,
                                            .directory = jobs[i]->local->directory,
                                            .job = jobs[i]->job,
                                            .place = -1};
        checks[i] = &jobs[i]->access;
        checks[i]->take = take_source;
        checks[i]->context = jobs[i];
    }
    access_check_all(arena, checks, count, timeout);
    look_below(jobs, count);
    for (size_t i = 0; i < count; i++) {
        const struct staging *staging = &jobs[i]->staging;
        if (staging->place >= 0 && checks[i]->outcome != ACCESS_GRANTED)
            staging_drop(staging->storage, staging->directory, staging->job);
        staging_close(&jobs[i]->staging);
    }
}

struct text sources_path(struct arena *arena, const struct sources *sources, size_t number)
{
    const struct access_check *access = &sources->access;
    bool home = number == access->count;
    struct text resolved = home ? access->home_resolved : access->paths[number].resolved;
    if (!sources_are_held() || (home && !access->home.length))
        return resolved;
    return arena_printf(arena, "%s/mounts/%s/%zu", sources->local->mountable.storage.path,
                        sources->job, number);
}

void sources_drop(const struct local *local, const char *job)
{
    if (sources_are_held())
        staging_drop(local->mountable.storage.path, local->directory, job);
}

/* ---- the list ---- */

int sources_write(const struct sources *sources, struct error *error)
{
    const struct access_check *access = &sources->access;
    struct arena *arena = arena_new();
    struct value *list = value_object(arena), *paths = value_list(arena);
    struct buffer bytes = {0};
    value_put(arena, list, "uid", value_number(arena, access->uid));
    value_put(arena, list, "gid", value_number(arena, access->gid));
    value_put(arena, list, "home", value_boolean(arena, access->wants_home));
    value_put(arena, list, "paths", paths);
    for (size_t i = 0; i < access->count; i++) {
        struct value *path = value_object(arena);
        value_put(arena, path, "path", value_text(arena, access->paths[i].path));
        value_put(arena, path, "write", value_boolean(arena, access->paths[i].write));
        value_append(arena, paths, path);
    }
    int result = json_write(&bytes, list, false, error);
    if (result == 0)
        result = local_storage_write_note(sources->local->directory, sources->job, "sources",
                                          buffer_text(&bytes), error);
    buffer_free(&bytes);
    arena_free(arena);
    return result;
}

static int read_list(struct arena *arena, struct access_check *access, struct text bytes,
                     struct error *error)
{
    const struct value *list = json_read(arena, bytes, "sources", &yaml_trusted_limits, error);
    const struct value *paths = list ? value_get(list, "paths") : NULL;
    double uid = value_get_number(list, "uid", -1), gid = value_get_number(list, "gid", -1);
    if (!list)
        return -1;
    if (!paths || paths->kind != VALUE_LIST || uid < 0 || gid < 0)
        return error_set(error, "the list of what the job mounts is damaged");
    *access = (struct access_check){
        .uid = (uid_t)uid,
        .gid = (gid_t)gid,
        .count = paths->list.count,
        .paths = arena_allocate(arena, (paths->list.count + 1) * sizeof(struct access_path)),
        .wants_home = value_get_boolean(list, "home", false),
    };
    for (size_t i = 0; i < access->count; i++) {
        const struct value *path = paths->list.items[i];
        access->paths[i] = (struct access_path){.path = value_get_text(path, "path"),
                                                .write = value_get_boolean(path, "write", false)};
    }
    return 0;
}

int sources_read(struct arena *arena, struct sources *sources, struct error *error)
{
    struct buffer bytes = {0};
    int there = local_storage_read_note(sources->local->directory, sources->job, "sources",
                                        LIST_LIMIT, &bytes, error);
    if (there == 0)
        error_set(error, "the list of what the job mounts is missing");
    struct text kept = there > 0 ? arena_text(arena, bytes.data, bytes.length) : (struct text){0};
    buffer_free(&bytes);
    return there > 0 ? read_list(arena, &sources->access, kept, error) : -1;
}
