/* stages/prepare/rerender.c - jobs of rendered/ are rendered again, at the size that the plan has for them */
#include "stages/prepare/rerender.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/sha256.h"
#include "stages/prepare/reread.h"

enum { MANIFEST_LIMIT = 16 << 20 }; /* bytes */

/* Do manifest and record of a job belong together, at that size? */
static bool is_done(struct stage *stage, struct arena *arena, const struct rerender *rerender)
{
    struct job_place place = {.state = STATE_RENDERED};
    struct job_record record;
    struct buffer manifest = {0};
    char digest[SHA256_HEX_SIZE];
    memcpy(place.id, rerender->id, sizeof(place.id));
    int job = job_open(&stage->spool, &place);
    if (job < 0)
        return false;
    bool done = !record_read(job, arena, &record, NULL) &&
                !file_read_at(job, "manifest.yaml", MANIFEST_LIMIT, &manifest, NULL);
    if (done) {
        sha256_hex(buffer_text(&manifest), digest);
        done = text_is(record.manifest_sha256, digest) && record.size_next == 0 &&
               (!rerender->size || record.size == rerender->size);
    }
    buffer_free(&manifest);
    sys.close(job);
    arena_reset(arena);
    return done;
}

int rerender_jobs(struct stage *stage, struct rerender *jobs, size_t count, struct error *error)
{
    int result = -1;
    for (size_t i = 0; i < count; i++)
        jobs[i].done = false;
    struct repository *repository = stage_repository(stage, error);
    if (!repository || repository_refresh(repository, error)) {
        repository_close(repository);
        return -1;
    }
    struct requeue_action *actions = memory_allocate((count + 1) * sizeof(*actions));
    struct reread reread = {
        .stage = stage,
        .repository = repository,
        .arena = arena_new(),
        .settings = stage->settings.sha256,
        .actions = actions,
        .count = count,
    };
    for (size_t i = 0; i < count; i++) {
        actions[i] = (struct requeue_action){.from = STATE_RENDERED,
                                             .kind = ACTION_REQUEUE,
                                             .cause = jobs[i].cause ? jobs[i].cause : "size",
                                             .size = jobs[i].size};
        memcpy(actions[i].id, jobs[i].id, sizeof(actions[i].id));
    }
    struct error unsynced;
    result = reread_jobs(&reread, error);
    bool durable = spool_sync(&stage->spool, &unsynced) == 0;
    if (!durable)
        result = error_set(error, "%s", unsynced.text);
    for (size_t i = 0; i < count; i++) {
        jobs[i].done = durable && is_done(stage, reread.arena, &jobs[i]);
        if (!jobs[i].done)
            log_detail("%s: was not rendered again", jobs[i].id);
    }
    arena_free(reread.arena);
    free(actions);
    repository_close(repository);
    return result;
}
