/* web/archived_jobs.c - jobs that have gone to archives, from the lines of their indexes */
#include "web/archived_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/find.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/arena.h"
#include "base/system.h"
#include "client/archive_view.h"

struct walk {
    archived_jobs_take *take;
    void *context;
    struct arena *arena; /* of a part */
    struct buffer lines;
};

static int compare_jobs(const void *a, const void *b)
{
    const struct archived_job *first = a, *second = b;
    return text_compare(id_token(second->id), id_token(first->id));
}

/* The jobs of a part, newest first.  1, 0 when there are enough, -1 and a sentence. */
static int walk_part(struct walk *walk, int archive, const struct part *part, struct error *error)
{
    struct archived_job *jobs = NULL, job;
    size_t count = 0, capacity = 0;
    bool more = true;
    buffer_clear(&walk->lines);
    arena_reset(walk->arena);
    if (parts_read_index(archive, part, &walk->lines, error))
        return -1;
    struct text rest = buffer_text(&walk->lines);
    while (index_next(&rest, walk->arena, &job)) {
        jobs = memory_grow(jobs, count, &capacity, sizeof(*jobs));
        jobs[count++] = job;
    }
    if (count)
        qsort(jobs, count, sizeof(*jobs), compare_jobs);
    for (size_t i = 0; i < count && more; i++) {
        struct job_view view;
        archive_view(part, &jobs[i], walk->arena, &view);
        more = walk->take(walk->context, &view);
    }
    free(jobs);
    return more;
}

int archived_jobs_walk(const struct spool *spool, int64_t since, archived_jobs_take *take,
                       void *context, struct error *error)
{
    struct walk walk = {.take = take, .context = context};
    struct part *parts = NULL;
    size_t count = 0;
    char first[CLOCK_TEXT_SIZE] = "";
    int archive = parts_open(spool, false), result = 1;
    if (archive < 0)
        return errno == ENOENT ? 0 : error_errno(error, "history/archive/ could not be opened");
    if (since)
        clock_date(since, first);
    if (parts_list(archive, &parts, &count))
        result = error_errno(error, "history/archive/ could not be read");
    walk.arena = arena_new();
    for (size_t i = 0; i < count && result > 0 && strcmp(parts[i].day, first) >= 0; i++)
        result = walk_part(&walk, archive, &parts[i], error);
    arena_free(walk.arena);
    buffer_free(&walk.lines);
    free(parts);
    sys.close(archive);
    return result < 0 ? -1 : 0;
}

void archived_jobs_keep(struct job_view *view, struct arena *arena)
{
    struct job_record *record = &view->record;
    struct text *const texts[] = {&view->why,
                                  &view->archive,
                                  &record->id,
                                  &record->name,
                                  &record->owner,
                                  &record->library,
                                  &record->version,
                                  &record->type,
                                  &record->queue,
                                  &record->gpu_type,
                                  &record->executor,
                                  &record->image,
                                  &record->failure.reason,
                                  &record->failure.class};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        if (texts[i]->length)
            *texts[i] = arena_text(arena, texts[i]->data, texts[i]->length);
}

int archived_jobs_find(const struct exchange *exchange, struct text word, struct job_view *view,
                       struct error *error)
{
    struct found found;
    int archive = parts_open(exchange->spool, false);
    if (archive < 0) {
        error_set(error, "no job is archived");
        return HTTP_NOT_FOUND;
    }
    int result = find_archived(archive, word, getuid(), exchange->arena, &found, error);
    sys.close(archive);
    if (result)
        return result > 0 ? HTTP_NOT_FOUND : HTTP_INTERNAL_ERROR;
    archive_view(&found.part, &found.job, exchange->arena, view);
    return HTTP_OK;
}
