/* client/manifest_diff.c - how rendering a job anew would change its manifest */
#include "client/manifest_diff.h"

#include <stdio.h>

#include "base/file.h"
#include "base/line_diff.h"
#include "client/templates.h"
#include "spool/jobs.h"

enum { MANIFEST_LIMIT = 16 << 20, MOST_LOOKS = 5 }; /* bytes; times */

/* Read the job, and search for it again when it moves meanwhile. */
static int read_job(struct manifest_diff *diff, const char *id, struct error *error)
{
    enum replay_found found = REPLAY_GONE;
    for (int i = 0; found == REPLAY_GONE && i < MOST_LOOKS; i++) {
        struct job_place place;
        if (jobs_find(diff->spool, text_of(id), &place, error))
            return -1;
        found = preview_replay_read(diff->spool, &place, diff->arena, &diff->replay, error);
    }
    return found == REPLAY_READ ? 0 : -1;
}

/* Get the digest of the unmasked rendering.  -1 when rendering fails. */
static int whole_digest(const struct manifest_diff *diff, struct repository *repository,
                        struct text executor, char digest[SHA256_HEX_SIZE])
{
    struct replay replay = diff->replay;
    struct preparation understood;
    struct replay_rendering rendering;
    if (preview_replay_understand(diff->arena, &replay, REPLAY_WHOLE, &understood))
        return -1;
    preview_replay_render(diff->arena, &replay, &understood, repository, executor, &rendering);
    if (rendering.rendered)
        sha256_hex(rendering.manifest, digest);
    return rendering.rendered ? 0 : -1;
}

/* Render the manifest of a job with secrets as it was, with these masked. */
static int render_before(struct manifest_diff *diff, struct error *error)
{
    const struct job_record *was = &diff->was;
    struct replay_rendering rendering;
    struct error reason;
    char commit[64], digest[SHA256_HEX_SIZE];
    snprintf(commit, sizeof(commit), "%.*s", (int)was->commit.length,
             was->commit.length ? was->commit.data : "");
    struct repository *repository = templates_open(diff->spool->path, NULL, commit, false, &reason);
    if (!repository) {
        error_set(&diff->warning,
                  "%s holds secrets, and the commit it was rendered with cannot be used to "
                  "render it without them, so lines of its manifest are not shown: %s",
                  diff->replay.place.id, reason.text);
        diff->before_hidden = true;
        return 0;
    }
    preview_replay_render(diff->arena, &diff->replay, &diff->understood, repository, was->executor,
                          &rendering);
    if (rendering.rendered && (whole_digest(diff, repository, was->executor, digest) ||
                               !text_is(was->manifest_sha256, digest)))
        error_set(&diff->warning,
                  "commit %.10s no longer gives the manifest.yaml of %s; compared is what "
                  "it gives now",
                  commit, diff->replay.place.id);
    diff->before = rendering.manifest;
    repository_close(repository);
    return rendering.rendered
               ? 0
               : error_set(error,
                           "%s holds secrets, and commit %.10s, with which it was rendered, "
                           "does not render it without them: %s",
                           diff->replay.place.id, commit, rendering.error.text);
}

/* Read the manifest as it was. */
static int read_before(struct manifest_diff *diff, struct error *error)
{
    struct buffer manifest = {0};
    char digest[SHA256_HEX_SIZE], buffer[PLACE_TEXT_SIZE];
    if (!diff->was.manifest_sha256.length)
        return 0;
    if (description_is_secret(diff->understood.description))
        return render_before(diff, error);
    int job = job_open(diff->spool, &diff->replay.place);
    if (job < 0)
        return error_errno(error, "%s could not be opened",
                           job_place_text(&diff->replay.place, buffer));
    int result = file_read_at(job, "manifest.yaml", MANIFEST_LIMIT, &manifest, error);
    sys.close(job);
    sha256_hex(buffer_text(&manifest), digest);
    if (!result && !text_is(diff->was.manifest_sha256, digest))
        result = error_set(error, "manifest.yaml: found SHA-256 %s, expected the one in job.yaml",
                           digest);
    if (result)
        error_prefix(error, "%s", job_place_text(&diff->replay.place, buffer));
    else
        diff->before = arena_text(diff->arena, manifest.data, manifest.length);
    buffer_free(&manifest);
    return result;
}

static int compare_job(struct manifest_diff *diff, struct error *error)
{
    char before[PLACE_TEXT_SIZE + 32], after[PLACE_TEXT_SIZE + 64], buffer[PLACE_TEXT_SIZE];
    char digest[SHA256_HEX_SIZE] = "";
    if (diff->before_hidden) {
        whole_digest(diff, diff->repository, diff->settings.executor, digest);
        diff->changed = !text_is(diff->was.manifest_sha256, digest);
        return 0;
    }
    job_place_text(&diff->replay.place, buffer);
    snprintf(before, sizeof(before), "%s/manifest.yaml", buffer);
    snprintf(after, sizeof(after), "%s at commit %.10s", diff->replay.place.id,
             repository_commit(diff->repository));
    int differ = line_diff(&diff->lines, diff->before, diff->before.length ? before : "/dev/null",
                           diff->today.manifest, after, error);
    diff->changed = differ > 0;
    return differ < 0 ? -1 : 0;
}

int manifest_diff_make(struct manifest_diff *diff, const char *id, const char *revision,
                       struct error *error)
{
    diff->warning.text[0] = '\0';
    if (settings_read(&diff->settings, diff->spool, error) || read_job(diff, id, error))
        return -1;
    diff->was = diff->replay.record;
    diff->repository = templates_open(diff->spool->path, NULL, revision, false, error);
    if (!diff->repository)
        return -1;
    struct replay_rendering *today = &diff->today;
    if (preview_replay_understand(diff->arena, &diff->replay, REPLAY_MASKED, &diff->understood)) {
        today->error = diff->understood.error;
        return 0;
    }
    preview_replay_render(diff->arena, &diff->replay, &diff->understood, diff->repository,
                          diff->settings.executor, today);
    if (!today->rendered)
        return 0;
    return read_before(diff, error) ? -1 : compare_job(diff, error);
}

void manifest_diff_free(struct manifest_diff *diff)
{
    repository_close(diff->repository);
    buffer_free(&diff->lines);
    settings_free(&diff->settings);
}

struct text manifest_diff_image(struct arena *arena, const struct job_record *record)
{
    if (!record->image.length)
        return TEXT("");
    return record->image_line
               ? arena_printf(arena, "%s (line %d of images.txt)", record->image.data,
                              record->image_line)
               : arena_printf(arena, "%s (the user's own choice)", record->image.data);
}
