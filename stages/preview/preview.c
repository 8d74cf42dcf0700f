/* stages/preview/preview.c - what another commit of the templates would make of the jobs of the last days */
#include "stages/preview/preview.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/json.h"
#include "executors/registry/registry.h"

enum { LONGEST_VALUE = 80 }; /* bytes of a value that is shown */

/* Which jobs */

struct collection {
    struct job_place *places;
    size_t count, capacity, most;
    size_t found;
    int64_t since; /* of failed jobs */
    enum state state;
    const char *date;
};

static int compare_places(const void *a, const void *b)
{
    const struct job_place *first = a, *second = b;
    return text_compare(id_token(text_of(second->id)), id_token(text_of(first->id)));
}

/* Sort the places, the newest first; remove those met twice, and those beyond what is wanted. */
static void sort_places(struct collection *collection)
{
    size_t kept = 0;
    if (collection->count)
        qsort(collection->places, collection->count, sizeof(*collection->places), compare_places);
    for (size_t i = 0; i < collection->count; i++) {
        /* A job that moved meanwhile was met twice. */
        if (kept && strcmp(collection->places[kept - 1].id, collection->places[i].id) == 0)
            collection->found--;
        else
            collection->places[kept++] = collection->places[i];
    }
    collection->count = kept < collection->most ? kept : collection->most;
}

static int collect_job(void *context, const char *name, unsigned char type)
{
    struct collection *collection = context;
    (void)type;
    if (!id_valid(text_of(name)) ||
        (collection->state == STATE_FAILED && id_time(text_of(name)) < collection->since))
        return 0;
    if (collection->count == collection->capacity) {
        sort_places(collection);
        if (2 * collection->count > collection->capacity || !collection->capacity) {
            collection->capacity = collection->capacity ? collection->capacity * 2 : 1024;
            collection->places = memory_resize(collection->places,
                                               collection->capacity * sizeof(*collection->places));
        }
    }
    struct job_place *place = &collection->places[collection->count++];
    *place = (struct job_place){.state = collection->state};
    memcpy(place->id, name, strlen(name) + 1);
    memcpy(place->date, collection->date, strlen(collection->date) + 1);
    collection->found++;
    return 0;
}

static int collect_day(const struct spool *spool, struct collection *collection, const char *date)
{
    int directory = sys.openat(spool->states[STATE_DONE], date,
                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (directory < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    collection->date = date;
    int result = directory_walk(directory, collect_job, collection);
    sys.close(directory);
    return result;
}

static int collect_all(const struct preview_request *request, struct collection *collection,
                       struct error *error)
{
    const struct spool *spool = request->spool;
    char date[CLOCK_TEXT_SIZE];
    *collection =
        (struct collection){.most = request->most,
                            .since = (request->now / CLOCK_DAY - request->days) * CLOCK_DAY,
                            .date = ""};
    for (int i = 0; i < STATE_DONE; i++) {
        collection->state = (enum state)i;
        if (directory_walk(spool->states[i], collect_job, collection))
            return error_errno(error, "%s/ could not be read", spool_state_name((enum state)i));
    }
    collection->state = STATE_DONE;
    for (int64_t i = 0; i <= request->days; i++)
        if (collect_day(spool, collection, clock_date(request->now - i * CLOCK_DAY, date)))
            return error_errno(error, "done/%s could not be read", date);
    sort_places(collection);
    return 0;
}

/* What a value may be shown as */

struct planner {
    const struct preview_request *request;
    struct preview *preview;
    struct arena *job; /* reset after each job */
};

struct looking {
    struct repository *repository;
    struct text wanted;
};

static int look_into(void *context, const char *path)
{
    struct looking *looking = context;
    struct text content = repository_file(looking->repository, path);
    return content.length && text_contains(content, looking->wanted);
}

/* Does the string occur in the templates?  Then no user wrote it. */
static bool is_of_templates(const struct planner *planner, struct text string)
{
    struct looking before = {planner->request->before, string};
    struct looking after = {planner->request->after, string};
    return string.length <= LONGEST_VALUE &&
           (repository_walk(before.repository, look_into, &before) ||
            repository_walk(after.repository, look_into, &after));
}

static struct text show_value(const struct planner *planner, const struct value *value)
{
    struct text shown = {"", 0};
    struct buffer out = {0};
    if (!value || value->kind == VALUE_LIST || value->kind == VALUE_OBJECT ||
        (value->kind == VALUE_STRING && !is_of_templates(planner, value->string)))
        return shown;
    if (json_write(&out, value, false, NULL) == 0)
        shown = arena_text(planner->preview->arena, out.data, out.length);
    buffer_free(&out);
    return shown;
}

/* Groups */

static struct text keep_text(const struct planner *planner, struct text text)
{
    return arena_text(planner->preview->arena, text.data ? text.data : "", text.length);
}

/* The group of that kind and key, with this job counted in it; NULL when there are too many.  A new
 * one has `count` 1, and is still to be described. */
static struct preview_group *count_in(const struct planner *planner, enum preview_kind kind,
                                      struct text key, const char *id)
{
    struct preview *preview = planner->preview;
    struct preview_group *group = preview->groups, *end = group + preview->groups_count;
    preview->counts[kind]++;
    while (group < end && !(group->kind == kind && text_equal(group->key, key)))
        group++;
    if (group == end && preview->groups_count == PREVIEW_MOST_GROUPS) {
        preview->ungrouped++;
        return NULL;
    }
    if (group == end) {
        preview->groups_count++;
        *group = (struct preview_group){.kind = kind, .key = keep_text(planner, key)};
    }
    if (group->count < PREVIEW_EXAMPLES)
        memcpy(group->examples[group->count], id, strlen(id) + 1);
    group->count++;
    return group;
}

static void count_refusal(const struct planner *planner, enum preview_kind kind,
                          const struct error *reason, const char *id)
{
    struct preview_group *group = count_in(planner, kind, text_of(reason->text), id);
    if (group && group->count == 1)
        group->sentence = group->key;
}

static bool is_string(const struct value *value, struct text text)
{
    return value && value->kind == VALUE_STRING && text_equal(value->string, text);
}

/* Remove the fields that only contain the image, which is shown once for the group. */
static void drop_image(struct changes *changes, struct text before, struct text after)
{
    size_t kept = 0;
    for (size_t i = 0; i < changes->count; i++)
        if (!is_string(changes->items[i].before, before) ||
            !is_string(changes->items[i].after, after))
            changes->items[kept++] = changes->items[i];
    changes->count = kept;
}

static struct text change_key(struct arena *arena, const struct job_record *before,
                              const struct job_record *after, bool image,
                              const struct changes *changes)
{
    struct buffer key = {0};
    buffer_printf(&key, "%s\n%s\n", before->template_path.data, after->template_path.data);
    if (image)
        buffer_printf(&key, "%s\n%s\n", before->image.data, after->image.data);
    for (size_t i = 0; i < changes->count; i++)
        buffer_printf(&key, "%c%c%s\n", changes->items[i].before ? '-' : ' ',
                      changes->items[i].after ? '+' : ' ', changes->items[i].path.data);
    struct text text = arena_text(arena, key.data, key.length);
    buffer_free(&key);
    return text;
}

static void describe_group(const struct planner *planner, struct preview_group *group,
                           const struct job_record *before, const struct job_record *after,
                           bool image, const struct changes *changes)
{
    struct preview *preview = planner->preview;
    group->template_before = keep_text(planner, before->template_path);
    group->template = keep_text(planner, after->template_path);
    if (image) {
        group->image_before = keep_text(planner, before->image);
        group->image = keep_text(planner, after->image);
    }
    group->fields = arena_allocate(preview->arena, (changes->count + 1) * sizeof(*group->fields));
    group->fields_count = changes->count;
    group->more_fields = changes->more;
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *change = &changes->items[i];
        struct text old_value = show_value(planner, change->before);
        struct text new_value = show_value(planner, change->after);
        bool shown = (!change->before || old_value.length) && (!change->after || new_value.length);
        group->fields[i] = (struct preview_field){
            .path = keep_text(planner, change->path),
            .was_there = change->before,
            .is_there = change->after,
            .before = shown ? old_value : TEXT(""),
            .after = shown ? new_value : TEXT(""),
        };
    }
}

static void count_change(const struct planner *planner, const struct replay_rendering *before,
                         const struct replay_rendering *after, const char *id)
{
    const struct job_record *old_facts = &before->record, *new_facts = &after->record;
    bool image = !text_equal(old_facts->image, new_facts->image);
    struct changes changes;
    changes_find(planner->job, before->tree, after->tree, &changes);
    if (image)
        drop_image(&changes, old_facts->image, new_facts->image);
    struct text key = change_key(planner->job, old_facts, new_facts, image, &changes);
    struct preview_group *group = count_in(planner, PREVIEW_CHANGED, key, id);
    if (group && group->count == 1)
        describe_group(planner, group, old_facts, new_facts, image, &changes);
}

/* Looking */

/* The counter of jobs that cannot be rendered again for this reason. */
static size_t *count_of(struct preview *preview, enum replay_found found)
{
    return found == REPLAY_FORBIDDEN    ? &preview->forbidden
           : found == REPLAY_NO_REQUEST ? &preview->without_request
           : found == REPLAY_SET_ASIDE  ? &preview->set_aside
                                        : &preview->damaged;
}

/* Would the executor take the manifest of the one commit, and not that of the other? */
static bool is_declined(const struct planner *planner, struct text before, struct text after,
                        struct error *error)
{
    const char *executor = planner->request->executor.data;
    if (registry_check_manifest(executor, after, error) >= 0 ||
        registry_check_manifest(executor, before, NULL) < 0)
        return false;
    error_prefix(error, "the executor %s would not take it", executor);
    return true;
}

/* Render a job with both commits, and count what comes of it.  False when the job is gone. */
static bool look_at(struct planner *planner, const struct job_place *place)
{
    const struct preview_request *request = planner->request;
    struct preview *preview = planner->preview;
    struct replay replay;
    struct preparation understood;
    struct replay_rendering before, after;
    enum replay_found found =
        preview_replay_read(request->spool, place, planner->job, &replay, NULL);
    if (found != REPLAY_READ) {
        *count_of(preview, found) += found != REPLAY_GONE;
        return found != REPLAY_GONE;
    }
    if (preview_replay_understand(planner->job, &replay, REPLAY_MASKED, &understood)) {
        preview->refused_as_before++;
        return true;
    }
    preview_replay_render(planner->job, &replay, &understood, request->before, request->executor,
                          &before);
    preview_replay_render(planner->job, &replay, &understood, request->after, request->executor,
                          &after);
    if (before.rendered && after.rendered) {
        if (text_equal(before.manifest, after.manifest))
            preview->same++;
        else if (is_declined(planner, before.manifest, after.manifest, &after.error))
            count_refusal(planner, PREVIEW_REFUSED, &after.error, place->id);
        else
            count_change(planner, &before, &after, place->id);
    } else if (before.rendered) {
        count_refusal(planner, PREVIEW_REFUSED, &after.error, place->id);
    } else if (after.rendered) {
        count_refusal(planner, PREVIEW_ACCEPTED, &before.error, place->id);
    } else {
        preview->refused_as_before++;
    }
    return true;
}

static int compare_groups(const void *a, const void *b)
{
    const struct preview_group *first = a, *second = b;
    if (first->kind != second->kind)
        return first->kind < second->kind ? -1 : 1;
    if (first->count != second->count)
        return first->count > second->count ? -1 : 1;
    return text_compare(first->key, second->key);
}

int preview_make(const struct preview_request *request, struct preview *preview,
                 struct error *error)
{
    struct collection collection;
    *preview = (struct preview){.arena = arena_new()};
    preview->groups = memory_allocate(PREVIEW_MOST_GROUPS * sizeof(*preview->groups));
    int64_t start = clock_elapsed();
    int result = collect_all(request, &collection, error);
    struct planner planner = {.request = request, .preview = preview, .job = arena_new()};
    preview->found = collection.found;
    for (size_t i = 0; !result && !preview->out_of_time && i < collection.count; i++) {
        if (look_at(&planner, &collection.places[i]))
            preview->looked++;
        else
            preview->found--; /* it is being moved, or was removed */
        arena_reset(planner.job);
        if (request->progress)
            request->progress(request->context, i + 1, collection.count);
        preview->out_of_time = request->within && i + 1 < collection.count &&
                               clock_elapsed() - start >= request->within;
    }
    if (preview->groups_count)
        qsort(preview->groups, preview->groups_count, sizeof(*preview->groups), compare_groups);
    arena_free(planner.job);
    free(collection.places);
    return result;
}

void preview_free(struct preview *preview)
{
    arena_free(preview->arena);
    free(preview->groups);
    *preview = (struct preview){0};
}
